package engine

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/skua-data/skua/fault"
)

// TestLinesTellWhoAndWhat: who sent a statement, by which way, and what it read, also when another call fetches the rows.
func TestLinesTellWhoAndWhat(t *testing.T) {
	w, e := newWorld(t)
	var out bytes.Buffer
	e.lines = newJournal(slog.New(slog.NewTextHandler(&out, nil)), e.config.Clock)
	s := w.session(t, e, "s")
	p, err := e.Prepare(context.Background(), Call{Session: s, Principal: "ann", Text: "SELECT id FROM sales", Client: "tool 1", Path: "prepared"})
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, p, nil)
	again, err := e.Resume(context.Background(), r.Pin())
	if err != nil {
		t.Fatal(err)
	}
	tableText(t, again)
	for _, want := range []string{"principal=ann", "session=", `client="tool 1"`, "path=prepared", "tables=lake.db.sales", "status=ok"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s lacks %s", out.String(), want)
		}
	}
	if got := tablesText([]PinnedTable{{Name: "a.b", Snapshot: 7}, {Name: "c.d"}}); got != "a.b@7 c.d" {
		t.Error(got)
	}
	a, b := r.Pin(), r.Pin()
	a.Client, a.Path = "other", "query"
	left, err := a.key()
	if err != nil {
		t.Fatal(err)
	}
	if right, err := b.key(); err != nil || left != right {
		t.Error("who asks makes another plan")
	}
}

func TestSecretsStayOutOfLines(t *testing.T) {
	var out bytes.Buffer
	j := newJournal(slog.New(slog.NewTextHandler(&out, nil)), nil)
	j.write(ended{err: fault.New(fault.Unavailable, "open s3://user:hunter2@host/x?sig=hunter3")})
	if strings.Contains(out.String(), "hunter") {
		t.Error(out.String())
	}
}
