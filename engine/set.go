package engine

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine/syntax"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

var keyValue = columns(text("key"), text("value"))

const undefined = "<undefined>"

// A key is bare (letters, digits and _ . : \ -) or in back quotes, and so may be a value that holds a semicolon.
var (
	bareKey    = regexp.MustCompile(`^[A-Za-z0-9_.:\\-]+$`)
	quotedText = regexp.MustCompile("^`((?:[^`]|``)*)`")
	assignment = regexp.MustCompile("(?s)^(`(?:[^`]|``)*`|[A-Za-z0-9_.:\\\\-]+)\\s*=(.*)$")
)

// parseSet reads SET, SET -v, SET k, SET k=v and SET TIME ZONE.
func parseSet(p *syntax.Parser) (*command, error) {
	if p.Keyword("TIME", "ZONE") {
		return parseTimeZone(p)
	}
	if p.Keyword("VAR") || p.Keyword("VARIABLE") {
		return parseSetVariable(p)
	}
	raw := p.Raw()
	if p.End() != nil {
		return nil, setSyntax()
	}
	if raw == "" {
		return showSettings(), nil
	}
	if strings.EqualFold(raw, "-v") {
		return showRegistered(), nil
	}
	if m := assignment.FindStringSubmatch(raw); m != nil {
		key, _ := unquoteKey(m[1])
		return setOption(key, setValue(m[2])), nil
	}
	key, ok := unquoteKey(raw)
	if !ok {
		return nil, setSyntax()
	}
	return showSetting(key), nil
}

func setSyntax() error {
	return fault.New(fault.Invalid, "Expected format is 'SET', 'SET key', or 'SET key=value'. If you want to include special characters in key, or include semicolon in value, please use backquotes, e.g., SET `key`=`value`.").
		With("INVALID_SET_SYNTAX", "42000")
}

// unquoteKey gives the key that a whole text spells.
func unquoteKey(raw string) (string, bool) {
	if m := quotedText.FindStringSubmatch(raw); m != nil && len(m[0]) == len(raw) {
		return strings.ReplaceAll(m[1], "``", "`"), m[1] != ""
	}
	return raw, bareKey.MatchString(raw)
}

func setValue(raw string) string {
	raw = strings.TrimSpace(raw)
	if m := quotedText.FindStringSubmatch(raw); m != nil && len(m[0]) == len(raw) {
		return strings.ReplaceAll(m[1], "``", "`")
	}
	return raw
}

func setOption(key, value string) *command {
	return &command{name: "SET", update: true, columns: keyValue, run: func(_ context.Context, s *statement) ([]row, error) {
		return []row{{key, value}}, s.engine.SetOption(s.session, key, value)
	}}
}

func showSetting(key string) *command {
	return &command{name: "SET", moment: true, columns: keyValue, run: func(_ context.Context, s *statement) ([]row, error) {
		state := s.session.State()
		value, ok := state.Get(key)
		if option, known := session.Lookup(key); !ok && known && !strings.HasSuffix(option.Key, "*") {
			value, ok = option.Default, option.Default != ""
		}
		if !ok {
			return []row{{key, undefined}}, nil
		}
		return []row{{key, session.Redact(key, value)}}, nil
	}}
}

func showSettings() *command {
	return &command{name: "SET", moment: true, columns: keyValue, run: func(_ context.Context, s *statement) ([]row, error) {
		var rows []row
		for k, v := range s.session.State().All().All() {
			rows = append(rows, row{k, session.Redact(k, v)})
		}
		return rows, nil
	}}
}

var registered = columns(text("key"), text("value"), text("meaning"), text("Since version"))

func showRegistered() *command {
	return &command{name: "SET -v", moment: true, columns: registered, run: func(_ context.Context, s *statement) ([]row, error) {
		state := s.session.State()
		var rows []row
		for _, o := range session.Options() {
			if strings.HasSuffix(o.Key, "*") {
				continue
			}
			value, ok := state.Get(o.Key)
			if !ok {
				value = o.Default
			}
			if value == "" && !ok {
				value = undefined
			}
			rows = append(rows, row{o.Key, session.Redact(o.Key, value), o.Doc, "<unknown>"})
		}
		slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a[0].(string), b[0].(string)) })
		return rows, nil
	}}
}

// parseTimeZone reads what follows SET TIME ZONE: a string, LOCAL, or an interval of hours, minutes and seconds.
func parseTimeZone(p *syntax.Parser) (*command, error) {
	if p.Keyword("LOCAL") {
		return setOption(timeZoneKey, localZone()), p.End()
	}
	if p.Keyword("INTERVAL") {
		zone, err := intervalZone(strings.Fields(strings.ToUpper(strings.ReplaceAll(p.Raw(), "'", ""))))
		if err != nil {
			return nil, err
		}
		return setOption(timeZoneKey, zone), p.End()
	}
	zone, err := p.String()
	if err != nil {
		return nil, zoneDisplacement()
	}
	return setOption(timeZoneKey, zone), p.End()
}

func zoneDisplacement() error {
	return fault.New(fault.Invalid, "Invalid time zone displacement value.").With("_LEGACY_ERROR_TEMP_0045", "")
}

// localZone is the server's own zone by name; a zone without one (Go calls it Local) counts as UTC.
func localZone() string {
	if name := time.Local.String(); name != "Local" {
		return name
	}
	return "UTC"
}

// intervalZone turns 2 HOURS 30 MINUTES into +02:30.
func intervalZone(words []string) (string, error) {
	units := map[string]int{"HOUR": 3600, "MINUTE": 60, "SECOND": 1}
	total := 0
	if len(words) == 0 || len(words)%2 != 0 {
		return "", zoneDisplacement()
	}
	for i := 0; i < len(words); i += 2 {
		n, err := strconv.Atoi(words[i])
		unit, ok := units[strings.TrimSuffix(words[i+1], "S")]
		if err != nil || !ok || n > 1<<20 || n < -1<<20 {
			return "", zoneDisplacement()
		}
		total += n * unit
	}
	sign := "+"
	if total < 0 {
		sign, total = "-", -total
	}
	if total > 18*3600 {
		return "", zoneDisplacement()
	}
	at := time.Time{}.Add(time.Duration(total) * time.Second)
	if total%60 != 0 {
		return sign + at.Format("15:04:05"), nil
	}
	return sign + at.Format("15:04"), nil
}

// SetOption sets a key for a session: what SET and a driver's session options do. A key of the operator's is refused, and so are a value
// that the key's type does not hold and an unknown key inside skua.*; any other unknown key is kept.
func (e *Engine) SetOption(s *session.Session, key, value string) error {
	option, err := e.settable(key)
	if err != nil {
		return err
	}
	if err := session.Validate(option, value); err != nil {
		return invalid(err)
	}
	return s.Update(func(st session.State) (session.State, error) {
		st.Conf = st.Conf.With(key, value)
		if limit := settingsLimit(st); st.Conf.Bytes() > limit {
			return st, fault.New(fault.Exhausted, "the settings of a session take at most %d bytes", limit).Change(session.SettingsSize)
		}
		return st, nil
	})
}

// settingsLimit is how many bytes a session's own settings may take. The server checked the option's value at its start.
func settingsLimit(st session.State) int64 {
	text, set := st.Startup.Get(session.SettingsSize)
	if !set {
		option, _ := session.Lookup(session.SettingsSize)
		text = option.Default
	}
	limit, err := session.ParseBytes(text)
	if err != nil {
		return 0
	}
	return limit
}

// settable checks that a client may set or unset a key, and gives its option; the zero Option holds free text.
func (e *Engine) settable(key string) (session.Option, error) {
	option, known := session.Lookup(key)
	switch {
	case known && option.Scope == session.Startup:
		return option, fault.New(fault.Denied, "Cannot modify the value of the Spark config: \"%s\". It is set where the server is started.", key).
			With("CANNOT_MODIFY_CONFIG", "46110")
	case !known && !session.Known(key):
		return option, fault.New(fault.Invalid, "unknown option %s%s", key, nearestOption(key)).In(key)
	case known:
		if !strings.HasSuffix(option.Key, "*") {
			return option, nil
		}
		option.Key = key
		return option, nil
	}
	return session.Option{Key: key, Type: session.String}, nil
}

func nearestOption(key string) string {
	var known []string
	for _, o := range session.Options() {
		known = append(known, strings.TrimSuffix(o.Key, "*"))
	}
	if near := catalogs.Nearest(key, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}
