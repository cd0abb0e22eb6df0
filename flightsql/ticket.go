package flightsql

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	upstream "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/fault"
)

// ticket is what an endpoint's ticket holds: a result, pinned, and a run of its parts. It stands alone: any server with the key gives the same rows for it, after
// the cursor, the prepared statement and the session are gone.
type ticket struct {
	Pin  engine.Pin `json:"pin"`
	From int        `json:"from"`
	To   int        `json:"to"`
	Form form       `json:"form,omitzero"`
}

const (
	ticketPurpose = "ticket"
	maxPin        = 256 << 20 // of one ticket, unpacked
)

// seal makes a ticket's bytes: JSON, deflated (an SQL text shrinks well), signed, in the message that clients expect.
func (s *Server) seal(t ticket, expires time.Time) ([]byte, error) {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		return nil, fault.New(fault.Internal, "pack a ticket: %w", err)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(t); err != nil {
		return nil, fault.New(fault.Internal, "pack a ticket: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fault.New(fault.Internal, "pack a ticket: %w", err)
	}
	sealed, err := upstream.CreateStatementQueryTicket(s.config.Keyring.Seal(ticketPurpose, packed.Bytes(), expires))
	if err != nil {
		return nil, fault.New(fault.Internal, "pack a ticket: %w", err)
	}
	return sealed, nil
}

// openTicket verifies the inside of a statement's ticket and that it is the caller's. Whoever shows another user's ticket learns nothing from it.
func (s *Server) openTicket(ctx context.Context, handle []byte) (t ticket, err error) {
	packed, _, err := s.config.Keyring.Open(ticketPurpose, handle)
	if err != nil {
		return t, err
	}
	unpacked := io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxPin)
	if err := json.NewDecoder(unpacked).Decode(&t); err != nil {
		return t, fault.New(fault.Invalid, "the ticket cannot be read")
	}
	if t.Pin.Principal != callerOf(ctx).principal.Name {
		return ticket{}, fault.New(fault.Denied, "the ticket is another user's")
	}
	return t, nil
}

// endpointTicket gives what the ticket of an endpoint holds.
func (s *Server) endpointTicket(ctx context.Context, e *flight.FlightEndpoint) (ticket, error) {
	var command anypb.Any
	var inside pb.TicketStatementQuery
	if proto.Unmarshal(e.GetTicket().GetTicket(), &command) != nil || command.UnmarshalTo(&inside) != nil {
		return ticket{}, fault.New(fault.Invalid, "the endpoint has no ticket of a statement")
	}
	return s.openTicket(ctx, inside.StatementHandle)
}

// RenewFlightEndpoint makes an endpoint's ticket good for longer.
func (s *Server) RenewFlightEndpoint(ctx context.Context, req *flight.RenewFlightEndpointRequest) (*flight.FlightEndpoint, error) {
	t, err := s.endpointTicket(ctx, req.GetEndpoint())
	if err != nil {
		return nil, err
	}
	expires := s.config.Now().Add(s.config.Limits.Ticket)
	sealed, err := s.seal(t, expires)
	if err != nil {
		return nil, err
	}
	return &flight.FlightEndpoint{Ticket: &flight.Ticket{Ticket: sealed}, Location: req.Endpoint.Location, ExpirationTime: timestamppb.New(expires),
		AppMetadata: req.Endpoint.AppMetadata}, nil
}
