package flightsql

import (
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/skua-data/skua/session"
)

// partitionsOption is how many endpoints a session wants.
const partitionsOption = "skua.flight.partitions"

// maxTickets bounds the tickets of one result together, in bytes: clients take messages of 4 MiB.
const maxTickets = 1 << 20

// flightInfo says where a result's rows are: one endpoint, unless the session asks for more and the order does not matter. Locations are empty: the rows are
// here, and that is the one form that every driver understands. Each endpoint carries the statement's id, by
// which is polled for how much of it was read.
func (s *Server) flightInfo(result *outcome, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	schema, err := result.form.schema(result.Schema())
	if err != nil {
		return nil, err
	}
	pin, parts := result.Pin(), result.Parts()
	expires := s.config.Now().Add(s.config.Limits.Ticket)
	whole, err := s.seal(ticket{Pin: pin, To: parts, Form: result.form}, expires)
	if err != nil {
		return nil, err
	}
	n := 1
	if !result.Ordered() {
		n = max(1, min(s.wantedEndpoints(result.state, parts), parts, maxTickets/len(whole)))
	}
	info := &flight.FlightInfo{Schema: flight.SerializeSchema(schema, s.mem), FlightDescriptor: d, TotalRecords: result.Rows(), TotalBytes: -1,
		Ordered: result.Ordered()}
	for i := range n {
		sealed := whole
		if n > 1 {
			if sealed, err = s.seal(ticket{Pin: pin, From: i * parts / n, To: (i + 1) * parts / n, Form: result.form}, expires); err != nil {
				return nil, err
			}
		}
		info.Endpoint = append(info.Endpoint, &flight.FlightEndpoint{Ticket: &flight.Ticket{Ticket: sealed}, ExpirationTime: timestamppb.New(expires),
			AppMetadata: []byte(pin.Statement)})
	}
	return info, nil
}

// wantedEndpoints reads the session's wish: false is one endpoint, true one for each part, a number that many at most.
func (s *Server) wantedEndpoints(state session.State, parts int) int {
	wish, _ := state.Get(partitionsOption)
	switch wish = strings.TrimSpace(wish); {
	case wish == "" || strings.EqualFold(wish, "false"):
		return 1
	case strings.EqualFold(wish, "true"):
		return min(parts, s.config.Limits.Endpoints)
	}
	n, err := strconv.Atoi(wish)
	if err != nil {
		return 1
	}
	return min(n, s.config.Limits.Endpoints)
}
