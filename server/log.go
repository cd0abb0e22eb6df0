package server

import (
	"io"
	"log/slog"
	"strings"
)

// NewLogHandler writes structured lines to w as skua.log.level and skua.log.format say: text for people, json for machines.
func NewLogHandler(w io.Writer, level, format string) slog.Handler {
	var l slog.Level
	if err := l.UnmarshalText([]byte(strings.ToUpper(level))); err != nil {
		l = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: l}
	if format == "json" {
		return slog.NewJSONHandler(w, options)
	}
	return slog.NewTextHandler(w, options)
}
