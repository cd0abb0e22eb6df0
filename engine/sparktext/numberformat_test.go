package sparktext

import "testing"

// TestNumberFormats has numbers as Spark writes and reads them.
func TestNumberFormats(t *testing.T) {
	for _, c := range []struct{ format, number, text string }{
		{"999", "4", "  4"}, {"000", "4", "004"}, {"999", "0", "   "}, {"999", "12345", "###"}, {"99.9", "1.255", "##.#"}, {"$999", "4", "$  4"}, {"S99.9", "0.5", "  +.5"}, {"99.9", "0.5", " 0.5"},
		{"9G099PR", "-1", "  <001>"}, {"9PR", "1", "1  "}, {"9MI", "-1", "1-"}, {"99,99S", "0", "+     "}, {"0,000S", "-123456", "# ###-"}, {".9", "0", ".0"}, {"S999", "-12", " -12"},
	} {
		f, err := ParseNumberFormat(c.format)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Write(c.number); got != c.text {
			t.Errorf("%s by %s is %q, want %q", c.number, c.format, got, c.text)
		}
	}
	for _, c := range []struct{ format, text, number string }{
		{"9,999", "1,234", "1234"}, {"9,999", "12,34", ""}, {"9,999", "1,", "1"}, {"000", "4", ""}, {"99", "1 2", "12"}, {"99PR", "<12>", "-12"}, {"99PR", "<12", ""}, {"S99.9", "-.5", "-.5"},
		{"00.00", "12", "12"}, {"9", "", ""}, {"99S", "1+", "1"}, {"9", "١", "1"},
	} {
		f, err := ParseNumberFormat(c.format)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := f.Read(c.text); got != c.number {
			t.Errorf("%s by %s is %q, want %q", c.text, c.format, got, c.number)
		}
	}
}

// FuzzParseURL: any text is a reference or none.
func FuzzParseURL(f *testing.F) {
	for _, text := range []string{"http://user@h:1/p?a=b#c", "http://[::1]/", "mailto:a@b", "%", "//", "a:b%zz"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if u, ok := ParseURL(text); ok && u.Path == nil && u.Scheme == nil {
			t.Errorf("%q has neither a path nor a scheme", text)
		}
	})
}

// FuzzNumberFormat: what a format writes has one form for each number.
func FuzzNumberFormat(f *testing.F) {
	f.Add("S9G999D99", "1,234.5")
	f.Fuzz(func(t *testing.T, format, text string) {
		if p, err := ParseNumberFormat(format); err == nil && p.Precision() < 1000 {
			p.Read(text)
			p.Write("-12.5")
		}
	})
}
