package dialect

import "github.com/skua-data/skua/engine/syntax"

// bitmapAggregates are the aggregates that give bitmaps: of no rows they are empty, or full.
var bitmapAggregates = map[string]function{
	"bitmap_construct_agg": bitmapAggregate("bitmap_construct_agg", "bitstring_agg(skua_bitmap_place(CAST($1 AS BIGINT)), 0, 32767)", "coalesce(skua_bits_reversed(CAST(& AS BLOB)), skua_bitmap_filled(0))"),
	"bitmap_or_agg":        bitmapAggregate("bitmap_or_agg", "bit_or(CAST(skua_bitmap_whole($1) AS BIT))", "coalesce(CAST(& AS BLOB), skua_bitmap_filled(0))"),
	"bitmap_and_agg":       bitmapAggregate("bitmap_and_agg", "bit_and(CAST(skua_bitmap_whole($1) AS BIT))", "coalesce(CAST(& AS BLOB), skua_bitmap_filled(255))"),
}

func bitmapAggregate(name, call, wrap string) function {
	a := aggregation{least: 1, most: 1, call: call, wrap: wrap}
	return counting(name, 1, 1, function{special: func(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
		if r.at(bounds[0][0]).Is("DISTINCT") { // which changes nothing
			bounds[0][0]++
		}
		args := r.argumentPieces(bounds)
		r.aggregated(a, false, args, r.tail(false), pos)
		return true
	}})
}
