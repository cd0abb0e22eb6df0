// Package adls is the store of Azure Data Lake Storage and Blob storage, by the Blob interface, which both have. It takes the properties of
// Iceberg's ADLSFileIO and, where those say nothing, the keys of Hadoop's ABFS. Locations are abfs[s]://container@account.host/path and
// wasb[s]://…; what follows the host is the name letter by letter. A store serves any number of accounts and containers.
package adls

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/remote"
)

// Kind serves abfs, abfss, wasb and wasbs.
var Kind = storage.Kind{Schemes: []string{"abfs", "abfss", "wasb", "wasbs"}, New: New, Idle: idle}

// New makes a store of properties and of a vended credential, which goes over them.
func New(properties map[string]string, credentials []storage.Credential) (storage.Store, error) {
	merged := maps.Clone(properties)
	if merged == nil {
		merged = map[string]string{}
	}
	for _, c := range credentials {
		maps.Copy(merged, c.Properties)
	}
	if err := refuse(merged); err != nil {
		return nil, err
	}
	return remote.New(config(merged)), nil
}

func config(properties map[string]string) remote.Config {
	return remote.Config{Objects: &objects{properties: properties, containers: map[string]*container.Client{}}, Identity: identity(properties),
		Secrets: secrets(properties), NoSuffix: true}
}

// identity is a digest of what the store is and as whom it is asked. Tokens are left out: they change at every load, and what they may read the
// catalog decides each time.
func identity(properties map[string]string) string {
	digest := sha256.New()
	for _, k := range slices.Sorted(maps.Keys(properties)) {
		mine := slices.ContainsFunc(families, func(f string) bool { return strings.HasPrefix(k, f) })
		if mine && !strings.HasPrefix(k, "adls.sas-token") && k != "adls.token" {
			fmt.Fprintf(digest, "%d %s%d %s", len(k), k, len(properties[k]), properties[k])
		}
	}
	return fmt.Sprintf("adls %x", digest.Sum(nil))
}

// place is what a location names.
type place struct{ account, host, container, path string }

// split reads a location.
func split(at storage.Location) (place, error) {
	_, rest, ok := strings.Cut(at, "://")
	authority, path, _ := strings.Cut(rest, "/")
	folder, host, found := strings.Cut(authority, "@")
	account, _, _ := strings.Cut(host, ".")
	if !ok || !found || folder == "" || account == "" {
		return place{}, fault.New(fault.Invalid, "open %s: expected abfss://container@account.dfs.core.windows.net/path", at).In(at)
	}
	return place{account, host, folder, path}, nil
}

// objects is the protocol of Blob storage.
type objects struct {
	properties map[string]string
	mu         sync.Mutex
	containers map[string]*container.Client // by host and container
}

var _ remote.Objects = (*objects)(nil)

// Name is host, container and path. The hosts of both interfaces are the same account.
func (o *objects) Name(at storage.Location) (string, error) {
	p, err := split(at)
	return strings.Replace(p.host, ".dfs.", ".blob.", 1) + "/" + p.container + "/" + p.path, err
}

// client gives a container's client, made at its first use.
func (o *objects) client(ctx context.Context, p place) (*container.Client, error) {
	key := p.host + "/" + p.container
	o.mu.Lock()
	defer o.mu.Unlock()
	if c := o.containers[key]; c != nil {
		return c, nil
	}
	account, err := newAccount(ctx, o.properties, p)
	if err != nil {
		return nil, err
	}
	c := account.NewContainerClient(p.container)
	o.containers[key] = c
	return c, nil
}
