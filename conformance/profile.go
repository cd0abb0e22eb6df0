package conformance

import (
	"bufio"
	"embed"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

//go:embed profiles/*.profile
var profiles embed.FS

// Profile declares what a server can do, how it calls the reference tables, and how to reach it. A server is asked nothing that its profile does
// not declare.
type Profile struct {
	Name         string
	Capabilities map[string]bool
	Probe        bool     // reference tables that are not there make their cases be skipped; otherwise they fail
	Names, Texts []Rename // how the server calls catalog lake and its tables; other text in expected values
	Paths        []Path   // how statements travel; none: every way
	Skip         []Skip
	User         string // to log in as
	TLSRoots     string // a file of certificates that sign the server's
}

// Skip leaves out cases, with the reason.
type Skip struct{ Pattern, Reason string } // Pattern: SCRIPT/CASE with *

// Can reports whether the server has a capability.
func (p *Profile) Can(capability string) bool { return p.Capabilities[capability] }

// Reference is the profile of a server that has every capability.
func Reference() *Profile {
	p := &Profile{Name: "reference", Capabilities: map[string]bool{}}
	for c := range capabilities {
		p.Capabilities[c] = true
	}
	return p
}

// ProfileNames gives the profiles that are built in.
func ProfileNames() (out []string) {
	entries, err := profiles.ReadDir("profiles")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".profile"))
	}
	return out
}

// BuiltInProfile gives a profile by its name.
func BuiltInProfile(name string) (*Profile, error) {
	f, err := profiles.Open(path.Join("profiles", name+".profile"))
	if err != nil {
		return nil, fmt.Errorf("profile %s: there is none of this name; there are %s, or name a file", name, strings.Join(ProfileNames(), ", "))
	}
	defer f.Close()
	return ParseProfile(name, f)
}

// ParseProfile reads a profile, a line for each thing declared:
//
//	can CAPABILITY…              what the server can do; all stands for everything
//	cannot CAPABILITY…           taken off again
//	tables all | probe           whether every reference table is there, or cases of absent ones are skipped
//	rename FROM TO               catalog lake, or one of its namespaces or tables, is called otherwise
//	text FROM TO                 text in expected values is otherwise, such as the beginning of paths
//	path query | update | prepared | twice …
//	skip SCRIPT/CASE REASON      leaves cases out; * stands for anything
//	user NAME
//	tls-roots FILE
//
// Lines that begin with # are comments.
func ParseProfile(name string, r io.Reader) (*Profile, error) {
	p := &Profile{Name: name, Capabilities: map[string]bool{}}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		word, rest, _ := strings.Cut(text, " ")
		if err := p.declare(word, strings.TrimSpace(rest)); err != nil {
			return nil, fmt.Errorf("profile %s: line %d: %w", name, n, err)
		}
	}
	return p, lines.Err()
}

func (p *Profile) declare(word, rest string) error {
	words := strings.Fields(rest)
	switch word {
	case "can", "cannot":
		return p.set(words, word == "can")
	case "tables":
		if rest != "all" && rest != "probe" {
			return fmt.Errorf("tables: expected all or probe, not %q", rest)
		}
		p.Probe = rest == "probe"
	case "rename", "text":
		if len(words) != 2 {
			return fmt.Errorf("%s: expected FROM TO, not %q", word, rest)
		}
		list := &p.Names
		if word == "text" {
			list = &p.Texts
		}
		*list = append(*list, Rename{words[0], words[1]})
	case "path":
		for _, w := range words {
			if !slices.Contains(Paths(), Path(w)) {
				return fmt.Errorf("path: %q is no way for a statement", w)
			}
			p.Paths = append(p.Paths, Path(w))
		}
	case "skip":
		pattern, reason, _ := strings.Cut(rest, " ")
		if _, err := path.Match(pattern, ""); err != nil || reason == "" {
			return fmt.Errorf("skip: expected SCRIPT/CASE and the reason, not %q", rest)
		}
		p.Skip = append(p.Skip, Skip{pattern, reason})
	case "user":
		p.User = rest
	case "tls-roots":
		p.TLSRoots = rest
	default:
		return fmt.Errorf("%q is not known", word)
	}
	return nil
}

func (p *Profile) set(words []string, to bool) error {
	for _, w := range words {
		if w == "all" {
			for c := range capabilities {
				p.Capabilities[c] = to
			}
			continue
		}
		if _, ok := capabilities[w]; !ok {
			return fmt.Errorf("%q is no capability; there are %s", w, strings.Join(slices.Sorted(maps.Keys(capabilities)), ", "))
		}
		p.Capabilities[w] = to
	}
	return nil
}

// skips gives why a case is left out, or "".
func (p *Profile) skips(script string, c *Case, h Heading) string {
	name := strings.TrimSuffix(script, ".test") + "/" + c.Name
	for _, s := range p.Skip {
		if ok, _ := path.Match(s.Pattern, name); ok {
			return s.Reason
		}
	}
	var missing []string
	for _, need := range c.Needs(h) {
		if !p.Can(need) && !slices.Contains(lenient, need) {
			missing = append(missing, need)
		}
	}
	switch {
	case slices.Contains(missing, "tables"):
		return "the server is not declared to have the reference tables (tables)" // whatever else it lacks
	case slices.Contains(missing, "reads-only"):
		return "it holds a statement that would write, and the server is not declared to refuse that (reads-only)"
	case len(missing) > 0:
		return "the server is not declared to have " + strings.Join(missing, ", ")
	}
	return ""
}
