// Package conformance holds scripts that any Flight SQL server over Iceberg can be asked, and their runner: statements, sessions, expected
// schemas, rows, plans and errors. It is a client; it starts nothing (inprocess does) and knows nothing of how a server works. The scripts of
// testdata are part of it: Bundled gives them.
//
// A script is a text of cases. A case is a name, a heading that says what it checks and needs, and steps that share the case's sessions:
//
//	case set-is-seen-by-the-next-statement
//	rule architecture §5.12
//	feature session.set
//	effect session=a
//	SET my.key=v1
//	query session=a
//	SET my.key
//	----
//	key string!, value string!
//	my.key	v1
//
//	error NotFound
//	SELECT * FROM lake.nope.t
//	----
//	TABLE_OR_VIEW_NOT_FOUND
//
// The lines of a heading: rule, the specification rule that is checked; feature, ids of the features that the case proves; needs, capabilities
// that a server must have for the case to mean anything; table, reference tables that it relies on and no statement names; on, the dimensions
// (decoder, catalog, store, client) along which the case is also run elsewhere than at the base; except DIMENSION=VALUE REASON, where it does not
// hold; smoke, that it is part of the short profile. Before the first case they hold for all cases of the script.
//
// A step begins with a line effect, query, error, plan or call and ends at a blank line; an effect is one line and needs none.
//
//   - effect: the statement must succeed.
//   - query: after ---- comes the schema, then the rows, tab-separated; NULL is null, and \t, \n, \\ are escaped; rows are compared as a multiset
//     unless the step says ordered. With contains, the lines after the schema must each occur in the result's text instead. endpoints=N is the
//     number of endpoints that the result must be offered as.
//   - error: the gRPC code, and lines that must each occur in the message.
//   - plan: each line after ---- is a fact that EXPLAIN (FORMAT JSON) must tell of the statement: splits, files that are read and left out and why,
//     read options in force with the key that set them, who decodes a column. With analyze, the statement is run and what it took is told, too.
//   - call: one of Flight SQL's metadata calls by name and arguments (see Client.Call), judged as a query is.
//
// session=NAME names a session; without one, the case's own. Lines arg TYPE VALUE before the statement are the values of its parameters, which
// makes it travel prepared on every path. elsewhere fetches over another connection than the one that planned, after all handles are closed.
// Lines that begin with # are comments.
package conformance
