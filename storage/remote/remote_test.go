package remote

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

func TestWaits(t *testing.T) {
	r := Retry{Least: 100 * time.Millisecond, Most: time.Second}.filled()
	for tries, most := range map[int]time.Duration{1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 4: 800 * time.Millisecond, 5: time.Second, 100: time.Second} {
		seen := map[time.Duration]bool{}
		for range 100 {
			d := r.wait(tries, 0)
			if d < most/2 || d > most {
				t.Errorf("after %d tries %v, of at most %v", tries, d, most)
			}
			seen[d] = true
		}
		if len(seen) < 10 {
			t.Errorf("after %d tries there is no chance in the waits", tries)
		}
	}
	if d := r.wait(1, 700*time.Millisecond); d != 700*time.Millisecond {
		t.Errorf("the store asks for 700 ms and gets %v", d)
	}
	if d := r.wait(1, time.Hour); d != time.Second {
		t.Errorf("the store asks for an hour and gets %v", d)
	}
}

// silent is a protocol that knows no error.
type silent struct{ Objects }

func (silent) Judge(error) Verdict { return Verdict{} }

func TestErrorsShowNoSecret(t *testing.T) {
	s := New(Config{Objects: silent{}, Secrets: []string{"a+b/c=", "x"}})
	err := s.explain(&url.Error{Op: "Get", URL: "https://h/k?sig=a%2Bb%2Fc%3D", Err: errors.New("refused to a+b/c= and a%2Bb%2Fc%3D at x")}, "read", "s3://b/k")
	if !fault.Is(err, fault.Unavailable) || strings.Contains(err.Error(), "a+b/c=") || strings.Contains(err.Error(), "a%2Bb%2Fc%3D") || !strings.Contains(err.Error(), "s3://b/k") ||
		!strings.Contains(err.Error(), "x") {
		t.Errorf("got %v", err)
	}
	if strings.Contains(err.Error(), "https://h") {
		t.Errorf("the address shows: %v", err)
	}
	if errors.Unwrap(err) != nil {
		t.Error("the cause may hold what nobody may see")
	}
}

func TestListingsAreInOrder(t *testing.T) {
	got, err := inOrder("s3://b/w", []storage.Info{{Location: "b"}, {Location: "a", Folder: true}, {Location: ""}, {Location: "a", Folder: true}, {Location: "B"}, {Location: "x/y"}})
	if err != nil || len(got) != 3 || got[0].Location != "B" || got[1].Location != "a" || got[2].Location != "b" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := inOrder("s3://b/w", nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("nothing: %v", err)
	}
}
