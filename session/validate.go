package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ValueError is a value that an option refuses, in Spark's words.
type ValueError struct {
	Key, Value string
	Condition  string // Spark's error condition
	SQLState   string
	Why        string // the sentences after the common first one
}

// Error renders the text as Spark does.
func (e *ValueError) Error() string {
	return fmt.Sprintf("[%s] The value '%s' in the config \"%s\" is invalid. %s SQLSTATE: %s", e.Condition, e.Value, e.Key, e.Why, e.SQLState)
}

// Validate checks a value by the option's type. A family's members are free text. The error is a *ValueError.
func Validate(o Option, value string) error {
	switch o.Type {
	case Bool:
		return typed(o, value, "boolean", isBool(value))
	case Int:
		_, err := strconv.ParseInt(value, 10, 32)
		return typed(o, value, "int", err == nil)
	case Long:
		_, err := strconv.ParseInt(value, 10, 64)
		return typed(o, value, "long", err == nil)
	case Bytes:
		_, err := ParseBytes(value)
		return typed(o, value, "bytes", err == nil)
	case Duration:
		_, err := ParseDuration(value)
		return typed(o, value, "duration", err == nil)
	case Count:
		n, err := strconv.ParseInt(value, 10, 32)
		return typed(o, value, "boolean or count", isBool(value) || err == nil && n > 0)
	case Zone:
		if _, err := ParseZone(value); err != nil {
			return refuse(o, value, "TIME_ZONE", "Cannot resolve the given timezone.")
		}
	case Enum:
		if !slices.ContainsFunc(o.Values, func(v string) bool { return strings.EqualFold(v, value) }) {
			return refuse(o, value, "OUT_OF_RANGE_OF_OPTIONS", "It should be one of '"+strings.Join(o.Values, ", ")+"'.")
		}
	}
	return nil
}

func isBool(value string) bool {
	return strings.EqualFold(value, "true") || strings.EqualFold(value, "false")
}

func typed(o Option, value, name string, ok bool) error {
	if ok {
		return nil
	}
	why := "It should be a/an '" + name + "' value."
	if example, ok := examples[o.Type]; ok && !strings.HasPrefix(o.Key, "spark.") {
		why += " Write " + example + "."
	}
	return refuse(o, value, "TYPE_MISMATCH", why)
}

// examples tell how a value is written. Spark's own keys keep to Spark's words.
var examples = map[Type]string{Bool: "true or false", Int: "a whole number such as 200", Long: "a whole number such as 200",
	Bytes: "a size such as 512m, or a number of bytes", Duration: "a duration such as 30s", Count: "true, false, or a number such as 8"}

func refuse(o Option, value, condition, why string) error {
	return &ValueError{Key: o.Key, Value: Redact(o.Key, value), Condition: "INVALID_CONF_VALUE." + condition, SQLState: "22022", Why: why}
}
