package flightsql

import (
	"time"

	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// What a refused upload may still send, so that its client comes to read why. One that is cut off while it sends learns from gRPC only that the stream has
// ended, and some clients tell their user just that.
const (
	maxRefused      = 64 << 20 // bytes
	maxUnknown      = 64 << 10 // of a client that was not admitted
	refusedPatience = 500 * time.Millisecond
)

// hearOut reads what a client still has to send, until it is done, silent for a moment, or over the limit.
func hearOut(stream grpc.ServerStream, limit int) {
	heard := make(chan int)
	stop := make(chan struct{})
	defer close(stop)
	go func() { // ends with the call at the latest: nothing else ends a read
		defer close(heard)
		for {
			var m pb.FlightData
			if stream.RecvMsg(&m) != nil {
				return
			}
			select {
			case heard <- proto.Size(&m):
			case <-stop:
				return
			}
		}
	}()
	silence := time.NewTimer(refusedPatience)
	defer silence.Stop()
	for limit > 0 {
		select {
		case n, more := <-heard:
			if !more {
				return
			}
			limit -= n
			silence.Reset(refusedPatience)
		case <-silence.C:
			return
		case <-stream.Context().Done():
			return
		}
	}
}
