package avrofile

import (
	"strings"
	"testing"

	"github.com/skua-data/skua/fault"
)

func TestSchemasThatAreRefused(t *testing.T) {
	field := func(typ string) string {
		return `{"type":"record","name":"a","fields":[{"name":"x","type":` + typ + `}]}`
	}
	for text, kind := range map[string]fault.Kind{
		`"int"`:               fault.Corrupt,
		`{"type":`:            fault.Corrupt,
		field(`"nope"`):       fault.Corrupt,
		field(`["null","a"]`): fault.Unsupported,
		field(`{"type":"fixed","name":"f","size":-4}`):                                              fault.Corrupt,
		`{"type":"record","name":"a","fields":[7]}`:                                                 fault.Corrupt,
		field(strings.Repeat(`{"type":"array","items":`, 200) + `"int"` + strings.Repeat("}", 200)): fault.Corrupt,
	} {
		if _, err := ParseSchema([]byte(text)); !fault.Is(err, kind) {
			t.Errorf("%.80s: %v", text, err)
		}
	}
}
