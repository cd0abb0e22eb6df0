package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/skua-data/skua/fault"
)

// property is one key of a properties text and the line it began on.
type property struct {
	key, value string
	line       int
}

// maxLine bounds a logical line of a properties file.
const maxLine = 1 << 20

// parseProperties reads the format of spark-defaults.conf, which is that of java.util.Properties: comments after # or !, a key ended by white
// space, = or :, backslash escapes, lines continued by a last backslash. Values lose white space at both ends, as Spark trims them.
func parseProperties(r io.Reader, name string) ([]property, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxLine)
	var out []property
	line := 0
	for in.Scan() {
		line++
		first, text := line, strings.TrimLeft(in.Text(), " \t\f\r")
		if first == 1 {
			text = strings.TrimLeft(strings.TrimPrefix(text, "\ufeff"), " \t\f")
		}
		if text == "" || text[0] == '#' || text[0] == '!' {
			continue
		}
		var whole strings.Builder
		for continued(text) && whole.Len() <= maxLine {
			whole.WriteString(strings.TrimSuffix(text, "\\"))
			if text = ""; in.Scan() {
				line++
				text = strings.TrimLeft(in.Text(), " \t\f")
			}
		}
		if whole.WriteString(text); whole.Len() > maxLine {
			return nil, fault.New(fault.Invalid, "%s:%d: line longer than %d bytes", name, first, maxLine)
		}
		p, err := splitProperty(whole.String())
		if err != nil {
			return nil, fault.New(fault.Invalid, "%s:%d: %s", name, first, err.Error())
		}
		p.line = first
		out = append(out, p)
	}
	if err := in.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fault.New(fault.Invalid, "%s:%d: line longer than %d bytes", name, line+1, maxLine)
	} else if err != nil {
		return nil, fault.New(fault.Invalid, "read %s: %w", name, err)
	}
	return out, nil
}

// continued reports whether a line ends in an odd number of backslashes.
func continued(text string) bool {
	n := len(text) - len(strings.TrimRight(text, "\\"))
	return n%2 == 1
}

func splitProperty(text string) (property, error) {
	end := len(text)
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			i++
			continue
		}
		if strings.IndexByte(" \t\f=:", text[i]) >= 0 {
			end = i
			break
		}
	}
	rest := strings.TrimLeft(text[end:], " \t\f")
	if rest != "" && (rest[0] == '=' || rest[0] == ':') {
		rest = rest[1:]
	}
	key, err := unescape(text[:end])
	if err != nil {
		return property{}, err
	}
	value, err := unescape(rest)
	if err != nil {
		return property{}, err
	}
	if key == "" {
		return property{}, fmt.Errorf("a value without a key")
	}
	return property{key: key, value: strings.TrimSpace(value)}, nil
}

func unescape(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", fmt.Errorf("not valid UTF-8")
	}
	if !strings.Contains(text, `\`) {
		return text, nil
	}
	var units []uint16 // \uD83D\uDE00 is one character in two escapes
	var b strings.Builder
	flush := func() {
		b.WriteString(string(utf16.Decode(units)))
		units = units[:0]
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			flush()
			b.WriteByte(text[i])
			continue
		}
		i++
		if text[i] == 'u' {
			if i+5 > len(text) {
				return "", fmt.Errorf(`\u needs four hexadecimal digits`)
			}
			n, err := strconv.ParseUint(text[i+1:i+5], 16, 16)
			if err != nil {
				return "", fmt.Errorf(`\u needs four hexadecimal digits`)
			}
			units = append(units, uint16(n))
			i += 4
			continue
		}
		flush()
		b.WriteByte(escapes(text[i]))
	}
	flush()
	return b.String(), nil
}

func escapes(c byte) byte {
	switch c {
	case 't':
		return '\t'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 'f':
		return '\f'
	}
	return c
}
