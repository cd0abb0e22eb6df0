package storage

import (
	"fmt"
	"testing"
)

func TestIdleNamesWhatHasNoEffect(t *testing.T) {
	known := []Property{{Name: "a.x"}, {Name: "a.deep.", Idle: "it is deep"}, {Name: "a.deep.but.used"}}
	got := Idle(known, []string{"a."}, map[string]string{"a.x": "1", "a.y": "2", "a.deep.z": "3", "a.deep.but.used": "4", "b.x": "5"})
	if want := "[a.deep.z has no effect: it is deep a.y has no effect: the store does not know it]"; fmt.Sprint(got) != want {
		t.Errorf("got %v", got)
	}
}

func TestFirst(t *testing.T) {
	p := map[string]string{"a": " ", "b": " v ", "c": "w"}
	if v, name := First(p, "z", "a", "b", "c"); v != "v" || name != "b" {
		t.Errorf("%q of %s", v, name)
	}
	if v, name := First(p, "z"); v != "" || name != "" {
		t.Errorf("%q of %s", v, name)
	}
}
