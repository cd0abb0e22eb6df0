package sdk

import (
	"io"
	"log/slog"
	"strings"
)

// Option changes what Serve does. Of two of the same, the later counts.
type Option func(*settings)

// settings are what options set.
type settings struct {
	version string
	usage   string
	level   slog.Leveler
}

const defaultUsage = `This program is a catalog plugin of Skua: the server starts it, and it does nothing by hand.
Put it into the plugin folder and name it with spark.sql.catalog.<name>.catalog-impl.
`

func newSettings(opts []Option) *settings {
	out := &settings{usage: defaultUsage, level: slog.LevelInfo}
	for _, opt := range opts {
		opt(out)
	}
	return out
}

// WithVersion tells the plugin's version to the server, which logs it. The default is none.
func WithVersion(version string) Option { return func(s *settings) { s.version = version } }

// WithUsage sets what Serve prints when somebody starts the plugin by hand.
func WithUsage(usage string) Option { return func(s *settings) { s.usage = usage } }

// WithLogLevel sets the level below which log lines stay in the plugin. The default is slog.LevelInfo; the server's own level applies on top.
func WithLogLevel(level slog.Leveler) Option { return func(s *settings) { s.level = level } }

// timeLayout is how the server reads a log line's time.
const timeLayout = "2006-01-02T15:04:05.000000Z07:00"

// logger writes lines that the server reads from the process's standard error, and becomes slog's default and the log package's.
func (s *settings) logger(w io.Writer) *slog.Logger {
	handler := slog.NewJSONHandler(w, &slog.HandlerOptions{Level: s.level, ReplaceAttr: func(groups []string, attr slog.Attr) slog.Attr {
		if len(groups) > 0 {
			return attr
		}
		switch attr.Key {
		case slog.MessageKey:
			attr.Key = "@message"
		case slog.LevelKey:
			attr.Key, attr.Value = "@level", slog.StringValue(strings.ToLower(attr.Value.String()))
		case slog.TimeKey:
			attr.Key, attr.Value = "@timestamp", slog.StringValue(attr.Value.Time().Format(timeLayout))
		}
		return attr
	}})
	log := slog.New(handler)
	slog.SetDefault(log)
	return log
}
