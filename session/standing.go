package session

import (
	"strconv"
	"strings"
)

// Standing says what a key is to Skua.
type Standing uint8

// The standings.
const (
	Unknown Standing = iota // no row of the table is about it
	Listed                  // a row is about it
	Near                    // no row of its own is about it, and it looks like a misspelt one
	Stray                   // it is inside a family that takes only some members, and is none of them
)

// Judgement is what can be said of a key. Outside skua.* a key that is not Listed is still kept and shown, without effect.
type Judgement struct {
	Standing Standing
	Option   Option   // the row that Lookup gives; the zero Option: none
	Near     string   // the key that was most likely meant; empty: none
	Members  []string // of a Stray: what its family takes
}

// Hint is the part of a sentence that tells what may have been meant; empty for a key that nothing is wrong with.
func (j Judgement) Hint() string {
	switch {
	case j.Near != "":
		return "did you mean " + j.Near + "?"
	case j.Standing == Stray:
		return "there are only " + strings.Join(j.Members, ", ")
	}
	return ""
}

// overrideRoot begins the keys that override read options. Spark knows no other keys below it.
const overrideRoot = "spark.rapids.iceberg."

// Judge says what a key is. nearest gives the known name that a misspelt one most likely meant, or nothing; catalogs.Nearest is one. A key of
// Spark's is only taken for misspelt where one of the words between its dots is near and all others are equal: Spark has many keys.
func Judge(key string, nearest func(name string, known []string) string) Judgement {
	o, ok := Lookup(key)
	j := Judgement{Standing: Unknown, Option: o}
	if ok {
		j.Standing = Listed
	}
	if len(o.Members) > 0 {
		last := key[strings.LastIndexByte(key, '.')+1:]
		for _, m := range o.Members {
			if m == last {
				return j
			}
		}
		j.Standing, j.Members = Stray, o.Members
		if near := nearest(last, o.Members); near != "" {
			j.Near = strings.TrimSuffix(key, last) + near
		}
		return j
	}
	if ok && (o.Effect || !strings.HasSuffix(o.Key, "*")) {
		return j
	}
	if near := respelt(key, nearest); near != "" {
		j.Standing, j.Near = Near, near
		return j
	}
	switch {
	case strings.HasPrefix(key, overrideRoot):
		j.Standing, j.Members = Stray, overrideFamilies()
	case !ok && strings.HasPrefix(key, "skua."):
		j.Near = nearest(key, ownKeys())
		if j.Near != "" {
			j.Standing = Near
		}
	}
	return j
}

// maxLonger is how many letters a word and its misspelling may differ in length.
const maxLonger = 2

// respelt gives the key with the one word put right by which it misses a row of the table or a family; empty: it misses all by more.
func respelt(key string, nearest func(name string, known []string) string) string {
	words := strings.Split(key, ".")
	for _, o := range options {
		row := strings.Split(o.Key, ".")
		family := row[len(row)-1] == "*"
		if family {
			row = row[:len(row)-1]
		}
		if len(row) < 2 || len(words) < len(row) || !family && len(words) != len(row) || family && len(words) == len(row) {
			continue
		}
		wrong, at := 0, 0
		for i, w := range row {
			if words[i] != w {
				wrong, at = wrong+1, i
			}
		}
		if longer := len(words[at]) - len(row[at]); wrong == 1 && -maxLonger <= longer && longer <= maxLonger && nearest(words[at], row[at:at+1]) != "" {
			return strings.Join(append(append(append([]string{}, words[:at]...), row[at]), words[at+1:]...), ".")
		}
	}
	return ""
}

func ownKeys() (out []string) {
	for _, o := range options {
		if strings.HasPrefix(o.Key, "skua.") {
			out = append(out, o.Key)
		}
	}
	return out
}

func overrideFamilies() (out []string) {
	for _, o := range options {
		if strings.HasPrefix(o.Key, overrideRoot) {
			out = append(out, o.Key)
		}
	}
	return out
}

// Doubt says what is wrong with the value of a key whose value the scan checks, as it would fail there; empty: nothing. The other keys' values
// are Validate's.
func Doubt(key, value string) string {
	o, _ := Lookup(key)
	if !o.Number && len(o.Members) == 0 {
		return ""
	}
	if _, err := strconv.ParseInt(value, 10, 64); err == nil {
		return ""
	}
	if n, err := ParseBytes(value); err == nil && strings.TrimSpace(value) != "" {
		return "every scan that it concerns fails: write the number " + strconv.FormatInt(n, 10) + " for " + value
	}
	return "every scan that it concerns fails: expected a whole number, such as 134217728"
}
