package engine

// Abilities says what SQL this engine runs, for clients that ask before they write a statement.
type Abilities struct {
	Queries bool // joins, grouping, subqueries, set operations and functions, and not scans alone
}

// Abilities are those of the engine with its Executor.
func (e *Engine) Abilities() Abilities { return Abilities{Queries: e.config.Executor != nil} }

// NullsLast reports whether ORDER BY puts nulls at the end whatever the direction, in a session's dialect; otherwise they are the smallest values.
func NullsLast(dialect string) bool { return dialect != "spark" }
