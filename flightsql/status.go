package flightsql

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/skua-data/skua/fault"
)

// kindCodes is the one map from kinds to status codes.
var kindCodes = [...]struct {
	kind fault.Kind
	code codes.Code
}{
	{fault.Internal, codes.Internal},
	{fault.Invalid, codes.InvalidArgument},
	{fault.NotFound, codes.NotFound},
	{fault.AlreadyExists, codes.AlreadyExists},
	{fault.Unsupported, codes.Unimplemented},
	{fault.Denied, codes.PermissionDenied},
	{fault.Unauthenticated, codes.Unauthenticated},
	{fault.Exhausted, codes.ResourceExhausted},
	{fault.Unavailable, codes.Unavailable},
	{fault.Corrupt, codes.DataLoss},
	{fault.Canceled, codes.Canceled},
	{fault.Deadline, codes.DeadlineExceeded},
}

// maxMessage bounds an error's text on the wire. It travels in a header, percent-encoded, and Java and C++ clients drop a response whose headers are
// over 8 KiB.
const maxMessage = 4 << 10

// toStatus gives an error the status that clients see. What is neither classified nor a status already is INTERNAL.
func toStatus(err error) error {
	if err == nil {
		return nil
	}
	var classified *fault.Error
	if !errors.As(err, &classified) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		if st, ok := status.FromError(err); ok {
			return status.Error(st.Code(), wireText(st.Message()))
		}
	}
	return status.Error(codeOf(fault.KindOf(err)), wireText(publicText(err)))
}

func codeOf(kind fault.Kind) codes.Code {
	for _, row := range kindCodes {
		if row.kind == kind {
			return row.code
		}
	}
	return codes.Internal
}

// publicText is the error's text, without what a panic printed: that is for the log.
func publicText(err error) string {
	var p *fault.Panic
	if errors.As(err, &p) {
		return "internal error; the server's log has the details"
	}
	var classified *fault.Error
	if errors.As(err, &classified) && classified.Condition == syntaxCondition {
		return err.Error() + "; docs/sql.md shows the syntax"
	}
	return err.Error()
}

// syntaxCondition is that of texts that are no SQL. Where to look belongs to what a person reads, and some clients look for the word.
const syntaxCondition = "PARSE_SYNTAX_ERROR"

// wireText makes a text valid and short enough for a header. gRPC encodes what a header cannot hold, line ends among it.
func wireText(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "�"), "�")
	size := 0
	for i, r := range text {
		if size += encodedSize(r); size > maxMessage {
			return text[:i] + "…"
		}
	}
	return text
}

// encodedSize is the length of a rune in percent-encoding.
func encodedSize(r rune) int {
	if r >= ' ' && r <= '~' && r != '%' {
		return 1
	}
	return 3 * utf8.RuneLen(r)
}
