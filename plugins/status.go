package plugins

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/skua-data/skua/fault"
	catalogv1 "github.com/skua-data/skua/plugins/proto/skua/catalog/v1"
)

// maxMessage bounds an error's text on the wire, since it travels in headers.
const maxMessage = 16 << 10

// kinds pairs fault's kinds with those of the wire.
var kinds = []struct {
	kind fault.Kind
	wire catalogv1.ErrorKind
}{
	{fault.Internal, catalogv1.ErrorKind_ERROR_KIND_INTERNAL},
	{fault.Invalid, catalogv1.ErrorKind_ERROR_KIND_INVALID},
	{fault.NotFound, catalogv1.ErrorKind_ERROR_KIND_NOT_FOUND},
	{fault.AlreadyExists, catalogv1.ErrorKind_ERROR_KIND_ALREADY_EXISTS},
	{fault.Unsupported, catalogv1.ErrorKind_ERROR_KIND_UNSUPPORTED},
	{fault.Denied, catalogv1.ErrorKind_ERROR_KIND_DENIED},
	{fault.Unauthenticated, catalogv1.ErrorKind_ERROR_KIND_UNAUTHENTICATED},
	{fault.Exhausted, catalogv1.ErrorKind_ERROR_KIND_EXHAUSTED},
	{fault.Unavailable, catalogv1.ErrorKind_ERROR_KIND_UNAVAILABLE},
	{fault.Corrupt, catalogv1.ErrorKind_ERROR_KIND_CORRUPT},
	{fault.Canceled, catalogv1.ErrorKind_ERROR_KIND_CANCELED},
	{fault.Deadline, catalogv1.ErrorKind_ERROR_KIND_DEADLINE},
}

// foreignKinds reads the codes of a plugin that sends no detail, such as one in another language. The others are a broken plugin's.
var foreignKinds = []struct {
	code codes.Code
	kind fault.Kind
}{
	{codes.InvalidArgument, fault.Invalid},
	{codes.NotFound, fault.NotFound},
	{codes.AlreadyExists, fault.AlreadyExists},
	{codes.Unimplemented, fault.Unsupported},
	{codes.PermissionDenied, fault.Denied},
	{codes.Unauthenticated, fault.Unauthenticated},
	{codes.ResourceExhausted, fault.Exhausted},
	{codes.DataLoss, fault.Corrupt},
	{codes.DeadlineExceeded, fault.Deadline},
}

// encodeError makes a status whose detail says everything; its code says only that there is a detail. A nil err stays nil.
func encodeError(err error) error {
	if err == nil {
		return nil
	}
	detail := &catalogv1.ErrorDetail{Message: bounded(err.Error())}
	var carried *fault.Error
	if errors.As(err, &carried) {
		detail.Condition, detail.SqlState = text(carried.Condition), text(carried.SQLState)
		detail.Object, detail.Setting = bounded(carried.Object), text(carried.Setting)
	}
	if direct, ok := err.(*fault.Error); ok {
		detail.Message = bounded(direct.Message) // the rest of its text is made again from the fields
	}
	for _, pair := range kinds {
		if pair.kind == fault.KindOf(err) {
			detail.Kind = pair.wire
		}
	}
	withDetail, detailErr := status.New(codes.Unknown, detail.Message).WithDetails(detail)
	if detailErr != nil {
		return status.Error(codes.Unknown, detail.Message)
	}
	return withDetail.Err()
}

// bounded cuts a text that is too long for a header.
func bounded(s string) string {
	if len(s) <= maxMessage {
		return text(s)
	}
	return strings.ToValidUTF8(s[:maxMessage], "") + "…"
}

// said bounds a text of a plugin, and takes out of it what a terminal or a log would obey.
func said(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return ' '
		}
		return r
	}, bounded(s))
}

// decodeError gives the fault that a failed call carries, redacted. ctx is the caller's: when it has ended, that is the error. A nil err stays nil.
func decodeError(ctx context.Context, err error, redact *Redactor) error {
	if err == nil {
		return nil
	}
	if ended := ctx.Err(); ended != nil {
		return fault.New(fault.KindOf(ended), "%w", ended)
	}
	carried, _ := status.FromError(err)
	for _, any := range carried.Details() {
		if detail, ok := any.(*catalogv1.ErrorDetail); ok {
			return redact.Error(detailed(ctx, detail))
		}
	}
	return redact.Error(foreign(carried))
}

// detailed makes a fault of a detail.
func detailed(ctx context.Context, detail *catalogv1.ErrorDetail) error {
	out := fault.New(fault.Internal, "%s", said(detail.GetMessage())).With(said(detail.GetCondition()), said(detail.GetSqlState())).
		In(said(detail.GetObject())).Change(said(detail.GetSetting()))
	for _, pair := range kinds {
		if pair.wire == detail.GetKind() {
			out.Kind = pair.kind
		}
	}
	_, hasDeadline := ctx.Deadline()
	if out.Kind == fault.Canceled || out.Kind == fault.Deadline && !hasDeadline {
		out.Kind = fault.Unavailable // the caller is still there: it was a time limit of the catalog's own
	}
	return out
}

// foreign makes a fault of a status without a detail: the connection's own, or that of a plugin that sends none.
func foreign(carried *status.Status) error {
	if carried.Code() == codes.Unavailable || carried.Code() == codes.Canceled {
		return &fault.Error{Kind: fault.Unavailable, Message: "the connection to the plugin broke: " + said(carried.Message()), Cause: ErrDisconnected}
	}
	for _, pair := range foreignKinds {
		if pair.code == carried.Code() {
			return fault.New(pair.kind, "%s", said(carried.Message()))
		}
	}
	return fault.New(fault.Unavailable, "the plugin failed: %s: %s", carried.Code(), said(carried.Message()))
}
