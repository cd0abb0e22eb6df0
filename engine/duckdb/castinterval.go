//go:build cgo

package duckdb

import "github.com/skua-data/skua/fault"

// clear refuses intervals of whole days: whether such a one is days, or a span that has hours, too, decides what Spark casts it to, and the engine does not say.
func (n *node) clear(rows int) error {
	if n.family() != intervalFamily {
		return nil
	}
	for row := range rows {
		if i := at[interval](n, row); !n.null(row) && i.months == 0 && i.days != 0 && i.micros == 0 {
			return fault.New(fault.Unsupported, "cast an interval of %d days: the engine does not keep whether its type is INTERVAL DAY or INTERVAL DAY TO SECOND; "+
				"cast the difference of dates or timestamps itself, or use datediff", i.days)
		}
	}
	return nil
}
