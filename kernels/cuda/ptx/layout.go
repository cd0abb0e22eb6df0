package ptx

import "encoding/binary"

// Why a kernel leaves a page to the CPU. 0: it does not.
const (
	BadHeader = 1 + iota
	BadLevels
	BadRuns
	BadIndex
	BadValues
	BadDelta
	BadText
	BadPacked
	BadRow
)

// Reason says in a few words why a page is left to the CPU.
func Reason(status uint32) string {
	words := []string{"nothing", "a malformed page", "malformed levels", "malformed runs", "an index outside of the dictionary", "too few values",
		"malformed delta values", "malformed strings", "a page that cannot be unpacked", "a row outside of its page"}
	if int(status) < len(words) {
		return words[status]
	}
	return "an unknown status"
}

// Padding is how many zero bytes lie behind every buffer of file data.
const Padding = 16

// Encodings, as the kernels number them.
const (
	Plain       = 0
	RLE         = 3
	Delta       = 5
	DeltaLength = 6
	DeltaText   = 7
	Dictionary  = 8
	Split       = 9
)

// Codecs that are unpacked by kernels.
const (
	Unpacked = iota
	Snappy
	LZ4
)

// What becomes of a stored value when it is gathered.
const (
	Copy4  = iota // 4 bytes as they are
	Copy8         // 8 bytes as they are
	Copy16        // 16 bytes as they are
	Widen         // a signed number of 4 bytes to one of 8
	Big8          // a big-endian signed number of up to 8 bytes to one of 8
	Big16         // one of 9 to 16 bytes to one of 16
)

// Comparisons.
const (
	Equal = iota
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
)

// How compared values are ordered.
const (
	Signed4 = iota
	Signed8
	Float4
	Float8
)

// WordsPerWarp is how many output words of 32 slots a warp of a gathering kernel has.
const WordsPerWarp = 8

// TileSlots is how many slots a block of 128 threads has.
const TileSlots = 128 / 32 * WordsPerWarp * 32

// Page tells the kernels of a page. Addresses are of device memory. The layout is that of the sources, and so for the structs below.
type Page struct {
	Packed, PackedLen uint64
	Body, BodyLen     uint64
	Flat              uint64
	Codec             uint64
	Version           uint64
	RepLen, DefLen    uint64
	Rows              uint64
	Row0              uint64
	Encoding          uint64
	Word0             uint64
	Dense             uint64
	Joined            uint64
	Lists             uint64
}

// State is what kernels keep of a page.
type State struct {
	Levels, LevelsLen, Values, ValuesLen uint64
	Width                                uint64
	Present                              uint64
	Bad                                  uint64
	Reserved                             uint64
}

// Column tells the kernels of a column chunk's pages.
type Column struct {
	Pages, States, Status, Count uint64
	MaxDef                       uint64
	Threshold                    uint64
	Stored                       uint64
	Dictionary, Entries          uint64
	Spans                        uint64
	Valid, Rank                  uint64
	Boolean                      uint64
	Repeated                     uint64
	Reserved0, Reserved1         uint64
}

// Gather tells which slots of a column are wanted, and where.
type Gather struct {
	Column                 uint64
	RowOf                  uint64
	First, Slots           uint64
	Out, Valid             uint64
	Nulls                  uint64
	Conversion             uint64
	Offsets, Sources, Sums uint64
	Tiles                  uint64
	Total, Capacity        uint64
	Reserved0, Reserved1   uint64
}

// List tells which rows' lists are wanted of a column of lists, and where what becomes of them.
type List struct {
	Column                  uint64
	Pages                   uint64
	Starts, Elements, Lists uint64
	Rows, Wanted, Before    uint64
	Expected, Threshold     uint64
	Bitmap, Selected        uint64
	First, Last, Slots      uint64
	EntryOf, ElementOf      uint64
	Offsets, Valid, Nulls   uint64
	Total, Broken           uint64
	Reserved0, Reserved1    uint64
}

// Sizes of the structs in device memory.
const (
	PageBytes   = 128
	StateBytes  = 64
	ColumnBytes = 128
	SlotsBytes  = 128
	ListBytes   = 192
	PageLists   = 32 // of a page of lists, in device memory alone
	JoinedBytes = 24 // of a string of a DeltaText page, in device memory alone
)

// Encode appends a struct as the kernels read it.
func Encode[T Page | State | Column | Gather | List](b []byte, v T) []byte {
	b, err := binary.Append(b, binary.LittleEndian, v)
	if err != nil {
		panic(err) // fields are numbers
	}
	return b
}
