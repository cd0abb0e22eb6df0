// Package device is what the GPU decoder needs of a GPU: slots of memory with a queue of copies and launches. Its simulated form runs the
// kernels on the CPU and reports their faults; the real one is in kernels/cuda/driver.
package device

import "context"

// Info describes a device.
type Info struct {
	Name       string
	Memory     int64  // bytes
	Processors int    // streaming multiprocessors
	Capability string // of its architecture, such as 9.0
	Driver     string // version of the driver, where there is one
	Simulated  bool
}

// Device is one GPU with the kernels loaded. It is safe for concurrent use.
type Device interface {
	Info() Info
	// NewSlot makes a slot with room for bytes that go up, that stay, and that come back.
	NewSlot(room Room) (Slot, error)
	// Close gives everything back; all slots are closed before.
	Close() error
}

// Room is the memory of a slot, in bytes.
type Room struct{ In, Scratch, Out int }

// Piece is a stretch of device memory. Bytes is the page-locked host memory that is copied to it or from it; pieces that stay have none.
type Piece struct {
	Addr  uint64
	Bytes []byte
}

// Slot is device memory, handed out piece by piece, with a queue of its own, so that slots overlap. It is used by one goroutine at a time.
// Pieces begin at multiples of 256 bytes. After an error of the queue nothing is known of its contents, and the device should not be used
// again.
type Slot interface {
	// In, Scratch and Out give a piece of n bytes, false where the room is used up. What is in a piece is arbitrary.
	In(n int) (Piece, bool)
	Scratch(n int) (Piece, bool)
	Out(n int) (Piece, bool)
	// Upload queues a copy of the pieces that In gave since the last one.
	Upload() error
	// Zero queues that a piece becomes zero.
	Zero(p Piece) error
	// Launch queues a kernel over blocks of threads.
	Launch(kernel string, blocks, threads int, args ...uint64) error
	// Download queues a copy of the pieces that Out gave since the last one.
	Download() error
	// Wait waits until all that was queued is done. A context that ends does not end the wait: the memory is in use until then.
	Wait(ctx context.Context) error
	// Reset takes all pieces back. The queue is empty.
	Reset()
	// Close gives the slot's memory back.
	Close() error
}
