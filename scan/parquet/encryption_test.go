package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/skua-data/skua/fault"
)

// TestEncryptedFilesAreRefusedByName: footers and columns that are encrypted, footers that are only signed, and columns that are not encrypted beside
// others that are.
func TestEncryptedFilesAreRefusedByName(t *testing.T) {
	const key = "0123456789abcdef"
	column := func(options ...pq.ColumnEncryptOption) pq.EncryptOption {
		return pq.WithEncryptedColumns(pq.ColumnPathToEncryptionPropsMap{"b": pq.NewColumnEncryptionProperties("b", options...)})
	}
	for _, c := range []struct {
		name    string
		options []pq.EncryptOption
		want    string
	}{
		{"all", nil, "encrypted Parquet files are not supported"},
		{"one column", []pq.EncryptOption{column(pq.WithKey(key))}, "encrypted Parquet files are not supported"},
		{"a plain footer", []pq.EncryptOption{pq.WithPlaintextFooter()}, "encrypted Parquet files are not supported"},
		{"a plain footer, one column", []pq.EncryptOption{pq.WithPlaintextFooter(), column(pq.WithKey(key))}, "encrypted Parquet files are not supported"},
	} {
		raw := encrypted(t, pq.NewFileEncryptionProperties(key, c.options...))
		_, err := Open(context.Background(), memoryFile{bytes.NewReader(raw)}, "s3://bucket/secret.parquet")
		if !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "s3://bucket/secret.parquet") {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// TestEncryptedColumnsAreRefusedByName: of a footer that does not say how they are encrypted.
func TestEncryptedColumnsAreRefusedByName(t *testing.T) {
	raw := encrypted(t, pq.NewFileEncryptionProperties("0123456789abcdef", pq.WithPlaintextFooter()))
	length := int(binary.LittleEndian.Uint32(raw[len(raw)-8:]))
	m, err := metadata.NewFileMetaData(raw[len(raw)-8-length:len(raw)-8], nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, plain := range []bool{false, true} {
		m.FileMetaData.EncryptionAlgorithm = nil
		for _, chunk := range m.RowGroups[0].Columns {
			if plain {
				chunk.CryptoMetadata = nil
			}
		}
		var footer bytes.Buffer
		if _, err := m.WriteTo(&footer, nil); err != nil {
			t.Fatal(err)
		}
		data := append(bytes.Clone(raw[:len(raw)-8-length]), footer.Bytes()...)
		data = append(binary.LittleEndian.AppendUint32(data, uint32(footer.Len())), "PAR1"...)
		_, err := Open(context.Background(), memoryFile{bytes.NewReader(data)}, "s3://bucket/secret.parquet")
		if plain && err != nil || !plain && (!fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "encrypted Parquet columns are not supported")) {
			t.Errorf("plain %t: %v", plain, err)
		}
	}
}

// encrypted writes a file of two columns.
func encrypted(t *testing.T, properties *pq.FileEncryptionProperties) []byte {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}, {Name: "b", Type: arrow.BinaryTypes.String}}, nil)
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(`[{"a":1,"b":"x"},{"a":2,"b":"y"}]`))
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Release()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, pq.NewWriterProperties(pq.WithEncryptionProperties(properties)), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(batch); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
