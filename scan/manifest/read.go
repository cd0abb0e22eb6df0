package manifest

import (
	"github.com/skua-data/skua/fault"
)

// read reads an entry.
func (l *layout) read(d *decoder, e *Entry) error {
	e.reset()
	for i := range l.entry {
		s := &l.entry[i]
		if s.slot == noSlot {
			d.skip(s.typ)
			continue
		}
		typ, ok := d.value(s.typ)
		if !ok {
			continue
		}
		switch s.slot {
		case slotStatus:
			e.Status = Status(d.choice("status", int64(Deleted)))
		case slotSnapshot:
			e.Snapshot = Optional{d.long(), true}
		case slotSequence:
			e.Sequence = Optional{d.long(), true}
		case slotFileSequence:
			e.FileSequence = Optional{d.long(), true}
		case slotFile:
			l.readFile(d, e)
		default:
			d.skip(typ)
		}
	}
	if d.err == nil && len(e.Path) == 0 {
		d.fail("an entry names no file")
	}
	return d.err
}

// choice reads a number between 0 and most.
func (d *decoder) choice(name string, most int64) int64 {
	n := d.long()
	if n < 0 || n > most {
		d.fail("%d is no %s", n, name)
		return 0
	}
	return n
}

func (l *layout) readFile(d *decoder, e *Entry) {
	for i := range l.file {
		s := &l.file[i]
		if s.slot == noSlot {
			d.skip(s.typ)
			continue
		}
		typ, ok := d.value(s.typ)
		if !ok {
			continue
		}
		if s.slot >= slotMetrics {
			e.metrics[s.slot-slotMetrics] = s.pair.span(d)
			continue
		}
		l.readField(d, e, s.slot, typ)
	}
	if d.err == nil && e.Size < 0 {
		d.err = fault.New(fault.Corrupt, "file %s has %d bytes", e.Path, e.Size).In(string(e.Path))
	}
}

func (l *layout) readField(d *decoder, e *Entry, s slot, typ *node) {
	switch s {
	case slotContent:
		e.Content = Content(d.choice("content of a file", int64(EqualityDeletes)))
	case slotPath:
		e.Path = d.bytes()
	case slotFormat:
		e.Format = d.bytes()
	case slotPartition:
		from := d.at
		if d.skip(typ); d.err == nil {
			e.Partition = d.data[from:d.at]
		}
	case slotRecords:
		e.Records = d.long()
	case slotSize:
		e.Size = d.long()
	case slotKey:
		e.Encrypted = len(d.bytes()) > 0
	case slotOffsets:
		d.numbers(typ.items, func(n int64) { e.SplitOffsets = append(e.SplitOffsets, n) })
	case slotEqualityIDs:
		d.numbers(typ.items, func(n int64) { e.EqualityIDs = append(e.EqualityIDs, int(n)) })
	case slotFirstRow:
		e.FirstRow = Optional{d.long(), true}
	case slotTarget:
		e.Target = d.bytes()
	case slotContentOffset:
		e.ContentOffset = Optional{d.long(), true}
	case slotContentSize:
		e.ContentSize = Optional{d.long(), true}
	}
}

// numbers reads a list of numbers.
func (d *decoder) numbers(item *node, visit func(n int64)) {
	for d.err == nil {
		n, _ := d.blockCount(item.least)
		if n == 0 {
			return
		}
		if item.least == 0 {
			d.fail("a list of numbers that take no bytes")
		}
		for ; n > 0 && d.err == nil; n-- {
			typ, ok := d.value(item)
			switch {
			case !ok:
			case typ.kind == kindInt || typ.kind == kindLong:
				visit(d.long())
			default:
				d.fail("a list of %s where numbers belong", kindNames[typ.kind])
			}
		}
	}
}

// span steps over a metric and tells where it lies.
func (p *pair) span(d *decoder) span {
	from := d.at
	p.skip(d)
	if d.err != nil {
		return span{}
	}
	return span{d.data[from:d.at:d.at], p}
}

// skip steps over a metric. Nearly all are pairs of a number and a number or bytes.
func (p *pair) skip(d *decoder) {
	var value kind
	if len(p.record.fields) == 2 {
		value = p.record.fields[p.valueAt].typ.kind
	}
	for d.err == nil {
		n, size := d.blockCount(p.record.least)
		if n == 0 {
			return
		}
		if size >= 0 {
			d.advance(size)
			continue
		}
		switch value {
		case kindInt, kindLong:
			for n *= 2; n > 0 && d.err == nil; n-- {
				d.skipLong()
			}
		case kindBytes, kindString:
			for ; n > 0 && d.err == nil; n-- {
				d.skipLong()
				d.advance(d.long())
			}
		default:
			for ; n > 0 && d.err == nil; n-- {
				d.skip(p.record)
			}
		}
	}
}
