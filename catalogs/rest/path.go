package rest

import (
	"net/url"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

// defaultSeparator stands between a namespace's levels, as the protocol says.
const defaultSeparator = "\x1f"

// separatorOf reads namespace-separator, which is escaped as in a URL.
func separatorOf(p iceberg.Properties) string {
	if text := p["namespace-separator"]; text != "" {
		if plain, err := url.PathUnescape(text); err == nil {
			return plain
		}
		return text
	}
	return defaultSeparator
}

// segment escapes a name as one segment of a path; services decode plus signs, so they are escaped too.
func segment(name string) string { return strings.ReplaceAll(url.QueryEscape(name), "+", "%20") }

// escapePrefix escapes what may not stand in a path and leaves what is escaped already: some services escape their prefix, others do not.
func escapePrefix(prefix string) string {
	const plain = "-._~!$&'()*+,;=:@/"
	var b strings.Builder
	for i := 0; i < len(prefix); i++ {
		c := prefix[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		escaped := c == '%' && i+2 < len(prefix) && strings.Trim(prefix[i+1:i+3], "0123456789abcdefABCDEF") == ""
		if letter || escaped || strings.IndexByte(plain, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteString(segment(string(c)))
	}
	return b.String()
}

// namespace is the path of a namespace.
func (s *session) namespace(ns table.Identifier) string {
	levels := make([]string, len(ns))
	for i, level := range ns {
		levels[i] = segment(level)
	}
	return s.prefix + "namespaces/" + strings.Join(levels, segment(s.separator))
}

// child is the path of a table or view; kind is tables or views.
func (s *session) child(kind string, id table.Identifier) string {
	last := len(id) - 1
	return s.namespace(id[:last]) + "/" + kind + "/" + segment(id[last])
}

// maxName bounds a name, since it travels in a URL.
const maxName = 2000

// sound reports whether names can be put into a path so that a service takes them for what they are.
func sound(id table.Identifier) bool {
	if len(id) == 0 {
		return false
	}
	for _, name := range id {
		if name == "" || name == "." || name == ".." || len(name) > maxName || strings.ContainsAny(name, "\x00"+defaultSeparator) {
			return false
		}
	}
	return true
}
