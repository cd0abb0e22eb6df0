package sparktext

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Pattern is a pattern of dates and times as Spark reads it: Java's letters.
type Pattern struct {
	parts []part
	era   bool // G is among the letters, so that years are counted in eras
}

// part is a letter with how often it stands there, a text, or one of the brackets around what may be missing.
type part struct {
	letter byte // 0: text
	count  int  // of a bracket that opens: where the one stands that closes it
	text   string
}

// ParsePattern reads a pattern that times are written by.
func ParsePattern(pattern string) (*Pattern, error) { return parsePattern(pattern, false) }

// ParseReading reads a pattern that texts are read by: some letters are for writing alone.
func ParseReading(pattern string) (*Pattern, error) { return parsePattern(pattern, true) }

func parsePattern(pattern string, reads bool) (*Pattern, error) {
	p := &Pattern{}
	if err := unknownLetters(pattern, reads); err != nil {
		return nil, outdatedPattern(pattern, err)
	}
	var open []int // brackets
	for i := 0; i < len(pattern); {
		c := pattern[i]
		switch {
		case c == '\'':
			text, after, ok := quotedText(pattern, i+1)
			if !ok {
				return nil, badPattern(pattern, "WITH_SUGGESTION")
			}
			p.parts = append(p.parts, part{text: text})
			i = after
		case isLetter(c):
			end := i
			for end < len(pattern) && pattern[end] == c {
				end++
			}
			if !countable(c, end-i) {
				return nil, outdatedPattern(pattern, badPattern(pattern, "WITH_SUGGESTION"))
			}
			p.parts = append(p.parts, part{letter: c, count: end - i})
			p.era = p.era || c == 'G'
			i = end
		case strings.IndexByte("#{}", c) >= 0, c == ']' && len(open) == 0:
			return nil, outdatedPattern(pattern, badPattern(pattern, "WITH_SUGGESTION"))
		case c == '[':
			open = append(open, len(p.parts))
			p.parts = append(p.parts, part{letter: c})
			i++
		case c == ']':
			p.parts[open[len(open)-1]].count = len(p.parts)
			open = open[:len(open)-1]
			p.parts = append(p.parts, part{letter: c})
			i++
		default:
			_, size := utf8.DecodeRuneInString(pattern[i:])
			p.parts = append(p.parts, part{text: pattern[i : i+size]})
			i += size
		}
	}
	for range open {
		p.parts[open[len(open)-1]].count = len(p.parts)
		open = open[:len(open)-1]
		p.parts = append(p.parts, part{letter: ']'})
	}
	return p, nil
}

// quotedText reads a text to its quote; two of them are one that is meant.
func quotedText(pattern string, from int) (text string, after int, ok bool) {
	if from < len(pattern) && pattern[from] == '\'' {
		return "'", from + 1, true
	}
	for i := from; i < len(pattern); i++ {
		if pattern[i] != '\'' {
			text += pattern[i : i+1]
			continue
		}
		if i+1 < len(pattern) && pattern[i+1] == '\'' {
			text += "'"
			i++
			continue
		}
		return text, i + 1, true
	}
	return "", 0, false
}

// Format writes a wall clock's microseconds; the zone and the seconds east of UTC are those that it was shown in.
func (p *Pattern) Format(wall, offset int64, zone *Zone) string {
	f := FieldsOf(wall)
	var b strings.Builder
	for _, part := range p.parts {
		if part.letter == 0 || part.letter == '[' || part.letter == ']' {
			b.WriteString(part.text)
			continue
		}
		b.WriteString(p.field(&f, part, offset, zone))
	}
	return b.String()
}

// field writes a letter's field.
func (p *Pattern) field(f *Fields, part part, offset int64, zone *Zone) string {
	n := part.count
	switch part.letter {
	case 'G':
		if f.Year <= 0 {
			return []string{"BC", "Before Christ"}[n/4]
		}
		return []string{"AD", "Anno Domini"}[n/4]
	case 'y':
		return p.year(f.Year, n)
	case 'M', 'L':
		return named(f.Month, n, monthNames)
	case 'd':
		return padded(f.Day, n)
	case 'D':
		return padded(f.DayOfYear, n)
	case 'E':
		name := dayNames[f.Weekday]
		if n < 4 {
			name = name[:3]
		}
		return name
	case 'F':
		return padded((f.Day-1)%7+1, n)
	case 'Q', 'q':
		return quarter(f.Quarter(), n)
	case 'a':
		return []string{"AM", "PM"}[f.Hour/12]
	case 'h':
		return padded((f.Hour+11)%12+1, n)
	case 'H':
		return padded(f.Hour, n)
	case 'K':
		return padded(f.Hour%12, n)
	case 'k':
		return padded((f.Hour+23)%24+1, n)
	case 'm':
		return padded(f.Minute, n)
	case 's':
		return padded(f.Second, n)
	case 'S':
		return fmt.Sprintf("%06d000", f.Micro)[:n]
	case 'V':
		return zone.Name()
	case 'z':
		return zone.NameAt(FloorDiv(f.Wall, 1_000_000)-offset, n == 4)
	}
	return offsetText(part, offset)
}

func padded(v int64, count int) string { return fmt.Sprintf("%0*d", count, v) }

// year writes a year: of its era where eras are told, with a sign beyond four digits.
func (p *Pattern) year(year int64, count int) string {
	if p.era && year <= 0 {
		year = 1 - year
	}
	if count == 2 {
		return padded(max(year, -year)%100, 2)
	}
	sign := ""
	if year < 0 {
		year, sign = -year, "-"
	}
	text := padded(year, count)
	if sign == "" && count > 3 && len(text) > count {
		sign = "+"
	}
	return sign + text
}

var (
	monthNames = []string{"", "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	dayNames   = []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
)

func named(v int64, count int, names []string) string {
	switch count {
	case 3:
		return names[v][:3]
	case 4:
		return names[v]
	}
	return padded(v, count)
}

func quarter(v int64, count int) string {
	switch count {
	case 3:
		return fmt.Sprintf("Q%d", v)
	case 4:
		return fmt.Sprintf("%d%s quarter", v, []string{"", "st", "nd", "rd", "th"}[v])
	}
	return padded(v, count)
}

// offsetText writes X, x, Z and O.
func offsetText(part part, offset int64) string {
	sign, seconds := "+", offset
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	h, m, s := seconds/3600, seconds/60%60, seconds%60
	n := part.count
	switch {
	case part.letter == 'O':
		text := "GMT"
		switch {
		case offset == 0:
		case n == 4:
			text += fmt.Sprintf("%s%02d:%02d", sign, h, m)
		default:
			text += fmt.Sprintf("%s%d", sign, h)
			if m > 0 || s > 0 {
				text += fmt.Sprintf(":%02d", m)
			}
		}
		if offset != 0 && s > 0 {
			text += fmt.Sprintf(":%02d", s)
		}
		return text
	case offset == 0 && (part.letter == 'X' || part.letter == 'Z' && n == 5):
		return "Z"
	case part.letter == 'Z' && n < 4:
		return fmt.Sprintf("%s%02d%02d", sign, h, m)
	case part.letter == 'Z' && n == 4:
		return offsetText(parts('O', 4), offset)
	case n == 1 && m == 0:
		return fmt.Sprintf("%s%02d", sign, h)
	case n == 4 && s > 0:
		return fmt.Sprintf("%s%02d%02d%02d", sign, h, m, s)
	case n == 1, n == 2, n == 4:
		return fmt.Sprintf("%s%02d%02d", sign, h, m)
	}
	text := fmt.Sprintf("%s%02d:%02d", sign, h, m)
	if (n == 5 || part.letter == 'Z') && s > 0 {
		text += fmt.Sprintf(":%02d", s)
	}
	return text
}

func parts(letter byte, count int) part { return part{letter: letter, count: count} }
