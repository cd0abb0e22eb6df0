package sparktext

import (
	"strings"

	"github.com/skua-data/skua/fault"
)

// longest has the letters that a pattern may have, with how many of each.
var longest = map[byte]int{'G': 4, 'y': 6, 'M': 4, 'L': 4, 'd': 2, 'D': 3, 'E': 4, 'F': 1, 'Q': 4, 'q': 4, 'a': 1, 'h': 2, 'H': 2, 'K': 2, 'k': 2, 'm': 2, 's': 2, 'S': 9, 'V': 2, 'z': 4, 'O': 4,
	'X': 5, 'x': 5, 'Z': 5}

const (
	weekLetters    = "YWwuec" // Spark before 3.0 knew some of them
	illegalLetters = "ABnNp"
	writtenLetters = "EFqQ"                    // no text is read by them
	oldLetters     = "GyYMLwWDdFEuaHkKhmsSzZX" // of patterns before Spark 3.0
)

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// countable reports whether a letter may stand so often.
func countable(letter byte, count int) bool {
	switch letter {
	case 'V':
		return count == 2
	case 'O':
		return count == 1 || count == 4
	}
	return count <= longest[letter]
}

// unknownLetters finds what a pattern may not have outside quotes: letters of weeks, letters without a meaning, and letters that are repeated too often.
func unknownLetters(pattern string, reads bool) error {
	for i, text := range strings.Split(pattern, "'") {
		if i%2 == 1 {
			continue
		}
		illegal := illegalLetters
		if reads {
			illegal += writtenLetters
		}
		switch {
		case strings.ContainsAny(text, weekLetters):
			return inconsistent(pattern, "DATETIME_WEEK_BASED_PATTERN", "All week-based patterns are unsupported since Spark 3.0")
		case strings.ContainsAny(text, illegal):
			return badPattern(pattern, "ILLEGAL_CHARACTER")
		}
		for _, many := range []string{"GGGGG", "MMMMM", "LLLLL", "EEEEE", "QQQQQ", "qqqqq", "yyyyyyy"} {
			if strings.Contains(text, many) {
				return badPattern(pattern, "LENGTH")
			}
		}
	}
	return nil
}

// outdatedPattern gives the error of a pattern: another one where Spark before 3.0 took it.
func outdatedPattern(pattern string, err error) error {
	for i, text := range strings.Split(pattern, "'") {
		for _, c := range text {
			if i%2 == 0 && c < 128 && isLetter(byte(c)) && !strings.ContainsRune(oldLetters, c) {
				return err
			}
		}
		if i%2 == 0 && strings.Contains(text, "XXXX") {
			return err
		}
	}
	return inconsistent(pattern, "DATETIME_PATTERN_RECOGNITION", "Fail to recognize '"+pattern+"' pattern in the DateTimeFormatter")
}

func inconsistent(pattern, why, message string) error {
	return fault.New(fault.Invalid, "You may get a different result due to the upgrading to Spark >= 3.0: %s. The pattern is %s.", message, pattern).
		With("INCONSISTENT_BEHAVIOR_CROSS_VERSION."+why, "42K0B")
}

func badPattern(pattern, why string) error {
	return fault.New(fault.Invalid, "Unrecognized datetime pattern: %s.", pattern).With("INVALID_DATETIME_PATTERN."+why, "22007")
}
