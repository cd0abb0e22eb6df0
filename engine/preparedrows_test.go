package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

// TestBothRoutesRefuseColumnsThatChanged between preparing and running: what was promised is what is sent.
func TestBothRoutesRefuseColumnsThatChanged(t *testing.T) {
	for _, sql := range []string{"SELECT * FROM lake.db.p", "SELECT * FROM lake.db.p GROUP BY 1"} {
		w, e := newWorld(t)
		e.config.Executor = fakeExecutor{}
		p := prepare(t, e, w.session(t, e, "changed"), sql)
		again := func() error {
			w.now = w.now.Add(2 * freshFor)
			_, err := p.Run(t.Context(), nil)
			return err
		}
		if err := again(); err != nil {
			t.Errorf("%s, nothing changed: %v", sql, err)
		}
		table := w.catalogs["lake"].tables["db.p"]
		table.versions = append(table.versions, version{schema: schemaOf("p:1:string", "q:2:int")})
		if err := again(); err == nil || !strings.Contains(err.Error(), "the columns of the statement changed") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// TestTicketsWithoutSetsOfParametersAreResumed when their plan is no longer kept.
func TestTicketsWithoutSetsOfParametersAreResumed(t *testing.T) {
	w, e := newWorld(t)
	p := prepare(t, e, w.session(t, e, "none"), "SELECT id, ? AS x FROM lake.db.sales WHERE id = ?")
	none := batch(t, arrow.NewSchema([]arrow.Field{{Name: "1", Type: arrow.PrimitiveTypes.Int64}, {Name: "2", Type: arrow.PrimitiveTypes.Int64}}, nil), "[]")
	defer none.Release()
	r := run(t, p, none)
	e.plans.forget()
	again, err := e.Resume(context.Background(), r.Pin())
	if err != nil {
		t.Fatal(err)
	}
	if again.Parts() != 0 || !again.Schema().Equal(r.Schema()) {
		t.Errorf("%d parts of %s, first %s", again.Parts(), again.Schema(), r.Schema())
	}
}

// TestATicketHasTheTypesOfBoundValues also when its plan is no longer kept.
func TestATicketHasTheTypesOfBoundValues(t *testing.T) {
	w, e := newWorld(t)
	p := prepare(t, e, w.session(t, e, "typed"), "SELECT id, ? AS x FROM lake.db.sales")
	one := batch(t, arrow.NewSchema([]arrow.Field{{Name: "1", Type: arrow.PrimitiveTypes.Int64}}, nil), `[{"1": 7}]`)
	defer one.Release()
	r := run(t, p, one)
	e.plans.forget()
	again, err := e.Resume(context.Background(), r.Pin())
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Schema(); !got.Equal(r.Schema()) || got.Field(1).Type.ID() != arrow.INT64 {
		t.Errorf("%s, first %s", got, r.Schema())
	}
}
