package rest

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/apache/iceberg-go/table"
)

// maxTokens bounds the tables whose tokens are kept.
const maxTokens = 10_000

// tableTokens are those that the service gave with single tables: what concerns such a table later is asked with its token.
type tableTokens struct {
	mu   sync.Mutex
	held map[string]string // by path, joined with NUL
}

// keep notes what the last load of a table brought; empty: none.
func (t *tableTokens) keep(id table.Identifier, token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := strings.Join(id, "\x00")
	if token == "" {
		delete(t.held, key)
		return
	}
	if t.held == nil || len(t.held) >= maxTokens {
		t.held = map[string]string{}
	}
	t.held[key] = token
}

// of gives a table's token.
func (t *tableTokens) of(id table.Identifier) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	token, ok := t.held[strings.Join(id, "\x00")]
	return token, ok
}

// bearer proves identity with a token as it is.
type bearer string

// Authorize sets the header.
func (b bearer) Authorize(_ context.Context, r *http.Request, _ []byte) error {
	r.Header.Set("Authorization", "Bearer "+string(b))
	return nil
}
