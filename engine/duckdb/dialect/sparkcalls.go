package dialect

import "maps"

// sparkCalls are the calls of Spark's functions that are written otherwise in its dialect alone. They come before those of functions.
var sparkCalls = func() map[string]function {
	out := map[string]function{}
	for _, calls := range []map[string]function{sparkTimes, sparkTexts, sparkNumbers, sparkBytes, sparkCollections, sparkJSON, sparkFurther} {
		maps.Copy(out, calls)
	}
	return out
}()
