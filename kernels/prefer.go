package kernels

import (
	"context"
	"errors"

	"github.com/skua-data/skua/fault"
)

// Prefer makes one Decoder of several: each column is read by the first of them that takes it. What takes every column comes last; Route
// then says why those before it did not. Close closes them all.
func Prefer(decoders ...Decoder) Decoder { return preferred(decoders) }

type preferred []Decoder

var _ Decoder = preferred(nil)

// Route gives, for each column, the first decoder that takes it, and what those before it said.
func (p preferred) Route(rg *RowGroup) []Route {
	routes, _ := p.choose(rg)
	return routes
}

// choose tells for each column its route and the decoder's place.
func (p preferred) choose(rg *RowGroup) (routes []Route, places []int) {
	routes, places = make([]Route, len(rg.Columns)), make([]int, len(rg.Columns))
	for place, d := range p {
		for i, r := range d.Route(rg) {
			if routes[i].Taken {
				continue
			}
			if before := routes[i]; before.Decoder != "" {
				r.Reason += "; not " + before.Decoder + ": " + before.Reason
			}
			routes[i], places[i] = r, place
		}
	}
	return routes, places
}

// Open opens the row group with every decoder that reads a column of it.
func (p preferred) Open(ctx context.Context, rg *RowGroup) (Reader, error) {
	routes, places := p.choose(rg)
	var readers []Reader
	opened := map[int]bool{}
	for i, place := range places {
		if !routes[i].Taken {
			err := fault.New(fault.Unsupported, "reading column %s of %s is not supported: %s", rg.Columns[i].Field.Name, rg.Name, routes[i].Reason)
			return nil, errors.Join(err, closeAll(readers))
		}
		if opened[place] {
			continue
		}
		r, err := p[place].Open(ctx, rg)
		if err != nil {
			return nil, errors.Join(err, closeAll(readers))
		}
		opened[place], readers = true, append(readers, r)
	}
	return Compose(routes, readers...), nil
}

// Close closes the decoders; all readers are closed before.
func (p preferred) Close() error {
	var errs []error
	for _, d := range p {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}

func closeAll(readers []Reader) error {
	var errs []error
	for _, r := range readers {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}
