package manifest

import (
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan/avrofile"
)

// read reads an entry.
func (l *layout) read(d *avrofile.Decoder, e *Entry) error {
	e.reset()
	for i := range l.entry {
		s := &l.entry[i]
		if s.slot == noSlot {
			d.Skip(s.typ)
			continue
		}
		typ, ok := d.Value(s.typ)
		if !ok {
			continue
		}
		switch s.slot {
		case slotStatus:
			e.Status = Status(choice(d, "status", int64(Deleted)))
		case slotSnapshot:
			e.Snapshot = Optional{d.Long(), true}
		case slotSequence:
			e.Sequence = Optional{d.Long(), true}
		case slotFileSequence:
			e.FileSequence = Optional{d.Long(), true}
		case slotFile:
			l.readFile(d, e)
		default:
			d.Skip(typ)
		}
	}
	if d.Err == nil && len(e.Path) == 0 {
		d.Fail("an entry names no file")
	}
	return d.Err
}

// choice reads a number between 0 and most.
func choice(d *avrofile.Decoder, name string, most int64) int64 {
	n := d.Long()
	if n < 0 || n > most {
		d.Fail("%d is no %s", n, name)
		return 0
	}
	return n
}

func (l *layout) readFile(d *avrofile.Decoder, e *Entry) {
	for i := range l.file {
		s := &l.file[i]
		if s.slot == noSlot {
			d.Skip(s.typ)
			continue
		}
		typ, ok := d.Value(s.typ)
		if !ok {
			continue
		}
		if s.slot >= slotMetrics {
			e.metrics[s.slot-slotMetrics] = s.pair.span(d)
			continue
		}
		l.readField(d, e, s.slot, typ)
	}
	if d.Err == nil && e.Size < 0 {
		d.Err = fault.New(fault.Corrupt, "file %s has %d bytes", e.Path, e.Size).In(string(e.Path))
	}
}

func (l *layout) readField(d *avrofile.Decoder, e *Entry, s slot, typ *avrofile.Type) {
	switch s {
	case slotContent:
		e.Content = Content(choice(d, "content of a file", int64(EqualityDeletes)))
	case slotPath:
		e.Path = d.Bytes()
	case slotFormat:
		e.Format = d.Bytes()
	case slotPartition:
		from := d.At
		if d.Skip(typ); d.Err == nil {
			e.Partition = d.Data[from:d.At]
		}
	case slotRecords:
		e.Records = d.Long()
	case slotSize:
		e.Size = d.Long()
	case slotKey:
		e.Encrypted = len(d.Bytes()) > 0
	case slotOffsets:
		eachNumber(d, typ.Items, func(n int64) { e.SplitOffsets = append(e.SplitOffsets, n) })
	case slotEqualityIDs:
		eachNumber(d, typ.Items, func(n int64) { e.EqualityIDs = append(e.EqualityIDs, int(n)) })
	case slotFirstRow:
		e.FirstRow = Optional{d.Long(), true}
	case slotTarget:
		e.Target = d.Bytes()
	case slotContentOffset:
		e.ContentOffset = Optional{d.Long(), true}
	case slotContentSize:
		e.ContentSize = Optional{d.Long(), true}
	}
}

// eachNumber reads a list of numbers.
func eachNumber(d *avrofile.Decoder, item *avrofile.Type, visit func(n int64)) {
	for d.Err == nil {
		n, _ := d.Run(item.Least)
		if n == 0 {
			return
		}
		if item.Least == 0 {
			d.Fail("a list of numbers that take no bytes")
		}
		for ; n > 0 && d.Err == nil; n-- {
			typ, ok := d.Value(item)
			switch {
			case !ok:
			case typ.Kind == avrofile.Int || typ.Kind == avrofile.Long:
				visit(d.Long())
			default:
				d.Fail("a list of %s where numbers belong", typ.Kind)
			}
		}
	}
}

// span steps over a metric and tells where it lies.
func (p *pair) span(d *avrofile.Decoder) span {
	from := d.At
	p.skip(d)
	if d.Err != nil {
		return span{}
	}
	return span{d.Data[from:d.At:d.At], p}
}

// skip steps over a metric. Nearly all are pairs of a number and a number or bytes.
func (p *pair) skip(d *avrofile.Decoder) {
	var value avrofile.Kind
	if len(p.record.Fields) == 2 {
		value = p.record.Fields[p.valueAt].Type.Kind
	}
	for d.Err == nil {
		n, size := d.Run(p.record.Least)
		if n == 0 {
			return
		}
		if size >= 0 {
			d.Advance(size)
			continue
		}
		switch value {
		case avrofile.Int, avrofile.Long:
			for n *= 2; n > 0 && d.Err == nil; n-- {
				d.SkipLong()
			}
		case avrofile.Bytes, avrofile.String:
			for ; n > 0 && d.Err == nil; n-- {
				d.SkipLong()
				d.Advance(d.Long())
			}
		default:
			for ; n > 0 && d.Err == nil; n-- {
				d.Skip(p.record)
			}
		}
	}
}
