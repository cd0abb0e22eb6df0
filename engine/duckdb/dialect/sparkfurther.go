package dialect

import "maps"

// sparkFurther are Spark's functions that each have rules of their own for types, formats and numbers of arguments.
var sparkFurther = func() map[string]function {
	out := map[string]function{}
	for _, calls := range []map[string]function{untried, sparkFormats, windowCalls, sparkParts, sparkRandom, bitmapAggregates} {
		maps.Copy(out, calls)
	}
	return out
}()
