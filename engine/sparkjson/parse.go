package sparkjson

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is what a value is.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Boolean
	Integer
	Float
	Text
	Array
	Object
)

// Value is a value of JSON.
type Value struct {
	Kind   Kind
	Text   string // of a text, what it says; of a number or a truth value, as it is written
	Names  []string
	Values []*Value // of an array or an object
}

// ErrMalformed says that a text is not JSON.
var ErrMalformed = errors.New("malformed JSON")

// maxDepth is how deep values may lie in each other.
const maxDepth = 1000

// Parse reads the first value of a text. Texts and names may stand in single quotes; NaN and Infinity are numbers where named asks for them.
func Parse(text string, named bool) (*Value, error) {
	p := &parser{text: text, named: named}
	v := p.value(0)
	if p.failed {
		return nil, ErrMalformed
	}
	return v, nil
}

type parser struct {
	text   string
	next   int
	named  bool
	failed bool
}

func (p *parser) fail() *Value {
	p.failed = true
	return nil
}

func (p *parser) space() {
	for p.next < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.next]) >= 0 {
		p.next++
	}
}

// mark reads a mark that comes next; false: another one does.
func (p *parser) mark(c byte) bool {
	p.space()
	if p.next < len(p.text) && p.text[p.next] == c {
		p.next++
		return true
	}
	return false
}

func (p *parser) value(depth int) *Value {
	p.space()
	if p.next >= len(p.text) || depth > maxDepth {
		return p.fail()
	}
	switch c := p.text[p.next]; {
	case c == '{':
		p.next++
		return p.object(depth)
	case c == '[':
		p.next++
		return p.array(depth)
	case c == '"' || c == '\'':
		return &Value{Kind: Text, Text: p.string()}
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	return p.word()
}

func (p *parser) object(depth int) *Value {
	v := &Value{Kind: Object}
	if p.mark('}') {
		return v
	}
	for !p.failed {
		if p.space(); p.next >= len(p.text) || p.text[p.next] != '"' && p.text[p.next] != '\'' {
			return p.fail()
		}
		v.Names = append(v.Names, p.string())
		if !p.mark(':') {
			return p.fail()
		}
		v.Values = append(v.Values, p.value(depth+1))
		if p.mark('}') {
			return v
		}
		if !p.mark(',') {
			return p.fail()
		}
	}
	return v
}

func (p *parser) array(depth int) *Value {
	v := &Value{Kind: Array}
	if p.mark(']') {
		return v
	}
	for !p.failed {
		v.Values = append(v.Values, p.value(depth+1))
		if p.mark(']') {
			return v
		}
		if !p.mark(',') {
			return p.fail()
		}
	}
	return v
}

// string reads a text in quotes.
func (p *parser) string() string {
	quote := p.text[p.next]
	var b strings.Builder
	for p.next++; p.next < len(p.text); p.next++ {
		switch c := p.text[p.next]; {
		case c == quote:
			p.next++
			return b.String()
		case c == '\\':
			p.next++
			p.escaped(&b)
			if p.failed {
				return ""
			}
		case c < ' ':
			p.fail()
			return ""
		default:
			b.WriteByte(c)
		}
	}
	p.fail()
	return ""
}

// escaped reads what is behind a backslash.
func (p *parser) escaped(b *strings.Builder) {
	if p.next >= len(p.text) {
		p.fail()
		return
	}
	c := p.text[p.next]
	if c == 'u' {
		b.WriteString(p.unicode())
		return
	}
	at := strings.IndexByte(`"\/'bfnrt`, c)
	if at < 0 {
		p.fail()
		return
	}
	b.WriteByte("\"\\/'\b\f\n\r\t"[at])
}

// unicode reads a code point, which may have two halves.
func (p *parser) unicode() string {
	high := p.hexadecimal()
	if high >= 0xD800 && high < 0xDC00 && strings.HasPrefix(p.text[min(p.next+1, len(p.text)):], `\u`) {
		before := p.next
		p.next += 2
		if low := p.hexadecimal(); low >= 0xDC00 && low < 0xE000 {
			return string(rune(0x10000 + (high-0xD800)<<10 + low - 0xDC00))
		}
		p.next = before
	}
	if high >= 0xD800 && high < 0xE000 {
		return "?"
	}
	return string(rune(high))
}

func (p *parser) hexadecimal() int {
	if p.next+4 >= len(p.text) {
		p.fail()
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(p.text[p.next+1:p.next+5], 16, 32)
	if err != nil {
		p.fail()
	}
	p.next += 4
	return int(n)
}

// number reads a number as it is written.
func (p *parser) number() *Value {
	from := p.next
	digits := func() bool {
		begin := p.next
		for p.next < len(p.text) && p.text[p.next] >= '0' && p.text[p.next] <= '9' {
			p.next++
		}
		return p.next > begin
	}
	if p.text[p.next] == '-' {
		p.next++
		if p.named && strings.HasPrefix(p.text[p.next:], "Infinity") {
			p.next += len("Infinity")
			return &Value{Kind: Float, Text: "-Infinity"}
		}
	}
	kind, whole := Integer, p.next
	if !digits() || p.text[whole] == '0' && p.next > whole+1 {
		return p.fail()
	}
	if p.next < len(p.text) && p.text[p.next] == '.' {
		kind = Float
		if p.next++; !digits() {
			return p.fail()
		}
	}
	if p.next < len(p.text) && (p.text[p.next] == 'e' || p.text[p.next] == 'E') {
		kind = Float
		if p.next++; p.next < len(p.text) && (p.text[p.next] == '+' || p.text[p.next] == '-') {
			p.next++
		}
		if !digits() {
			return p.fail()
		}
	}
	if p.next < len(p.text) && (isWord(p.text[p.next]) || p.text[p.next] == '.') {
		return p.fail()
	}
	return &Value{Kind: kind, Text: p.text[from:p.next]}
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= utf8.RuneSelf
}

// word reads true, false, null and the numbers that are words.
func (p *parser) word() *Value {
	from := p.next
	for p.next < len(p.text) && isWord(p.text[p.next]) {
		p.next++
	}
	switch word := p.text[from:p.next]; word {
	case "true", "false":
		return &Value{Kind: Boolean, Text: word}
	case "null":
		return &Value{}
	case "NaN", "Infinity", "INF":
		if p.named {
			return &Value{Kind: Float, Text: strings.Replace(word, "INF", "Infinity", 1)}
		}
	}
	return p.fail()
}
