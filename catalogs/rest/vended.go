package rest

import (
	"strconv"
	"strings"
	"time"

	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/storage"
)

// vended is a credential that the service hands out for what lies under a prefix.
type vended struct {
	Prefix string             `json:"prefix"`
	Config iceberg.Properties `json:"config"`
}

// proofKeys are the properties that prove identity to a store; one that ends in a dot stands for a family, by account.
var proofKeys = []string{
	"s3.access-key-id", "s3.secret-access-key", "s3.session-token", "s3.session-token-expires-at-ms",
	"client.access-key-id", "client.secret-access-key", "client.session-token",
	"gcs.oauth2.token", "gcs.oauth2.token-expires-at",
	"adls.sas-token.", "adls.sas-token-expires-at-ms.", "adls.connection-string.", "adls.auth.shared-key.", "adls.token",
}

// expiryKeys are those that say when, in milliseconds since 1970.
var expiryKeys = []string{"s3.session-token-expires-at-ms", "gcs.oauth2.token-expires-at", "adls.sas-token-expires-at-ms.", "expiration-time"}

func among(key string, names []string) bool {
	for _, name := range names {
		if key == name || strings.HasSuffix(name, ".") && strings.HasPrefix(key, name) {
			return true
		}
	}
	return false
}

// split parts what the service says for a table into plain settings of the store and credentials, and leaves out what only concerns the service. A service
// that knows no list of credentials puts them among the settings: they hold for every location then.
func split(config iceberg.Properties, list []vended) (iceberg.Properties, []storage.Credential) {
	plain, proof := iceberg.Properties{}, map[string]string{}
	for k, v := range config {
		switch {
		case among(k, proofKeys):
			proof[k] = v
		case k == "token" || k == "credential" || strings.HasPrefix(k, "urn:ietf:params:oauth:") || strings.HasPrefix(k, "header.") || strings.HasPrefix(k, "rest."):
		default:
			plain[k] = v
		}
	}
	var out []storage.Credential
	if len(proof) > 0 {
		out = append(out, storage.Credential{Properties: proof, Expires: expiry(proof)})
	}
	for _, v := range list {
		out = append(out, storage.Credential{Prefix: v.Prefix, Properties: v.Config, Expires: expiry(v.Config)})
	}
	return plain, out
}

// expiry is the earliest end that a credential tells; zero: it tells none.
func expiry(p map[string]string) time.Time {
	var out time.Time
	for k, v := range p {
		if !among(k, expiryKeys) {
			continue
		}
		ms, err := strconv.ParseInt(v, 10, 64)
		if err != nil || ms <= 0 {
			continue
		}
		if at := time.UnixMilli(ms); out.IsZero() || at.Before(out) {
			out = at
		}
	}
	return out
}
