package session

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

func TestConfAgreesWithAMap(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	model := map[string]string{}
	var c Conf
	for i := range 5000 {
		key := fmt.Sprintf("k%d.%d", rng.Intn(20), rng.Intn(40))
		before, old := c, maps.Clone(model)
		if rng.Intn(3) == 0 {
			c = c.Without(key)
			delete(model, key)
		} else {
			c = c.With(key, fmt.Sprint(i))
			model[key] = fmt.Sprint(i)
		}
		if i%500 == 0 {
			check(t, before, old)
			check(t, c, model)
		}
	}
	check(t, NewConf(model), model)
}

func check(t *testing.T, c Conf, model map[string]string) {
	t.Helper()
	if c.Len() != len(model) {
		t.Fatalf("%d keys, want %d", c.Len(), len(model))
	}
	bytes := 0
	for k, v := range model {
		bytes += len(k) + len(v)
	}
	if c.Bytes() != int64(bytes) {
		t.Fatalf("%d bytes, want %d", c.Bytes(), bytes)
	}
	for _, prefix := range []string{"", "k1", "k1.", "k19.3", "zzz"} {
		var want, got []string
		for _, k := range slices.Sorted(maps.Keys(model)) {
			if strings.HasPrefix(k, prefix) {
				want = append(want, k+"="+model[k])
			}
		}
		for k, v := range c.Prefix(prefix) {
			got = append(got, k+"="+v)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("prefix %q: %v, want %v", prefix, got, want)
		}
	}
	for range c.All() {
		break
	}
}

// TestStatePrefix holds the merged walk against the merged configuration.
func TestStatePrefix(t *testing.T) {
	random := rand.New(rand.NewSource(2))
	for range 200 {
		st := State{}
		for range random.Intn(30) {
			key, value := fmt.Sprintf("k.%d", random.Intn(40)), fmt.Sprint(random.Intn(1000))
			if random.Intn(2) == 0 {
				st.Conf = st.Conf.With(key, value)
			} else {
				st.Startup = st.Startup.With(key, value)
			}
		}
		prefix := []string{"", "k.", "k.1", "k.39", "x"}[random.Intn(5)]
		var got, want []string
		for k, v := range st.Prefix(prefix) {
			got = append(got, k+"="+v)
		}
		for k, v := range st.All().Prefix(prefix) {
			want = append(want, k+"="+v)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("prefix %q: %v, want %v", prefix, got, want)
		}
		for range st.Prefix(prefix) {
			break
		}
	}
}
