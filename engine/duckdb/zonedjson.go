//go:build cgo

package duckdb

import (
	"bytes"
	"strings"

	"github.com/skua-data/skua/fault"
)

// zonedName is SKUA_ZONED.
const zonedName = "timestamptz_ns"

// zoned reports whether a type is that of timestamps with nanoseconds and a zone, or has one inside.
func (t planType) zoned() bool {
	if t.Info == nil {
		return false
	}
	inside := []byte(`"alias":"` + zonedName + `"`)
	return t.Info.Alias == zonedName || bytes.Contains(t.Info.Children, inside) || bytes.Contains(t.Info.Child, inside)
}

// zonedJSON refuses JSON of timestamps with nanoseconds and a zone: the engine would write them in UTC, without saying so.
func (n *planNode) zonedJSON() error {
	var err error
	check := func(e *planExpr) {
		from := e.Children
		switch {
		case e.Class == "BOUND_CAST" && e.Child != nil && e.ReturnType.Info != nil && e.ReturnType.Info.Alias == "JSON":
			from = []*planExpr{e.Child}
		case !strings.Contains(e.Name, "json"):
			return
		}
		for _, c := range from {
			if c.ReturnType.zoned() {
				err = fault.New(fault.Unsupported, "JSON of a timestamp with nanoseconds and a zone is not supported: write CAST(… AS TIMESTAMP_LTZ) around it")
			}
		}
	}
	for _, e := range append(append([]*planExpr{}, n.Expressions...), n.Groups...) {
		e.walk(check)
	}
	for _, o := range n.Orders {
		o.Expression.walk(check)
	}
	for _, c := range n.Conditions {
		c.Left.walk(check)
		c.Right.walk(check)
	}
	for _, child := range n.Children {
		if err == nil {
			err = child.zonedJSON()
		}
	}
	return err
}
