package plugins

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/skua-data/skua/fault"
)

// redacted stands where a secret stood.
const redacted = "[redacted]"

// secretKey matches the keys of properties whose values are secret; plainKey those among them that only say how a secret is used; pairKey those
// whose value is id:secret.
var (
	secretKey = regexp.MustCompile(`(?i)secret|passw|passphrase|pwd|token|credential|access[-_.]?key|shared[-_.]?key|private[-_.]?key|account[-_.]?key|` +
		`api[-_.]?key|json[-_.]?key|connection[-_.]?string|authorization|signature|jaas|(^|[-_.])sas([-_.]|$)`)
	pairKey  = regexp.MustCompile(`(?i)credential$`)
	plainKey = regexp.MustCompile(`(?i)[-_.](enabled|uri|url|endpoint|provider|class|impl|type|ms|seconds|at|in|region|file|path|name)$`)
)

// Patterns of secrets that are told by their surroundings: the password of a URL, a query parameter, a header.
var (
	userInfo   = regexp.MustCompile(`(://)[^\s/:@?#'"]*:[^\s/'"]*@`)
	thinDriver = regexp.MustCompile(`(?i)(jdbc:oracle:[a-z0-9]+:)[^\s/@]+/[^\s@]+@`)
	parameter  = regexp.MustCompile(`(?i)([?&;,{\s](?:[a-z0-9_.-]*(?:password|passwd|pwd|secret|token|access[-_]?key|account[-_]?key|shared[-_]?access[-_]?signature|` +
		`signature|x-amz-credential)|sig)=)[^&;,\s"'}]+`)
	header = regexp.MustCompile(`(?i)(authorization["']?\s*[:=]\s*\[?["']?(?:(?:bearer|basic)\s+)?|\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}`)
)

// parts of a value that are secret by themselves.
var (
	assigned = regexp.MustCompile(`(?i)(?:password|passwd|pwd|secret|token|access[-_ ]?key|account[-_ ]?key|signature|sig)\s*=\s*"?([^;&,\s"]+)`)
	inURL    = regexp.MustCompile(`://[^\s/:@?#]*:([^\s/]+)@`)
)

// Redactor takes secrets out of texts: the values of properties whose keys look secret, in the spellings in which libraries repeat them, and what URLs, query
// parameters and authorization headers show. The nil Redactor knows no properties. It is immutable.
type Redactor struct {
	long  *strings.Replacer // replaced wherever they occur
	short []*regexp.Regexp  // replaced as whole words only
}

// shortSecret is the length below which a secret is replaced as a whole word only: replacing each "a" protects nothing.
const shortSecret = 5

// NewRedactor collects the secrets of a catalog's properties.
func NewRedactor(properties map[string]string) *Redactor {
	found := map[string]bool{}
	for key, value := range properties {
		for _, secret := range secretsOf(key, value) {
			for _, spelling := range spellings(secret) {
				found[spelling] = true
			}
		}
	}
	var all []string
	for secret := range found {
		all = append(all, secret)
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) }) // a secret that contains another goes first
	out := &Redactor{}
	var pairs []string
	for _, secret := range all {
		if len(secret) < shortSecret {
			out.short = append(out.short, regexp.MustCompile(`(^|[^\pL\pN])`+regexp.QuoteMeta(secret)+`($|[^\pL\pN])`))
			continue
		}
		pairs = append(pairs, secret, redacted)
	}
	if len(pairs) > 0 {
		out.long = strings.NewReplacer(pairs...)
	}
	return out
}

// secretsOf gives what is secret in a property: the whole value, or the part of a location that is.
func secretsOf(key, value string) []string {
	var out []string
	if secretKey.MatchString(key) && !plainKey.MatchString(key) {
		out = append(out, value)
		if _, secret, found := strings.Cut(value, ":"); found && pairKey.MatchString(key) {
			out = append(out, secret)
		}
	}
	for _, pattern := range []*regexp.Regexp{assigned, inURL} {
		for _, match := range pattern.FindAllStringSubmatch(value, -1) {
			out = append(out, match[1])
		}
	}
	return out
}

// spellings gives a secret as it is, as URLs escape it, and as quoting escapes it.
func spellings(secret string) []string {
	var out []string
	for _, base := range []string{secret, strings.TrimSpace(secret)} {
		quoted := strconv.Quote(base)
		unescaped, err := url.QueryUnescape(base)
		if err != nil {
			unescaped = base
		}
		out = append(out, base, url.QueryEscape(base), url.PathEscape(base), quoted[1:len(quoted)-1], unescaped)
	}
	return slices.DeleteFunc(out, func(s string) bool { return strings.TrimSpace(s) == "" })
}

// String gives s without secrets.
func (r *Redactor) String(s string) string {
	if r != nil && r.long != nil {
		s = r.long.Replace(s)
	}
	s = userInfo.ReplaceAllString(s, "${1}"+redacted+"@")
	// The others begin with any letter, and are slow where their words do not occur.
	lower := strings.ToLower(s)
	if strings.Contains(lower, "jdbc:oracle:") {
		s = thinDriver.ReplaceAllString(s, "${1}"+redacted+"@")
	}
	if strings.Contains(lower, "=") {
		s = parameter.ReplaceAllString(s, "${1}"+redacted)
	}
	if strings.Contains(lower, "authorization") || strings.Contains(lower, "bearer") {
		s = header.ReplaceAllString(s, "${1}"+redacted)
	}
	if r != nil {
		for _, word := range r.short {
			s = replaceWords(word, s)
		}
	}
	return s
}

// replaceWords replaces neighbours too: a match takes the letter between two words, so the second is found in another round.
func replaceWords(word *regexp.Regexp, s string) string {
	for range 2 {
		s = word.ReplaceAllString(s, "${1}"+redacted+"${2}")
	}
	return s
}

// Error gives err without secrets: its kind, condition, position and texts stay, its chain is cut, since a cause could still tell. What is kept of the chain is
// whether the caller's context ended and whether the connection broke. A nil err stays nil.
func (r *Redactor) Error(err error) error {
	if err == nil {
		return nil
	}
	out := &fault.Error{Kind: fault.KindOf(err), Message: r.String(err.Error())}
	var carried *fault.Error
	if errors.As(err, &carried) {
		out.Condition, out.SQLState, out.Position = carried.Condition, carried.SQLState, carried.Position
		out.Object, out.Setting = r.String(carried.Object), r.String(carried.Setting)
	}
	if direct, ok := err.(*fault.Error); ok {
		out.Message = r.String(direct.Message)
	}
	for _, kept := range []error{context.Canceled, context.DeadlineExceeded, ErrDisconnected} {
		if errors.Is(err, kept) {
			out.Cause = kept
		}
	}
	return out
}
