//go:build race

package host_test

// raced says that tests run with the race detector, whose own memory is many times what it watches.
const raced = true
