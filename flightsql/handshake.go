package flightsql

import (
	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc/metadata"
)

// Handshake logs in: whoever was admitted, by Basic, by Bearer or by nothing, gets a bearer token that leads to a session of its own. A token shown keeps its
// session. The token goes into the header, where Java looks for it; in a trailer it would be lost.
func (s *service) Handshake(stream flight.FlightService_HandshakeServer) error {
	if err := s.server.refuseNew(); err != nil {
		return err
	}
	c := callerOf(stream.Context())
	if c.token == "" {
		c.token = s.server.newToken()
	}
	header, err := s.server.bearer(c)
	if err != nil {
		return err
	}
	return stream.SendHeader(metadata.Pairs(authorizationHeader, header))
}
