package cpu

import "github.com/skua-data/skua/fault"

// split are fixed values of which all first bytes come first, then all second ones.
type split struct {
	body  []byte
	width int
	n, at int // values; those consumed
}

func newSplit(body []byte, s stored) (fixedStream, error) {
	if s.width == 0 || len(body)%s.width != 0 {
		return nil, fault.New(fault.Corrupt, "%d bytes of values of %d bytes each", len(body), s.width)
	}
	return &split{body: body, width: s.width, n: len(body) / s.width}, nil
}

func (s *split) read(out []byte) error {
	n, from := len(out)/s.width, s.at
	if err := s.skip(n); err != nil {
		return err
	}
	column := func(i int) []byte { return s.body[i*s.n+from:][:n] }
	switch s.width {
	case 4:
		a, b, c, d := column(0), column(1), column(2), column(3)
		to := cast[uint32](out)
		for i := range to {
			to[i] = uint32(a[i]) | uint32(b[i])<<8 | uint32(c[i])<<16 | uint32(d[i])<<24
		}
	case 8:
		a, b, c, d, e, f, g, h := column(0), column(1), column(2), column(3), column(4), column(5), column(6), column(7)
		to := cast[uint64](out)
		for i := range to {
			to[i] = uint64(a[i]) | uint64(b[i])<<8 | uint64(c[i])<<16 | uint64(d[i])<<24 |
				uint64(e[i])<<32 | uint64(f[i])<<40 | uint64(g[i])<<48 | uint64(h[i])<<56
		}
	default:
		for at := range s.width {
			for i, c := range column(at) {
				out[i*s.width+at] = c
			}
		}
	}
	return nil
}

func (s *split) skip(n int) error {
	if n > s.n-s.at {
		return shortPage(n*s.width, (s.n-s.at)*s.width)
	}
	s.at += n
	return nil
}
