package static

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/iceberg-go/table"

	"github.com/skua-data/skua/storage"
)

// tableEntry is what the file says of a table: {"metadata": LOCATION, "map": [[PREFIX, FOLDER], …]}, or the location alone.
type tableEntry struct {
	identifier table.Identifier
	metadata   storage.Location
	locations  storage.Map // nil: paths are as their metadata spells them
}

// content is a file, read: tables in byte order of their names, and every namespace that they imply.
type content struct {
	tables     []tableEntry
	namespaces []table.Identifier
}

// parse reads a file. Relative locations are under the file's folder; a name that starts with the catalog's own is taken without it.
func parse(data []byte, catalog string, at storage.Location) (*content, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, errors.New("it is no JSON object of table names")
	}
	out, seen := &content{}, map[string]bool{}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		name := key.(string) // an object's keys are strings, or Token fails
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return nil, fmt.Errorf("table %q: %w", name, err)
		}
		entry, err := parseEntry(raw, folder(at))
		if err == nil {
			entry.identifier, err = parseName(name, catalog)
		}
		if err != nil {
			return nil, fmt.Errorf("table %q: %w", name, err)
		}
		if id := strings.Join(entry.identifier, "\x00"); seen[id] {
			return nil, fmt.Errorf("table %q is there twice", name)
		} else {
			seen[id] = true
		}
		out.tables = append(out.tables, entry)
	}
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("something follows its JSON object")
	}
	slices.SortFunc(out.tables, func(a, b tableEntry) int { return slices.Compare(a.identifier, b.identifier) })
	out.namespaces = implied(out.tables)
	return out, nil
}

func parseEntry(raw json.RawMessage, folder storage.Location) (tableEntry, error) {
	var said struct {
		Metadata string      `json:"metadata"`
		Map      [][2]string `json:"map"`
	}
	if json.Unmarshal(raw, &said.Metadata) != nil {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&said); err != nil {
			return tableEntry{}, err
		}
	}
	if said.Metadata == "" {
		return tableEntry{}, errors.New(`"metadata" is not set`)
	}
	out := tableEntry{metadata: absolute(said.Metadata, folder)}
	for _, pair := range said.Map {
		if pair[0] == "" || pair[1] == "" {
			return tableEntry{}, errors.New(`a pair of "map" is a prefix and where it lies, both not empty`)
		}
		out.locations = append(out.locations, storage.Mapping{From: pair[0], To: absolute(pair[1], folder)})
	}
	if out.locations != nil {
		// The metadata file itself lies where the catalog says, whatever its own paths say.
		out.locations = append(out.locations, storage.Mapping{From: out.metadata, To: out.metadata})
	}
	return out, nil
}

// folder is where a location lies, with its slash.
func folder(at storage.Location) storage.Location { return at[:strings.LastIndexByte(at, '/')+1] }

// absolute gives a location under a folder unless it is one by itself.
func absolute(at, folder storage.Location) storage.Location {
	if strings.HasPrefix(at, "/") || storage.Scheme(at) != "" {
		return at
	}
	return folder + at
}

// parseName splits a dotted name; a level with dots of its own stands in back quotes, in which two stand for one.
func parseName(name, catalog string) (table.Identifier, error) {
	var out table.Identifier
	for rest := name; ; {
		part, after, err := parsePart(rest)
		if err != nil {
			return nil, err
		}
		out = append(out, part)
		if after == "" {
			break
		}
		if after[0] != '.' {
			return nil, errors.New("a dot must follow the closing back quote")
		}
		rest = after[1:]
	}
	if len(out) > 1 && out[0] == catalog {
		out = out[1:]
	}
	return out, nil
}

func parsePart(s string) (part, after string, err error) {
	if !strings.HasPrefix(s, "`") {
		end := strings.IndexByte(s, '.')
		if end < 0 {
			end = len(s)
		}
		part, after = s[:end], s[end:]
	} else {
		for rest := s[1:]; ; {
			end := strings.IndexByte(rest, '`')
			if end < 0 {
				return "", "", errors.New("a back quote is not closed")
			}
			part, rest = part+rest[:end], rest[end+1:]
			if !strings.HasPrefix(rest, "`") {
				after = rest
				break
			}
			part, rest = part+"`", rest[1:]
		}
	}
	if part == "" {
		return "", "", errors.New("a part of its name is empty")
	}
	return part, after, nil
}

// implied gives every namespace of the tables and all above them, each once, in byte order.
func implied(tables []tableEntry) []table.Identifier {
	var out []table.Identifier
	for _, t := range tables {
		for n := 1; n < len(t.identifier); n++ {
			out = append(out, t.identifier[:n])
		}
	}
	slices.SortFunc(out, func(a, b table.Identifier) int { return slices.Compare(a, b) })
	return slices.CompactFunc(out, func(a, b table.Identifier) bool { return slices.Equal(a, b) })
}
