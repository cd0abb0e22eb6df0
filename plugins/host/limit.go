package host

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
)

// The properties of a catalog that concern its plugin's process. They are the host's: the plugin does not get them.
const (
	ownPrefix      = "plugin."
	checksumKey    = ownPrefix + "sha256"
	memoryKey      = ownPrefix + "memory-bytes"
	callTimeoutKey = ownPrefix + "call-timeout-ms"
	startKey       = ownPrefix + "start-timeout-ms"
)

// limits bound one catalog's process.
type limits struct {
	checksum []byte        // of the program's file, SHA-256; nil: any
	memory   int64         // bytes resident
	patience time.Duration // for a call's next answer
	start    time.Duration // from launch to an open catalog
}

// limits reads what a definition says over the host's own limits.
func (h *Host) limits(d catalogs.Definition) (limits, error) {
	out := limits{memory: h.config.Memory, patience: h.config.Patience, start: h.config.StartTimeout}
	wrong := func(property, expected string) error {
		return fault.New(fault.Invalid, "open catalog %s: %s must be %s", d.Name, property, expected).Change("spark.sql.catalog." + d.Name + "." + property)
	}
	if text, ok := d.Properties[checksumKey]; ok {
		var err error
		if out.checksum, err = hex.DecodeString(strings.ToLower(strings.TrimSpace(text))); err != nil || len(out.checksum) != sha256.Size {
			return limits{}, wrong(checksumKey, "64 hexadecimal digits, as sha256sum prints them")
		}
	}
	if text, ok := d.Properties[memoryKey]; ok {
		var err error
		if out.memory, err = strconv.ParseInt(text, 10, 64); err != nil || out.memory < leastMemory {
			return limits{}, wrong(memoryKey, "a number of bytes, 64 MiB at least")
		}
	}
	for property, into := range map[string]*time.Duration{callTimeoutKey: &out.patience, startKey: &out.start} {
		text, ok := d.Properties[property]
		if !ok {
			continue
		}
		ms, err := strconv.ParseInt(text, 10, 64)
		if err != nil || ms < 1 || ms > int64(24*time.Hour/time.Millisecond) {
			return limits{}, wrong(property, "a number of milliseconds above 0")
		}
		*into = time.Duration(ms) * time.Millisecond
	}
	return out, nil
}

const leastMemory = 64 << 20

// forPlugin gives the properties that go to the plugin.
func forPlugin(p iceberg.Properties) iceberg.Properties {
	out := maps.Clone(p)
	maps.DeleteFunc(out, func(k, _ string) bool { return strings.HasPrefix(k, ownPrefix) })
	return out
}

// trusted checks a program's file before each launch: nobody else can write to it, and it is the one that was pinned.
func (l limits) trusted(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o002 != 0 {
		return errors.New("everybody can write to it: chmod o-w it")
	}
	if l.checksum == nil {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	if got := sum.Sum(nil); subtle.ConstantTimeCompare(got, l.checksum) == 0 {
		return errors.New("its SHA-256 is " + hex.EncodeToString(got) + ", not the one that " + checksumKey + " pins")
	}
	return nil
}

// mostData is how much a process may have mapped that may hold so much: the kernel refuses it more, so that it cannot fill the machine between two looks at what it
// holds. Runtimes map more than they use, and threads have stacks.
func mostData(memory int64) int64 { return 2*memory + 1<<30 }

// memoryCheck is the time between two looks at a process's memory.
const memoryCheck = 500 * time.Millisecond

// watchMemory ends a process that holds more memory than it may, until it ended.
func (c *Catalog) watchMemory(p *process, limit int64) {
	tick := time.NewTicker(memoryCheck)
	defer tick.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-tick.C:
		}
		if used := resident(p.pid()); used > limit {
			p.blame("it used " + strconv.FormatInt(used>>20, 10) + " MiB of memory, " + strconv.FormatInt(limit>>20, 10) + " MiB are allowed by " + memoryKey)
			p.kill()
		}
	}
}

// resident gives the resident memory of a process in bytes; 0 where the system does not tell.
func resident(pid int) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// pause waits for a back-off, and reports whether the caller is still there.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
