package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/skua-data/skua/server"
)

func TestQuietLogHoldsAllButErrors(t *testing.T) {
	var out bytes.Buffer
	handler := newQuiet(server.NewLogHandler(&out, "info", "text"))
	log := slog.New(handler)
	log.Debug("never")
	log.With("part", "a").Info("first")
	log.WithGroup("g").Warn("second", "k", 1)
	log.Error("broken")
	if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "msg=broken") {
		t.Fatalf("before the release:\n%s", got)
	}
	handler.release(context.Background())
	log.Info("third")
	at := -1
	for _, part := range []string{"msg=broken", "msg=first part=a", "msg=second g.k=1", "msg=third"} {
		next := strings.Index(out.String(), part)
		if next <= at {
			t.Errorf("%q is missing or out of order:\n%s", part, out.String())
		}
		at = next
	}
	if strings.Contains(out.String(), "never") {
		t.Error("the level does not count")
	}
}
