package nessie

import (
	"net/url"
	"strings"

	"github.com/skua-data/skua/fault"
)

// defaultBranch is how paths spell the server's default branch.
const defaultBranch = "-"

// configured reads ref and ref.hash.
func configured(name string, p properties) (string, error) {
	out := p.get("ref")
	if out == "" {
		out = defaultBranch
	}
	if commit := p.get("ref.hash"); commit != "" {
		if !hash.MatchString(commit) {
			return "", fault.New(fault.Invalid, "a commit is 8 to 64 hexadecimal digits, not %q", commit).Change(key(name, "ref.hash"))
		}
		if out == defaultBranch {
			out = ""
		}
		out += "@" + commit
	}
	if strings.ContainsAny(out, "\x00 ?#") {
		return "", fault.New(fault.Invalid, "%q names no reference", out).Change(key(name, "ref"))
	}
	return out, nil
}

// referenceOf gives the reference of a load: a branch or a tag, one of them with @hash or #timestamp, or a commit alone; empty is the configured one.
func (c *catalog) referenceOf(said string) (string, error) {
	if said == "" {
		return c.reference, nil
	}
	if hash.MatchString(said) {
		return "@" + said, nil
	}
	if strings.HasPrefix(said, "@") {
		return said, nil
	}
	name, point, _ := strings.Cut(said, "#")
	return withPoint(name, point)
}

// withPoint adds a point in a reference's history, a commit or a time, to its name.
func withPoint(name, point string) (string, error) {
	switch {
	case point == "":
		return name, nil
	case hash.MatchString(point):
		return name + "@" + point, nil
	case len(point) >= 10 && point[4] == '-' && point[7] == '-':
		if len(point) == 10 {
			point += "T00:00:00Z"
		}
		point = strings.Replace(point, " ", "T", 1)
		if !strings.HasSuffix(point, "Z") && !strings.ContainsAny(point[10:], "+") {
			point += "Z"
		}
		return name + "*" + point, nil
	}
	return "", fault.New(fault.Invalid, "%q is neither a commit nor a time such as 2026-01-31T12:00:00Z", point)
}

// inName parts a table's name from the reference in it: name[@reference][#point]. Without a reference the point is one of the current reference.
func inName(written, current string) (name, reference string, err error) {
	rest, point, _ := strings.Cut(written, "#")
	name, reference, found := strings.Cut(rest, "@")
	if !found || reference == "" {
		reference, _, _ = strings.Cut(current, "@")
	}
	if name == "" {
		return "", "", fault.New(fault.Invalid, "%q names no table", written)
	}
	if point == "" && hash.MatchString(reference) {
		return name, "@" + reference, nil
	}
	if reference == "" {
		reference = defaultBranch
	}
	reference, err = withPoint(reference, point)
	return name, reference, err
}

// tree is the path of a reference; a branch's name may hold slashes.
func tree(reference string) string {
	return "/trees/" + strings.ReplaceAll(url.QueryEscape(reference), "+", "%20")
}
