package flightsql

import (
	"context"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

// messageOption is the largest message that a session's client takes.
const messageOption = "skua.flight.max-message-size"

// Messages hold no more than 2 GiB, and clients of ADBC take no more than 16 MiB unless they are told otherwise. Both can take no more than one row
// at a time, which is all that a message of that size is made of.
const (
	largestMessage  = math.MaxInt32
	adbcMessage     = 16 << 20
	messageOverhead = 64 << 10 // what a message has beside its values
)

// messageLimit is the most bytes of values that the caller takes in one message.
func (s *Server) messageLimit(ctx context.Context) int64 {
	c := callerOf(ctx)
	limit := int64(largestMessage)
	if strings.HasPrefix(c.agent(), adbcAgent) {
		limit = adbcMessage
	}
	if own, err := s.existing(ctx); err == nil && own != nil { // a ticket is good without a session too
		if text, ok := own.State().Get(messageOption); ok {
			if n, err := session.ParseBytes(text); err == nil && n > 0 {
				limit = min(n, largestMessage)
			}
		}
	}
	return max(limit-messageOverhead, batchBytes)
}

// refuseRow explains why a row does not fit into a message, by its largest column.
func (s *sender) refuseRow(row arrow.RecordBatch) error {
	largest, most := 0, int64(-1)
	for i, c := range row.Columns() {
		if n := arraySize(c, 0, 1); n > most {
			largest, most = i, n
		}
	}
	return fault.New(fault.Exhausted, "a row has %d bytes, %d of them in column %q, and the client takes messages of %d; where it can take more, tell it and the session so",
		batchSize(row, 0, 1), most, s.schema.Field(largest).Name, s.limit+messageOverhead).Change(messageOption)
}
