package sparktext

import "strings"

// capitals are the letters that have capitals of more than one character.
var capitals = strings.NewReplacer("ß", "SS", "ŉ", "ʼN", "ǰ", "J̌", "և", "ԵՒ", "ẖ", "H̱", "ẗ", "T̈", "ẘ", "W̊", "ẙ", "Y̊", "ﬀ", "FF", "ﬁ", "FI", "ﬂ", "FL", "ﬃ", "FFI", "ﬄ", "FFL", "ﬅ", "ST", "ﬆ", "ST")

// Upper gives a text in capitals, as Spark's upper does: some letters become several.
func Upper(s string) string { return strings.ToUpper(capitals.Replace(s)) }

// Lower gives a text in small letters, as Spark's lower does, but for a sigma at the end of a word.
func Lower(s string) string { return strings.ToLower(strings.ReplaceAll(s, "İ", "i\u0307")) }
