package shell

import "strings"

// Split cuts a text into statements at semicolons outside quotes and comments. Empty statements are dropped.
func Split(text string) []string {
	var out []string
	start := 0
	add := func(end int) {
		if s := strings.TrimSpace(text[start:end]); s != "" && !onlyComments(s) {
			out = append(out, s)
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
	add(min(len(text), max(start, len(text))))
	return out
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

func onlyComments(text string) bool {
	for i := 0; i < len(text); {
		if strings.HasPrefix(text[i:], "--") || strings.HasPrefix(text[i:], "/*") {
			i, _ = skip(text, i)
			continue
		}
		if !strings.ContainsRune(" \t\r\n\f", rune(text[i])) {
			return false
		}
		i++
	}
	return true
}

// complete reports whether typed text ends in a semicolon outside quotes and comments, so that it can run.
func complete(text string) bool {
	last := false
	for i := 0; i < len(text); {
		next, end := skip(text, i)
		switch {
		case end:
			last = true
		case strings.TrimSpace(text[i:next]) != "" && !onlyComments(text[i:next]):
			last = false
		}
		i = next
	}
	return last
}
