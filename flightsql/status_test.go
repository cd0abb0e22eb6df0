package flightsql

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/skua-data/skua/fault"
)

func TestEveryKindHasItsCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		code codes.Code
		text string
	}{
		{fault.New(fault.Invalid, "bad"), codes.InvalidArgument, "bad"},
		{fault.Wrap(fault.New(fault.NotFound, "gone"), "load"), codes.NotFound, "load: gone"},
		{fmt.Errorf("while: %w", fault.New(fault.Unsupported, "x is not supported")), codes.Unimplemented, "while: x is not supported"},
		{fault.New(fault.AlreadyExists, "x"), codes.AlreadyExists, "x"},
		{fault.New(fault.Denied, "x"), codes.PermissionDenied, "x"},
		{fault.New(fault.Exhausted, "x").Change("skua.y"), codes.ResourceExhausted, "skua.y"},
		{fault.New(fault.Corrupt, "x"), codes.DataLoss, "x"},
		{fault.New(fault.Unavailable, "x: %w", status.Error(codes.NotFound, "inner")), codes.Unavailable, "x"},
		{fmt.Errorf("scan: %w", context.Canceled), codes.Canceled, "scan"},
		{context.DeadlineExceeded, codes.DeadlineExceeded, ""},
		{status.Error(codes.FailedPrecondition, "as it is"), codes.FailedPrecondition, "as it is"},
		{errors.New("a bug"), codes.Internal, "a bug"},
	} {
		wantCode(t, toStatus(c.err), c.code, c.text)
	}
	if toStatus(nil) != nil {
		t.Error("no error has a status")
	}
	seen := map[fault.Kind]bool{}
	for _, row := range kindCodes {
		seen[row.kind] = true
	}
	for k := fault.Internal; k <= fault.Deadline; k++ {
		if !seen[k] {
			t.Errorf("kind %s has no code", k)
		}
	}
}

func TestTextsFitIntoAHeader(t *testing.T) {
	for _, text := range []string{strings.Repeat("SELECT\n", 100_000), strings.Repeat("é", 5000), "a\x00b\xff", strings.Repeat("%", 9000)} {
		got := status.Convert(toStatus(fault.New(fault.Invalid, "%s", text))).Message()
		if n := len(url.PathEscape(got)); n > maxMessage+16 {
			t.Errorf("%d bytes encoded", n)
		}
		if strings.ContainsRune(got, 0) {
			t.Error("a NUL went through")
		}
	}
}

func TestErrorsWithLineEndsArriveWhole(t *testing.T) {
	c := start(t, nil).connect()
	_, err := c.Execute(c.ctx, "CREATE\nTABLE")
	wantCode(t, err, codes.Unimplemented, "Skua reads only")
}
