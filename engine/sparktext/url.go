package sparktext

import (
	"net/netip"
	"strings"
	"unicode"
)

// URL is a reference as RFC 2396 has it, with the deviations of Java's class URI. What a text does not have is nil.
type URL struct {
	Scheme, Authority, UserInfo, Host, Path, Query, Fragment *string
}

// Characters besides letters and digits that parts of a reference may have; all but schemes and hosts may have escapes and characters that are not ASCII, too.
const (
	urlMarks    = "_-!.~'()*"
	urlUserInfo = urlMarks + ";:&=+$,"
	urlPath     = urlMarks + ":@&=+$,;/"
	urlAny      = urlMarks + ";/?:@&=+$,[]"
	urlRegistry = urlMarks + "$,;:@&=+"
	urlServer   = urlUserInfo + "@[]%"
)

// ParseURL reads a reference; false: it is none.
func ParseURL(text string) (u URL, ok bool) {
	rest, fragment, has := strings.Cut(text, "#")
	if has {
		u.Fragment = &fragment
		if !urlOf(fragment, urlAny) {
			return u, false
		}
	}
	if at := strings.IndexAny(rest, ":/?"); at >= 0 && rest[at] == ':' {
		scheme := rest[:at]
		if !isScheme(scheme) {
			return u, false
		}
		if u.Scheme, rest = &scheme, rest[at+1:]; rest == "" {
			return u, false
		}
		if rest[0] != '/' {
			return u, urlOf(rest, urlAny)
		}
	}
	rest, query, has := strings.Cut(rest, "?")
	if has {
		u.Query = &query
		if !urlOf(query, urlAny) {
			return u, false
		}
	}
	if authority, behind := strings.CutPrefix(rest, "//"); behind {
		rest = ""
		if at := strings.IndexByte(authority, '/'); at >= 0 {
			authority, rest = authority[:at], authority[at:]
		}
		if authority == "" && rest == "" && u.Query == nil && u.Fragment == nil || authority != "" && !u.authority(authority) {
			return u, false
		}
	}
	u.Path = &rest
	return u, urlOf(rest, urlPath)
}

func isScheme(s string) bool {
	for i, c := range []byte(s) {
		if !alpha(c) && (i == 0 || !digit(c) && strings.IndexByte("+-.", c) < 0) {
			return false
		}
	}
	return s != ""
}

func alpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool { return c >= '0' && c <= '9' }

// urlOf reports whether a part has no other characters than it may have.
func urlOf(part, marks string) bool {
	for i, c := range part {
		switch {
		case c == '%' && strings.IndexByte(marks, '%') < 0:
			if i+2 >= len(part) || !hexDigit(part[i+1]) || !hexDigit(part[i+2]) {
				return false
			}
		case c > 0x7F:
			if c == unicode.ReplacementChar || unicode.Is(unicode.Z, c) || unicode.IsControl(c) {
				return false
			}
		case !alpha(byte(c)) && !digit(byte(c)) && !strings.ContainsRune(marks, c):
			return false
		}
	}
	return true
}

func hexDigit(c byte) bool { return digit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// authority reads a server, or a name that is none.
func (u *URL) authority(text string) bool {
	if urlOf(text, urlServer) && u.server(text) {
		u.Authority = &text
		return true
	}
	u.UserInfo, u.Host = nil, nil
	u.Authority = &text
	return urlOf(text, urlRegistry)
}

// server reads [user@]host[:port].
func (u *URL) server(text string) bool {
	if user, rest, has := strings.Cut(text, "@"); has {
		if !urlOf(user, urlUserInfo) {
			return false
		}
		u.UserInfo, text = &user, rest
	}
	host, port := text, ""
	if strings.HasPrefix(text, "[") {
		end := strings.IndexByte(text, ']')
		if end < 0 {
			return false
		}
		address, err := netip.ParseAddr(text[1:end])
		if err != nil || !address.Is6() {
			return false
		}
		host, port = text[:end+1], text[end+1:]
	} else if at := strings.IndexByte(text, ':'); at >= 0 {
		host, port = text[:at], text[at:]
	}
	if host == "" || host[0] != '[' && !isHost(host) || port != "" && (port[0] != ':' || !allDigits(port[1:])) {
		return false
	}
	u.Host = &host
	return true
}

// maxPort is how many digits any number of a port has at most.
const maxPort = 9

func allDigits(s string) bool { return strings.Trim(s, "0123456789") == "" && len(s) <= maxPort }

// isHost reports whether a text is a name of labels, the last of several of which begins with a letter, or an address of four numbers.
func isHost(s string) bool {
	if address, err := netip.ParseAddr(s); err == nil {
		return address.Is4()
	}
	labels := strings.Split(strings.TrimSuffix(s, "."), ".")
	for _, l := range labels {
		if l == "" || l[0] == '-' || l[len(l)-1] == '-' {
			return false
		}
		for _, c := range []byte(l) {
			if !alpha(c) && !digit(c) && c != '-' {
				return false
			}
		}
	}
	return len(labels) == 1 || alpha(labels[len(labels)-1][0])
}

// Part gives a part of a reference by Spark's name of it; nil: it has none.
func (u URL) Part(name string) *string {
	switch name {
	case "HOST":
		return u.Host
	case "PATH":
		return u.Path
	case "QUERY":
		return u.Query
	case "REF":
		return u.Fragment
	case "PROTOCOL":
		return u.Scheme
	case "AUTHORITY":
		return u.Authority
	case "USERINFO":
		return u.UserInfo
	case "FILE":
		if u.Path == nil || u.Query == nil {
			return u.Path
		}
		file := *u.Path + "?" + *u.Query
		return &file
	}
	return nil
}
