package glue

import "github.com/skua-data/skua/fault"

// maxListed bounds the names of a listing, which is sorted and so held whole.
const maxListed = 1_000_000

// paging watches over a listing that comes in pages: a service that goes round in circles would be asked for ever.
type paging struct {
	seen  map[string]bool
	items int
}

// took counts a page with the token of the next one; nil: it is the last.
func (p *paging) took(items int, next *string) error {
	if p.items += items; p.items > maxListed {
		return fault.New(fault.Exhausted, "the listing is longer than %d entries", maxListed)
	}
	if next == nil || *next == "" {
		return nil
	}
	if p.seen[*next] {
		return fault.New(fault.Unavailable, "the listing gives the same page again and again")
	}
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	p.seen[*next] = true
	return nil
}
