package variant

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// JSON gives the value as JSON; times of an instant are those of zone.
func (v Value) JSON(zone *time.Location) (string, error) {
	var b strings.Builder
	err := v.json(&b, zone, v.walk())
	return b.String(), err
}

func (v Value) json(b *strings.Builder, zone *time.Location, w walk) error {
	w, err := w.down()
	if err != nil {
		return err
	}
	k, err := v.Kind()
	if err != nil {
		return err
	}
	switch k {
	case Object:
		return v.jsonObject(b, zone, w)
	case Array:
		elements, err := v.Elements()
		if err != nil {
			return err
		}
		b.WriteByte('[')
		for i, e := range elements {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := e.json(b, zone, w); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	text, err := v.Text(zone)
	if err != nil {
		return err
	}
	if k == Timestamp || k == TimestampNanos {
		if text, err = v.instant(k, zone, "-07:00"); err != nil {
			return err
		}
	}
	b.WriteString(quotedIf(k, text))
	return nil
}

func (v Value) jsonObject(b *strings.Builder, zone *time.Location, w walk) error {
	fields, err := v.Fields()
	if err != nil {
		return err
	}
	b.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoted(f.Name))
		b.WriteByte(':')
		if err := f.Value.json(b, zone, w); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// quotedIf writes a primitive's text: numbers that JSON has, true, false and null are bare.
func quotedIf(k Kind, text string) string {
	switch k {
	case Null, Boolean, Long, Decimal:
		return text
	case Float, Double:
		if text != "NaN" && !strings.HasSuffix(text, "Infinity") {
			return text
		}
	}
	return quoted(text)
}

func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // of a string it cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// Text gives a primitive as Spark casts it to a string, and anything else as JSON.
func (v Value) Text(zone *time.Location) (string, error) {
	k, err := v.Kind()
	if err != nil {
		return "", err
	}
	switch k {
	case Object, Array:
		return v.JSON(zone)
	case Null:
		return "null", nil
	case Boolean:
		return strconv.FormatBool(v.code() == 1), nil
	case Decimal:
		unscaled, scale, err := v.decimal()
		return plainDecimal(unscaled, scale), err
	}
	b, err := v.payload()
	if err != nil {
		return "", err
	}
	switch k {
	case Long:
		return strconv.FormatInt(signed(b), 10), nil
	case Float:
		return javaNumber(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 32), nil
	case Double:
		return javaNumber(math.Float64frombits(binary.LittleEndian.Uint64(b)), 64), nil
	case Date:
		return time.Unix(signed(b)*86400, 0).UTC().Format("2006-01-02"), nil
	case Timestamp, TimestampNanos:
		return v.instant(k, zone, "")
	case TimestampNTZ, TimestampNanosNTZ:
		return v.instant(k, time.UTC, "")
	case Time:
		return time.UnixMicro(signed(b)).UTC().Format("15:04:05.999999"), nil
	case Binary:
		return base64.StdEncoding.EncodeToString(b), nil
	case UUID:
		h := hex.EncodeToString(b)
		return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], nil
	}
	return string(b), nil
}

// instant writes a timestamp.
func (v Value) instant(k Kind, zone *time.Location, suffix string) (string, error) {
	n, err := v.whole()
	t := time.UnixMicro(n)
	if k == TimestampNanos || k == TimestampNanosNTZ {
		t = time.Unix(0, n)
	}
	return t.In(zone).Format("2006-01-02 15:04:05.999999999" + suffix), err
}

func plainDecimal(unscaled *big.Int, scale int) string {
	if unscaled == nil {
		return ""
	}
	digits, sign := new(big.Int).Abs(unscaled).String(), ""
	if unscaled.Sign() < 0 {
		sign = "-"
	}
	if scale == 0 {
		return sign + digits
	}
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale-len(digits)+1) + digits
	}
	return sign + digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}

// javaNumber writes a number as Java does: 1.0, 1.0E300.
func javaNumber(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	if a := math.Abs(f); a == 0 || a >= 1e-3 && a < 1e7 {
		text := strconv.FormatFloat(f, 'f', -1, bits)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, bits), "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	n, _ := strconv.Atoi(exponent)
	return mantissa + "E" + strconv.Itoa(n)
}
