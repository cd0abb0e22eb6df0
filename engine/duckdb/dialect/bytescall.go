package dialect

// sparkParts are the functions of URLs, of bytes that should be texts, of bitmaps and of collations.
var sparkParts = map[string]function{
	"parse_url": urlCall("parse_url", "false"), "try_parse_url": urlCall("try_parse_url", "true"),
	"is_valid_utf8":       utf8Call("is_valid_utf8", "skua_valid_utf8($1)", "CASE WHEN ($1) IS NOT NULL THEN true END", "BOOLEAN"),
	"make_valid_utf8":     utf8Call("make_valid_utf8", "skua_make_utf8($1)", "CAST($1 AS VARCHAR)", "VARCHAR"),
	"validate_utf8":       utf8Call("validate_utf8", "skua_validated_utf8($1, false)", "CAST($1 AS VARCHAR)", "VARCHAR"),
	"try_validate_utf8":   utf8Call("try_validate_utf8", "skua_validated_utf8($1, true)", "CAST($1 AS VARCHAR)", "VARCHAR"),
	"bitmap_bit_position": bitmapCall("bitmap_bit_position", "skua_bit_position($1)"), "bitmap_bucket_number": bitmapCall("bitmap_bucket_number", "skua_bit_bucket($1)"),
	"bitmap_count": typedFunction("bitmap_count", 1, 1, func(types []Type) (verdict, error) {
		out := verdict{text: "skua_bitmap_count($1)", gives: parseType("BIGINT"), casts: []string{""}}
		if t := types[0]; t.Name != "BLOB" && t.Name != "" {
			return out, unexpected("bitmap_count", "BINARY", t)
		}
		return out, nil
	}),
	"collation": typedFunction("collation", 1, 1, func(types []Type) (verdict, error) {
		out := verdict{text: "CASE WHEN ($1) IS NULL THEN 'SYSTEM.BUILTIN.UTF8_BINARY' ELSE 'SYSTEM.BUILTIN.UTF8_BINARY' END", gives: parseType("VARCHAR"), casts: []string{""}}
		return out, onlyText("collation", types[0])
	}),
}

// typedFunction makes a function that is written by a rule over the types of its arguments, with its count of them.
func typedFunction(name string, least, most int, rule func(types []Type) (verdict, error)) function {
	return ruled(name, least, most, func(written []constantArgument) (string, func(types []Type) (verdict, error)) {
		v, _ := rule(make([]Type, len(written)))
		return v.text, rule
	})
}

// onlyText refuses what is no text and not cast to one.
func onlyText(name string, t Type) error {
	if isText(t) || t.Name == `"NULL"` {
		return nil
	}
	return unexpected(name, "STRING", t)
}

func urlCall(name, try string) function {
	return typedFunction(name, 2, 3, func(types []Type) (verdict, error) {
		out := verdict{text: "skua_parse_url(" + numbered(len(types)) + ", " + try + ")", gives: parseType("VARCHAR"), casts: make([]string, len(types))}
		for i, t := range types {
			if err := onlyText(name, t); err != nil {
				return out, err
			}
			if t.Name == `"NULL"` {
				out.casts[i] = "VARCHAR"
			}
		}
		return out, nil
	})
}

// utf8Call writes a function of bytes; of texts it is written otherwise.
func utf8Call(name, bytes, text, gives string) function {
	return typedFunction(name, 1, 1, func(types []Type) (verdict, error) {
		out := verdict{text: text, gives: parseType(gives), casts: []string{""}}
		if types[0].Name == "BLOB" {
			out.text = bytes
			return out, nil
		}
		cast, err := asText(name, types[0])
		out.casts[0] = cast
		return out, err
	})
}

func bitmapCall(name, text string) function {
	return typedFunction(name, 1, 1, func(types []Type) (verdict, error) {
		out := verdict{text: text, gives: parseType("BIGINT"), casts: []string{"BIGINT"}}
		if t := types[0]; t.Name != "" && t.Name != `"NULL"` && t.Name != "VARCHAR" && !isNumber(t) {
			return out, unexpected(name, "BIGINT", t)
		}
		return out, nil
	})
}
