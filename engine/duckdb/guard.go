//go:build cgo

package duckdb

import (
	"context"
	"runtime/cgo"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
)

// guards stand in front of functions that make much out of little, which the engine neither counts as memory nor interrupts. They give 0, or an
// error: about a value that is too large, about all values of a batch together, or because the statement has ended. They are volatile, so that
// nothing large is made while a statement is planned.
var guards = []scalar{{name: "skua_made", parameters: []int{typeInteger, typeBigint, typeUbigint, typeBigint}, result: typeBigint, volatile: true, call: guardCall}}

// What is made, as macros number it.
const (
	madeText = iota
	madeList
	madeReplaced
	comparedPairs
	madeFold
)

// most bounds what is made: one value, and those of a batch.
var most = map[int32]struct {
	value, batch int64
	what         string
}{
	madeText:      {16 << 20, 256 << 20, "a text of more than %d characters is not made"},
	madeList:      {10_000_000, 20_000_000, "a list of more than %d elements is not made"},
	madeReplaced:  {256 << 20, 512 << 20, "a text that may have more than %d characters is not made by replacing"},
	comparedPairs: {100_000_000, 1_000_000_000, "texts are not compared whose lengths multiply to more than %d"},
	madeFold:      {16 << 20, 256 << 20, "a value of more than %d bytes is not made by folding a list"},
}

// shareOf is by how much less may be made in a statement that joins texts so many times: each operator keeps what it made of those before it until
// the batch is done.
func shareOf(joined int64) int64 { return max(1, joined*joined/16) }

func guardCall(arguments []arrow.Array, rows int) (arrow.Array, error) {
	kinds, sizes, statements := arguments[0].(*array.Int32), arguments[1].(*array.Int64), arguments[2].(*array.Uint64)
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(rows)
	total, share := int64(0), int64(1)
	if joined := arguments[3].(*array.Int64); rows > 0 && joined.IsValid(0) {
		share = shareOf(joined.Value(0))
	}
	for i := range rows {
		if i == 0 && statements.IsValid(0) {
			if ctx, ok := cgo.Handle(statements.Value(0)).Value().(context.Context); ok && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
		}
		if sizes.IsNull(i) {
			b.AppendNull()
			continue
		}
		limit := most[kinds.Value(i)]
		if kind := kinds.Value(i); kind == madeText || kind == madeReplaced || kind == madeFold {
			limit.value, limit.batch = limit.value/share, limit.batch/share
		}
		size := max(0, sizes.Value(i))
		if size > limit.value {
			return nil, fault.New(fault.Invalid, limit.what, limit.value)
		}
		if total += size; total > limit.batch {
			return nil, fault.New(fault.Exhausted, "rows side by side: "+limit.what, limit.batch)
		}
		b.Append(0)
	}
	return b.NewArray(), nil
}
