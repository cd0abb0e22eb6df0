package engine

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/fault"
)

// logged makes the world's engine write its log as text, and gives what came since the last call, a line each, without time and numbers of memory.
func logged(e *Engine) func() []string {
	var out bytes.Buffer
	keep := map[string]bool{"level": true, "kind": true, "status": true, "state": true, "parts": true, "rows": true, "bytes": true, "metadata_bytes": true, "error": true}
	e.config.Log = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if !keep[a.Key] {
			return slog.Attr{}
		}
		return a
	}}))
	e.lines = newJournal(e.config.Log, e.config.Clock)
	return func() []string {
		text := strings.TrimSpace(out.String())
		out.Reset()
		if text == "" {
			return nil
		}
		return strings.Split(text, "\n")
	}
}

func TestOneLineForEachStatement(t *testing.T) {
	w, e := newWorld(t)
	s, lines := w.session(t, e, "s"), logged(e)
	for _, c := range []struct{ sql, want string }{
		{"SET a = 1", `level=INFO kind=SET status=ok rows=1 bytes=0 metadata_bytes=0`},
		{"SHOW CATALOGS", `level=INFO kind="SHOW CATALOGS" status=ok rows=3 bytes=0 metadata_bytes=0`},
		{"SHOW TABLES IN down", `level=WARN kind="SHOW TABLES" status=failed rows=0 bytes=0 metadata_bytes=0 error="catalog down: list tables: the catalog is down"`},
		{"SELECT id FROM sales", `level=INFO kind=scan status=ok parts="0-3 of 3" rows=5 bytes=20 metadata_bytes=0`},
		{"SELECT id FROM sales LIMIT 0", `level=INFO kind=scan status=ok parts="0-1 of 1" rows=0 bytes=0 metadata_bytes=0`},
		{"EXPLAIN ANALYZE SELECT id FROM sales", `level=INFO kind=EXPLAIN status=ok rows=6 bytes=20 metadata_bytes=0`},
		{"SELECT 1 +", `level=INFO kind=prepare status=failed rows=0 bytes=0 metadata_bytes=0 error="[PARSE_SYNTAX_ERROR] Syntax error at or near end of input. SQLSTATE: 42601 (line 1, pos 10)"`},
		{"SELECT * FROM db.broken", `level=WARN kind=prepare status=failed rows=0 bytes=0 metadata_bytes=0 error="metadata file db.broken@-1 is broken"`},
		{"SELECT id FROM sales WITH (`split-size` = 'x')", `level=INFO kind=scan status=failed rows=0 bytes=0 metadata_bytes=0 error="scan of lake.db.sales: For input string: \"x\""`},
	} {
		if p, err := e.Prepare(context.Background(), Call{Session: s, Principal: "ann", Text: c.sql}); err == nil {
			if r, err := p.Run(context.Background(), nil); err == nil {
				tableText(t, r)
			}
		}
		if got := lines(); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s wrote\n%s\nwant\n%s", c.sql, strings.Join(got, "\n"), c.want)
		}
	}
}

func TestFetchesAndWhatIsNeverFetched(t *testing.T) {
	w, e := newWorld(t)
	s, lines := w.session(t, e, "s"), logged(e)
	r := run(t, prepare(t, e, s, "SELECT id FROM sales"), nil)
	read := func(from, to int) {
		again, err := e.Resume(context.Background(), r.Pin())
		if err != nil {
			t.Fatal(err)
		}
		reader, err := again.Open(context.Background(), from, to)
		if err != nil {
			t.Fatal(err)
		}
		for reader.Next() {
		}
		reader.Release()
	}
	r.(*result).account.Counters.MetadataBytes.Store(77)
	read(0, 1)
	read(1, 3)
	want := "level=INFO kind=scan status=ok parts=\"0-1 of 3\" rows=2 bytes=8 metadata_bytes=77\nlevel=INFO kind=scan status=ok parts=\"1-3 of 3\" rows=3 bytes=12 metadata_bytes=0"
	if got := strings.Join(lines(), "\n"); got != want {
		t.Errorf("wrote\n%s\nwant\n%s", got, want)
	}
	const planned = `level=INFO kind=scan status=ok state=planned rows=0 bytes=0 metadata_bytes=0`
	run(t, prepare(t, e, s, "SELECT id FROM sales"), nil)
	if got := lines(); got != nil {
		t.Errorf("it may still be fetched, and the log has %v", got)
	}
	w.now = w.now.Add(2 * time.Minute)
	run(t, prepare(t, e, s, "SELECT id FROM sales"), nil)
	if got := lines(); len(got) != 1 || got[0] != planned {
		t.Errorf("two minutes later: %v", got)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if got := lines(); len(got) != 1 || got[0] != planned {
		t.Errorf("at the end: %v", got)
	}
}

func TestWhatWaitsForFetchesIsBounded(t *testing.T) {
	w, e := newWorld(t)
	s, lines := w.session(t, e, "s"), logged(e)
	for range maxUnfetched + 5 {
		run(t, prepare(t, e, s, "SELECT 1"), nil)
	}
	if got := len(lines()); got != 5 || len(e.lines.waiting) != maxUnfetched {
		t.Errorf("%d lines, %d statements wait", got, len(e.lines.waiting))
	}
}

// TestStreamThatIsCutIsNoSuccess: what a client or a drain ends early is told as cancelled, with the rows that were taken.
func TestStreamThatIsCutIsNoSuccess(t *testing.T) {
	w, e := newWorld(t)
	s, lines := w.session(t, e, "s"), logged(e)
	for _, c := range []struct {
		name string
		cut  func(cancel context.CancelCauseFunc, r array.RecordReader)
		want string
	}{
		{"the context ends", func(cancel context.CancelCauseFunc, r array.RecordReader) { cancel(nil); r.Release() }, `error="context canceled"`},
		{"the statement is cancelled", func(cancel context.CancelCauseFunc, r array.RecordReader) {
			cancel(fault.New(fault.Canceled, "the statement was cancelled"))
			r.Release()
		}, `error="the statement was cancelled"`},
		{"the reader is let go of", func(_ context.CancelCauseFunc, r array.RecordReader) { r.Release() }, `error="the reader was closed before its end"`},
		{"at its very end", func(cancel context.CancelCauseFunc, r array.RecordReader) {
			for range 3 {
				r.Next()
			}
			cancel(nil)
			r.Release()
		}, `error="context canceled"`},
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		reader, err := run(t, prepare(t, e, s, "SELECT id FROM sales"), nil).Open(ctx, 0, 3)
		if err != nil || !reader.Next() || !reader.Next() {
			t.Fatal(err)
		}
		c.cut(cancel, reader)
		cancel(nil)
		got := lines()
		if len(got) != 1 || !strings.HasPrefix(got[0], "level=INFO kind=scan status=cancelled") || !strings.HasSuffix(got[0], c.want) {
			t.Errorf("%s: %v", c.name, got)
		}
		if c.name != "at its very end" && !strings.Contains(got[0], "rows=1 bytes=4 ") {
			t.Errorf("%s: the batch that nobody came back from counts as sent: %v", c.name, got)
		}
	}
}
