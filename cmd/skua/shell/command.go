package shell

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

const help = `Statements end with a semicolon. Try: SHOW CATALOGS; SHOW NAMESPACES;
SHOW TABLES IN catalog.namespace; DESCRIBE t; SET;
  \d                       list tables; \d NAME describes one
  \dt [NAMESPACE]          list tables
  \format table|csv|json   how results are written
  \timing                  tell rows and time after each statement, or stop it
  \x                       one value a line, whole, instead of a table, or back
  \?                       this text (or help)
  \q                       leave (or quit, exit, Ctrl-D)
Ctrl-C cancels the running statement or drops the typed one.`

// word gives the command that a typed line without a backslash means: help, quit and exit, which are no SQL.
func word(typed string) (command string, ok bool) {
	switch strings.ToLower(strings.TrimSpace(strings.TrimRight(strings.TrimSpace(typed), ";"))) {
	case "help", "?":
		return `\?`, true
	case "quit", "exit":
		return `\q`, true
	}
	return "", false
}

// command runs a backslash command and reports whether to leave.
func (s *shell) command(ctx context.Context, typed string) (leave bool) {
	words := strings.Fields(strings.TrimRight(strings.TrimSpace(typed), ";"))
	switch name := words[0]; name {
	case `\q`:
		return true
	case `\?`, `\h`, `\help`:
		s.say(help)
	case `\timing`:
		s.config.Timing = !s.config.Timing
		s.say("Timing is " + onOff(s.config.Timing) + ".")
	case `\x`:
		s.expanded = !s.expanded
		s.say("Expanded display is " + onOff(s.expanded) + ".")
		if s.expanded && s.config.Format != "table" {
			s.say("It shows in the format table.")
		}
	case `\format`:
		s.format(words[1:])
	case `\d`, `\dt`:
		s.answer(ctx, listing(name, words[1:]))
	default:
		s.say("Unknown command " + name + `; \? lists the commands.`)
	}
	return false
}

// listing is the statement that \d and \dt stand for.
func listing(command string, words []string) string {
	switch {
	case len(words) == 0:
		return "SHOW TABLES"
	case command == `\d`:
		return "DESCRIBE TABLE " + strings.Join(words, " ")
	}
	return "SHOW TABLES IN " + strings.Join(words, " ")
}

func (s *shell) format(words []string) {
	interactive := slices.DeleteFunc(slices.Clone(formats), func(f string) bool { return f == "arrow" })
	switch {
	case len(words) == 0:
		s.say("Format is " + s.config.Format + "; others: " + strings.Join(interactive, ", ") + ".")
	case len(words) > 1 || !slices.Contains(interactive, words[0]):
		s.say(`Unknown format; expected \format ` + strings.Join(interactive, "|") + ".")
	default:
		s.config.Format = words[0]
		s.say("Format is " + words[0] + ".")
	}
}

func (s *shell) say(text string) { fmt.Fprintln(s.config.Out, text) }

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
