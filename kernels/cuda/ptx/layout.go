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

// Nest tells what is wanted of a column that is inside of something.
type Nest struct {
	Column               uint64
	RowCounts            uint64
	Reps, Defs           uint64
	Starts, Rows         uint64
	MaxRep               uint64
	Bitmap, Selected     uint64
	First, Last          uint64
	Depths, Broken       uint64
	Reserved0, Reserved1 uint64
	Reserved2            uint64
}

// Depth tells of the slots at one depth of lists in lists.
type Depth struct {
	Ancestor             uint64
	Wanted, Before       uint64
	Counts               uint64
	EntryOf              uint64
	Total                uint64
	Reserved0, Reserved1 uint64
}

// Slots tells which of a list's, a map's or a struct's slots go where.
type Slots struct {
	Nest, Depth, Slots uint64
	Threshold          uint64
	Offsets, Valid     uint64
	Nulls              uint64
	Reserved0          uint64
}

// Sizes of the structs in device memory.
const (
	PageBytes   = 128
	StateBytes  = 64
	ColumnBytes = 128
	GatherSize  = 128
	NestBytes   = 128
	DepthBytes  = 64
	SlotsBytes  = 64
	PageCount   = 16 // of a page, in device memory alone
	JoinedBytes = 24 // of a string of a DeltaText page, in device memory alone
)

// Encode appends a struct as the kernels read it.
func Encode[T Page | State | Column | Gather | Nest | Depth | Slots](b []byte, v T) []byte {
	b, err := binary.Append(b, binary.LittleEndian, v)
	if err != nil {
		panic(err) // fields are numbers
	}
	return b
}
