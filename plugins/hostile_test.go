package plugins

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/iceberg-go/table"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	catalogv1 "github.com/skua-data/skua/plugins/proto/skua/catalog/v1"
)

// hostile is a plugin that does not keep to the protocol.
type hostile struct {
	catalogv1.UnimplementedCatalogServiceServer
	parts   []*catalogv1.LoadTableResponse
	entries []*catalogv1.TableEntry
	names   []*catalogv1.Identifier
	endless bool // sends names again and again
	fail    error
}

func (h *hostile) Open(context.Context, *catalogv1.OpenRequest) (*catalogv1.OpenResponse, error) {
	return nil, nil
}

func (h *hostile) LoadTable(_ *catalogv1.LoadTableRequest, stream grpc.ServerStreamingServer[catalogv1.LoadTableResponse]) error {
	for _, part := range h.parts {
		if err := stream.Send(part); err != nil {
			return err
		}
	}
	return h.fail
}

func (h *hostile) ListTables(_ *catalogv1.ListTablesRequest, stream grpc.ServerStreamingServer[catalogv1.ListTablesResponse]) error {
	if err := stream.Send(&catalogv1.ListTablesResponse{Entries: h.entries}); err != nil {
		return err
	}
	return h.fail
}

func (h *hostile) ListNamespaces(_ *catalogv1.ListNamespacesRequest, stream grpc.ServerStreamingServer[catalogv1.ListNamespacesResponse]) error {
	for {
		if err := stream.Send(&catalogv1.ListNamespacesResponse{Namespaces: h.names}); err != nil || !h.endless {
			return err
		}
	}
}

func (h *hostile) open(t *testing.T) *Catalog {
	t.Helper()
	connection, server := plugin.TestGRPCConn(t, func(s *grpc.Server) { catalogv1.RegisterCatalogServiceServer(s, h) })
	t.Cleanup(func() { _ = connection.Close(); server.Stop() })
	dispensed, err := (&Plugin{}).GRPCClient(t.Context(), nil, connection)
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := dispensed.(*Client).Open(t.Context(), "x", catalogs.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

func head(size int64) *catalogv1.LoadTableResponse {
	return &catalogv1.LoadTableResponse{Part: &catalogv1.LoadTableResponse_Head{Head: &catalogv1.TableHead{Kind: catalogv1.TableKind_TABLE_KIND_ICEBERG, MetadataSize: &size}}}
}

func chunk(n int) *catalogv1.LoadTableResponse {
	return &catalogv1.LoadTableResponse{Part: &catalogv1.LoadTableResponse_Metadata{Metadata: make([]byte, n)}}
}

func TestLoadRefusesBrokenAnswers(t *testing.T) {
	for _, c := range []struct {
		name  string
		parts []*catalogv1.LoadTableResponse
		fail  error
		kind  fault.Kind
		want  string
	}{
		{"nothing", nil, nil, fault.Unavailable, "ended before"},
		{"no head", []*catalogv1.LoadTableResponse{chunk(1)}, nil, fault.Unavailable, "does not start with the table's head"},
		{"an empty message", []*catalogv1.LoadTableResponse{{}}, nil, fault.Unavailable, "does not start with the table's head"},
		{"too little", []*catalogv1.LoadTableResponse{head(5), chunk(4)}, nil, fault.Unavailable, "4 of 5 bytes"},
		{"too much", []*catalogv1.LoadTableResponse{head(5), chunk(4), chunk(2)}, nil, fault.Unavailable, "more metadata than the 5 bytes"},
		{"two heads", []*catalogv1.LoadTableResponse{head(1), head(1)}, nil, fault.Unavailable, "0 of 1 bytes"},
		{"enormous", []*catalogv1.LoadTableResponse{head(1 << 40)}, nil, fault.Exhausted, "the limit is"},
		{"negative", []*catalogv1.LoadTableResponse{head(-7)}, nil, fault.Exhausted, "of -7 bytes"},
		{"unknown kind", []*catalogv1.LoadTableResponse{{Part: &catalogv1.LoadTableResponse_Head{Head: &catalogv1.TableHead{Kind: 99}}}}, nil, fault.Unsupported, "not supported"},
		{"an error in the middle", []*catalogv1.LoadTableResponse{head(5), chunk(4)}, encodeError(fault.New(fault.Corrupt, "gone")), fault.Corrupt, "gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			catalog := (&hostile{parts: c.parts, fail: c.fail}).open(t)
			loaded, err := catalog.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"t"}})
			if loaded != nil || !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %s: %v", loaded, fault.KindOf(err), err)
			}
		})
	}
}

func TestListingsRefuseBrokenAnswers(t *testing.T) {
	for _, c := range []struct {
		name    string
		entries []*catalogv1.TableEntry
		kind    fault.Kind
	}{
		{"no entry", []*catalogv1.TableEntry{nil}, fault.Unavailable},
		{"no name", []*catalogv1.TableEntry{{Kind: catalogv1.TableKind_TABLE_KIND_VIEW}}, fault.Unavailable},
		{"no kind", []*catalogv1.TableEntry{{Identifier: &catalogv1.Identifier{Parts: []string{"t"}}}}, fault.Unsupported},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := 0
			for _, err := range (&hostile{entries: c.entries}).open(t).Tables(t.Context(), nil) {
				if seen++; !fault.Is(err, c.kind) {
					t.Errorf("got %v", err)
				}
			}
			if seen != 1 {
				t.Errorf("%d entries", seen)
			}
		})
	}
}

// TestTextsOfAPluginAreBoundedAndHarmless: what a plugin says goes to clients, terminals and logs.
func TestTextsOfAPluginAreBoundedAndHarmless(t *testing.T) {
	const odd = "gone\x1b[2J\x00\u009b31m\r\nand\tmore"
	long := strings.Repeat("long ", 1<<18)
	for name, fail := range map[string]error{
		"with a detail":    detailOf(t, &catalogv1.ErrorDetail{Kind: catalogv1.ErrorKind_ERROR_KIND_CORRUPT, Message: odd + long, Object: odd, Setting: odd + long, Condition: odd}),
		"without a detail": status.Error(codes.DataLoss, odd+long),
		"of a broken line": status.Error(codes.Unavailable, odd+long),
	} {
		catalog := (&hostile{parts: []*catalogv1.LoadTableResponse{head(5)}, fail: fail}).open(t)
		_, err := catalog.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"t"}})
		var carried *fault.Error
		if !errors.As(err, &carried) || !strings.Contains(err.Error(), "gone") || len(err.Error()) > 8*maxMessage {
			t.Errorf("%s: %d bytes: %.200v", name, len(fmt.Sprint(err)), err)
			continue
		}
		for _, text := range []string{err.Error(), carried.Object, carried.Setting, carried.Condition} {
			if strings.ContainsAny(text, "\x1b\x00\u009b\r") || len(text) > 8*maxMessage {
				t.Errorf("%s: %.100q", name, text)
			}
		}
	}
	for what, entries := range map[string][]*catalogv1.TableEntry{"no UTF-8": {{Identifier: &catalogv1.Identifier{Parts: []string{"t\xff"}}, Kind: catalogv1.TableKind_TABLE_KIND_VIEW}}} {
		for _, err := range (&hostile{entries: entries}).open(t).Tables(t.Context(), nil) {
			if err == nil || fault.Is(err, fault.NotFound) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

func detailOf(t *testing.T, detail *catalogv1.ErrorDetail) error {
	t.Helper()
	s, err := status.New(codes.Unknown, "failed").WithDetails(detail)
	if err != nil {
		t.Fatal(err)
	}
	return s.Err()
}

func name(parts ...string) *catalogv1.Identifier { return &catalogv1.Identifier{Parts: parts} }

func TestListingsHoldDirectChildrenOnly(t *testing.T) {
	for _, c := range []struct {
		sent, under []string
		good        bool
	}{
		{[]string{"a", "b"}, []string{"a"}, true},
		{[]string{"A", "b"}, []string{"a"}, true},
		{[]string{"a"}, nil, true},
		{nil, nil, false},
		{[]string{""}, nil, false},
		{[]string{"a", ""}, []string{"a"}, false},
		{[]string{"a"}, []string{"a"}, false}, // itself: whoever walks the tree would never come back
		{[]string{"a", "b", "c"}, []string{"a"}, false},
		{[]string{"x", "b"}, []string{"a"}, false},
		{[]string{"a", "b"}, nil, false},
	} {
		catalog := (&hostile{names: []*catalogv1.Identifier{name(c.sent...)},
			entries: []*catalogv1.TableEntry{{Identifier: name(c.sent...), Kind: catalogv1.TableKind_TABLE_KIND_VIEW}}}).open(t)
		for _, err := range catalog.Namespaces(t.Context(), c.under) {
			if c.good != (err == nil) || err != nil && !fault.Is(err, fault.Unavailable) {
				t.Errorf("the namespace %q in %q: %v", c.sent, c.under, err)
			}
		}
		for _, err := range catalog.Tables(t.Context(), c.under) {
			if c.good != (err == nil) || err != nil && !fault.Is(err, fault.Unavailable) {
				t.Errorf("the table %q in %q: %v", c.sent, c.under, err)
			}
		}
	}
}

func TestAListingWithoutAnEndEnds(t *testing.T) {
	catalog := (&hostile{names: []*catalogv1.Identifier{name(strings.Repeat("n", 1<<20))}, endless: true}).open(t)
	seen := 0
	var last error
	for _, err := range catalog.Namespaces(t.Context(), nil) {
		seen, last = seen+1, err
	}
	if !fault.Is(last, fault.Exhausted) || seen != maxListed>>20 {
		t.Errorf("%d names, then %v", seen, last)
	}
}

func TestStatusesWithoutADetailAreRead(t *testing.T) {
	for code, kind := range map[codes.Code]fault.Kind{
		codes.InvalidArgument: fault.Invalid, codes.NotFound: fault.NotFound, codes.AlreadyExists: fault.AlreadyExists, codes.Unimplemented: fault.Unsupported,
		codes.PermissionDenied: fault.Denied, codes.Unauthenticated: fault.Unauthenticated, codes.ResourceExhausted: fault.Exhausted, codes.DataLoss: fault.Corrupt,
		codes.DeadlineExceeded: fault.Deadline, codes.Internal: fault.Unavailable, codes.Unknown: fault.Unavailable, codes.Unavailable: fault.Unavailable,
	} {
		catalog := (&hostile{fail: status.Error(code, "at http://u:pw@h")}).open(t)
		_, err := catalog.Load(t.Context(), catalogs.LoadRequest{})
		if !fault.Is(err, kind) || strings.Contains(err.Error(), "u:pw") {
			t.Errorf("%s gives %s: %v", code, fault.KindOf(err), err)
		}
		if errors.Is(err, ErrDisconnected) != (code == codes.Unavailable) {
			t.Errorf("%s: disconnected is wrong", code)
		}
	}
	if err := (&hostile{}).open(t).Close(); !fault.Is(err, fault.Unsupported) {
		t.Errorf("a plugin without Close gives %v", err)
	}
}

func TestNoErrorStaysNone(t *testing.T) {
	if decodeError(t.Context(), nil, nil) != nil || encodeError(nil) != nil {
		t.Error("nil must stay nil")
	}
}
