package hadoopconf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skua-data/skua/fault"
)

func write(t *testing.T, folder, name, properties string) {
	t.Helper()
	text := "<?xml version=\"1.0\"?>\n<configuration>" + properties + "</configuration>"
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLoad(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("SKUA_TEST_HOST", "h")
	write(t, folder, "core-site.xml", `
		<property><name>fs.defaultFS</name><value>hdfs://${cluster}</value></property>
		<property><name>cluster</name><value>prod</value><final>true</final></property>
		<property><name>over</name><value>1</value></property>
		<property><name>loop</name><value>x${loop}</value></property>`)
	write(t, folder, "hdfs-site.xml", `
		<property><name>cluster</name><value>other</value></property>
		<property><name>over</name><value> 2 </value></property>
		<property><name>a</name><value>${env.SKUA_TEST_HOST}:${nobody}:${over}</value></property>`)
	got, err := Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"fs.defaultFS": "hdfs://prod", "cluster": "prod", "over": "2", "a": "h:${nobody}:2"} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if !strings.HasPrefix(got["loop"], "xx") {
		t.Errorf("a setting that names itself is %q", got["loop"])
	}
	if none, err := Load(t.TempDir()); err != nil || len(none) > 0 {
		t.Errorf("an empty folder: %v, %v", none, err)
	}
	if err := os.WriteFile(filepath.Join(folder, "hdfs-site.xml"), []byte("<configuration><property>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(folder); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "hdfs-site.xml") {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestFolder(t *testing.T) {
	t.Setenv("HADOOP_CONF_DIR", "/env")
	if Folder(nil) != "/env" || Folder(map[string]string{FolderKey: "/p"}) != "/p" {
		t.Error("the property goes before the variable")
	}
}
