package shell

import (
	"bufio"
	"errors"
	"os"
	"strings"

	"github.com/chzyer/readline"
	"github.com/mattn/go-isatty"
)

// AskPassword asks on the terminal without echo, or takes the first line of standard input where that is no terminal.
func AskPassword(prompt string) (string, error) {
	if isatty.IsTerminal(os.Stdin.Fd()) {
		typed, err := readline.Password(prompt)
		return string(typed), err
	}
	line := bufio.NewScanner(os.Stdin)
	if !line.Scan() {
		return "", errors.Join(errors.New("no password on standard input"), line.Err())
	}
	return strings.TrimRight(line.Text(), "\r"), nil
}
