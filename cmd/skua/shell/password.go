package shell

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/chzyer/readline"
)

// AskPassword asks twice on the terminal without echo, with prompts on standard error, or takes the first line of in where that is no terminal.
// An empty password is refused.
func AskPassword(in *os.File, prompt string) (string, error) {
	if !terminal(in) {
		return firstLine(in)
	}
	line, err := readline.NewEx(&readline.Config{Stdin: in, Stdout: os.Stderr, Stderr: os.Stderr})
	if err != nil {
		return "", fmt.Errorf("open the terminal: %w", err)
	}
	defer line.Close()
	return twice(prompt, func(prompt string) (string, error) {
		typed, err := line.ReadPassword(prompt)
		return string(typed), err
	})
}

func firstLine(in io.Reader) (string, error) {
	line := bufio.NewScanner(in)
	if !line.Scan() {
		return "", errors.Join(errors.New("no password on standard input"), line.Err())
	}
	password := strings.TrimRight(line.Text(), "\r")
	return password, notEmpty(password)
}

// twice asks for a password and for its repetition, which must agree.
func twice(prompt string, ask func(prompt string) (string, error)) (string, error) {
	first, err := asked(ask(prompt))
	if err != nil {
		return "", err
	}
	if err := notEmpty(first); err != nil {
		return "", err
	}
	second, err := asked(ask("Again: "))
	if err != nil {
		return "", err
	}
	if first != second {
		return "", errors.New("the two passwords differ")
	}
	return first, nil
}

func asked(typed string, err error) (string, error) {
	if errors.Is(err, readline.ErrInterrupt) || errors.Is(err, io.EOF) {
		return "", errors.New("cancelled")
	}
	return typed, err
}

func notEmpty(password string) error {
	if password == "" {
		return errors.New("the password is empty")
	}
	return nil
}
