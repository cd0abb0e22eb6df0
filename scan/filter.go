package scan

import (
	"github.com/skua-data/skua/predicate"
)

// splitFilter parts a filter into what asks columns of the file alone, which its reader may test, and the rest.
func splitFilter(filter predicate.Expr, inFile func(id int) bool) (file, rest predicate.Expr) {
	if filter == nil {
		return nil, nil
	}
	var theirs, ours []predicate.Expr
	for _, e := range predicate.Conjuncts(filter) {
		list := &theirs
		for _, f := range predicate.Fields(e) {
			if !inFile(f.ID) {
				list = &ours
			}
		}
		*list = append(*list, e)
	}
	return joined(theirs), joined(ours)
}

func joined(list []predicate.Expr) predicate.Expr {
	if len(list) == 0 {
		return nil
	}
	return predicate.Join(list)
}

// apply tests a frame's rows and keeps those for which e is true. It says how many are left.
func (f *frame) apply(e predicate.Expr) ([]rows, int, error) {
	mask, err := predicate.Evaluate(e, f.rows, f, f.mem)
	if err != nil {
		return nil, 0, err
	}
	defer mask.Release()
	runs, n := kept(mask)
	return runs, n, nil
}
