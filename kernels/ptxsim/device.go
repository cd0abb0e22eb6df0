package ptxsim

import (
	"fmt"
	"sort"
	"sync"
	"sync/atomic"
)

// Windows of the generic address space.
const (
	globalBase = uint64(0x7f0000000000)
	sharedBase = uint64(0x010000000000)
	localBase  = uint64(0x020000000000)
	windowSize = uint64(0x001000000000)
	guardBytes = uint64(4096) // between buffers
	alignment  = uint64(256)  // of a buffer
)

// poison is what memory holds that was never written.
const poison = 0xa5

// Buffer is one allocation of device memory.
type Buffer struct {
	Name     string
	addr     uint64
	data     []byte
	written  []bool // nil: everything is
	readOnly bool
	shadow   []*shadowPage // races; made at the first access
	freed    bool
}

// Addr is the device address of the first byte.
func (b *Buffer) Addr() uint64 { return b.addr }

// Bytes is the content, which the caller may read and change between launches.
func (b *Buffer) Bytes() []byte { return b.data }

// Written tells whether byte i was written by the host or a kernel.
func (b *Buffer) Written(i int) bool { return b.written == nil || b.written[i] }

// FirstUnwritten gives the first byte in front of n that nobody wrote, or -1.
func (b *Buffer) FirstUnwritten(n int) int {
	if b.written == nil {
		return -1
	}
	for i, ok := range b.written[:n] {
		if !ok {
			return i
		}
	}
	return -1
}

// Write copies bytes from the host, which then count as written.
func (b *Buffer) Write(at int, data []byte) {
	copy(b.data[at:at+len(data)], data)
	if b.written != nil {
		for i := range data {
			b.written[at+i] = true
		}
	}
}

// Freeze makes the buffer one that kernels must not write, all of which counts as written.
func (b *Buffer) Freeze() { b.readOnly, b.written = true, nil }

// Device is a global memory. Launches on one device must not run at the same time as changes of its buffers.
type Device struct {
	next     uint64
	buffers  []*Buffer // by address
	atomics  [64]sync.Mutex
	launches atomic.Uint64
}

// NewDevice returns an empty memory.
func NewDevice() *Device { return &Device{next: globalBase} }

// Alloc adds n bytes that count as never written.
func (d *Device) Alloc(name string, n int) *Buffer {
	b := d.add(name, n)
	b.written = make([]bool, n)
	for i := range b.data {
		b.data[i] = poison
	}
	return b
}

// Upload adds a copy of data.
func (d *Device) Upload(name string, data []byte) *Buffer {
	b := d.add(name, len(data))
	copy(b.data, data)
	return b
}

// UploadReadOnly adds a copy of data that kernels must not write.
func (d *Device) UploadReadOnly(name string, data []byte) *Buffer {
	b := d.Upload(name, data)
	b.readOnly = true
	return b
}

// Free makes every later access to b a fault and forgets its content.
func (d *Device) Free(b *Buffer) { b.freed, b.data, b.written, b.shadow = true, nil, nil, nil }

// Reset forgets all buffers, whose addresses may come again.
func (d *Device) Reset() { d.next, d.buffers = globalBase, nil }

func (d *Device) add(name string, n int) *Buffer {
	b := &Buffer{Name: name, addr: d.next, data: make([]byte, n)}
	d.next += (uint64(n)+alignment-1)/alignment*alignment + guardBytes
	d.buffers = append(d.buffers, b)
	return b
}

// Find returns the buffer that holds addr and n bytes from there, or nil.
func (d *Device) Find(addr uint64, n int) *Buffer {
	b := d.find(addr)
	if b == nil || b.freed || addr-b.addr+uint64(n) > uint64(len(b.data)) {
		return nil
	}
	return b
}

// find returns the buffer at or before addr, or nil.
func (d *Device) find(addr uint64) *Buffer {
	i := sort.Search(len(d.buffers), func(i int) bool { return d.buffers[i].addr > addr })
	if i == 0 {
		return nil
	}
	return d.buffers[i-1]
}

func (d *Device) describe(addr uint64) string {
	b := d.find(addr)
	switch {
	case b == nil:
		return fmt.Sprintf("address %#x, before every buffer", addr)
	case b.freed:
		return fmt.Sprintf("%s+%d, which was freed", b.Name, addr-b.addr)
	case addr < b.addr+uint64(len(b.data)):
		return fmt.Sprintf("%s+%d (of %d bytes)", b.Name, addr-b.addr, len(b.data))
	}
	return fmt.Sprintf("%s+%d, %d past its end", b.Name, addr-b.addr, addr-b.addr-uint64(len(b.data))+1)
}
