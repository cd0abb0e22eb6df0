package ptxsim

import "strings"

// statement is a piece of a PTX text that ends with a semicolon, a brace or a colon.
type statement struct {
	text string
	line int
	end  byte // ';', '{', '}' or ':'
}

// lineDirectives end with their line.
var lineDirectives = []string{".version", ".target", ".address_size", ".file", ".loc", ".maxntid", ".reqntid", ".minnctapersm", ".maxnreg"}

// splitter cuts a text into statements and drops comments.
type splitter struct {
	src         string
	at          int
	line, start int // of the text read; of the statement, 0: not begun
	depth       int // braces inside a statement: vectors and initialisers
	b           strings.Builder
	out         []statement
}

func split(src string) []statement {
	s := &splitter{src: src, line: 1}
	for ; s.at < len(src); s.at++ {
		if !s.comment() {
			s.take(src[s.at])
		}
	}
	return s.out
}

// comment passes a comment, if one begins here, up to its last character.
func (s *splitter) comment() bool {
	rest := s.src[s.at:]
	end, kept := "", 0
	switch {
	case strings.HasPrefix(rest, "//"):
		end, kept = "\n", 1
	case strings.HasPrefix(rest, "/*"):
		end = "*/"
	default:
		return false
	}
	n := len(rest)
	if i := strings.Index(rest[2:], end); i >= 0 {
		n = 2 + i + len(end) - kept
	}
	s.line += strings.Count(rest[:n], "\n")
	s.at += n - 1
	return true
}

func (s *splitter) take(c byte) {
	text := s.b.String
	switch {
	case c == '\n':
		s.line++
		s.endOfLine()
		s.b.WriteByte(' ')
	case c == ';' && s.depth == 0:
		s.flush(';')
	case c == ':' && s.depth == 0 && isLabel(text()):
		s.flush(':')
	case c == '{' && opensBlock(strings.TrimSpace(text())):
		s.flush('{')
	case c == '{':
		s.depth++
		s.b.WriteByte(c)
	case c == '}' && s.depth == 0:
		s.flush('}')
	case c == '}':
		s.depth--
		s.b.WriteByte(c)
	default:
		if s.start == 0 && c != ' ' && c != '\t' {
			s.start = s.line
		}
		s.b.WriteByte(c)
	}
}

func (s *splitter) endOfLine() {
	text := strings.TrimSpace(s.b.String())
	for _, d := range lineDirectives {
		if strings.HasPrefix(text, d+" ") || strings.HasPrefix(text, d+"\t") {
			s.flush(';')
			return
		}
	}
}

func (s *splitter) flush(end byte) {
	text := strings.TrimSpace(s.b.String())
	s.b.Reset()
	if text != "" || end == '{' || end == '}' {
		if s.start == 0 {
			s.start = s.line
		}
		s.out = append(s.out, statement{text, s.start, end})
	}
	s.start = 0
}

func opensBlock(before string) bool {
	function := strings.Contains(before, ".entry") || strings.Contains(before, ".func")
	return before == "" || function && strings.HasSuffix(before, ")") || strings.HasPrefix(before, ".section")
}

func isLabel(s string) bool {
	s = strings.TrimSpace(s)
	if s == "" {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !(c == '_' || c == '$' || c == '%' || c == '.' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z') {
			return false
		}
	}
	return s[0] != '.' && s[0] != '@'
}

// operands splits at commas outside of brackets and braces.
func operands(s string) []string {
	var out []string
	depth, from := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(s[from:i]))
				from = i + 1
			}
		}
	}
	if t := strings.TrimSpace(s[from:]); t != "" {
		out = append(out, t)
	}
	return out
}
