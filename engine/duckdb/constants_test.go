//go:build cgo

package duckdb

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/scan"
	"github.com/skua-data/skua/session"
	"github.com/skua-data/skua/storage"
)

// constantsAlike are expressions that mean the same wherever they stand.
var constantsAlike = `
CAST('2020-05-03' AS DATE); CAST('2020-5-3' AS DATE); CAST(' 2020-05-03 ' AS DATE); CAST('y' AS BOOLEAN); CAST('1' AS BOOLEAN);
CAST(5 AS BOOLEAN); CAST(1.5 AS BOOLEAN); CAST(true AS INT); CAST(true AS STRING); CAST('NaN' AS DOUBLE); CAST(CAST(1.5 AS FLOAT) AS STRING); CAST(CAST(1 AS DOUBLE) AS STRING);
1e20; 1.5; 123456789012; 1.10 + 2.200; 1.5 - 0.25; 1 / 2; 7 % 3; -7 % 3; 1 + 1; 1L + 1; 1S + 1Y; 5 / CAST(2 AS DOUBLE); CAST(1 AS DECIMAL(10,2)) + 1.5D;
CAST(1.5 AS INT); CAST(-1.5 AS INT); CAST(2.5 AS INT); CAST(CAST(2.5 AS DOUBLE) AS INT); CAST(CAST(1.5 AS FLOAT) AS BIGINT); CAST(' 12 ' AS INT); TRY_CAST('abc' AS INT);
CAST(1.25 AS DECIMAL(3,1)); CAST('1.25' AS DECIMAL(3,1)); CAST('x' AS BINARY); X'4142'; hex('abc'); hex(255); unhex('4142'); lower('ÄB'); trim('  a '); concat('a', 1);
concat('a', 1.50); concat('a', true); 'a' || 'b'; abs(-5); abs(-1.5); pi(); coalesce(NULL, 1); coalesce(1, 2.5); ifnull(NULL, 3); date_add(DATE '2020-01-31', 1);
DATE '2020-01-31' + 1; make_date(2020, 2, 29); to_date('2020-02-01'); timestamp_seconds(5); unix_seconds(TIMESTAMP '1970-01-01 00:00:01Z'); date_from_unix_date(5);
TIMESTAMP_NTZ '2020-01-01 00:00:00'; 1 = 1.0; '1' = 1; 1 IN (2, NULL);
'a' LIKE 'A'; 'a' ILIKE 'A'; NOT true; true AND NULL; ~5; 5 & 3; 5 | 3; CAST(NULL AS INT); 1 + NULL; CAST(9223372036854775807 AS DOUBLE); 1.5F; 1.5D; 100Y`

// constantsAlikeInANSI are those that the engine has otherwise than Spark, so that under ansi it evaluates them without columns, too.
var constantsAlikeInANSI = `
CAST(CAST('NaN' AS DOUBLE) AS STRING); CAST(1e20 AS STRING); CAST(CAST('-inf' AS FLOAT) AS STRING); CAST(CAST(0.0001 AS DOUBLE) AS STRING); 1.0 + 2; 1.5 * 2.25; 1.0 / 3.0;
1 / 3.0; 7.5 % 2; 7 DIV 2; CAST(1 AS DECIMAL(38,10)) * CAST(3 AS DECIMAL(38,10)); CAST(1 AS DECIMAL(38,10)) + CAST(3 AS DECIMAL(38,10)); CAST(1 AS DECIMAL(10,2)) + 1L;
length('äö'); char_length('a '); unix_date(DATE '1970-01-06'); concat('a', NULL); concat(X'41', X'42'); concat('a', 1e20); 5 ^ 3; -(5 ^ 3)`

// TestConstantsMeanTheSameOverRows: what the engine folds without reading anything has the type and the value that it has where rows are read, in each dialect.
func TestConstantsMeanTheSameOverRows(t *testing.T) {
	executor, err := New(Config{Threads: 1, Memory: 256 << 20, Folder: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = executor.Close() })
	e := emptyEngine(t, executor)
	for dialect, texts := range map[string]string{"ansi": constantsAlike + ";" + constantsAlikeInANSI, "spark": constantsAlike} {
		in := session.New(dialect, "somebody", session.State{Startup: session.NewConf(map[string]string{"skua.sql.dialect": dialect})}, time.Now())
		for _, expr := range strings.Split(texts, ";") {
			expr = strings.TrimSpace(expr)
			alone, err := firstValue(t.Context(), e, in, "SELECT "+expr)
			if err != nil {
				t.Errorf("%s: SELECT %s: %v", dialect, expr, err)
				continue
			}
			if over, err := firstValue(t.Context(), e, in, "SELECT "+expr+" FROM (VALUES (1), (1)) t(k)"); err != nil || over != alone {
				t.Errorf("%s: %s is %s alone, %s over rows, %v", dialect, expr, alone, over, err)
			}
		}
	}
}

// emptyEngine gives an engine without catalogs.
func emptyEngine(t *testing.T, executor engine.Executor) *engine.Engine {
	t.Helper()
	none, err := catalogs.NewSet(catalogs.SetConfig{Open: func(context.Context, catalogs.Definition, storage.Map) (catalogs.Catalog, error) {
		return nil, errors.ErrUnsupported // there are none
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = none.Close() })
	e, err := engine.New(engine.Config{Catalogs: none, Scanner: &scan.Scanner{}, Executor: executor})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// firstValue gives the type and the value of the first row's first column.
func firstValue(ctx context.Context, e *engine.Engine, in *session.Session, text string) (string, error) {
	p, err := e.Prepare(ctx, engine.Call{Session: in, Text: text})
	if err != nil {
		return "", err
	}
	defer p.Close()
	r, err := p.Run(ctx, nil)
	if err != nil {
		return "", err
	}
	defer r.Close()
	rows, err := r.Open(ctx, 0, r.Parts())
	if err != nil {
		return "", err
	}
	defer rows.Release()
	if !rows.Next() {
		return "no row", rows.Err()
	}
	column := rows.RecordBatch().Column(0)
	return column.DataType().String() + " " + column.ValueStr(0), nil
}
