package host

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skua-data/skua/plugins"
)

const (
	maxLine = 64 << 10 // bytes of a log line; the rest is dropped
	maxTail = 1 << 10  // bytes of output that an error repeats
)

// output reads what a plugin prints, line by line: into the server's log, and the last of it kept for an error. It never fails and is safe for concurrent
// use.
type output struct {
	log    *slog.Logger
	redact *plugins.Redactor

	mu       sync.Mutex
	line     []byte
	crashing bool // everything after "panic:" is its stack
	tail     string
	budget   budget
}

// Write implements io.Writer. A plugin that prints too much is read slowly, so that it waits instead of this process.
func (o *output) Write(p []byte) (int, error) {
	time.Sleep(o.take(p))
	return len(p), nil
}

// take logs what the budget allows, and says how long to wait before more is read.
func (o *output) take(p []byte) (wait time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for rest := p; len(rest) > 0; {
		piece, after, whole := bytes.Cut(rest, []byte{'\n'})
		o.line = append(o.line, piece[:min(len(piece), maxLine-len(o.line))]...)
		if whole {
			o.emit(strings.TrimRight(string(o.line), "\r"))
			o.line = o.line[:0]
		}
		rest = after
	}
	return o.budget.slow(len(p))
}

// last gives the end of what was printed, without secrets.
func (o *output) last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.TrimSpace(o.tail)
}

// emit logs a line: a record of slog's or hclog's JSON form at its level, anything else as it is.
func (o *output) emit(line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	switch allowed, dropped := o.budget.spend(len(line)); {
	case !allowed:
		return
	case dropped > 0:
		o.log.Warn("the plugin printed too much; some of its lines were left out", "lines", dropped)
	}
	var record map[string]any
	if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &record) == nil {
		if message, ok := record["@message"].(string); ok {
			o.record(message, record)
			return
		}
	}
	line = o.redact.String(line)
	o.remember(line)
	o.crashing = o.crashing || strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
	if o.crashing {
		o.log.Error(line)
		return
	}
	o.log.Info(line)
}

func (o *output) record(message string, record map[string]any) {
	level := slog.LevelInfo
	if name, ok := record["@level"].(string); ok {
		level = levelOf(name)
	}
	message = o.redact.String(message)
	var attrs []any
	said := message
	for _, key := range slices.Sorted(maps.Keys(record)) {
		if key == "@message" || key == "@level" || key == "@timestamp" {
			continue
		}
		value := o.redact.String(plain(record[key]))
		attrs = append(attrs, slog.String(o.redact.String(key), value))
		said += " " + value
	}
	if level >= slog.LevelWarn {
		o.remember(said)
	}
	switch {
	case level >= slog.LevelError:
		o.log.Error(message, attrs...)
	case level >= slog.LevelWarn:
		o.log.Warn(message, attrs...)
	case level >= slog.LevelInfo:
		o.log.Info(message, attrs...)
	default:
		o.log.Debug(message, attrs...)
	}
}

// plain spells a value of a record: a string as it is, anything else as JSON.
func plain(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}

// levelOf reads the level names of slog and of hclog.
func levelOf(name string) slog.Level {
	var level slog.Level
	if strings.EqualFold(name, "trace") {
		return slog.LevelDebug
	}
	if level.UnmarshalText([]byte(name)) != nil {
		return slog.LevelInfo
	}
	return level
}

func (o *output) remember(line string) {
	o.tail += line + "\n"
	if len(o.tail) > maxTail {
		o.tail = o.tail[len(o.tail)-maxTail:]
	}
}
