package server

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

// Setting is one configured key with the place that set it.
type Setting struct {
	Key, Value string
	Source     string   // "--conf", "SKUA_CONF:2", "environment", "/etc/skua/spark-defaults.conf:7"
	Overrides  []string // the places whose value for the key lost, strongest first
	Secret     bool     // the value came through ${env:} or ${file:}: it is never shown
}

// Shown is the value as it may be shown.
func (s Setting) Shown() string {
	if s.Secret {
		return session.Redacted
	}
	return session.Redact(s.Key, s.Value)
}

// Settings are the start-up configuration: every key once, each with its origin.
type Settings struct {
	byKey    map[string]*Setting
	Warnings []string // about how settings were given, such as a secret on the command line
}

// Given says where settings come from. Precedence, highest first: Flags (--conf), Environment, File. Within one place the last wins.
type Given struct {
	File        string            // a properties file in spark-defaults.conf's format; empty: none
	Environment []string          // as os.Environ gives it: SKUA_CONF holds a properties text, and a variable named like a key (skua.…, spark.…) is that key
	Flags       []string          // key=value
	Defaults    map[string]string // below everything, with the source "default": what a flag such as --demo implies
}

// Load reads and merges the places. ${env:NAME} and ${file:PATH} inside a value are replaced, so that a secret need not stand in the file.
func Load(given Given) (*Settings, error) {
	s := &Settings{byKey: map[string]*Setting{}}
	for _, k := range slices.Sorted(maps.Keys(given.Defaults)) {
		s.set(k, given.Defaults[k], "default")
	}
	if given.File != "" {
		if err := s.loadFile(given.File); err != nil {
			return nil, err
		}
	}
	if err := s.loadEnvironment(given.Environment); err != nil {
		return nil, err
	}
	for _, f := range given.Flags {
		key, value, ok := strings.Cut(f, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return nil, fault.New(fault.Invalid, "--conf %s: expected key=value", flagKey(f))
		}
		value = strings.TrimSpace(value)
		if session.Redact(key, value) != value && !strings.HasPrefix(value, "${") {
			s.Warnings = append(s.Warnings, fmt.Sprintf("--conf %s: a secret on the command line is visible in the process list; put it into the properties file or write ${env:NAME}", key))
		}
		s.set(key, value, "--conf")
	}
	return s, s.expand(given.Environment)
}

// flagKey is what can be shown of a malformed flag: what may be its key. The rest may be a secret.
func flagKey(f string) string {
	end := strings.IndexFunc(f, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
	})
	if end < 0 || end > 80 {
		end = min(len(f), 80)
	}
	if end == len(f) {
		return f
	}
	return strings.ToValidUTF8(f[:end], "") + "…"
}

func (s *Settings) loadFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fault.New(fault.NotFound, "read the properties file: %w", err)
	}
	defer f.Close()
	properties, err := parseProperties(f, path)
	if err != nil {
		return err
	}
	for _, p := range properties {
		s.set(p.key, p.value, fmt.Sprintf("%s:%d", path, p.line))
	}
	return nil
}

func (s *Settings) loadEnvironment(environment []string) error {
	for _, e := range slices.Sorted(slices.Values(environment)) {
		name, value, _ := strings.Cut(e, "=")
		switch {
		case name == "SKUA_CONF":
			properties, err := parseProperties(strings.NewReader(value), name)
			if err != nil {
				return err
			}
			for _, p := range properties {
				s.set(p.key, p.value, fmt.Sprintf("%s:%d", name, p.line))
			}
		case strings.HasPrefix(name, "skua."), strings.HasPrefix(name, "spark."):
			s.set(name, strings.TrimSpace(value), "environment")
		}
	}
	return nil
}

func (s *Settings) set(key, value, source string) {
	next := &Setting{Key: key, Value: value, Source: source}
	if old := s.byKey[key]; old != nil {
		next.Overrides = append([]string{old.Source}, old.Overrides...)
	}
	s.byKey[key] = next
}

// expand replaces ${env:NAME} and ${file:PATH}. Other ${…} stay as they are: Spark's own substitutions mean nothing here.
func (s *Settings) expand(environment []string) error {
	env := map[string]string{}
	for _, e := range environment {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	for _, setting := range s.byKey {
		value, err := expandValue(setting.Value, env)
		if err != nil {
			return fault.New(fault.Invalid, "%s (%s): %w", setting.Key, setting.Source, err)
		}
		setting.Secret = value != setting.Value
		setting.Value = value
	}
	return nil
}

func expandValue(value string, env map[string]string) (string, error) {
	var b strings.Builder
	for {
		start := strings.Index(value, "${")
		if start < 0 {
			break
		}
		length := strings.IndexByte(value[start:], '}')
		if length < 0 {
			break
		}
		b.WriteString(value[:start])
		reference := value[start+2 : start+length]
		value = value[start+length+1:]
		kind, name, _ := strings.Cut(reference, ":")
		switch kind {
		case "env":
			v, ok := env[name]
			if !ok {
				return "", fmt.Errorf("the environment variable %s is not set", name)
			}
			b.WriteString(v)
		case "file":
			data, err := os.ReadFile(name)
			if err != nil {
				return "", err
			}
			b.WriteString(strings.TrimRight(string(data), "\r\n"))
		default:
			b.WriteString("${" + reference + "}")
		}
	}
	b.WriteString(value)
	return b.String(), nil
}

// Get gives a key's value.
func (s *Settings) Get(key string) (string, bool) {
	if setting, ok := s.byKey[key]; ok {
		return setting.Value, true
	}
	return "", false
}

// All gives every setting, sorted by key.
func (s *Settings) All() []Setting {
	out := make([]Setting, 0, len(s.byKey))
	for _, k := range slices.Sorted(maps.Keys(s.byKey)) {
		out = append(out, *s.byKey[k])
	}
	return out
}

// Conf gives the settings as the start-up configuration that sessions see: without secrets, which no statement needs.
func (s *Settings) Conf() session.Conf {
	var c session.Conf
	for _, setting := range s.byKey {
		c = c.With(setting.Key, setting.Shown())
	}
	return c
}
