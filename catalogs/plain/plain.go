// Package plain says what tables of plain files are, by what a Hive metastore or Glue keeps of them: the format, the columns by Spark's own schema or Hive's types,
// and the partitions by their names. It is what those catalogs share, and calls nobody.
package plain

import (
	"strings"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
)

// Stored is a table as a metastore keeps it.
type Stored struct {
	Name            string   // the whole one, for messages
	Columns         []Column // without those that it is partitioned by
	Keys            []Column // that it is partitioned by
	Location        string
	Parameters      map[string]string
	SerDe           string            // the class that reads its rows
	SerDeParameters map[string]string // Spark keeps its options there
	InputFormat     string
	Type            string // EXTERNAL_TABLE, …
}

// Column is a column with Hive's type of it.
type Column struct{ Name, Type, Comment string }

// The parameters that Spark keeps of its tables.
const (
	providerKey  = "spark.sql.sources.provider"
	trackedKey   = "spark.sql.partitionProvider"
	schemaKey    = "spark.sql.sources.schema"
	parquet      = "parquet"
	material     = "MATERIALIZED_VIEW"
	reservedSpot = "__PLACEHOLDER__" // in a location that Spark made up for a table that has its own in the option path
)

// Table fills in what a table is that is none of Iceberg's: its format, and its files where that is Parquet.
func (s Stored) Table(out *catalogs.Table) error {
	if s.Type == material {
		return fault.New(fault.Unsupported, "%s is a materialized view of Hive, which is not supported", s.Name).In(s.Name)
	}
	out.Kind, out.Format, out.MetadataLocation = catalogs.KindFiles, s.format(), ""
	if out.Format != parquet {
		return nil
	}
	files, err := s.files()
	out.Files = files
	return err
}

// format names the format: Spark's provider tells it, else the class that reads rows, else the input format.
func (s Stored) format() string {
	said := formatOf(s.SerDe, s.InputFormat)
	if handler := s.Parameters["storage_handler"]; handler != "" {
		if said = catalogs.FormatOf(handler); said == "unknown" {
			said = handler
		}
	}
	if s.provided() {
		provider := s.Parameters[providerKey]
		if said = catalogs.FormatOf(provider); said == "unknown" {
			said = provider
		}
	}
	if strings.EqualFold(s.Parameters["transactional"], "true") {
		return "transactional " + said
	}
	return said
}

func (s Stored) files() (*catalogs.Files, error) {
	out := &catalogs.Files{Location: s.Location, Listed: true, Properties: map[string]string{}, Comment: s.Parameters["comment"]}
	provided := s.provided()
	if provided {
		if path := s.SerDeParameters["path"]; path != "" {
			out.Location = path
		}
		out.Listed = strings.EqualFold(s.Parameters[trackedKey], "catalog")
	}
	if out.Location == "" || strings.HasSuffix(strings.TrimRight(out.Location, "/"), reservedSpot) {
		return nil, fault.New(fault.Corrupt, "the catalog has no location of %s", s.Name).In(s.Name)
	}
	columns, keys, err := s.columns(provided)
	if err == nil {
		out.Schema, out.Types, err = schemaOf(columns)
	}
	if err == nil {
		out.Partitions, err = partitionedBy(keys, out.Schema.Fields())
	}
	if err != nil {
		return nil, fault.Wrap(err, "table %s", s.Name)
	}
	out.Listed = out.Listed && len(out.Partitions) > 0
	for k, v := range s.Parameters {
		if !strings.HasPrefix(k, "spark.sql.") && k != "comment" {
			out.Properties[k] = v
		}
	}
	return out, nil
}

// provided reports whether the table is one of a source of Spark's, which the classes of Hive say nothing about.
func (s Stored) provided() bool {
	provider := s.Parameters[providerKey]
	return provider != "" && !strings.EqualFold(provider, "hive")
}

// FormatOfPartition names the format of the files of one of the table's partitions where it is not Parquet; empty: it is, or the table tells.
func (s Stored) FormatOfPartition(serde, inputFormat string) string {
	if s.provided() {
		return ""
	}
	if format := formatOf(serde, inputFormat); format != parquet {
		return format
	}
	return ""
}

// overlays are words in the name of an input format that reads Parquet files and is not all there is to a table: which files count, and which rows, stands elsewhere.
var overlays = []struct{ word, format string }{{"hoodie", "hudi"}, {"hudi", "hudi"}, {"delta", "delta"}, {"symlink", "symlink"}, {"iceberg", "iceberg"}, {"acid", "transactional"}}

// formatOf names the format by the class that reads rows and the input format.
func formatOf(serde, inputFormat string) string {
	lower := strings.ToLower(inputFormat)
	for _, o := range overlays {
		if strings.Contains(lower, o.word) {
			return o.format
		}
	}
	format := catalogs.FormatOf(serde, inputFormat)
	if format == parquet && inputFormat != "" && !strings.Contains(lower, parquet) {
		return inputFormat
	}
	return format
}
