package shell

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// typed types lines into a shell without a server, whose statements must not run, and gives what it says.
func typed(t *testing.T, lines ...string) (said string, left bool, pending string) {
	t.Helper()
	var out bytes.Buffer
	typing := &typing{shell: &shell{config: Config{Format: "table", Out: &out}}, save: func(string) {}}
	for _, line := range lines {
		if typing.line(context.Background(), line) {
			return out.String(), true, typing.pending
		}
	}
	return out.String(), false, typing.pending
}

func TestCommands(t *testing.T) {
	for _, c := range []struct {
		lines []string
		says  string
		left  bool
	}{
		{[]string{"help;"}, `\timing`, false},
		{[]string{" HELP "}, `\timing`, false},
		{[]string{"quit"}, "", true},
		{[]string{"Exit ;"}, "", true},
		{[]string{`\q`}, "", true},
		{[]string{`\q;`}, "", true},
		{[]string{`\foo bar`}, `Unknown command \foo; \? lists the commands.`, false},
		{[]string{`\timing`}, "Timing is on.", false},
		{[]string{`\timing`, `\timing`}, "Timing is off.", false},
		{[]string{`\x`}, "Expanded display is on.", false},
		{[]string{`\format csv`}, "Format is csv.", false},
		{[]string{`\format`}, "Format is table; others: table, csv, json.", false},
		{[]string{`\format arrow`}, "expected \\format table|csv|json", false},
		{[]string{`\format csv`, `\x`}, "It shows in the format table.", false},
		{[]string{"SELECT 1", `\x`}, "Expanded display is on.", false},
		{[]string{"SELECT 1", `\q`}, "", true},
		{[]string{"SELECT 1", "exit"}, `\q leaves`, false},
	} {
		said, left, _ := typed(t, c.lines...)
		if left != c.left || !strings.Contains(said, c.says) || c.says == "" && said != "" {
			t.Errorf("%q: left %t, said %q", c.lines, left, said)
		}
	}
}

func TestCommandsLeaveTheStatementAndStringsKeepTheirBackslashes(t *testing.T) {
	if _, _, pending := typed(t, "SELECT", `\x`, "1"); pending != "SELECT\n1\n" {
		t.Errorf("pending %q", pending)
	}
	said, left, pending := typed(t, "SELECT 'a", `\q`, "exit")
	if left || said != "" || pending != "SELECT 'a\n\\q\nexit\n" {
		t.Errorf("in quotes: left %t, said %q, pending %q", left, said, pending)
	}
}

func TestListing(t *testing.T) {
	for _, c := range [][2]string{{`\d`, "SHOW TABLES"}, {`\dt`, "SHOW TABLES"}, {`\d a.b`, "DESCRIBE TABLE a.b"}, {`\dt a`, "SHOW TABLES IN a"}} {
		words := strings.Fields(c[0])
		if got := listing(words[0], words[1:]); got != c[1] {
			t.Errorf("%s: %s", c[0], got)
		}
	}
}
