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

// Route tells what the first decoder would do whose device works: they are alike.
func (s *spread) Route(rg *kernels.RowGroup) []kernels.Route { return s.from(0).Route(rg) }

// Open opens a row group with the next decoder.
func (s *spread) Open(ctx context.Context, rg *kernels.RowGroup) (kernels.Reader, error) {
	return s.from(s.next.Add(1)).Open(ctx, rg)
}

// from gives the first decoder from a place on whose device works; where none does, the one at that place, whose base reads.
func (s *spread) from(at uint64) *Decoder {
	n := uint64(len(s.decoders))
	for i := range n {
		if d := s.decoders[(at+i)%n]; d.Broken() == nil {
			return d
		}
	}
	return s.decoders[at%n]
}

// Close closes them all.
func (s *spread) Close() error {
	var errs []error
	for _, d := range s.decoders {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}
