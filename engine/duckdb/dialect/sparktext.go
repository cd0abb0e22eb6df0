package dialect

import (
	"strconv"
	"strings"

	"github.com/skua-data/skua/engine/syntax"
)

// sparkTexts are Spark's functions of texts.
var sparkTexts = map[string]function{
	"length": counted("skua_characters($1)"), "len": counted("skua_characters($1)"), "char_length": counted("skua_characters($1)"), "character_length": counted("skua_characters($1)"),
	"octet_length": counted("skua_octets($1)"), "bit_length": counted("(8 * skua_octets($1))"), "instr": templated(2, "CAST(instr($1, $2) AS INTEGER)"),
	"locate":   templated(2, "CAST(instr($2, $1) AS INTEGER)", 3, locatedFrom),
	"position": {special: positionCall}, "levenshtein": templated(2, "skua_apart($1, $2)", 3, "skua_near($1, $2, $3)"),
	"right":           templated(2, "right($1, skua_count($2))"),
	"substring_index": templated(3, "skua_part_before($1, $2, $3)"), "split_part": templated(3, "skua_split_part($1, $2, $3)"),
	"overlay": {special: overlayCall}, "soundex": templated(1, "skua_soundex($1)"), "quote": templated(1, "skua_quote($1)"), "luhn_check": templated(1, "skua_luhn($1)"),
	"mask": templated(1, masked("'X'", "'x'", "'n'"), 2, masked("$2", "'x'", "'n'"), 3, masked("$2", "$3", "'n'"), 4, masked("$2", "$3", "$4"), 5,
		"skua_mask($1, skua_kept($2), skua_kept($3), skua_kept($4), skua_kept($5))"),
	"sha2": templated(2, "skua_sha2(skua_bytes($1), CAST($2 AS INTEGER))"), "conv": templated(3, "skua_conv(skua_text($1), CAST($2 AS INTEGER), CAST($3 AS INTEGER))"),
	"crc32": templated(1, "skua_crc32(skua_bytes($1))"), "base64": templated(1, "to_base64(skua_bytes($1))"), "unhex": templated(1, "skua_unhex($1)"),
	"url_encode": templated(1, "skua_url_encode($1)"), "url_decode": templated(1, "skua_url_decode($1, false)"), "try_url_decode": templated(1, "skua_url_decode($1, true)"),
	"upper": templated(1, "skua_upper($1)"), "ucase": templated(1, "skua_upper($1)"), "lower": templated(1, "skua_lower($1)"), "lcase": templated(1, "skua_lower($1)"),
	"initcap": templated(1, "skua_title($1)"), "chr": templated(1, "skua_chr(CAST($1 AS BIGINT))"), "char": templated(1, "skua_chr(CAST($1 AS BIGINT))"),
	"trim": {special: trimCall}, "ltrim": templated(1, "ltrim($1, ' ')", 2, "ltrim($2, $1)"), "rtrim": templated(1, "rtrim($1, ' ')", 2, "rtrim($2, $1)"),
	"btrim": templated(1, "trim($1, ' ')", 2, "trim($1, $2)"), "find_in_set": templated(2, "CAST(CASE WHEN ($1) LIKE '%,%' THEN 0 ELSE skua_place($2, $1) END AS INTEGER)"),
	"regexp_count": templated(2, "skua_regexp_count($1, $2)"), "regexp_instr": templated(2, "skua_regexp_instr($1, $2)"), "regexp_substr": templated(2, "skua_regexp_substr($1, $2)"),
	"regexp_extract":     templated(2, "skua_regexp_extract($1, $2, 1)", 3, "skua_regexp_extract($1, $2, $3)"),
	"regexp_extract_all": templated(2, listOfTexts("skua_regexp_all($1, $2, 1)"), 3, listOfTexts("skua_regexp_all($1, $2, $3)")),
	"split":              templated(2, "str_split_regex($1, $2)", 3, listOfTexts("skua_split($1, $2, $3)")),
	"regexp_replace":     templated(3, "skua_regexp_replace($1, $2, $3, 1)", 4, "skua_regexp_replace($1, $2, $3, $4)"),
	"ilike":              {special: likeCall("ilike")}, "like": {special: likeCall("like")}, "between": templated(3, "(($1) BETWEEN ($2) AND ($3))"), "replace": templated(2, "skua_replace($1, $2, '')", 3, "skua_replace($1, $2, $3)"),
	"format_string": renamed("skua_format"), "printf": renamed("skua_format"), "format_number": {special: formatNumberCall}, "unbase64": templated(1, "skua_unbase64($1)"),
	"lpad": templated(2, "skua_padded_left($1, $2)", 3, "skua_padded_left($1, $2, $3)"), "rpad": templated(2, "skua_padded_right($1, $2)", 3, "skua_padded_right($1, $2, $3)"),
	"elt": {special: eltCall}, "nanvl": templated(2, "CASE WHEN isnan(CAST($1 AS DOUBLE)) THEN $2 ELSE $1 END"),
	"raise_error": templated(1, raised("coalesce($1, 'null')")),
	"assert_true": templated(1, raised("CASE WHEN $1 THEN NULL ELSE 'the condition is not true!' END"), 2, raised("CASE WHEN $1 THEN NULL ELSE coalesce($2, 'null') END")),
}

// raised writes an error whose text is not NULL.
func raised(text string) string {
	return "error('[USER_RAISED_EXCEPTION] ' || (" + text + ") || ' SQLSTATE: P0001')"
}

// listOfTexts writes a list that a function gives as JSON.
func listOfTexts(call string) string { return "CAST(CAST(" + call + " AS JSON) AS VARCHAR[])" }

func counted(text string) function { return templated(1, text) }

// locatedFrom writes the place of a text from a place on; from none it is 0, and nothing is at the first place wherever it is looked for.
const locatedFrom = "CAST(CASE WHEN ($3) IS NULL THEN 0 WHEN ($1) = '' AND ($2) IS NOT NULL THEN CASE WHEN ($3) < 1 THEN 0 ELSE 1 END ELSE skua_locate($1, $2, $3) END AS INTEGER)"

// masked writes a mask that leaves other characters as they are.
func masked(upper, lower, digit string) string {
	return "skua_mask($1, skua_kept(" + upper + "), skua_kept(" + lower + "), skua_kept(" + digit + "), skua_kept(NULL))"
}

// positionCall writes position(part IN text), and position(part, text, from).
func positionCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) == 1 {
		in := r.endOf(bounds[0][0], "IN", ",")
		if in >= bounds[0][1] {
			return false
		}
		args := r.argumentsUpTo([][2]int{{bounds[0][0], in}, {in + 1, bounds[0][1]}})
		r.template("CAST(instr($2, $1) AS INTEGER)", pos, args...)
		return true
	}
	if len(bounds) == 0 {
		return false
	}
	args := r.argumentPieces(bounds)
	r.template([]string{"CAST(instr($2, $1) AS INTEGER)", locatedFrom}[min(len(bounds)-2, 1)], pos, args...)
	return true
}

// substringFrom writes substring(text FROM at FOR count) in Spark's dialect; false: the call is another one.
func (r *rewriter) substringFrom(name string, pos syntax.Pos) bool {
	if !r.Spark || name != "substring" && name != "substr" || !r.is("(") {
		return false
	}
	bounds := r.argumentBounds()
	if len(bounds) != 1 {
		return false
	}
	from := r.endOf(bounds[0][0], "FROM")
	if from >= bounds[0][1] {
		return false
	}
	count := min(r.endOf(from+1, "FOR"), bounds[0][1])
	parts, text := [][2]int{{bounds[0][0], from}, {from + 1, count}}, "skua_substring($1, $2)"
	if count < bounds[0][1] {
		parts, text = append(parts, [2]int{count + 1, bounds[0][1]}), "skua_substring($1, $2, $3)"
	}
	r.template(text, pos, r.argumentsUpTo(parts)...)
	return true
}

// overlayCall writes overlay(text PLACING other FROM at FOR count), or with commas.
func overlayCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) == 1 {
		var parts [][2]int
		from := bounds[0][0]
		for _, word := range []string{"PLACING", "FROM", "FOR"} {
			end := r.endOf(from, word)
			parts = append(parts, [2]int{from, min(end, bounds[0][1])})
			if from = end + 1; end >= bounds[0][1] {
				break
			}
		}
		if from < bounds[0][1] {
			parts = append(parts, [2]int{from, bounds[0][1]})
		}
		bounds = parts
	}
	if len(bounds) < 3 || len(bounds) > 4 {
		return false
	}
	text := "skua_overlay($1, $2, $3, -1)"
	if len(bounds) == 4 {
		text = "skua_overlay($1, $2, $3, $4)"
	}
	r.template(text, pos, r.argumentsUpTo(bounds)...)
	return true
}

// trimCall writes trim(text) and trim(characters, text), which TRIM(BOTH characters FROM text) is, too: blanks alone are taken away where nothing else is said.
func trimCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) == 1 && r.endOf(bounds[0][0], "FROM") >= bounds[0][1] && !oneOf(r.at(bounds[0][0]), "BOTH", "LEADING", "TRAILING") {
		r.template("trim($1, ' ')", pos, r.argumentPieces(bounds)...)
		return true
	}
	if len(bounds) == 2 {
		r.template("trim($2, $1)", pos, r.argumentPieces(bounds)...)
		return true
	}
	return false
}

// eltCall writes elt(n, a, b, …).
func eltCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) < 2 {
		return false
	}
	args := r.argumentPieces(bounds)
	places := make([]string, len(bounds)-1)
	for i := range places {
		places[i] = "$" + strconv.Itoa(i+2)
	}
	r.template("(["+strings.Join(places, ", ")+"])[skua_chosen($1, "+strconv.Itoa(len(places))+")]", pos, args...)
	return true
}

// formatNumberCall writes format_number, whose second argument is a number of digits, or a pattern.
func formatNumberCall(r *rewriter, bounds [][2]int, pos syntax.Pos) bool {
	if len(bounds) != 2 {
		return false
	}
	text := "skua_format_number($2, $1)"
	if r.isText(bounds[1]) {
		text = "skua_number_by_pattern($2, $1)"
	}
	r.template(text, pos, r.argumentPieces(bounds)...)
	return true
}
