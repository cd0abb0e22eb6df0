//go:build cgo

package duckdb

import (
	"testing"
	"time"

	"github.com/skua-data/skua/resource"
)

// TestStatementsWhoseClientsDoNotComeGiveTheirSeatsUp: as many as the limit has seats for have each given a batch of many, whose client does not take the next one;
// another gets in all the same, and those go on when their clients do.
func TestStatementsWhoseClientsDoNotComeGiveTheirSeatsUp(t *testing.T) {
	f := newFixture(t)
	pool := resource.NewPool(resource.Config{Memory: 64 << 20, Wait: time.Minute})
	var readers []interface {
		Next() bool
		Err() error
		Release()
	}
	for i := range 4 {
		account := pool.NewStatement(string(rune('a' + i)))
		ctx := resource.With(t.Context(), account)
		leave, err := account.Enter(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
		p, err := f.run.Compile(ctx, f.query("SELECT a.id, b.id AS other FROM orders a CROSS JOIN orders b", nil))
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Open(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Release()
		if !r.Next() {
			t.Fatal(r.Err())
		}
		readers = append(readers, r)
	}
	account := pool.NewStatement("late")
	leave, err := account.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if used := pool.Used(); used > 64<<20 {
		t.Errorf("%d bytes are counted", used)
	}
	leave()
	for _, r := range readers {
		if !r.Next() {
			t.Error(r.Err())
		}
	}
	if f.run.(*executor).current.meter.bytes() <= 0 {
		t.Error("four joins hold nothing")
	}
}
