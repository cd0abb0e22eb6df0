package plugintest

import (
	"errors"
	"flag"
	"io"
	"reflect"
	"testing"
	"time"
)

// runTests runs tests as package testing does, in a test binary or outside of one. Only a testing.M makes package testing ready outside: without, RunTests
// runs nothing and says nothing of it but a warning on standard error.
func runTests(tests []testing.InternalTest) {
	if testing.Testing() {
		testing.RunTests(everything{}.MatchString, tests)
		return
	}
	outside(tests)
}

// outside makes a testing.M of its own.
func outside(tests []testing.InternalTest) {
	m := testing.MainStart(everything{}, tests, nil, nil, nil)
	if !flag.Parsed() {
		_ = flag.CommandLine.Parse(nil) // the command's own flags are not package testing's
	}
	m.Run() // outcomes tell what failed
}

// everything is what a testing.M wants of the program that go test would generate: it chooses every test; profiles, logs, coverage and fuzzing are never asked for.
type everything struct{}

// seed is what package testing calls an entry of a corpus.
type seed = struct {
	Parent     string
	Path       string
	Data       []byte
	Values     []any
	Generation int
	IsSeed     bool
}

var errNoFuzzing = errors.New("fuzzing is not asked for")

func (everything) ImportPath() string                                { return "" }
func (everything) ModulePath() string                                { return "" }
func (everything) MatchString(string, string) (bool, error)          { return true, nil }
func (everything) SetPanicOnExit0(bool)                              {}
func (everything) StartCPUProfile(io.Writer) error                   { return nil }
func (everything) StopCPUProfile()                                   {}
func (everything) StartTestLog(io.Writer)                            {}
func (everything) StopTestLog() error                                { return nil }
func (everything) WriteProfileTo(string, io.Writer, int) error       { return nil }
func (everything) RunFuzzWorker(func(seed) error) error              { return errNoFuzzing }
func (everything) ReadCorpus(string, []reflect.Type) ([]seed, error) { return nil, nil }
func (everything) CheckCorpus([]any, []reflect.Type) error           { return nil }
func (everything) ResetCoverage()                                    {}
func (everything) SnapshotCoverage()                                 {}

func (everything) CoordinateFuzzing(time.Duration, int64, time.Duration, int64, int, []seed, []reflect.Type, string, string) error {
	return errNoFuzzing
}

func (everything) InitRuntimeCoverage() (string, func(string, string) (string, error), func() float64) {
	return "", nil, nil
}
