package inprocess

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/skua-data/skua/conformance"
)

// TestSessionsStaySeparate: clients that set the same key at the same time never see each other's value or namespace, with cookies and without.
func TestSessionsStaySeparate(t *testing.T) {
	noLeaks(t)
	target := start(t, lake(t)).Target()
	for _, cookies := range []bool{false, true} {
		t.Run(fmt.Sprintf("cookies=%t", cookies), func(t *testing.T) {
			target := target
			target.Cookies = cookies
			var clients sync.WaitGroup
			for i := range 8 {
				client := connect(t, target)
				clients.Go(func() { ownSettings(t, client, i) })
			}
			clients.Wait()
		})
	}
}

// ownSettings sets and looks, over and over, on all paths.
func ownSettings(t *testing.T, client *conformance.Client, i int) {
	namespace := []string{"session", "deletes", "evolve", "types"}[i%4]
	for round := range 10 {
		path := conformance.Paths()[round%3]
		value := fmt.Sprintf("of-%d-in-%d", i, round)
		for _, effect := range []string{"SET my.key=" + value, "USE lake." + namespace} {
			if err := client.Effect(t.Context(), path, effect); err != nil {
				t.Errorf("%s: %v", effect, err)
				return
			}
		}
		for question, want := range map[string]string{"SET my.key": value, "SHOW CURRENT NAMESPACE": namespace} {
			if seen := secondColumn(t, client, path, question); seen != want {
				t.Errorf("client %d: %s gives %q, expected %q", i, question, seen, want)
			}
		}
	}
}

func secondColumn(t *testing.T, client *conformance.Client, path conformance.Path, sql string) string {
	answer, err := client.Ask(t.Context(), conformance.Question{SQL: sql, Path: path})
	if err != nil {
		return err.Error()
	}
	defer answer.Release()
	if answer.Rows() != 1 {
		return fmt.Sprintf("%d rows", answer.Rows())
	}
	return strings.Clone(answer.Batches[0].Column(1).ValueStr(0))
}

// TestClosedSessionIsForgotten: what a connection without cookies had set is gone with it.
func TestClosedSessionIsForgotten(t *testing.T) {
	noLeaks(t)
	target := start(t, lake(t)).Target()
	first := connect(t, target)
	if err := first.Effect(t.Context(), conformance.PathQuery, "SET my.key=v"); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if seen := secondColumn(t, connect(t, target), conformance.PathQuery, "SET my.key"); seen != "<undefined>" {
		t.Errorf("a new connection sees %q", seen)
	}
}
