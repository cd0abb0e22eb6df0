package kernelstest

import (
	"bufio"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
)

// Golden is one page of a file of golden pages: what it is, its bytes as drawn, and what they become.
//
//	page int32 5: numbers one apart        <- type, number of values, what it shows; the file is the encoding
//	80 01 | 128 values in a block          <- bytes, and what they mean
//	= 1 2 3 4 5                            <- the values, or ! and the error
type Golden struct {
	Lines      []string // as they stand, without the result
	Type       string
	Values     int
	Dictionary []byte // its values, after a line "dictionary n"
	Entries    int
	Body       []byte
	Result     string
}

// GoldenEncodings are the files of golden pages, without their ending, and the encodings of their pages. Every decoder is held to them.
var GoldenEncodings = []struct {
	File string
	ID   parquet.Encoding
}{
	{"plain", parquet.Encodings.Plain}, {"rle", parquet.Encodings.RLE}, {"dictionary", parquet.Encodings.RLEDict},
	{"delta_binary", parquet.Encodings.DeltaBinaryPacked}, {"delta_length", parquet.Encodings.DeltaLengthByteArray},
	{"delta_byte_array", parquet.Encodings.DeltaByteArray}, {"byte_stream_split", parquet.Encodings.ByteStreamSplit},
}

// GoldenTypes are the types that a golden page names.
var GoldenTypes = map[string]arrow.DataType{
	"int32": arrow.PrimitiveTypes.Int32, "int64": arrow.PrimitiveTypes.Int64, "float": arrow.PrimitiveTypes.Float32,
	"double": arrow.PrimitiveTypes.Float64, "boolean": arrow.FixedWidthTypes.Boolean, "text": arrow.BinaryTypes.Binary,
	"fixed3": &arrow.FixedSizeBinaryType{ByteWidth: 3},
}

// ReadGolden reads the pages of a file.
func ReadGolden(t testing.TB, path string) []Golden {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []Golden
	var into *[]byte
	for in := bufio.NewScanner(f); in.Scan(); {
		line := in.Text()
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case words[0] == "page": // page int32 5: what it shows
			n, err := strconv.Atoi(strings.TrimSuffix(words[2], ":"))
			if err != nil {
				t.Fatalf("%s: %s", path, line)
			}
			out = append(out, Golden{Type: words[1], Values: n})
			into = &out[len(out)-1].Body
		case words[0] == "dictionary":
			out[len(out)-1].Entries, err = strconv.Atoi(words[1])
			into = &out[len(out)-1].Dictionary
		case words[0] == "indexes":
			into = &out[len(out)-1].Body
		case strings.HasPrefix(line, "=") || strings.HasPrefix(line, "!"):
			out[len(out)-1].Result = line
			continue
		default:
			drawn, _, _ := strings.Cut(line, "|")
			b, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(drawn), " ", ""))
			if err != nil {
				t.Fatalf("%s: %q: %v", path, line, err)
			}
			*into = append(*into, b...)
		}
		if err != nil {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		out[len(out)-1].Lines = append(out[len(out)-1].Lines, line)
	}
	return out
}
