package hive

import (
	"encoding/xml"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
)

// settings are how to reach a metastore.
type settings struct {
	addresses []string // host:port
	clients   int
	tls       bool
	framed    bool
	connect   time.Duration
	patience  time.Duration // for one call
}

const (
	defaultPort     = "9083"
	defaultConnect  = 10 * time.Second
	defaultPatience = time.Minute
	maxSite         = 16 << 20
)

// source finds settings of Hive: among the properties, with or without hadoop. in front, then in hive-site.xml.
type source struct {
	properties iceberg.Properties
	site       map[string]string
}

func (s source) get(name string) string {
	for _, v := range []string{s.properties["hadoop."+name], s.properties[name], s.site[name]} {
		if v != "" {
			return v
		}
	}
	return ""
}

func (s source) is(name string) bool { return strings.EqualFold(s.get(name), "true") }

// readSettings checks the properties of a catalog.
func readSettings(name string, p iceberg.Properties) (settings, error) {
	site, err := readSite(p)
	if err != nil {
		return settings{}, fault.New(fault.Invalid, "read hive-site.xml: %w", err).Change(key(name, "hive-conf-dir"))
	}
	from := source{p, site}
	if err := refuse(name, from); err != nil {
		return settings{}, err
	}
	out := settings{clients: 2, connect: defaultConnect, patience: defaultPatience, tls: from.is("hive.metastore.use.SSL"),
		framed: from.is("hive.metastore.thrift.framed.transport.enabled")}
	uris := p["uri"]
	if uris == "" {
		uris = from.get("hive.metastore.uris")
	}
	if out.addresses, err = parseURIs(uris); err != nil {
		return settings{}, fault.New(fault.Invalid, "%w", err).Change(key(name, "uri"))
	}
	if text := p["clients"]; text != "" {
		if out.clients, err = strconv.Atoi(text); err != nil || out.clients < 1 {
			return settings{}, fault.New(fault.Invalid, "clients must be a number above 0: %q", text).Change(key(name, "clients"))
		}
	}
	for setting, into := range map[string]*time.Duration{"hive.metastore.client.socket.timeout": &out.patience, "hive.metastore.client.connection.timeout": &out.connect} {
		if text := from.get(setting); text != "" {
			if *into, err = parseTime(text); err != nil {
				return settings{}, fault.New(fault.Invalid, "%s: a time such as 60s is expected, not %q", setting, text).Change(key(name, "hadoop."+setting))
			}
		}
	}
	return out, nil
}

// refuse names what the metastore may demand and this client lacks.
func refuse(name string, from source) error {
	for _, r := range []struct{ setting, value, what string }{
		{"hive.metastore.sasl.enabled", "true", "Kerberos (SASL)"},
		{"hive.metastore.thrift.compact.protocol.enabled", "true", "Thrift's compact protocol"},
		{"hive.metastore.client.thrift.transport.mode", "http", "Thrift over HTTP"},
		{"hive.metastore.client.auth.mode", "PLAIN", "authentication by password (PLAIN)"},
		{"hive.metastore.client.auth.mode", "JWT", "authentication by JWT"},
	} {
		if strings.EqualFold(from.get(r.setting), r.value) {
			return fault.New(fault.Unsupported, "catalog %s: the Hive metastore wants %s (%s=%s), which is not supported", name, r.what, r.setting, r.value).
				Change(key(name, "hadoop."+r.setting))
		}
	}
	return nil
}

// parseURIs reads a list of thrift://host:port.
func parseURIs(text string) ([]string, error) {
	var out []string
	for _, uri := range strings.Split(text, ",") {
		uri = strings.TrimSpace(uri)
		if uri == "" {
			continue
		}
		scheme, address, found := strings.Cut(uri, "://")
		if !found || !strings.EqualFold(scheme, "thrift") {
			return nil, errors.New("a Hive metastore is named by thrift://host:port, or several of them with commas")
		}
		address = strings.TrimRight(address, "/")
		if address == "" || strings.ContainsAny(address, "/@?# ") {
			return nil, errors.New("a Hive metastore is named by thrift://host:port, or several of them with commas")
		}
		if _, _, err := net.SplitHostPort(address); err != nil {
			address = net.JoinHostPort(strings.Trim(address, "[]"), defaultPort)
		}
		out = append(out, address)
	}
	if len(out) == 0 {
		return nil, errors.New("no Hive metastore is named: neither uri nor hive.metastore.uris is set, and no hive-site.xml names one")
	}
	return out, nil
}

// parseTime reads a time as Hive writes it: a number of seconds, or with a unit.
func parseTime(text string) (time.Duration, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if n, err := strconv.Atoi(text); err == nil {
		text = strconv.Itoa(n) + "s"
	}
	for _, unit := range []struct{ hive, ours string }{{"sec", "s"}, {"min", "m"}, {"msec", "ms"}} {
		if rest, ok := strings.CutSuffix(text, unit.hive); ok && strings.Trim(rest, "0123456789") == "" {
			text = rest + unit.ours
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, errors.New("no time")
	}
	return d, nil
}

// readSite reads hive-site.xml from the folder that the properties or the environment name; no file is no settings.
func readSite(p iceberg.Properties) (map[string]string, error) {
	folders := []string{p["hive-conf-dir"], p["hadoop-conf-dir"]}
	for _, variable := range []string{"HIVE_CONF_DIR", "HADOOP_CONF_DIR", "SPARK_CONF_DIR"} {
		folders = append(folders, os.Getenv(variable))
	}
	for i, folder := range folders {
		if folder == "" {
			continue
		}
		site, err := parseSite(filepath.Join(folder, "hive-site.xml"))
		if errors.Is(err, fs.ErrNotExist) && i != 0 {
			continue
		}
		return site, err
	}
	return nil, nil
}

func parseSite(path string) (map[string]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxSite {
		return nil, errors.New("it is too large")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Properties []struct {
			Name  string `xml:"name"`
			Value string `xml:"value"`
		} `xml:"property"`
	}
	if err := xml.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, p := range file.Properties {
		out[strings.TrimSpace(p.Name)] = strings.TrimSpace(p.Value)
	}
	return out, nil
}
