package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/skua-data/skua/catalogs/httpapi"
	"github.com/skua-data/skua/fault"
)

// signer signs requests as AWS wants it (SigV4), over what another proof put on them.
type signer struct {
	service, region string
	keys            aws.CredentialsProvider // nil: the standard chain, found at the first use
	inner           httpapi.Authorizer      // nil: none
	sign            *v4.Signer
	setting         string
}

// newSigner reads rest.signing-name, rest.signing-region and the keys, without which the standard AWS chain is asked.
func newSigner(name string, p iceberg.Properties, client *httpapi.Client) (httpapi.Authorizer, error) {
	out := &signer{service: p["rest.signing-name"], region: p["rest.signing-region"], sign: v4.NewSigner(), setting: key(name, "rest.signing-region")}
	if out.service == "" {
		out.service = "execute-api"
	}
	if out.region == "" {
		out.region = p["client.region"]
	}
	if id := p["rest.access-key-id"]; id != "" {
		out.keys = credentials.NewStaticCredentialsProvider(id, p["rest.secret-access-key"], p["rest.session-token"])
	}
	if p["credential"] != "" || p["token"] != "" {
		inner, err := newOAuth(name, p, client)
		if err != nil {
			return nil, err
		}
		out.inner = inner
	}
	return &signing{signer: out, turn: make(chan struct{}, 1)}, nil
}

// signing is a signer whose keys and region may come from the environment.
type signing struct {
	*signer
	turn chan struct{}
}

// Authorize signs the request. A header of the proof below moves aside, as in Iceberg.
func (s *signing) Authorize(ctx context.Context, r *http.Request, body []byte) error {
	if s.inner != nil {
		if err := s.inner.Authorize(ctx, r, body); err != nil {
			return err
		}
		if bearer := r.Header.Get("Authorization"); bearer != "" {
			r.Header.Set("Original-Authorization", bearer)
			r.Header.Del("Authorization")
		}
	}
	if err := s.complete(ctx); err != nil {
		return err
	}
	keys, err := s.keys.Retrieve(ctx)
	if err != nil {
		return fault.New(fault.Denied, "find the keys to sign with: %w", err).Change(s.setting)
	}
	sum := sha256.Sum256(body)
	return s.sign.SignHTTP(ctx, keys, r, hex.EncodeToString(sum[:]), s.service, s.region, time.Now())
}

// Renew replaces the proof below.
func (s *signing) Renew(ctx context.Context, refused *http.Request) (bool, error) {
	renewer, ok := s.inner.(httpapi.Renewer)
	if !ok {
		return false, nil
	}
	return renewer.Renew(ctx, refused)
}

// complete finds keys and region in the environment where they are not configured.
func (s *signing) complete(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.turn }()
	if s.keys != nil && s.region != "" {
		return nil
	}
	found, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return fault.New(fault.Denied, "find the AWS configuration: %w", err).Change(s.setting)
	}
	if s.region == "" {
		s.region = found.Region
	}
	if s.region == "" {
		return fault.New(fault.Invalid, "the region to sign for is not known").Change(s.setting)
	}
	if s.keys == nil {
		s.keys = found.Credentials
	}
	return nil
}
