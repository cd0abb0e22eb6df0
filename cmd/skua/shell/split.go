package shell

import (
	"fmt"
	"strings"
)

// Statement is one statement to run.
type Statement struct {
	Text   string
	Source string // where it begins, "report.sql:12", told with its errors; empty: nowhere worth telling
}

// Split cuts a text into statements at semicolons outside quotes and comments. Empty statements are dropped, and comments before a statement. name is the
// file that the text is from, or empty.
func Split(name, text string) []Statement {
	var out []Statement
	start := 0
	add := func(end int) {
		begin := start + blank(text[start:end])
		if s := strings.TrimSpace(text[begin:end]); s != "" {
			source := ""
			if name != "" {
				source = fmt.Sprintf("%s:%d", name, 1+strings.Count(text[:begin], "\n"))
			}
			out = append(out, Statement{s, source})
		}
		start = end + 1
	}
	for i := 0; i < len(text); {
		next, end := skip(text, i)
		if end {
			add(i)
		}
		i = next
	}
	add(max(start, len(text)))
	return out
}

// blank gives the length of the white space and comments that text begins with.
func blank(text string) int {
	i := 0
	for i < len(text) {
		switch {
		case strings.HasPrefix(text[i:], "--") || strings.HasPrefix(text[i:], "/*"):
			i, _ = skip(text, i)
		case strings.ContainsRune(" \t\r\n\f", rune(text[i])):
			i++
		default:
			return i
		}
	}
	return i
}

// skip gives the index after the token at i, and whether it is a semicolon.
func skip(text string, i int) (next int, end bool) {
	rest := text[i:]
	switch {
	case strings.HasPrefix(rest, "--"):
		return i + upTo(rest, "\n"), false
	case strings.HasPrefix(rest, "/*"):
		return i + comment(rest), false
	case rest[0] == '\'' || rest[0] == '"' || rest[0] == '`':
		return i + quoted(rest), false
	}
	return i + 1, rest[0] == ';'
}

func upTo(text, mark string) int {
	if n := strings.Index(text, mark); n >= 0 {
		return n + len(mark)
	}
	return len(text)
}

// comment gives the length of the bracketed comment, with those nested in it, that text begins with.
func comment(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], "/*"):
			depth++
			i++
		case strings.HasPrefix(text[i:], "*/"):
			i++
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// quoted gives the length of the quoted text that text begins with. A backslash escapes in strings, not in back quotes.
func quoted(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] != '`':
			i++
		case text[i] == text[0]:
			return i + 1
		}
	}
	return len(text)
}

// complete reports whether typed text ends in a semicolon outside quotes and comments, so that it can run.
func complete(text string) bool {
	last := false
	for i := 0; i < len(text); {
		next, end := skip(text, i)
		switch {
		case end:
			last = true
		case blank(text[i:next]) < next-i:
			last = false
		}
		i = next
	}
	return last
}

// inside reports whether typed text ends within quotes or a bracketed comment, where a backslash is text.
func inside(text string) bool {
	for i := 0; i < len(text); {
		next, _ := skip(text, i)
		if next == len(text) {
			token := text[i:]
			switch {
			case strings.HasPrefix(token, "/*"):
				return comment(token+" ") > len(token)
			case token[0] == '\'' || token[0] == '"' || token[0] == '`':
				return quoted(token+" ") > len(token)
			}
		}
		i = next
	}
	return false
}
