package session

// Scope says who may set an option.
type Scope uint8

// The scopes.
const (
	Startup    Scope = iota // the operator, at start; a client that tries is refused
	PerSession              // also a client, for its session
)

// Type is what an option's value must be.
type Type string

// The types, as docs/options.md prints them.
const (
	String   Type = "string"
	Bool     Type = "boolean"
	Int      Type = "int"      // 32 bits
	Long     Type = "long"     // 64 bits
	Bytes    Type = "bytes"    // a number, or one with k, m, g, t
	Duration Type = "duration" // 10s, 5m, 1h
	Enum     Type = "enum"     // Values
	Zone     Type = "timezone"
	Count    Type = "boolean or count"
)

// Option is a known setting. One table holds them all; SHOW, validation and docs/options.md follow from it.
type Option struct {
	Key     string // the key, or with a trailing * a family of keys
	Type    Type
	Values  []string // of an Enum
	Default string   // as text; empty: none
	Scope   Scope
	Members []string // of a family: what its members must end in; nil: anything
	Number  bool     // free text here that the scan takes for a whole number
	Effect  bool     // false: accepted without effect, and Doc says why
	Secret  bool     // its value is never shown
	Doc     string   // one or two sentences
}

// SettingsSize is the start-up option that bounds what a session's own settings take.
const SettingsSize = "skua.session.max-settings-size"
