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
	s.say("Connected to " + s.config.URI + `. \? helps.`)
	typing := &typing{shell: s, save: func(text string) {
		// A failing history file must not keep anybody from asking.
		_ = line.SaveHistory(text)
	}}
	for {
		line.SetPrompt(typing.prompt())
		typed, err := line.Readline()
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			typing.pending = ""
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read the terminal: %w", err)
		}
		if typing.line(ctx, typed) {
			return nil
		}
	}
}

// typing is what has been typed of a statement that is not complete yet.
type typing struct {
	shell   *shell
	pending string
	save    func(text string)
}

func (t *typing) prompt() string {
	if t.pending == "" {
		return prompt
	}
	return continued
}

// line takes a typed line and reports whether to leave. Backslash commands work inside an unfinished statement, which stays; in quotes they are text.
func (t *typing) line(ctx context.Context, typed string) (leave bool) {
	command := typed
	if meant, ok := word(typed); ok && t.pending == "" {
		command = meant
	} else if ok && !inside(t.pending) {
		t.shell.say(`The statement is not finished: a semicolon ends it, Ctrl-C drops it; \? helps, \q leaves.`)
	}
	if strings.HasPrefix(strings.TrimSpace(command), `\`) && !inside(t.pending) {
		t.save(typed)
		return t.shell.command(ctx, command)
	}
	if t.pending = strings.TrimLeft(t.pending+typed+"\n", " \n"); !complete(t.pending) {
		return false
	}
	text := t.pending
	t.pending = ""
	t.save(strings.Join(strings.Fields(text), " "))
	t.shell.answer(ctx, text)
	return false
}

// answer runs what was typed, up to the first error.
func (s *shell) answer(ctx context.Context, text string) {
	if err := s.all(ctx, Split("", text)); err != nil {
		s.say("error: " + err.Error())
	}
}
