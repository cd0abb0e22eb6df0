package adls

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"

	"github.com/skua-data/skua/fault"
)

// newAccount makes an account's client. It sends nothing; credentials are looked for when the first request is signed.
func newAccount(_ context.Context, properties map[string]string, p place) (*service.Client, error) {
	s := settingsOf(properties, p)
	options := &service.ClientOptions{ClientOptions: azcore.ClientOptions{Retry: policy.RetryOptions{MaxRetries: -1}, Transport: shared,
		Telemetry: policy.TelemetryOptions{ApplicationID: "skua"}}}
	invalid := func(what, key string) error {
		return fault.New(fault.Invalid, "the account %s: %s cannot be used", p.account, what).Change(key)
	}
	switch {
	case s.connection != "":
		c, err := service.NewClientFromConnectionString(s.connection, options)
		if err != nil {
			return nil, invalid("its connection string", "adls.connection-string."+p.account)
		}
		return c, nil
	case s.sas != "":
		c, err := service.NewClientWithNoCredential(s.endpoint+"?"+s.sas, options)
		if err != nil {
			return nil, invalid("its endpoint", "adls.connection-string."+p.account)
		}
		return c, nil
	case s.key != "":
		key, err := service.NewSharedKeyCredential(s.account, s.key)
		if err != nil {
			return nil, invalid("its key", "adls.auth.shared-key.account.key")
		}
		c, err := service.NewClientWithSharedKeyCredential(s.endpoint, key, options)
		if err != nil {
			return nil, invalid("its endpoint", "adls.connection-string."+p.account)
		}
		return c, nil
	}
	token, err := s.identity()
	if err != nil {
		return nil, fault.New(fault.Denied, "no credentials for the account %s were found", p.account).Change("adls.auth.shared-key.account.name")
	}
	c, err := service.NewClient(s.endpoint, token, options)
	if err != nil {
		return nil, invalid("its endpoint", "adls.connection-string."+p.account)
	}
	return c, nil
}

// identity gives the way to tokens: one that is given, an application, or what the environment knows.
func (s *settings) identity() (azcore.TokenCredential, error) {
	switch {
	case s.token != "":
		return fixed(s.token), nil
	case s.id != "" && s.word != "":
		return azidentity.NewClientSecretCredential(s.tenant, s.id, s.word, nil)
	}
	return azidentity.NewDefaultAzureCredential(nil)
}

// fixed is a token that was given.
type fixed string

// GetToken gives the token. How long it is good nobody said.
func (f fixed) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: strings.TrimSpace(string(f)), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// shared is the transport of all clients, so that connections are used again whatever the credentials.
var shared = func() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 256, 64
	t.ReadBufferSize = 64 << 10
	t.DisableCompression = true
	return &http.Client{Transport: t}
}()
