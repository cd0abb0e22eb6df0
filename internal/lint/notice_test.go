package lint

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write NOTICE's list of modules again")

// linked is a module that a binary links, as NOTICE lists it.
type linked struct{ path, version, licence string }

// linkedModules gives the modules whose packages the binaries hold, by path. A module of this project's own is none.
func linkedModules(t *testing.T) []linked {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if .Version}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal("listing the modules that are linked: ", err)
	}
	lines := slices.Compact(slices.Sorted(strings.Lines(string(out))))
	modules := make([]linked, 0, len(lines))
	for _, line := range lines {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) == 3 {
			modules = append(modules, linked{fields[0], fields[1], licence(fields[2])})
		}
	}
	return modules
}

// licence names the licence of the module in a folder by its text, or gives "?".
func licence(folder string) string {
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "License*", "license*", "COPYING*"} {
		names, _ := filepath.Glob(filepath.Join(folder, pattern))
		for _, name := range names {
			if text, err := os.ReadFile(name); err == nil {
				if found := licenceOf(string(text)); found != "?" {
					return found
				}
			}
		}
	}
	return "?"
}

// licenceOf names a licence by phrases of its text.
func licenceOf(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	has := func(phrases ...string) bool {
		return !slices.ContainsFunc(phrases, func(p string) bool { return !strings.Contains(text, p) })
	}
	switch {
	case has("apache license", "version 2.0"):
		return "Apache-2.0"
	case has("mozilla public license", "2.0"):
		return "MPL-2.0"
	case has("permission to use, copy, modify, and/or distribute this software"), has("permission to use, copy, modify, and distribute this software"):
		return "ISC"
	case has("redistribution and use in source and binary forms", "neither the name"), has("redistribution and use in source and binary forms", "may not be used to endorse"),
		has("redistribution and use in source and binary forms", "names of its contributors"):
		return "BSD-3-Clause"
	case has("redistribution and use in source and binary forms"):
		return "BSD-2-Clause"
	case has("permission is hereby granted, free of charge"):
		return "MIT"
	case has("this is free and unencumbered software"):
		return "Unlicense"
	case has("cc0 1.0"):
		return "CC0-1.0"
	}
	return "?"
}

const listHeading = "The binaries link these modules, each under its own licence:\n\n"

// TestNoticeListsWhatIsLinked holds NOTICE's list against the build; -update writes it.
func TestNoticeListsWhatIsLinked(t *testing.T) {
	name := filepath.Join(root, "NOTICE")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), listHeading)
	if !found {
		t.Fatalf("NOTICE lacks the line %q", strings.TrimSpace(listHeading))
	}
	_, after, _ := strings.Cut(rest, "\n\n")
	var want strings.Builder
	for _, m := range linkedModules(t) {
		if m.licence == "?" {
			t.Errorf("no licence found for %s", m.path)
		}
		fmt.Fprintf(&want, "%-60s %-45s %s\n", m.path, m.version, m.licence)
	}
	whole := before + listHeading + want.String() + "\n" + after
	switch {
	case *update:
		if err := os.WriteFile(name, []byte(whole), 0o644); err != nil {
			t.Fatal(err)
		}
	case whole != string(text):
		t.Error("NOTICE does not list what the binaries link; write it with `make generate`")
	}
}
