package conformance

import (
	"embed"
	"path"
)

//go:embed testdata/*.test
var scripts embed.FS

// Bundled gives the scripts that are part of this package, by name.
func Bundled() ([]*Script, error) {
	entries, err := scripts.ReadDir("testdata")
	if err != nil {
		return nil, err
	}
	out := make([]*Script, len(entries))
	for i, e := range entries {
		f, err := scripts.Open(path.Join("testdata", e.Name()))
		if err != nil {
			return nil, err
		}
		out[i], err = Parse(e.Name(), f)
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
