// Package hadoopconf reads Hadoop's configuration files, core-site.xml and hdfs-site.xml, as the stores need them: names and values, with
// variables replaced. It knows no name's meaning.
package hadoopconf

import (
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skua-data/skua/fault"
)

// FolderKey is the property that names the folder of the configuration files; without it the variable HADOOP_CONF_DIR does.
const FolderKey = "hadoop-conf-dir"

// Prefix stands before the names of Hadoop's settings among a catalog's properties.
const Prefix = "hadoop."

// Folder gives the folder that properties or the environment name; empty: none.
func Folder(properties map[string]string) string {
	if f := properties[FolderKey]; f != "" {
		return f
	}
	return os.Getenv("HADOOP_CONF_DIR")
}

// Load reads the files of a folder, the later over the earlier. Files that are not there are left out.
func Load(folder string) (map[string]string, error) {
	out := map[string]string{}
	if folder == "" {
		return out, nil
	}
	final := map[string]bool{}
	for _, name := range []string{"core-site.xml", "hdfs-site.xml"} {
		path := filepath.Join(folder, name)
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fault.New(fault.Invalid, "read Hadoop's configuration: %w", err).Change(FolderKey)
		}
		err = read(f, out, final)
		f.Close()
		if err != nil {
			return nil, fault.New(fault.Invalid, "read Hadoop's configuration %s: %w", path, err).Change(FolderKey)
		}
	}
	for k, v := range out {
		out[k] = expand(v, out, 0)
	}
	return out, nil
}

// maxFile bounds a configuration file, in bytes.
const maxFile = 16 << 20

// read adds a file's settings. One that an earlier file calls final stays.
func read(r io.Reader, into map[string]string, final map[string]bool) error {
	var file struct {
		XMLName    xml.Name `xml:"configuration"`
		Properties []struct {
			Name  string `xml:"name"`
			Value string `xml:"value"`
			Final string `xml:"final"`
		} `xml:"property"`
	}
	if err := xml.NewDecoder(io.LimitReader(r, maxFile)).Decode(&file); err != nil {
		return err
	}
	for _, p := range file.Properties {
		name := strings.TrimSpace(p.Name)
		if name == "" || final[name] {
			continue
		}
		into[name] = strings.TrimSpace(p.Value)
		final[name] = strings.TrimSpace(p.Final) == "true"
	}
	return nil
}

// deepest is how many times a value may name another, as in Hadoop.
const deepest = 20

// expand replaces ${name} by a setting and ${env.NAME} by a variable; what is unknown stays as it is.
func expand(text string, settings map[string]string, depth int) string {
	start := strings.Index(text, "${")
	if start < 0 || depth > deepest {
		return text
	}
	length := strings.IndexByte(text[start:], '}')
	if length < 0 {
		return text
	}
	name, rest := text[start+2:start+length], text[start+length+1:]
	value, known := settings[name]
	if variable, ok := strings.CutPrefix(name, "env."); ok {
		value, known = os.LookupEnv(variable)
	}
	if !known {
		return text[:start+length+1] + expand(rest, settings, depth+1)
	}
	return text[:start] + expand(value, settings, depth+1) + expand(rest, settings, depth+1)
}
