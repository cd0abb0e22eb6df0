package adls

import (
	"strings"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

const hadoop = "hadoop.fs.azure."

var families = []string{"adls.", hadoop}

const (
	concernsWriting = "it concerns writing"
	renewed         = "credentials are renewed through the catalog"
)

var known = []storage.Property{
	{Name: "adls.auth.shared-key.account.name"}, {Name: "adls.auth.shared-key.account.key"}, {Name: "adls.sas-token."}, {Name: "adls.sas-token"},
	{Name: "adls.sas-token-expires-at-ms."}, {Name: "adls.connection-string."}, {Name: "adls.connection-string"}, {Name: "adls.token"},
	{Name: "adls.account-name"}, {Name: "adls.account-key"}, {Name: "adls.tenant-id"}, {Name: "adls.client-id"}, {Name: "adls.client-secret"},
	{Name: "adls.token-credential-provider"},
	{Name: "adls.write.", Idle: concernsWriting}, {Name: "adls.read.block-size-bytes", Idle: "the size of requests is chosen here"},
	{Name: "adls.refresh-credentials-enabled", Idle: renewed}, {Name: "adls.refresh-credentials-endpoint", Idle: renewed},
	{Name: hadoop + "account.key."}, {Name: hadoop + "account.key"}, {Name: hadoop + "sas.fixed.token."}, {Name: hadoop + "sas.fixed.token"},
	{Name: hadoop + "account.auth.type."}, {Name: hadoop + "account.auth.type"}, {Name: hadoop + "account.oauth.provider.type", Idle: "the way to a token follows from the other keys"},
	{Name: hadoop + "account.oauth2.client.id."}, {Name: hadoop + "account.oauth2.client.id"}, {Name: hadoop + "account.oauth2.client.secret."},
	{Name: hadoop + "account.oauth2.client.secret"}, {Name: hadoop + "account.oauth2.client.endpoint."}, {Name: hadoop + "account.oauth2.client.endpoint"},
}

func idle(properties map[string]string) []string { return storage.Idle(known, families, properties) }

// settings are the properties as they hold for one account.
type settings struct {
	endpoint         string
	connection       string
	account, key     string
	sas, token       string
	tenant, id, word string // of an application that signs in
}

// of gives the first of names that is set for the account, by one of its hosts, by its name, or for every account.
func of(properties map[string]string, p place, names ...string) string {
	other := strings.Replace(p.host, ".blob.", ".dfs.", 1)
	if other == p.host {
		other = strings.Replace(p.host, ".dfs.", ".blob.", 1)
	}
	for _, name := range names {
		if v, _ := storage.First(properties, name+"."+p.host, name+"."+other, name+"."+p.account, name); v != "" {
			return v
		}
	}
	return ""
}

func settingsOf(properties map[string]string, p place) settings {
	s := settings{
		endpoint: "https://" + strings.Replace(p.host, ".dfs.", ".blob.", 1),
		account:  p.account,
		key:      of(properties, p, hadoop+"account.key"),
		sas:      strings.TrimPrefix(of(properties, p, "adls.sas-token", hadoop+"sas.fixed.token"), "?"),
		token:    properties["adls.token"],
		tenant:   properties["adls.tenant-id"],
		id:       of(properties, p, "adls.client-id", hadoop+"account.oauth2.client.id"),
		word:     of(properties, p, "adls.client-secret", hadoop+"account.oauth2.client.secret"),
	}
	if !strings.Contains(p.host, ".") {
		s.endpoint += ".blob.core.windows.net"
	}
	for _, shared := range []struct{ name, key string }{{"adls.auth.shared-key.account.name", "adls.auth.shared-key.account.key"}, {"adls.account-name", "adls.account-key"}} {
		if name := properties[shared.name]; name == p.account || name == p.host {
			s.account, s.key = p.account, properties[shared.key]
		}
	}
	// Iceberg means an endpoint by this word, and other clients what Azure means by it.
	if c := of(properties, p, "adls.connection-string"); strings.Contains(c, "=") && strings.Contains(c, ";") {
		s.connection = c
	} else if c != "" {
		s.endpoint = strings.Replace(c, ".dfs.", ".blob.", 1)
	}
	if s.tenant == "" { // https://login.microsoftonline.com/TENANT/oauth2/token
		parts := strings.Split(of(properties, p, hadoop+"account.oauth2.client.endpoint"), "/")
		if len(parts) > 3 {
			s.tenant = parts[3]
		}
	}
	return s
}

// refuse names what a property asks for and this store lacks.
func refuse(properties map[string]string) error {
	if c := properties["adls.token-credential-provider"]; c != "" {
		return fault.New(fault.Unsupported, "the Azure credentials provider %s is not supported", c).Change("adls.token-credential-provider")
	}
	if (properties["adls.auth.shared-key.account.name"] == "") != (properties["adls.auth.shared-key.account.key"] == "") {
		return fault.New(fault.Invalid, "Azure authentication: shared-key requires both adls.auth.shared-key.account.name and adls.auth.shared-key.account.key").
			Change("adls.auth.shared-key.account.key")
	}
	for k, v := range properties {
		if strings.HasPrefix(k, hadoop+"account.auth.type") && !strings.EqualFold(v, "SharedKey") && !strings.EqualFold(v, "OAuth") && !strings.EqualFold(v, "SAS") {
			return fault.New(fault.Unsupported, "the Azure authentication type %s is not supported", v).Change(k)
		}
	}
	return nil
}

// secrets are the values that no error may show, and the signatures in them.
func secrets(properties map[string]string) []string {
	var out []string
	for k, v := range properties {
		for _, part := range []string{"key", "sas", "token", "secret", "connection-string"} {
			if strings.Contains(k, part) && !strings.HasSuffix(k, ".name") && !strings.Contains(k, "expires-at") {
				out = append(out, v)
				break
			}
		}
		for _, field := range strings.FieldsFunc(v, func(r rune) bool { return r == '&' || r == ';' || r == '?' }) {
			for _, name := range []string{"sig=", "AccountKey=", "SharedAccessSignature="} {
				if secret, ok := strings.CutPrefix(field, name); ok {
					out = append(out, secret)
				}
			}
		}
	}
	return out
}
