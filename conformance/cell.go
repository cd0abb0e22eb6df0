package conformance

import (
	"slices"
	"strings"
)

// Dimension is one way in which the same case can be run differently.
type Dimension string

// The dimensions. Every case runs on every path and with and without cookies; along the others those that declare it.
const (
	Decoder Dimension = "decoder"
	Catalog Dimension = "catalog"
	Store   Dimension = "store"
	Through Dimension = "client"
)

// Dimensions are those that a case can declare.
func Dimensions() []Dimension { return []Dimension{Decoder, Catalog, Store, Through} }

// base is what is meant where nothing else is said.
var base = map[Dimension]string{Decoder: "cpu", Catalog: "hadoop", Store: "local", Through: "go"}

// Cell is one place of the matrix: where and how cases are run. A dimension that is not set is at the base: decoder cpu, catalog hadoop, store local,
// client go.
type Cell struct {
	At      map[Dimension]string
	Path    Path
	Cookies bool
}

// Value gives where the cell lies along a dimension.
func (c Cell) Value(d Dimension) string {
	if v := c.At[d]; v != "" {
		return v
	}
	return base[d]
}

// With gives the cell moved along one dimension.
func (c Cell) With(d Dimension, value string) Cell {
	at := map[Dimension]string{d: value}
	for k, v := range c.At {
		if k != d {
			at[k] = v
		}
	}
	c.At = at
	return c
}

// Environment spells the dimensions, those at the base left out; empty at the base.
func (c Cell) Environment() string {
	var words []string
	for _, d := range Dimensions() {
		if v := c.Value(d); v != base[d] {
			words = append(words, string(d)+"="+v)
		}
	}
	return strings.Join(words, " ")
}

// String spells the cell.
func (c Cell) String() string {
	words := []string{string(c.Path)}
	if c.Cookies {
		words = append(words, "cookies")
	}
	if e := c.Environment(); e != "" {
		words = append(words, e)
	}
	return strings.Join(words, " ")
}

// declares reports whether a case is meant for the cell at all: it declares every dimension along which the cell is off the base.
func (h *Heading) declares(c Cell) bool {
	for _, d := range Dimensions() {
		if c.Value(d) != base[d] && !slices.Contains(h.On, d) {
			return false
		}
	}
	return true
}

// excepted gives why a case does not hold in a cell, or "".
func (h *Heading) excepted(c Cell) string {
	for _, e := range h.Except {
		if c.Value(e.Dimension) == e.Value {
			return e.Reason
		}
	}
	return ""
}
