package flightsql

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	upstream "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql/schema_ref"

	"github.com/skua-data/skua/engine"
)

// infoTable says what the server is and can, by code. The Go type of a value chooses the member of the union, and drivers read one member only for each code:
// some read int64 where the protocol's text says int32.
type infoTable map[uint32]any

// askedOnly are left out of the whole table: old JDBC drivers break on codes that they do not know.
var askedOnly = []uint32{uint32(upstream.SqlInfoFlightSqlServerBulkIngestion), uint32(upstream.SqlInfoFlightSqlServerIngestTransactionsSupported)}

// newInfoTable writes the table out. Masks have a bit for each ordinal of their enumeration. A limit of 0 is none, or not known.
func newInfoTable(version string, can engine.Abilities) infoTable {
	t := infoTable{
		uint32(upstream.SqlInfoFlightSqlServerName):                        "Skua",
		uint32(upstream.SqlInfoFlightSqlServerVersion):                     version,
		uint32(upstream.SqlInfoFlightSqlServerArrowVersion):                arrow.PkgVersion,
		uint32(upstream.SqlInfoFlightSqlServerReadOnly):                    true,
		uint32(upstream.SqlInfoFlightSqlServerSql):                         true,
		uint32(upstream.SqlInfoFlightSqlServerSubstrait):                   false,
		uint32(upstream.SqlInfoFlightSqlServerSubstraitMinVersion):         "",
		uint32(upstream.SqlInfoFlightSqlServerSubstraitMaxVersion):         "",
		uint32(upstream.SqlInfoFlightSqlServerTransaction):                 int32(upstream.SqlTransactionNone),
		uint32(upstream.SqlInfoFlightSqlServerCancel):                      true,
		uint32(upstream.SqlInfoFlightSqlServerBulkIngestion):               false,
		uint32(upstream.SqlInfoFlightSqlServerIngestTransactionsSupported): false,
		uint32(upstream.SqlInfoFlightSqlServerStatementTimeout):            int32(0),
		uint32(upstream.SqlInfoFlightSqlServerTransactionTimeout):          int32(0),

		uint32(upstream.SqlInfoIdentifierCase):       int64(upstream.SqlCaseSensitivityCaseInsensitive),
		uint32(upstream.SqlInfoIdentifierQuoteChar):  "`",
		uint32(upstream.SqlInfoQuotedIdentifierCase): int64(upstream.SqlCaseSensitivityCaseInsensitive),
		uint32(upstream.SqlInfoNullOrdering):         int64(upstream.SqlNullOrderingSortLow),
		uint32(upstream.SqlInfoSearchStringEscape):   `\`,
		uint32(upstream.SqlInfoExtraNameChars):       "",
		uint32(upstream.SqlInfoSchemaTerm):           "schema",
		uint32(upstream.SqlInfoProcedureTerm):        "procedure",
		uint32(upstream.SqlInfoCatalogTerm):          "catalog",
		uint32(upstream.SqlInfoSupportsConvert):      map[int32][]int32{},

		uint32(upstream.SqlInfoSupportedGroupBy):                                    int32(0),
		uint32(upstream.SqlInfoSupportedGrammar):                                    int32(1), // minimum
		uint32(upstream.SqlInfoANSI92SupportedLevel):                                int32(0),
		uint32(upstream.SqlInfoOuterJoinsSupportLevel):                              int32(0),
		uint32(upstream.SqlInfoSchemasSupportedActions):                             int32(0),
		uint32(upstream.SqlInfoCatalogsSupportedActions):                            int32(0),
		uint32(upstream.SqlInfoSupportedPositionedCommands):                         int32(0),
		uint32(upstream.SqlInfoSupportedSubqueries):                                 int32(0),
		uint32(upstream.SqlInfoSupportedUnions):                                     int32(0),
		uint32(upstream.SqlInfoSupportedTransactionsIsolationlevels):                int32(1), // none
		uint32(upstream.SqlInfoSupportedResultSetTypes):                             int32(2), // forward only
		uint32(upstream.SqlInfoSupportedConcurrenciesForResultSetUnspecified):       int32(0),
		uint32(upstream.SqlInfoSupportedConcurrenciesForResultSetForwardOnly):       int32(2), // read only
		uint32(upstream.SqlInfoSupportedConcurrenciesForResultSetScrollSensitive):   int32(0),
		uint32(upstream.SqlInfoSupportedConcurrenciesForResultSetScrollInsensitive): int32(0),
		uint32(upstream.SqlInfoDefaultTransactionIsolation):                         int64(0), // none
	}
	for code, v := range truths {
		t[uint32(code)] = v
	}
	for _, code := range []upstream.SqlInfo{upstream.SqlInfoKeywords, upstream.SqlInfoNumericFunctions, upstream.SqlInfoStringFunctions,
		upstream.SqlInfoSystemFunctions, upstream.SqlInfoDateTimeFunctions} {
		t[uint32(code)] = []string{}
	}
	for code := upstream.SqlInfoMaxBinaryLiteralLen; code <= upstream.SqlInfoMaxUsernameLen; code++ {
		if _, set := t[uint32(code)]; !set {
			t[uint32(code)] = int64(0)
		}
	}
	if can.Queries {
		maps.Copy(t, queryInfo)
	}
	return t
}

// queryInfo are the rows of an engine that runs whole queries. The functions are those of the JDBC and ODBC escapes; a test runs each.
var queryInfo = infoTable{
	uint32(upstream.SqlInfoSupportedGroupBy):              int32(3),  // unrelated columns, and beyond those selected
	uint32(upstream.SqlInfoSupportedGrammar):              int32(3),  // minimum and core
	uint32(upstream.SqlInfoANSI92SupportedLevel):          int32(1),  // entry
	uint32(upstream.SqlInfoOuterJoinsSupportLevel):        int32(6),  // limited and full
	uint32(upstream.SqlInfoSupportedSubqueries):           int32(15), // in comparisons, EXISTS, IN and quantified ones
	uint32(upstream.SqlInfoSupportedUnions):               int32(3),  // UNION and UNION ALL
	uint32(upstream.SqlInfoSupportsExpressionsInOrderBy):  true,
	uint32(upstream.SqlInfoSupportsOrderByUnrelated):      true,
	uint32(upstream.SqlInfoCorrelatedSubqueriesSupported): true,
	uint32(upstream.SqlInfoKeywords):                      []string{"ANTI", "ASOF", "ILIKE", "LIMIT", "OFFSET", "PIVOT", "QUALIFY", "RLIKE", "SEMI", "UNPIVOT"},
	uint32(upstream.SqlInfoNumericFunctions): []string{"ABS", "ACOS", "ASIN", "ATAN", "ATAN2", "CEILING", "COS", "COT", "DEGREES", "EXP", "FLOOR", "LOG", "LOG10",
		"MOD", "PI", "POWER", "RADIANS", "RAND", "ROUND", "SIGN", "SIN", "SQRT", "TAN", "TRUNCATE"},
	uint32(upstream.SqlInfoStringFunctions): []string{"ASCII", "CHAR_LENGTH", "CHARACTER_LENGTH", "CONCAT", "INSERT", "LCASE", "LEFT", "LENGTH", "LOCATE",
		"LTRIM", "OCTET_LENGTH", "REPEAT", "REPLACE", "RIGHT", "RTRIM", "SPACE", "SUBSTRING", "UCASE"},
	uint32(upstream.SqlInfoSystemFunctions): []string{"IFNULL", "USER"},
	uint32(upstream.SqlInfoDateTimeFunctions): []string{"CURDATE", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURTIME", "DAYNAME", "DAYOFMONTH", "DAYOFWEEK",
		"DAYOFYEAR", "EXTRACT", "HOUR", "MINUTE", "MONTH", "MONTHNAME", "NOW", "QUARTER", "SECOND", "TIMESTAMPADD", "TIMESTAMPDIFF", "WEEK", "YEAR"},
}

// truths are the yes-or-no rows.
var truths = map[upstream.SqlInfo]bool{
	upstream.SqlInfoDDLCatalog:                              false,
	upstream.SqlInfoDDLSchema:                               false,
	upstream.SqlInfoDDLTable:                                false,
	upstream.SqlInfoAllTablesAreASelectable:                 true,
	upstream.SqlInfoSupportsColumnAliasing:                  true,
	upstream.SqlInfoNullPlusNullIsNull:                      true,
	upstream.SqlInfoSupportsTableCorrelationNames:           true,
	upstream.SqlInfoSupportsDifferentTableCorrelationNames:  false,
	upstream.SqlInfoSupportsExpressionsInOrderBy:            false,
	upstream.SqlInfoSupportsOrderByUnrelated:                false,
	upstream.SqlInfoSupportsLikeEscapeClause:                true,
	upstream.SqlInfoSupportsNonNullableColumns:              true,
	upstream.SqlInfoSupportsIntegrityEnhancementFacility:    false,
	upstream.SqlInfoCatalogAtStart:                          true,
	upstream.SqlInfoSelectForUpdateSupported:                false,
	upstream.SqlInfoStoredProceduresSupported:               false,
	upstream.SqlInfoCorrelatedSubqueriesSupported:           false,
	upstream.SqlInfoMaxRowSizeIncludesBlobs:                 false,
	upstream.SqlInfoTransactionsSupported:                   false,
	upstream.SqlInfoDataDefinitionCausesTransactionCommit:   false,
	upstream.SqlInfoDataDefinitionsInTransactionsIgnored:    false,
	upstream.SqlInfoBatchUpdatesSupported:                   false,
	upstream.SqlInfoSavePointsSupported:                     false,
	upstream.SqlInfoNamedParametersSupported:                false,
	upstream.SqlInfoLocatorsUpdateCopy:                      false,
	upstream.SqlInfoStoredFunctionsUsingCallSyntaxSupported: false,
}

// Where ORDER BY puts nulls, as the codes of JDBC and ODBC have it.
const nullsLow, nullsAtEnd = int64(1), int64(3)

// sqlInfo lists the codes asked for, unknown ones left out, or the table. It asks no catalog: every connection of some drivers begins with it.
func (s *Server) sqlInfo(ctx context.Context, codes []uint32) listing {
	if len(codes) == 0 {
		codes = slices.DeleteFunc(slices.Sorted(maps.Keys(s.info)), func(c uint32) bool { return slices.Contains(askedOnly, c) })
	}
	return s.list(schema_ref.SqlInfo, len(codes), func(b *array.RecordBuilder, flush func() bool) error {
		for _, code := range codes {
			v, known := s.info[code]
			if !known {
				continue
			}
			if code == uint32(upstream.SqlInfoNullOrdering) {
				v = s.nullOrdering(ctx)
			}
			b.Field(0).(*array.Uint32Builder).Append(code)
			appendInfo(b.Field(1).(*array.DenseUnionBuilder), v)
			if !flush() {
				break
			}
		}
		return nil
	})
}

// nullOrdering is the session's, since its dialect decides.
func (s *Server) nullOrdering(ctx context.Context) int64 {
	current, err := s.existing(ctx)
	dialect := ""
	if err == nil && current != nil {
		dialect, _ = current.State().Get(dialectOption)
	} else {
		dialect, _ = s.config.Startup.Get(dialectOption)
	}
	if engine.NullsLast(strings.ToLower(dialect)) {
		return nullsAtEnd
	}
	return nullsLow
}

// dialectOption chooses between Spark's meaning and the standard's.
const dialectOption = "skua.sql.dialect"

// appendInfo appends to the member of the union that is of v's type.
func appendInfo(b *array.DenseUnionBuilder, v any) {
	switch v := v.(type) {
	case string:
		b.Append(0)
		b.Child(0).(*array.StringBuilder).Append(v)
	case bool:
		b.Append(1)
		b.Child(1).(*array.BooleanBuilder).Append(v)
	case int64:
		b.Append(2)
		b.Child(2).(*array.Int64Builder).Append(v)
	case int32:
		b.Append(3)
		b.Child(3).(*array.Int32Builder).Append(v)
	case []string:
		b.Append(4)
		list := b.Child(4).(*array.ListBuilder)
		list.Append(true)
		list.ValueBuilder().(*array.StringBuilder).AppendValues(v, nil)
	case map[int32][]int32:
		b.Append(5)
		appendInfoMap(b.Child(5).(*array.MapBuilder), v)
	}
}

func appendInfoMap(b *array.MapBuilder, v map[int32][]int32) {
	b.Append(true)
	for _, k := range slices.Sorted(maps.Keys(v)) {
		b.KeyBuilder().(*array.Int32Builder).Append(k)
		list := b.ItemBuilder().(*array.ListBuilder)
		list.Append(true)
		list.ValueBuilder().(*array.Int32Builder).AppendValues(v[k], nil)
	}
}
