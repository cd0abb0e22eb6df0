package cuda

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/skua-data/skua/kernels"
)

// Spread gives row groups to decoders of several devices in turn, leaving out those that broke. There is at least one.
func Spread(decoders ...*Decoder) kernels.Decoder {
	if len(decoders) == 1 {
		return decoders[0]
	}
	return &spread{decoders: decoders}
}

type spread struct {
	decoders []*Decoder
	next     atomic.Uint64
}

// Route tells what the first device's decoder would do: they are alike.
func (s *spread) Route(rg *kernels.RowGroup) []kernels.Route { return s.decoders[0].Route(rg) }

// Open opens a row group with the next decoder.
func (s *spread) Open(ctx context.Context, rg *kernels.RowGroup) (kernels.Reader, error) {
	n := uint64(len(s.decoders))
	at := s.next.Add(1)
	for i := range n {
		if d := s.decoders[(at+i)%n]; d.Broken() == nil {
			return d.Open(ctx, rg)
		}
	}
	return s.decoders[at%n].Open(ctx, rg) // all broke: their base reads
}

// Close closes them all.
func (s *spread) Close() error {
	var errs []error
	for _, d := range s.decoders {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}
