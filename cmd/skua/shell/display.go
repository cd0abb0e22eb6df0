package shell

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/chzyer/readline"
	"github.com/mattn/go-isatty"
)

// terminalWidth is how many characters a line of w has, if it is a terminal; else 0.
func terminalWidth(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok || !isatty.IsTerminal(file.Fd()) {
		return 0
	}
	width, _, err := readline.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return max(width, 0)
}

// displayWidth is how many places a text takes on a terminal.
func displayWidth(text string) int {
	if len(text) == utf8.RuneCountInString(text) {
		return len(text)
	}
	n := 0
	for _, r := range text {
		n += readline.Runes{}.Width(r)
	}
	return n
}

// cut shortens a text to width places, the last of which then is an ellipsis.
func cut(text string, width int) string {
	if displayWidth(text) <= width {
		return text
	}
	places := 0
	for i, r := range text {
		if places += (readline.Runes{}).Width(r); places > width-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// tab is what a tab is written as, so that columns stay columns.
const tab = "    "

// cellLines gives the lines of a text, and keeps control characters away from the terminal. Line ends at the end are dropped.
func cellLines(text string) []string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
	text = strings.ReplaceAll(text, "\t", tab)
	return strings.Split(strings.TrimRight(text, "\n"), "\n")
}
