package server

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPropertiesReadAsJavaReadsThem(t *testing.T) {
	text := "# comment\n! another\n\n" +
		"spark.a  spaced value  \n" +
		"spark.b=equals\n" +
		"spark.c : colon\n" +
		"  spark.d\tx y z\n" +
		"spark.e = first \\\n    second\n" +
		"spark.f=a\\tb\\u00e9\\uD83D\\uDE00\n" +
		"spark\\:g\\=h=v\n" +
		"spark.empty\n" +
		"spark.path=C:\\\\dir\\\\\r\n" +
		"spark.b=again"
	got, err := parseProperties(strings.NewReader(text), "test")
	if err != nil {
		t.Fatal(err)
	}
	want := []property{{"spark.a", "spaced value", 4}, {"spark.b", "equals", 5}, {"spark.c", "colon", 6}, {"spark.d", "x y z", 7},
		{"spark.e", "first second", 8}, {"spark.f", "a\tbé😀", 10}, {"spark:g=h", "v", 11}, {"spark.empty", "", 12}, {"spark.path", `C:\dir\`, 13}, {"spark.b", "again", 14}}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, bad := range []string{"a=\\u12", "a=\\uzzzz", "=value", "a=\xff"} {
		if _, err := parseProperties(strings.NewReader(bad), "test"); err == nil || !strings.HasPrefix(err.Error(), "test:1:") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzProperties(f *testing.F) {
	f.Add("a b\\\nc\nd=\\u0041")
	f.Fuzz(func(t *testing.T, text string) {
		properties, err := parseProperties(strings.NewReader(text), "f")
		for _, p := range properties {
			if p.key == "" || p.line < 1 {
				t.Errorf("%q gives %+v", text, p)
			}
		}
		if err != nil && properties != nil {
			t.Error("an error with properties")
		}
	})
}

func TestPrecedence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "spark-defaults.conf")
	secret := filepath.Join(t.TempDir(), "secret")
	for path, text := range map[string]string{file: "k.all file\nk.env file\nk.file file\nk.secret ${file:" + secret + "}\nk.spark ${spark.x}\n", secret: "hunter2\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Load(Given{File: file, Environment: []string{"SKUA_CONF=k.all env\nk.env ${env:OTHER}", "spark.direct=yes", "OTHER=other", "PATH=/bin"},
		Flags: []string{"k.all=flag", "my.password=x"}, Defaults: map[string]string{"k.all": "default", "k.default": "default"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range s.All() {
		source := strings.TrimPrefix(e.Source, filepath.Dir(file)+"/")
		got = append(got, e.Key+"="+e.Value+" from "+source)
		if e.Key == "k.all" && len(e.Overrides) != 3 {
			t.Errorf("k.all overrides %q", e.Overrides)
		}
	}
	want := []string{"k.all=flag from --conf", "k.default=default from default", "k.env=other from SKUA_CONF:2", "k.file=file from spark-defaults.conf:3",
		"k.secret=hunter2 from spark-defaults.conf:4", "k.spark=${spark.x} from spark-defaults.conf:5", "my.password=x from --conf", "spark.direct=yes from environment"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "my.password") || strings.Contains(s.Warnings[0], "=x") {
		t.Errorf("warnings %q", s.Warnings)
	}
	for _, bad := range []Given{{File: "/no/such/file"}, {Flags: []string{"novalue"}}, {Flags: []string{"k=${env:NOPE}"}}, {Flags: []string{"k=${file:/no/such}"}}} {
		if _, err := Load(bad); err == nil {
			t.Errorf("%+v must fail", bad)
		}
	}
}
