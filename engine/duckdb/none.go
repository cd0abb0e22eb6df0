//go:build !cgo

package duckdb

import (
	"time"

	"github.com/skua-data/skua/engine"
)

// Config bounds the engine, which this build does not have.
type Config struct {
	Memory    int64
	Threads   int
	Folder    string
	SpillSize int64
	Timeout   time.Duration
}

// New gives no executor: the engine is C++, and this build has no cgo.
func New(Config) (engine.Executor, error) { return nil, nil }
