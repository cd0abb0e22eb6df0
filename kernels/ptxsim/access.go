package ptxsim

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// memory runs a load, a store or an atomic operation.
func (w *warp) memory(in *instr, m uint32) {
	if in.sp == spParam {
		w.loadParam(in, m)
		return
	}
	size := uint64(in.bits) / 8 * uint64(max(len(in.vec), 1))
	base := &w.regs[in.a]
	sector, global := ^uint64(0), false
	var p place
	for x := m; x != 0; x &= x - 1 {
		lane := bits.TrailingZeros32(x) & 31
		addr := base[lane] + uint64(in.off)
		if addr%size != 0 {
			w.block.run.fault(Misaligned, w, lane, in, fmt.Sprintf("address %#x for %d bytes", addr, size))
		}
		if !w.locate(in, lane, addr, size, &p) {
			w.pretend(in, lane)
			continue
		}
		if in.sp <= spGlobal && addr >= globalBase {
			global = true
			if s := addr >> 5; s != sector {
				w.globalSectors++
				sector = s
			}
		}
		w.check(in, lane, addr, &p)
		w.perform(in, lane, addr, &p)
	}
	if global {
		w.globalAccesses++
	}
	w.defined(in, m)
}

// defined marks the registers that a load or an atomic operation wrote.
func (w *warp) defined(in *instr, m uint32) {
	if in.op == opLd {
		for _, d := range in.vec {
			w.def[d] |= m
		}
	}
	if in.op == opAtom && in.d >= 0 {
		w.def[in.d] |= m
	}
}

// pretend gives a program zeros where it must not read.
func (w *warp) pretend(in *instr, lane int) {
	if in.op == opLd {
		for _, d := range in.vec {
			w.regs[d][lane] = 0
		}
	}
	if in.op == opAtom && in.d >= 0 {
		w.regs[in.d][lane] = 0
	}
}

// check looks for races and for reads of what was never written.
func (w *warp) check(in *instr, lane int, addr uint64, p *place) {
	r := w.block.run
	for i := range p.shadow {
		if old, what := touch(&p.shadow[i], w, lane, in.op != opLd, in.strong, in.line); old != nil {
			r.fault(Race, w, lane, in, fmt.Sprintf("%s, with line %d of block %d thread %d: %s", what, old.line, old.block, old.thread, w.where(in, addr+uint64(i))))
			p.shadow[i] = cell{nobody, nobody, nobody}
		}
	}
	if in.op == opSt || p.wrote == nil || r.l.NoUnwritten {
		return
	}
	for i, ok := range p.wrote {
		if !ok {
			r.fault(Unwritten, w, lane, in, "reads "+w.where(in, addr+uint64(i)))
			return
		}
	}
}

// perform moves the bytes.
func (w *warp) perform(in *instr, lane int, addr uint64, p *place) {
	r, size := w.block.run, int(in.bits)/8
	if in.strong && r.l.Workers > 1 {
		lock := &r.d.atomics[addr>>3&63]
		lock.Lock()
		defer lock.Unlock()
	}
	switch in.op {
	case opLd:
		for n, d := range in.vec {
			w.regs[d][lane] = w.extend(in, d, get(p.data[n*size:], size))
		}
		return
	case opSt:
		for n, s := range in.vec {
			put(p.data[n*size:], size, w.regs[s][lane])
		}
	default:
		old := get(p.data, size)
		v, c := w.regs[in.b][lane]&mask64[in.bits], uint64(0)
		if in.sub == "cas" {
			c = w.regs[in.c][lane] & mask64[in.bits]
		}
		put(p.data, size, atomicOp(in, old, v, c))
		if in.d >= 0 {
			w.regs[in.d][lane] = old
		}
	}
	for i := range p.wrote {
		p.wrote[i] = true
	}
}

// extend widens a loaded value by its sign, if it has one, to its register.
func (w *warp) extend(in *instr, d int32, v uint64) uint64 {
	if in.kind == kS {
		return uint64(sext(v, in.bits)) & mask64[w.block.run.k.width[d]]
	}
	return v
}

func (w *warp) loadParam(in *instr, m uint32) {
	size := int(in.bits) / 8
	for n, d := range in.vec {
		v := w.extend(in, d, get(w.block.run.args[int(in.off)+n*size:], size))
		dst := &w.regs[d]
		for x := m; x != 0; x &= x - 1 {
			dst[bits.TrailingZeros32(x)&31] = v
		}
		w.def[d] |= m
	}
}

func get(b []byte, size int) uint64 {
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

func put(b []byte, size int, v uint64) {
	switch size {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(v))
	default:
		binary.LittleEndian.PutUint64(b, v)
	}
}

// atomicOp gives what an atomic operation leaves in memory.
func atomicOp(in *instr, old, v, c uint64) uint64 {
	less := old < v
	if in.kind == kS {
		less = sext(old, in.bits) < sext(v, in.bits)
	}
	switch in.sub {
	case "add":
		return old + v
	case "min":
		return pick(less, old, v)
	case "max":
		return pick(less, v, old)
	case "and":
		return old & v
	case "or":
		return old | v
	case "xor":
		return old ^ v
	case "cas":
		return pick(old == v, c, old)
	case "inc":
		return pick(old >= v, 0, old+1)
	case "dec":
		return pick(old == 0 || old > v, v, old-1)
	}
	return v // exch
}

func pick(first bool, a, b uint64) uint64 {
	if first {
		return a
	}
	return b
}
