package catalogs

import (
	"fmt"
	"strconv"
	"strings"
)

// nullPartition is the value by which Hive and Spark name the partition of null.
const nullPartition = "__HIVE_DEFAULT_PARTITION__"

// PartitionValues gives the values in a partition's name, such as country=CH/day=2026-01-01, one for each of the columns in their order; false where the name is none of
// them.
func PartitionValues(name string, columns []string) ([]*string, bool) {
	parts := strings.Split(name, "/")
	if len(parts) != len(columns) {
		return nil, false
	}
	out := make([]*string, len(parts))
	for i, part := range parts {
		column, value, ok := strings.Cut(part, "=")
		if !ok || !strings.EqualFold(UnescapePartition(column), columns[i]) {
			return nil, false
		}
		out[i] = PartitionValue(UnescapePartition(value))
	}
	return out, true
}

// PartitionValue gives a value as a partition has it; the name of null is null.
func PartitionValue(text string) *string {
	if text == nullPartition {
		return nil
	}
	return &text
}

// PartitionName gives a partition's name as Spark and Hive write it, such as country=CH/day=2026-01-01.
func PartitionName(columns []string, values []*string) string {
	parts := make([]string, len(columns))
	for i, column := range columns {
		value := nullPartition
		if i < len(values) && values[i] != nil && *values[i] != "" {
			value = escapePartition(*values[i])
		}
		parts[i] = escapePartition(column) + "=" + value
	}
	return strings.Join(parts, "/")
}

// escapePartition writes the characters that mean something in the names of folders as % with two hexadecimal digits.
func escapePartition(text string) string {
	var out strings.Builder
	for i := range len(text) {
		if c := text[i]; c < ' ' && c > 0 || strings.IndexByte("\"#%'*/:=?\\\x7f{[]^", c) >= 0 {
			fmt.Fprintf(&out, "%%%02X", c)
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}

// UnescapePartition reads the characters that Hive and Spark write as % with two hexadecimal digits in the names of partitions and their folders.
func UnescapePartition(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+3 <= len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				out.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}
