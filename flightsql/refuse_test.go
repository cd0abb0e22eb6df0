package flightsql

import (
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	upstream "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"google.golang.org/grpc/codes"
)

// TestARefusedUploadLearnsWhy sends more than fits into what gRPC buffers, as a client that ingests does.
func TestARefusedUploadLearnsWhy(t *testing.T) {
	w := start(t, func(c *Config) { c.Auth = byHeader{} })
	c := w.connect("authorization", alice)
	rows := make([]int64, 100_000)
	batches := make([]arrow.RecordBatch, 20)
	for i := range batches {
		batches[i] = int64Batch(rows...)
		defer batches[i].Release()
	}
	r, err := array.NewRecordReader(batches[0].Schema(), batches)
	check(t, err)
	defer r.Release()
	_, err = c.ExecuteIngest(c.ctx, r, &upstream.ExecuteIngestOpts{Table: "t", TableDefinitionOptions: &upstream.TableDefinitionOptions{
		IfNotExist: upstream.TableDefinitionOptionsTableNotExistOptionCreate, IfExists: upstream.TableDefinitionOptionsTableExistsOptionFail}})
	wantCode(t, err, codes.Unimplemented, "Skua reads only")
	d := descriptor(t, &pb.CommandPreparedStatementQuery{PreparedStatementHandle: []byte("gone")})
	many := bound(t, d)
	for range 200 {
		many = append(many, &flight.FlightData{DataBody: make([]byte, 64<<10)})
	}
	wantCode(t, c.put(many...), codes.NotFound, "prepared statement")
	stranger := w.connect("authorization", "Basic !")
	wantCode(t, stranger.put(bound(t, d)...), codes.Unauthenticated, "")
	c.query("SELECT 1")
}

// TestAClientThatWaitsForItsAnswerGetsIt: it has not said that it is done.
func TestAClientThatWaitsForItsAnswerGetsIt(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	s, err := c.Client.Client.DoPut(c.ctx)
	check(t, err)
	check(t, s.Send(&flight.FlightData{FlightDescriptor: descriptor(t, &pb.CommandPreparedStatementQuery{PreparedStatementHandle: []byte("gone")})}))
	_, err = s.Recv()
	wantCode(t, err, codes.NotFound, "prepared statement")
}

// TestBindingsOfOldJavaClients: they get no answer that they would not look at and never give back.
func TestBindingsOfOldJavaClients(t *testing.T) {
	w := start(t, nil)
	for agent, answers := range map[string]int{"grpc-java-netty/1.63.0": 0, "grpc-java-netty/1.71.0": 1} {
		c := w.withAgent(agent)
		p, err := c.Prepare(c.ctx, "ECHO ?")
		check(t, err)
		s, err := c.Client.Client.DoPut(c.ctx)
		check(t, err)
		for _, m := range bound(t, descriptor(t, &pb.CommandPreparedStatementQuery{PreparedStatementHandle: p.Handle()})) {
			check(t, s.Send(m))
		}
		check(t, s.CloseSend())
		got := 0
		for {
			_, err := s.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			check(t, err)
			got++
		}
		info, err := p.Execute(c.ctx)
		check(t, err)
		if rows := c.fetch(info); got != answers || len(rows) != 3 {
			t.Errorf("%s: %d answers, rows %q", agent, got, rows)
		}
	}
}
