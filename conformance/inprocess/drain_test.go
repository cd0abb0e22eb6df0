package inprocess

import (
	"context"
	"maps"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/fault"
)

// watch opens a stream of the server's health, which begins with SERVING.
func watch(t *testing.T, target conformance.Target) (healthpb.Health_WatchClient, context.CancelFunc) {
	t.Helper()
	connection, err := grpc.NewClient(target.Address, grpc.WithTransportCredentials(target.Credentials))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	health, err := healthpb.NewHealthClient(connection).Watch(ctx, &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	expectHealth(t, health, healthpb.HealthCheckResponse_SERVING)
	return health, cancel
}

func expectHealth(t *testing.T, health healthpb.Health_WatchClient, want healthpb.HealthCheckResponse_ServingStatus) {
	t.Helper()
	if seen, err := health.Recv(); err != nil || seen.Status != want {
		t.Fatalf("health is %v, expected %v: %v", seen, want, err)
	}
}

// drain: health turns NOT_SERVING, new work is refused as UNAVAILABLE, and a stream that runs comes to its end.
func drain(t *testing.T, settings map[string]string) {
	r := startWith(t, Config{Settings: settings})
	health, leave := watch(t, r.Target())
	s := open(t, r.Target(), wideScan)
	s.first(t)
	got := s.reader.RecordBatch().NumRows()
	drained := make(chan error, 1)
	go func() { drained <- r.Drain(t.Context()) }()
	expectHealth(t, health, healthpb.HealthCheckResponse_NOT_SERVING)
	leave()
	for name, client := range map[string]*conformance.Client{"the client of the stream": s.client, "a new client": connect(t, r.Target())} {
		if _, err := ask(t, client, "SELECT 1"); status.Code(err) != codes.Unavailable {
			t.Errorf("%s asks something new: %v", name, err)
		}
	}
	n, err := s.rest()
	if err != nil || got+n != wideRows {
		t.Errorf("the running stream gave %d of %d rows: %v", got+n, wideRows, err)
	}
	if err := <-drained; err != nil {
		t.Error(err)
	}
}

// drainLimit: a client that does not read is cut off when the time is over, with an error and not with an end.
func drainLimit(t *testing.T, settings map[string]string) {
	short := maps.Clone(settings)
	short["skua.drain.timeout"] = "50ms"
	r := startWith(t, Config{Settings: short})
	s := open(t, r.Target(), wideScan)
	s.first(t)
	got := s.reader.RecordBatch().NumRows()
	if err := r.Drain(t.Context()); !fault.Is(err, fault.Deadline) {
		t.Fatalf("a drain that cuts a stream must say so: %v", err)
	}
	if n, err := s.rest(); err == nil || got+n >= wideRows {
		t.Errorf("%d of %d rows came and %v from a stream that was cut", got+n, wideRows, err)
	}
}
