package scan

import (
	"math"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/scan/parquet"
)

// rebaseMode says how dates and times of before the Gregorian calendar are to be read, in the words of Spark's settings.
type rebaseMode string

const (
	rebaseCorrected rebaseMode = "CORRECTED" // as they stand: they count in the Gregorian calendar
	rebaseLegacy    rebaseMode = "LEGACY"    // they count in the Julian calendar
	rebaseException rebaseMode = "EXCEPTION" // old ones are refused
)

// The settings that say so for files whose writer is not known.
const (
	datetimeRebaseOption = "datetime-rebase-mode"
	int96RebaseOption    = "int96-rebase-mode"
)

// The keys of a footer by which Spark tells how it wrote a file.
const (
	versionKey        = "org.apache.spark.version"
	zoneKey           = "org.apache.spark.timeZone"
	legacyDatetimeKey = "org.apache.spark.legacyDateTime"
	legacyInt96Key    = "org.apache.spark.legacyINT96"
)

// fileCalendar says how a file's dates and times are read: those of the type INT96, and the others.
type fileCalendar struct {
	datetime, int96 rebaseMode
	zone            string // that the writer was in; empty: not told
}

// calendarOf follows Spark: a file of before its version 3.0 (for INT96 3.1), or with the key that says so, is in the Julian calendar; any other of Spark's is not; of
// files of other writers the options tell.
func calendarOf(f *parquet.File, options readOptions) fileCalendar {
	mode := func(legacyKey, since string, otherwise rebaseMode) rebaseMode {
		version, known := f.Told(versionKey)
		_, legacy := f.Told(legacyKey)
		switch {
		case !known:
			return otherwise
		case legacy || version < since:
			return rebaseLegacy
		}
		return rebaseCorrected
	}
	out := fileCalendar{datetime: mode(legacyDatetimeKey, "3.0.0", options.Datetime), int96: mode(legacyInt96Key, "3.1.0", options.Int96)}
	out.zone, _ = f.Told(zoneKey)
	return out
}

// The first day of the Gregorian calendar, 1582-10-15, and the first moment at which all zones count in it and by their present rules, 1900-01-01, in Spark's eyes.
const (
	firstGregorianDay = -141427
	firstModernMicros = -2208988800 * 1_000_000
	dayMicros         = secondsPerDay * 1_000_000
)

// step gives what brings the values of a leaf into the Gregorian calendar; nil: they are in it, or none is old.
func (c fileCalendar) step(f *parquet.File, n *kernels.Node) leafStep {
	mode, int96 := c.datetime, f.IsInt96(n)
	if int96 {
		mode = c.int96
	}
	stamp, isTime := n.Field.Type.(*arrow.TimestampType)
	isTime = isTime && stamp.TimeZone != ""
	if mode == rebaseCorrected || !isTime && n.Field.Type.ID() != arrow.DATE32 {
		return nil
	}
	first := int64(firstGregorianDay)
	if isTime {
		first = firstModernMicros
	}
	if least, ok := f.Least(n); ok && least >= first {
		return nil
	}
	switch {
	case mode == rebaseException:
		return eachOld(first, func(int64) (int64, error) { return 0, ancient(int96) })
	case !isTime:
		return eachOld(first, func(day int64) (int64, error) { return gregorianDay(day), nil })
	case !isUTC(c.zone):
		return eachOld(first, func(int64) (int64, error) {
			return 0, fault.New(fault.Unsupported, "a timestamp of before 1900, which was written in the Julian calendar and in the time zone %s, is not supported", c.zone)
		})
	}
	return eachOld(first, func(micros int64) (int64, error) {
		day := floorDiv(micros, dayMicros)
		return micros + (gregorianDay(day)-day)*dayMicros, nil
	})
}

// isUTC reports whether a time zone is UTC by any of its names. Files that name none are taken to be written in it.
func isUTC(zone string) bool {
	switch strings.TrimPrefix(strings.ToUpper(zone), "ETC/") {
	case "", "UTC", "GMT", "UCT", "Z", "ZULU", "UNIVERSAL", "GREENWICH", "GMT0", "+00:00", "UTC+00:00":
		return true
	}
	return false
}

func ancient(int96 bool) error {
	key := "spark.sql.parquet.datetimeRebaseModeInRead"
	if int96 {
		key = "spark.sql.parquet.int96RebaseModeInRead"
	}
	return fault.New(fault.Invalid, "You may get a different result due to the upgrading to Spark >= 3.0: reading dates before 1582-10-15 or timestamps before 1900-01-01T00:00:00Z "+
		"from Parquet files can be ambiguous, as the files may be written in the Julian calendar: set %s to LEGACY where they are, or to CORRECTED where they are not", key).
		With("INCONSISTENT_BEHAVIOR_CROSS_VERSION.READ_ANCIENT_DATETIME", "42K0B").Change(key)
}

// eachOld changes the values before first.
func eachOld(first int64, change func(int64) (int64, error)) leafStep {
	return func(a arrow.Array, mem memory.Allocator) (arrow.Array, error) {
		out, found := array.NewBuilder(mem, a.DataType()), false
		defer out.Release()
		out.Reserve(a.Len())
		for i := range a.Len() {
			if a.IsNull(i) {
				out.AppendNull()
				continue
			}
			v := int64(0)
			switch a := a.(type) {
			case *array.Date32:
				v = int64(a.Value(i))
			case *array.Timestamp:
				v = int64(a.Value(i))
			}
			if v < first {
				var err error
				if v, err = change(v); err != nil {
					return nil, err
				}
				found = true
			}
			if !appendValue(out, v) {
				return nil, fault.New(fault.Internal, "a %s is no date or time", a.DataType())
			}
		}
		if !found {
			a.Retain()
			return a, nil
		}
		return out.NewArray(), nil
	}
}

// gregorianDay gives the day, counted from 1970, that has the same year, month and day in the Gregorian calendar as the given one has in that which was in use then:
// before 1582-10-15 the Julian. As in Spark, a leap day that the Gregorian calendar lacks is the day after.
func gregorianDay(day int64) int64 {
	if day >= firstGregorianDay || day < math.MinInt32 {
		return day
	}
	const epoch, cycle = 719470, 1461 // days from March 1st of year 0 of the Julian calendar to 1970, and in four years
	shifted := day + epoch
	four := floorDiv(shifted, cycle)
	inFour := shifted - four*cycle
	year := min(inFour/365, 3)
	inYear := inFour - year*365
	month := (5*inYear + 2) / 153
	inMonth := inYear - (153*month+2)/5
	at := time.Date(int(four*4+year), time.Month(month+3), 1, 0, 0, 0, 0, time.UTC)
	return floorDiv(at.Unix(), secondsPerDay) + inMonth
}
