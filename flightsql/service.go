package flightsql

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow/flight"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	upstream "github.com/apache/arrow-go/v18/arrow/flight/flightsql"

	"github.com/skua-data/skua/fault"
)

// service wraps the upstream router: what the router would refuse before any hook, leave out or trip over is done here.
type service struct {
	pb.FlightServiceServer // the router
	server                 *Server
}

var _ pb.FlightServiceServer = (*service)(nil)

const typePrefix = "type.googleapis.com/"

// GetFlightInfo also takes bare SQL and table paths.
func (s *service) GetFlightInfo(ctx context.Context, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	if err := s.server.refuseNew(); err != nil {
		return nil, err
	}
	routed, err := routable(d)
	if err != nil {
		return nil, err
	}
	info, err := s.FlightServiceServer.GetFlightInfo(ctx, routed)
	if err != nil {
		return nil, err
	}
	info.FlightDescriptor = d
	return info, nil
}

// GetSchema also takes bare SQL and table paths.
func (s *service) GetSchema(ctx context.Context, d *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	if err := s.server.refuseNew(); err != nil {
		return nil, err
	}
	routed, err := routable(d)
	if err != nil {
		return nil, err
	}
	return s.FlightServiceServer.GetSchema(ctx, routed)
}

// DoAction refuses new statements and settings while the server drains; closing and cancelling go on.
func (s *service) DoAction(a *flight.Action, stream flight.FlightService_DoActionServer) error {
	switch a.GetType() {
	case upstream.CreatePreparedStatementActionType, flight.SetSessionOptionsActionType:
		if err := s.server.refuseNew(); err != nil {
			return err
		}
	}
	return s.FlightServiceServer.DoAction(a, stream)
}

// ListActions lists the actions that work, and only those.
func (s *service) ListActions(_ *flight.Empty, stream flight.FlightService_ListActionsServer) error {
	for _, a := range []*flight.ActionType{
		{Type: flight.CancelFlightInfoActionType, Description: "stops the streams of a FlightInfo"},
		{Type: flight.RenewFlightEndpointActionType, Description: "makes an endpoint's ticket good for longer"},
		{Type: upstream.CreatePreparedStatementActionType, Description: "prepares a statement, without effect"},
		{Type: upstream.ClosePreparedStatementActionType, Description: "closes a prepared statement"},
		{Type: upstream.CancelQueryActionType, Description: "the old form of CancelFlightInfo"},
		{Type: flight.SetSessionOptionsActionType, Description: "sets options of the session, catalog and schema among them"},
		{Type: flight.GetSessionOptionsActionType, Description: "gives the options of the session"},
		{Type: flight.CloseSessionActionType, Description: "ends the session"},
	} {
		if err := stream.Send(a); err != nil {
			return err
		}
	}
	return nil
}

// routable gives a descriptor that the router takes: a command in an Any. Bare SQL text and a path, which names a table, become statements.
func routable(d *flight.FlightDescriptor) (*flight.FlightDescriptor, error) {
	if d == nil {
		return nil, fault.New(fault.Invalid, "the call has no descriptor")
	}
	if len(d.Path) > 0 {
		return statementDescriptor("SELECT * FROM " + quoteName(d.Path))
	}
	var command anypb.Any
	if err := proto.Unmarshal(d.Cmd, &command); err == nil && strings.HasPrefix(command.TypeUrl, typePrefix) {
		return d, nil
	}
	if !looksLikeSQL(d.Cmd) {
		return nil, fault.New(fault.Invalid, "the descriptor holds neither a Flight SQL command nor SQL text")
	}
	return statementDescriptor(string(d.Cmd))
}

func statementDescriptor(sql string) (*flight.FlightDescriptor, error) {
	command, err := anypb.New(&pb.CommandStatementQuery{Query: sql})
	if err != nil {
		return nil, fault.New(fault.Invalid, "the descriptor's text is not valid UTF-8")
	}
	cmd, err := proto.Marshal(command)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the descriptor's text is not valid UTF-8")
	}
	return &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: cmd}, nil
}

// looksLikeSQL tells text from a broken protobuf message: such a message has control characters or bytes that are not UTF-8.
func looksLikeSQL(b []byte) bool {
	text := string(b)
	if strings.TrimSpace(text) == "" || !utf8.ValidString(text) {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f })
}

// quoteName writes a name's parts in SQL.
func quoteName(parts []string) string {
	quoted := make([]string, len(parts))
	for i, p := range parts {
		quoted[i] = "`" + strings.ReplaceAll(p, "`", "``") + "`"
	}
	return strings.Join(quoted, ".")
}
