package inprocess

import (
	"context"
	"maps"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/skua-data/skua/conformance"
)

// stream is a result that is being read.
type stream struct {
	client *conformance.Client
	info   *flight.FlightInfo
	reader *flight.Reader
	cancel context.CancelFunc
}

// open begins to read a statement's first endpoint.
func open(t *testing.T, target conformance.Target, sql string) *stream {
	t.Helper()
	// A window that does not grow with the speed of the connection: what is under way is then known.
	target.Options = append(target.Options[:len(target.Options):len(target.Options)], grpc.WithInitialWindowSize(256<<10), grpc.WithInitialConnWindowSize(256<<10))
	client := connect(t, target)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	info, err := client.Flight().Execute(ctx, sql)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := client.Flight().DoGet(ctx, info.Endpoint[0].Ticket)
	if err != nil {
		t.Fatal(err)
	}
	return &stream{client, info, reader, cancel}
}

// first reads one batch.
func (s *stream) first(t *testing.T) {
	t.Helper()
	if !s.reader.Next() {
		t.Fatalf("no batch came: %v", s.reader.Err())
	}
}

// rest reads to the end and gives the number of rows.
func (s *stream) rest() (rows int64, err error) {
	defer s.reader.Release()
	for s.reader.Next() {
		rows += s.reader.RecordBatch().NumRows()
	}
	return rows, s.reader.Err()
}

func connect(t *testing.T, target conformance.Target) *conformance.Client {
	t.Helper()
	client, err := target.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// ask runs a statement on the query path and gives the number of its rows.
func ask(t *testing.T, client *conformance.Client, sql string) (int64, error) {
	t.Helper()
	answer, err := client.Ask(t.Context(), conformance.Question{SQL: sql, Path: conformance.PathQuery})
	if err != nil {
		return 0, err
	}
	defer answer.Release()
	return answer.Rows(), nil
}

const wideScan = "SELECT * FROM wide.db.t"

// TestStreams reads a table that is large for what may be under way at once.
func TestStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes and reads a table of 48 MB")
	}
	noLeaks(t)
	settings := makeWide(t)
	t.Run("whole", func(t *testing.T) { streamWhole(t, settings) })
	t.Run("client goes away", func(t *testing.T) { streamLeft(t, settings) })
	t.Run("statement is cancelled", func(t *testing.T) { streamCancelled(t, settings) })
	t.Run("memory comes back", func(t *testing.T) { streamMemory(t, settings) })
	t.Run("drain", func(t *testing.T) { drain(t, settings) })
	t.Run("drain ends at its limit", func(t *testing.T) { drainLimit(t, settings) })
}

// streamWhole: memory is bounded by what is under way, not by the table.
func streamWhole(t *testing.T, settings map[string]string) {
	log := newJournal()
	r := startWith(t, Config{Settings: settings, Log: log.logger()})
	if n, err := open(t, r.Target(), wideScan).rest(); err != nil || n != wideRows {
		t.Fatalf("%d rows, expected %d: %v", n, wideRows, err)
	}
	done := log.wait(t, 1, statement("scan"))[0]
	if done.number("rows") != wideRows || done.number("files") != wideFiles {
		t.Errorf("the log tells %d rows of %d files", done.number("rows"), done.number("files"))
	}
	if peak := done.number("peak_memory"); peak <= 0 || peak > wideBytes/2 {
		t.Errorf("%d bytes of memory at once for a result of %d", peak, wideBytes)
	}
}

// streamLeft: the first batch comes before the last file is opened, and a reader whose client is gone stops soon.
func streamLeft(t *testing.T, settings map[string]string) {
	log := newJournal()
	r := startWith(t, Config{Settings: settings, Log: log.logger()})
	s := open(t, r.Target(), wideScan)
	s.first(t)
	s.cancel()
	s.reader.Release()
	done := log.wait(t, 1, statement("scan"))[0]
	if files := done.number("files"); files < 1 || files > wideFiles/2 {
		t.Errorf("%d of %d files were opened for a client that read one batch", files, wideFiles)
	}
	if sent := done.number("rows"); sent > wideRows/2 {
		t.Errorf("%d of %d rows were sent to a client that read one batch", sent, wideRows)
	}
	if done.attrs["error"].String() == "" {
		t.Error("the log takes a stream that was left for one that ended")
	}
}

// streamCancelled: CancelFlightInfo ends the stream with an error, and the ticket is good for nothing any more.
func streamCancelled(t *testing.T, settings map[string]string) {
	r := startWith(t, Config{Settings: settings})
	s := open(t, r.Target(), wideScan)
	s.first(t)
	result, err := s.client.Flight().CancelFlightInfo(t.Context(), &flight.CancelFlightInfoRequest{Info: s.info})
	if err != nil {
		t.Fatal(err)
	}
	if result.Status != flight.CancelStatusCancelled && result.Status != flight.CancelStatusCancelling {
		t.Errorf("status %v", result.Status)
	}
	if n, err := s.rest(); status.Code(err) != codes.Canceled {
		t.Errorf("%d rows and %v from a cancelled stream", n, err)
	}
	again, err := s.client.Flight().DoGet(t.Context(), s.info.Endpoint[0].Ticket)
	if err == nil {
		again.Release()
	}
	if status.Code(err) != codes.Canceled {
		t.Errorf("the ticket of a cancelled statement gives %v", err)
	}
}

// streamMemory: what left streams held comes back, or a whole scan would not find room.
func streamMemory(t *testing.T, settings map[string]string) {
	log := newJournal()
	limited := maps.Clone(settings)
	limited["skua.memory.limit"] = "40m"
	r := startWith(t, Config{Settings: limited, Log: log.logger()})
	const streams = 24 // a leak of one batch each would be 48 MB
	for i := range streams {
		s := open(t, r.Target(), wideScan)
		s.first(t)
		s.cancel()
		s.reader.Release()
		log.wait(t, i+1, statement("scan"))
	}
	if n, err := open(t, r.Target(), wideScan).rest(); err != nil || n != wideRows {
		t.Errorf("after %d left streams: %d rows, %v", streams, n, err)
	}
}
