package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
)

// bundled is the program that serves every type of Iceberg's own.
const bundled = "skua-catalog"

// folderSetting is the key that says where plugins are.
const folderSetting = "skua.plugin.folder"

var (
	typeName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
	implName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_$.-]*$`)
)

// program is what to run.
type program struct {
	path string
	args []string
	typ  string // what Open is told
}

// program finds what serves a catalog. A type is served by skua-catalog with the type as its argument. A name C that catalog-impl gave is served by the first of these
// files in the plugin folder: C, skua-catalog-C, skua-catalog-S, where S is what follows the last dot of C. Names that could lead out of the folder are
// refused.
func (h *Host) program(d catalogs.Definition) (program, error) {
	if d.Impl == "" {
		return h.bundledProgram(d)
	}
	if !implName.MatchString(d.Impl) || strings.Contains(d.Impl, "..") || strings.HasSuffix(d.Impl, ".") || d.Impl == bundled {
		return program{}, fault.New(fault.Invalid, "Cannot initialize Catalog implementation %s: a plugin is named by letters, digits, '.', '_', '-' and '$', and is never a path",
			d.Impl).Change("spark.sql.catalog." + d.Name + ".catalog-impl")
	}
	names := []string{d.Impl, bundled + "-" + d.Impl, bundled + "-" + d.Impl[strings.LastIndex(d.Impl, ".")+1:]}
	for _, name := range names {
		path := filepath.Join(h.config.Folder, name)
		err := runnable(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return program{}, unusable(d, path, err)
		}
		return program{path: path, typ: d.Impl}, nil
	}
	return program{}, fault.New(fault.Unavailable, "Cannot initialize Catalog implementation %s: the plugin folder %s has none of the files %s; put the plugin there, or set the folder",
		d.Impl, h.config.Folder, strings.Join(names, ", ")).In(d.Name).Change(folderSetting)
}

func (h *Host) bundledProgram(d catalogs.Definition) (program, error) {
	if !typeName.MatchString(d.Type) {
		return program{}, fault.New(fault.Unsupported, "Unknown catalog type: %s", d.Type).In(d.Name)
	}
	path := filepath.Join(h.config.Folder, bundled)
	if err := runnable(path); err != nil {
		return program{}, unusable(d, path, err)
	}
	return program{path: path, args: []string{d.Type}, typ: d.Type}, nil
}

// runnable fails for what is not a program.
func runnable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is not a file")
	}
	if info.Mode().Perm()&0o111 == 0 {
		return errors.New("it has no execute permission: chmod +x it")
	}
	return nil
}

func unusable(d catalogs.Definition, path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Unavailable, "open catalog %s: its plugin %s does not exist; `make build` puts it beside the server, or set the folder", d.Name, path).
			In(d.Name).Change(folderSetting)
	}
	return fault.New(fault.Unavailable, "open catalog %s: its plugin %s cannot be run: %w", d.Name, path, err).In(d.Name).Change(folderSetting)
}
