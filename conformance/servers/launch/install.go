package launch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed java
var sources embed.FS

// program finds a program of the system.
func program(name, hint string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: %s (%s)", ErrMissing, name, hint)
	}
	return path, nil
}

// shell runs a program to its end and gives its output with its error.
func shell(ctx context.Context, folder string, environment []string, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = folder, append(os.Environ(), environment...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// once makes a folder of downloads by make, which gets an empty one, unless it is there from a recipe that is the same.
func (s *site) once(name, recipe string, fill func(folder string) error) (string, error) {
	sum := sha256.Sum256([]byte(recipe))
	folder := filepath.Join(s.home, name+"-"+hex.EncodeToString(sum[:6]))
	if _, err := os.Stat(filepath.Join(folder, ".complete")); err == nil {
		return folder, nil
	}
	if err := os.RemoveAll(folder); err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	if err := fill(folder); err != nil {
		return "", err
	}
	return folder, os.WriteFile(filepath.Join(folder, ".complete"), nil, 0o644)
}

// golang gives a program that go install makes of package@version.
func (s *site) golang(ctx context.Context, pkg string) (string, error) {
	path, _, _ := strings.Cut(pkg, "@")
	folder, err := s.once("go", pkg, func(folder string) error {
		return shell(ctx, folder, []string{"GOBIN=" + folder, "GOFLAGS="}, "go", "install", pkg)
	})
	return filepath.Join(folder, filepath.Base(path)), err
}

// node gives a file of an npm package@version.
func (s *site) node(ctx context.Context, pkg, file string) (string, error) {
	if _, err := program("npm", "Node.js 20 or newer"); err != nil {
		return "", err
	}
	name := pkg[:strings.LastIndex(pkg, "@")]
	folder, err := s.once("node", pkg, func(folder string) error {
		return shell(ctx, folder, nil, "npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--silent", pkg)
	})
	return filepath.Join(folder, "node_modules", name, file), err
}

// python gives a program of a Python package.
func (s *site) python(ctx context.Context, pkg, name string) (string, error) {
	interpreter, err := program("python3", "Python 3.11 or newer with venv")
	if err != nil {
		return "", err
	}
	folder, err := s.once("python", pkg, func(folder string) error {
		if err := shell(ctx, folder, nil, interpreter, "-m", "venv", folder); err != nil {
			return err
		}
		return shell(ctx, folder, nil, filepath.Join(folder, "bin", "pip"), "install", "-q", pkg)
	})
	return filepath.Join(folder, "bin", name), err
}

// jar is an artifact of Maven's, group:artifact:version or group:artifact:version:classifier, and the groups that its dependencies are not taken from; *
// leaves out all.
type jar struct {
	name    string
	without []string
}

// xml writes the jar as Maven reads it.
func (j jar) xml() string {
	p := strings.Split(j.name, ":")
	text := "<dependency><groupId>" + p[0] + "</groupId><artifactId>" + p[1] + "</artifactId><version>" + p[2] + "</version>"
	if len(p) > 3 {
		text += "<classifier>" + p[3] + "</classifier>"
	}
	text += "<exclusions>"
	for _, group := range j.without {
		text += "<exclusion><groupId>" + group + "</groupId><artifactId>*</artifactId></exclusion>"
	}
	return text + "</exclusions></dependency>"
}

// classpath gives the class path of jars and, compiled, of the files of java/.
func (s *site) classpath(ctx context.Context, jars []jar, files ...string) (string, error) {
	for _, name := range []string{"mvn", "javac"} {
		if _, err := program(name, "a JDK 17 or newer, and Maven"); err != nil {
			return "", err
		}
	}
	pom := `<project><modelVersion>4.0.0</modelVersion><groupId>skua</groupId><artifactId>servers</artifactId><version>1</version><packaging>pom</packaging><dependencies>`
	for _, j := range jars {
		pom += j.xml()
	}
	pom += "</dependencies></project>"
	libraries, err := s.once("jars", pom, func(folder string) error {
		if err := os.WriteFile(filepath.Join(folder, "pom.xml"), []byte(pom), 0o644); err != nil {
			return err
		}
		return shell(ctx, folder, nil, "mvn", "-B", "-q", "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+folder)
	})
	if err != nil || len(files) == 0 {
		return filepath.Join(libraries, "*"), err
	}
	recipe := libraries
	for _, name := range files {
		text, err := sources.ReadFile("java/" + name)
		if err != nil {
			return "", err
		}
		recipe += "\n" + string(text)
	}
	classes, err := s.once("classes", recipe, func(folder string) error {
		args := []string{"-nowarn", "-proc:none", "-d", folder, "-cp", filepath.Join(libraries, "*")}
		for _, name := range files {
			text, err := sources.ReadFile("java/" + name)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
				return err
			}
			args = append(args, filepath.Join(folder, name))
		}
		return shell(ctx, folder, nil, "javac", args...)
	})
	return classes + string(os.PathListSeparator) + filepath.Join(libraries, "*"), err
}

// java gives a Java of that version or newer: $JAVA, the one of the path, or one that the system keeps.
func java(ctx context.Context, least int) (string, error) {
	kept, _ := filepath.Glob("/usr/lib/jvm/*/bin/java")
	for _, candidate := range append([]string{os.Getenv("JAVA"), "java"}, kept...) {
		said, err := exec.CommandContext(ctx, candidate, "-version").CombinedOutput()
		if err != nil {
			continue
		}
		var version int
		if _, quoted, ok := strings.Cut(string(said), `"`); ok {
			_, _ = fmt.Sscanf(quoted, "%d", &version)
		}
		if version >= least {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("%w: Java %d or newer (set JAVA)", ErrMissing, least)
}
