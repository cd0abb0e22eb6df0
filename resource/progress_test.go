package resource

import (
	"context"
	"testing"
)

func TestProgressIsTheShareOfWhatIsKnown(t *testing.T) {
	if p := ProgressOf(context.Background()); p != nil {
		t.Errorf("%v without anybody who asks", p)
	}
	var none *Progress
	none.Expect(1)
	none.Done()
	p := &Progress{}
	under := ProgressOf(WithProgress(context.Background(), p))
	for i, step := range []struct {
		do    func()
		share float64
		known bool
	}{
		{func() {}, 0, false},
		{func() { under.Expect(4) }, 0, true},
		{func() { under.Done() }, 0.25, true},
		{func() { under.Expect(4) }, 0.125, true}, // another table
		{func() {
			for range 9 {
				under.Done()
			}
		}, 1, true},
	} {
		step.do()
		if share, known := p.Share(); share != step.share || known != step.known {
			t.Errorf("step %d: %v, %v", i, share, known)
		}
	}
	if share, known := none.Share(); known || share != 0 {
		t.Errorf("nobody asks: %v, %v", share, known)
	}
}
