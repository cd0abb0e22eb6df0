//go:build cgo

package duckdb

import (
	"math"
	"math/rand/v2"
)

// randomLetters are what random texts are made of.
const randomLetters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// randomFunctions make random texts of a length, from a random number.
var randomFunctions = []scalar{rowFunction("skua_random_text", []int{typeBigint, typeDouble}, typeVarchar, func(r *row) error {
	source := rand.New(rand.NewPCG(math.Float64bits(r.float(1)), uint64(r.at)))
	text := make([]byte, r.whole(0))
	for i := range text {
		text[i] = randomLetters[source.IntN(len(randomLetters))]
	}
	r.give(string(text))
	return nil
})}
