package session

import (
	"fmt"
	"strings"
)

const documentHead = `# Options

Skua is configured with Spark's keys and its own. **Start-up** options are the operator's: they come from the properties file, the environment
or ` + "`--conf`" + `, and a client that tries to set one is refused. **Session** options can also be set by a client, with ` + "`SET key = value`" + ` or
through its driver, for its own session; ` + "`RESET`" + ` goes back to what the operator configured. A trailing ` + "`*`" + ` stands for a family of keys.

A key that is not listed is kept and shown, as Spark does; inside ` + "`skua.*`" + ` it is refused. Values of keys that look like secrets are never shown.

How values are written: **boolean** is ` + "`true` or `false`" + `, in any case. **int** is a whole number. **bytes** is a number of bytes, or one
with ` + "`k`, `m`, `g`, `t` or `p`, in any case: `512m` is 536870912" + `. **duration** is a number with ` + "`us`, `ms`, `s`, `m` (or `min`), `h` or `d`: `30s`, `5m`" + `; a
bare number is in seconds. Sizes of splits are Iceberg's and take plain numbers only: ` + "`134217728`, not `128m`" + `.

This page is generated from the option table; a test keeps it true.

| key | type | default | scope | what it does |
| --- | --- | --- | --- | --- |
`

const readOptionsHead = `
## Read options

Options of one scan: ` + "``SELECT … FROM t WITH (`split-size` = 1048576)``" + `. Names are matched in any case, hyphenated or in camelCase; one that is not listed is
ignored, as Spark does. A read option wins over the session's settings, those win over the table's properties. ` + "`EXPLAIN`" + ` and ` + "`SHOW READ OPTIONS FOR t`" + ` tell
what is in force, which key set it, and which names they ignored, with the nearest known one.

| option | what it does |
| --- | --- |
`

const propertiesHead = `
## Table properties

| property | default | what it does |
| --- | --- | --- |
`

// Document gives the text of docs/options.md.
func Document() string {
	var b strings.Builder
	b.WriteString(documentHead)
	for _, o := range options {
		kind, value, scope, doc := string(o.Type), "–", "start-up", withEffect(o.Effect, o.Doc)
		if len(o.Values) > 0 {
			kind = strings.Join(o.Values, ", ")
		}
		if o.Default != "" {
			value = "`" + o.Default + "`"
		}
		if o.Scope == PerSession {
			scope = "session"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", o.Key, kind, value, scope, doc)
	}
	b.WriteString(readOptionsHead)
	for _, o := range readOptions {
		fmt.Fprintf(&b, "| `%s` | %s |\n", o.Spelled(), withEffect(o.Effect, o.Doc))
	}
	b.WriteString(propertiesHead)
	for _, p := range tableProperties {
		value := p.value
		if value != "–" {
			value = "`" + value + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.name, value, withEffect(p.effect, p.doc))
	}
	return b.String()
}

func withEffect(effect bool, doc string) string {
	if effect {
		return doc
	}
	return "Accepted without effect. " + doc
}
