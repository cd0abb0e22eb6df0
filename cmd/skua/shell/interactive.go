package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/chzyer/readline"
)

const (
	prompt    = "skua> "
	continued = "   -> "
	help      = `Statements end with a semicolon. Try: SHOW CATALOGS; SHOW NAMESPACES; SHOW TABLES IN catalog.namespace; DESCRIBE t; SET;
  \format table|csv|json   how results are written
  \timing                  tell rows and time after each statement, or stop telling
  \q                       leave (or Ctrl-D); Ctrl-C cancels the running statement or drops the typed one`
)

// interactive reads statements from the terminal until it ends.
func (s *shell) interactive(ctx context.Context) error {
	history := ""
	if home, err := os.UserHomeDir(); err == nil {
		history = filepath.Join(home, ".skua_history")
	}
	line, err := readline.NewEx(&readline.Config{Prompt: prompt, HistoryFile: history, DisableAutoSaveHistory: true, HistorySearchFold: true})
	if err != nil {
		return fmt.Errorf("open the terminal: %w", err)
	}
	defer line.Close()
	fmt.Fprintf(s.config.Out, "Connected to %s. \\? helps.\n", s.config.URI)
	for pending := ""; ; {
		line.SetPrompt(prompt)
		if pending != "" {
			line.SetPrompt(continued)
		}
		typed, err := line.Readline()
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			pending = ""
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read the terminal: %w", err)
		}
		if pending == "" && strings.HasPrefix(strings.TrimSpace(typed), `\`) {
			if s.command(strings.Fields(typed)) {
				return nil
			}
			continue
		}
		if pending = strings.TrimLeft(pending+typed+"\n", " \n"); !complete(pending) {
			continue
		}
		// A failing history file must not keep anybody from asking.
		_ = line.SaveHistory(strings.Join(strings.Fields(pending), " "))
		s.answer(ctx, pending)
		pending = ""
	}
}

func (s *shell) answer(ctx context.Context, text string) {
	for _, statement := range Split(text) {
		if err := s.one(ctx, statement); err != nil {
			fmt.Fprintln(s.config.Out, "error: "+err.Error())
			return
		}
	}
}

// command runs a backslash command and reports whether to leave.
func (s *shell) command(words []string) (leave bool) {
	switch words[0] {
	case `\q`:
		return true
	case `\timing`:
		s.config.Timing = !s.config.Timing
	case `\format`:
		if len(words) == 2 && formats[words[1]] != nil && words[1] != "arrow" {
			s.config.Format, s.newOutput = words[1], formats[words[1]]
			return false
		}
		fmt.Fprintln(s.config.Out, `\format table, csv or json`)
	default:
		fmt.Fprintln(s.config.Out, help)
	}
	return false
}
