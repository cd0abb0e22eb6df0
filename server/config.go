package server

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skua-data/skua/auth"
	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/engine/duckdb"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/session"
	"github.com/skua-data/skua/storage"
)

// Config is a server's configuration after all checks. NewConfig makes it.
type Config struct {
	Listen    string // host:port; port 0 picks a free one
	Insecure  bool   // allow an address other than loopback without TLS and login
	TLS       TLS
	UsersFile string         // static users; empty: everybody is anonymous
	KeyFile   string         // the key that signs tokens and tickets; empty: a fresh one at each start
	JWT       auth.JWTConfig // bearer tokens of an identity provider; without Keys: none are taken

	ClientPrincipal string // the field of a client's certificate that names the principal

	PluginFolder string // skua-catalog and outside plugins
	Catalogs     []catalogs.Definition
	Locations    storage.Map
	Startup      session.Conf // what sessions see and RESET goes back to

	DrainTimeout    time.Duration
	Memory          int64 // bytes; 0: no limit
	MemoryWait      time.Duration
	StatementMemory int64 // bytes; 0: no limit
	MetadataCache   int64 // bytes; 0: as much as a scanner takes by itself
	DeleteCache     int64 // bytes, likewise
	Cores           int
	Decoder         string // auto or fallback
	GPUMemory       int64  // of each device; bytes
	GPUFallback     bool   // skua.decoder=gpu without a GPU reads on the CPU
	MaxSessions     int
	MaxPerPrincipal int
	SessionIdle     time.Duration
	MaxReceive      int
	MaxStreams      uint32
	FetchStall      time.Duration // 0: for ever
	Reflection      bool
	LogLevel        string
	LogFormat       string
	SQL             duckdb.Config // of the SQL engine

	Warnings []string // what the operator should know: keys without effect, properties that cannot be honoured
}

// TLS names PEM files; the zero TLS is plain text.
type TLS struct{ CertificateFile, KeyFile, ClientCAFile string }

// NewConfig checks settings and gives the configuration. Every problem is reported at once, sorted by key.
func NewConfig(s *Settings) (Config, error) {
	r := &reading{settings: s}
	c := Config{
		Listen:          r.text("skua.listen"),
		Insecure:        r.boolean("skua.listen.insecure"),
		TLS:             TLS{r.text("skua.tls.certificate-file"), r.text("skua.tls.key-file"), r.text("skua.tls.client-ca-file")},
		UsersFile:       r.text("skua.auth.users-file"),
		KeyFile:         r.text("skua.auth.key-file"),
		JWT:             r.tokens(),
		ClientPrincipal: r.text("skua.tls.client-principal"),
		PluginFolder:    r.text("skua.plugin.folder"),
		DrainTimeout:    r.duration("skua.drain.timeout"),
		Memory:          r.memory(),
		MemoryWait:      r.positiveDuration("skua.memory.wait"),
		StatementMemory: r.bytes("skua.statement.memory.limit"),
		MetadataCache:   r.bytes("skua.metadata.cache.limit"),
		DeleteCache:     r.bytes("skua.delete.cache.limit"),
		Cores:           int(r.number("skua.cores")),
		Decoder:         r.text("skua.scan.decoder"),
		GPUMemory:       r.bytes("skua.gpu.memory.limit"),
		GPUFallback:     r.boolean("skua.gpu.fallback"),
		MaxSessions:     int(r.positive("skua.session.max")),
		MaxPerPrincipal: int(r.number("skua.session.max-per-principal")),
		SessionIdle:     r.positiveDuration("skua.session.idle-timeout"),
		MaxReceive:      int(r.bytes("skua.flight.max-receive-size")),
		MaxStreams:      uint32(r.number("skua.flight.max-streams")),
		FetchStall:      r.duration("skua.fetch.stall.timeout"),
		Reflection:      r.boolean("skua.flight.reflection"),
		LogLevel:        r.text("skua.log.level"),
		LogFormat:       r.text("skua.log.format"),
		Startup:         s.Conf(),
	}
	if most := c.Memory / 4; c.Memory > 0 { // statements need the rest
		c.MetadataCache, c.DeleteCache = min(c.MetadataCache, most), min(c.DeleteCache, most)
	}
	if c.Cores == 0 {
		c.Cores = runtime.GOMAXPROCS(0)
	}
	c.SQL = duckdb.Config{Memory: r.bytes("skua.sql.memory.limit"), Threads: c.Cores, Folder: r.text("skua.sql.spill.folder"),
		SpillSize: r.bytes("skua.sql.spill.limit"), Timeout: r.duration("skua.sql.timeout")}
	r.checkKeys()
	c.Locations = r.locations()
	c.Catalogs = r.catalogs()
	r.checkListener(c)
	r.checkFiles(c)
	r.checkCatalogs(c)
	c.Warnings = append(slices.Clone(s.Warnings), r.warnings...)
	return c, r.err()
}

// reading collects problems while settings are read.
type reading struct {
	settings *Settings
	problems []string
	warnings []string
}

func (r *reading) fail(key string, err error) {
	at := ""
	if s, ok := r.settings.byKey[key]; ok {
		at = " (" + s.Source + ")"
	}
	r.problems = append(r.problems, key+at+": "+err.Error())
}

func (r *reading) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.Sort(r.problems)
	return fault.New(fault.Invalid, "configuration: %s", strings.Join(r.problems, "\n  "))
}

// text gives a key's value or its default, after the option table's check.
func (r *reading) text(key string) string {
	option, known := session.Lookup(key)
	if !known {
		r.fail(key, fault.New(fault.Internal, "the option table lacks it"))
		return ""
	}
	value, set := r.settings.Get(key)
	if !set {
		return option.Default
	}
	if err := session.Validate(option, value); err != nil {
		r.fail(key, err)
		return option.Default
	}
	return value
}

func (r *reading) boolean(key string) bool { return strings.EqualFold(r.text(key), "true") }

func (r *reading) number(key string) int64 {
	n, err := strconv.ParseInt(r.text(key), 10, 64)
	if err != nil || n < 0 {
		r.fail(key, fault.New(fault.Invalid, "expected a number of 0 or more"))
		return 0
	}
	return n
}

// positive reads a bound that cannot be switched off.
func (r *reading) positive(key string) int64 {
	n := r.number(key)
	if n == 0 {
		r.fail(key, fault.New(fault.Invalid, "expected a number of 1 or more: there is always a bound"))
	}
	return n
}

func (r *reading) positiveDuration(key string) time.Duration {
	d := r.duration(key)
	if d <= 0 {
		r.fail(key, fault.New(fault.Invalid, "expected more than 0: there is always a bound"))
	}
	return d
}

// tokens reads whose bearer tokens are taken. A token that is not bound to an issuer and an audience proves too little.
func (r *reading) tokens() auth.JWTConfig {
	c := auth.JWTConfig{Keys: r.text("skua.auth.jwt.keys"), Issuer: r.text("skua.auth.jwt.issuer"), Audience: r.text("skua.auth.jwt.audience"),
		UserClaim: r.text("skua.auth.jwt.user-claim"), Leeway: r.duration("skua.auth.jwt.leeway"), Refresh: r.duration("skua.auth.jwt.refresh")}
	for _, name := range strings.Split(r.text("skua.auth.jwt.algorithms"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			c.Algorithms = append(c.Algorithms, name)
		}
	}
	if c.Keys == "" {
		return c
	}
	if _, err := auth.NewJWT(c); err != nil {
		r.fail("skua.auth.jwt.keys", err)
	}
	return c
}

func (r *reading) bytes(key string) int64 {
	n, err := session.ParseBytes(r.text(key))
	if err != nil {
		r.fail(key, err)
	}
	return n
}

// memory is the limit of all statements: half of the machine's, since the SQL engine, buffers and Go's heap take the rest.
func (r *reading) memory() int64 {
	if _, set := r.settings.Get("skua.memory.limit"); !set {
		return resource.MachineMemory() / 2
	}
	return r.bytes("skua.memory.limit")
}

func (r *reading) duration(key string) time.Duration {
	d, err := session.ParseDuration(r.text(key))
	if err != nil {
		r.fail(key, err)
	}
	return d
}

// checkKeys checks the values of every known key, and that keys inside skua.* are known.
func (r *reading) checkKeys() {
	for _, s := range r.settings.All() {
		option, known := session.Lookup(s.Key)
		switch {
		case known && !strings.HasSuffix(option.Key, "*"):
			if err := session.Validate(option, s.Value); err != nil && !slices.ContainsFunc(r.problems, func(p string) bool { return strings.HasPrefix(p, s.Key+" ") }) {
				r.fail(s.Key, err)
			}
		case !known && strings.HasPrefix(s.Key, "skua."):
			r.fail(s.Key, fault.New(fault.Invalid, "unknown key%s", suggest(s.Key)))
		}
		r.doubt(s.Key, s.Value, s.Source)
	}
}

// doubt warns of a key that does nothing, or not what it was set for.
func (r *reading) doubt(key, value, source string) {
	j, at := session.Judge(key, catalogs.Nearest), key+" ("+source+") "
	switch {
	case strings.HasPrefix(key, "skua."): // its problems are errors
	case j.Standing == session.Stray && j.Option.Effect:
		r.warnings = append(r.warnings, at+"ends in no known name, and every scan that it concerns fails; "+j.Hint())
	case j.Standing == session.Near || j.Standing == session.Stray:
		r.warnings = append(r.warnings, at+"is unknown and without effect; "+j.Hint())
	case j.Standing == session.Listed && !j.Option.Effect:
		r.warnings = append(r.warnings, at+"is accepted without effect: "+j.Option.Doc)
	case session.Doubt(key, value) != "":
		r.warnings = append(r.warnings, at+"has a value that cannot be used: "+session.Doubt(key, value))
	}
}

// suggest tells what a key that is not known may have been meant for.
func suggest(key string) string {
	if hint := session.Judge(key, catalogs.Nearest).Hint(); hint != "" {
		return "; " + hint
	}
	if strings.HasPrefix(key, "skua.") {
		return "; docs/options.md lists those there are"
	}
	return ""
}

var mappingKey = regexp.MustCompile(`^skua\.location-map\.([^.]+)\.(from|to)$`)

func (r *reading) locations() storage.Map {
	byName := map[string]*storage.Mapping{}
	var names []string
	for _, s := range r.settings.All() {
		if !strings.HasPrefix(s.Key, "skua.location-map.") {
			continue
		}
		m := mappingKey.FindStringSubmatch(s.Key)
		if m == nil {
			r.fail(s.Key, fault.New(fault.Invalid, "expected skua.location-map.<n>.from or .to"))
			continue
		}
		if byName[m[1]] == nil {
			byName[m[1]] = &storage.Mapping{}
			names = append(names, m[1])
		}
		if m[2] == "from" {
			byName[m[1]].From = s.Value
		} else {
			byName[m[1]].To = s.Value
		}
	}
	var mappings []storage.Mapping
	for _, n := range names {
		mappings = append(mappings, *byName[n])
	}
	out, err := storage.NewMap(mappings)
	if err != nil {
		r.problems = append(r.problems, err.Error())
	}
	return out
}

const catalogPrefix = "spark.sql.catalog."

func (r *reading) catalogs() []catalogs.Definition {
	classes := map[string]string{}
	properties := map[string]map[string]string{}
	for _, s := range r.settings.All() {
		rest, ok := strings.CutPrefix(s.Key, catalogPrefix)
		if !ok {
			continue
		}
		name, property, nested := strings.Cut(rest, ".")
		if !nested {
			classes[name] = s.Value
			continue
		}
		if properties[name] == nil {
			properties[name] = map[string]string{}
		}
		properties[name][property] = s.Value
	}
	var out []catalogs.Definition
	for _, s := range r.settings.All() {
		name, ok := strings.CutPrefix(s.Key, catalogPrefix)
		if class, set := classes[name]; ok && set {
			d, warnings, err := catalogs.NewDefinition(name, class, properties[name])
			if err != nil {
				r.fail(s.Key, err)
				continue
			}
			for _, w := range append(warnings, idle(d.Properties, catalogPrefix+name+".")...) {
				r.warnings = append(r.warnings, "catalog "+name+": "+w)
			}
			if err := r.addHadoop(&d); err != nil {
				r.fail(s.Key, err)
				continue
			}
			out = append(out, d)
		}
	}
	r.warnings = append(r.warnings, idle(r.hadoop(), "spark.")...)
	for name := range properties {
		if _, ok := classes[name]; !ok {
			r.fail(catalogPrefix+name, fault.New(fault.Invalid, "properties are set for catalog %q, but its class %s%s is not (a catalog's name has no dots)", name, catalogPrefix, name))
		}
	}
	return out
}

// checkListener holds to the rule of safe addresses: anything but loopback needs TLS and a login, or skua.listen.insecure.
func (r *reading) checkListener(c Config) {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		r.fail("skua.listen", fault.New(fault.Invalid, "expected host:port, not %q", c.Listen))
		return
	}
	if (c.TLS.CertificateFile == "") != (c.TLS.KeyFile == "") {
		r.fail("skua.tls.certificate-file", fault.New(fault.Invalid, "skua.tls.certificate-file and skua.tls.key-file go together"))
	}
	if c.TLS.ClientCAFile != "" && c.TLS.CertificateFile == "" {
		r.fail("skua.tls.client-ca-file", fault.New(fault.Invalid, "client certificates need TLS: set skua.tls.certificate-file and skua.tls.key-file"))
	}
	if isLoopback(host) || c.Insecure {
		return
	}
	if c.TLS.CertificateFile == "" || c.UsersFile == "" && c.TLS.ClientCAFile == "" && c.JWT.Keys == "" {
		r.fail("skua.listen", fault.New(fault.Invalid, "%s is reachable from other machines: set skua.tls.certificate-file, skua.tls.key-file and a way to log in (skua.auth.users-file, skua.auth.jwt.keys or skua.tls.client-ca-file), or skua.listen.insecure=true to serve everybody in plain text", c.Listen))
	}
}

// checkFiles makes sure that every file that is named can be read.
func (r *reading) checkFiles(c Config) {
	for key, path := range map[string]string{"skua.tls.certificate-file": c.TLS.CertificateFile, "skua.tls.key-file": c.TLS.KeyFile,
		"skua.tls.client-ca-file": c.TLS.ClientCAFile, "skua.auth.users-file": c.UsersFile, "skua.auth.key-file": c.KeyFile} {
		if path == "" {
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			r.fail(key, err)
			continue
		}
		f.Close()
	}
}

// checkCatalogs makes sure that the default catalog exists, and warns of warehouses in stores that there are not.
func (r *reading) checkCatalogs(c Config) {
	var names []string
	for _, d := range c.Catalogs {
		names = append(names, d.Name)
		warehouse := c.Locations.Open(d.Properties["warehouse"])
		if scheme := storage.Scheme(warehouse); warehouse != "" && !slices.ContainsFunc(kinds(), func(k storage.Kind) bool { return slices.Contains(k.Schemes, scheme) }) {
			r.warnings = append(r.warnings, fmt.Sprintf("catalog %s: there is no store for %s:// in this version; its tables cannot be read", d.Name, scheme))
		}
	}
	if name, set := r.settings.Get("spark.sql.defaultCatalog"); set && !slices.Contains(names, name) {
		near := ""
		if n := catalogs.Nearest(name, names); n != "" {
			near = "; did you mean " + n + "?"
		}
		r.fail("spark.sql.defaultCatalog", fault.New(fault.Invalid, "no catalog %q is configured%s", name, near))
	}
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// executableFolder is the configured plugin folder, or the one that holds the running binary.
func executableFolder(configured string) (string, error) {
	if configured != "" {
		return configured, nil
	}
	executable, err := os.Executable()
	if err != nil {
		return "", fault.New(fault.Internal, "find the own executable: %w", err).Change("skua.plugin.folder")
	}
	return filepath.Dir(executable), nil
}
