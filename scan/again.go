package scan

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/fault"
)

// moreTries is how often a split is read again where the store was unavailable.
const moreTries = 2

// again reads, and reads anew where the store was unavailable and no batch has left yet. Once one has, its rows may be with the client, and a
// second reading would give them twice.
func again(ctx context.Context, emit func(arrow.RecordBatch) error, read func(emit func(arrow.RecordBatch) error) error) error {
	left := false
	for try := 0; ; try++ {
		err := read(func(batch arrow.RecordBatch) error {
			left = true
			return emit(batch)
		})
		if left || try == moreTries || ctx.Err() != nil || !fault.Is(err, fault.Unavailable) {
			return err
		}
	}
}
