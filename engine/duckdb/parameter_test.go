//go:build cgo

package duckdb

import "testing"

// TestParametersWhoseTypeNobodySays wants columns for drivers before anything is bound.
func TestParametersWhoseTypeNobodySays(t *testing.T) {
	f := newFixture(t)
	for _, sql := range []string{
		"SELECT id * ? FROM orders",
		"SELECT ? + id, status FROM orders",
		"SELECT status || ? FROM orders",
		"SELECT max(?) FROM orders",
		"SELECT round(id / 2.0, ?) FROM orders",
		"VALUES (?)",
	} {
		p, err := f.run.Compile(t.Context(), f.query(sql, nil))
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if p.Schema() == nil || p.Schema().NumFields() == 0 || p.Parameters().NumFields() != 1 || p.Parameters().Field(0).Name != "parameter_1" {
			t.Errorf("%s: columns %v, parameters %v", sql, p.Schema(), p.Parameters())
		}
		p.Close()
	}
}
