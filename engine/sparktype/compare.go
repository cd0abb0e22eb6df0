package sparktype

import (
	"bytes"
	"cmp"
	"math"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// CompareValues orders two values of one type. NaN equals itself and is the largest, -0.0 equals 0.0.
func CompareValues(x, y any) int {
	switch x := x.(type) {
	case int64:
		return cmp.Compare(x, y.(int64))
	case float64:
		return CompareFloats(x, y.(float64))
	case string:
		return cmp.Compare(x, y.(string))
	case bool:
		return boolDigit(x) - boolDigit(y.(bool))
	case []byte:
		return bytes.Compare(x, y.([]byte))
	case decimal128.Num:
		return x.Cmp(y.(decimal128.Num))
	}
	return 0
}

// CompareFloats orders floats as CompareValues does.
func CompareFloats(x, y float64) int {
	switch {
	case math.IsNaN(x):
		return boolDigit(!math.IsNaN(y))
	case math.IsNaN(y):
		return -1
	}
	return cmp.Compare(x, y)
}

func boolDigit(v bool) int {
	if v {
		return 1
	}
	return 0
}
