package glue

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/skua-data/skua/fault"
)

// settings are what the properties say of the client.
type settings struct {
	name     string
	region   string // empty: the environment's
	endpoint string
	keys     aws.CredentialsProvider // nil: the standard chain
	role     *role                   // nil: none is assumed
}

// role is a role that is assumed with the keys.
type role struct {
	arn, region, external, session, endpoint string
	duration                                 time.Duration
	tags                                     []ststypes.Tag
}

// factories are the values of client.factory with whether a role is assumed.
var factories = map[string]bool{
	"": false, "org.apache.iceberg.aws.AwsClientFactories$DefaultAwsClientFactory": false,
	"org.apache.iceberg.aws.AwsClientFactories.DefaultAwsClientFactory": false, "org.apache.iceberg.aws.AssumeRoleAwsClientFactory": true,
}

// providers are the values of client.credentials-provider that are the standard chain or a part of it.
var providers = []string{"", "DefaultCredentialsProvider", "EnvironmentVariableCredentialsProvider", "SystemPropertyCredentialsProvider", "ProfileCredentialsProvider",
	"InstanceProfileCredentialsProvider", "ContainerCredentialsProvider", "WebIdentityTokenFileCredentialsProvider"}

// readSettings checks the properties of a catalog and asks nobody.
func readSettings(name string, p iceberg.Properties) (settings, error) {
	out := settings{name: name, region: first(p, "glue.region", "client.region"), endpoint: p["glue.endpoint"]}
	assumes, known := factories[p["client.factory"]]
	if !known {
		return settings{}, fault.New(fault.Unsupported, "the client factory %s is not supported, only Iceberg's default and AssumeRoleAwsClientFactory are", p["client.factory"]).
			Change(key(name, "client.factory"))
	}
	if strings.EqualFold(p["glue.lakeformation-enabled"], "true") {
		return settings{}, fault.New(fault.Unsupported, "Lake Formation (glue.lakeformation-enabled=true) is not supported").Change(key(name, "glue.lakeformation-enabled"))
	}
	if u, err := url.Parse(out.endpoint); out.endpoint != "" && (err != nil || u.Host == "") {
		return settings{}, fault.New(fault.Invalid, "a URL is expected").Change(key(name, "glue.endpoint"))
	}
	if id := first(p, "glue.access-key-id", "client.access-key-id"); id != "" {
		out.keys = credentials.NewStaticCredentialsProvider(id, first(p, "glue.secret-access-key", "client.secret-access-key"), first(p, "glue.session-token", "client.session-token"))
	}
	provider := p["client.credentials-provider"]
	if !contains(providers, provider[strings.LastIndexByte(provider, '.')+1:]) {
		return settings{}, fault.New(fault.Unsupported, "the credentials provider %s is not supported: leave it out for the standard AWS chain", provider).
			Change(key(name, "client.credentials-provider"))
	}
	if !assumes {
		return out, nil
	}
	var err error
	out.role, err = readRole(name, p)
	return out, err
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

// first gives the first property that is set.
func first(p iceberg.Properties, names ...string) string {
	for _, n := range names {
		if v := p[n]; v != "" {
			return v
		}
	}
	return ""
}

func readRole(name string, p iceberg.Properties) (*role, error) {
	const prefix = "client.assume-role."
	out := &role{arn: p[prefix+"arn"], region: p[prefix+"region"], external: p[prefix+"external-id"], session: p[prefix+"session-name"], duration: time.Hour,
		endpoint: first(p, "sts.endpoint", "client.sts.endpoint")}
	if out.arn == "" || out.region == "" {
		return nil, fault.New(fault.Invalid, "AssumeRoleAwsClientFactory needs the role and its region").Change(key(name, prefix+"arn"))
	}
	if out.session == "" {
		out.session = "iceberg-aws"
	}
	if text := p[prefix+"timeout-sec"]; text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fault.New(fault.Invalid, "a number of seconds is expected, not %q", text).Change(key(name, prefix+"timeout-sec"))
		}
		out.duration = time.Duration(n) * time.Second
	}
	for k, v := range p {
		if tag, ok := strings.CutPrefix(k, prefix+"tags."); ok {
			out.tags = append(out.tags, ststypes.Tag{Key: aws.String(tag), Value: aws.String(v)})
		}
	}
	return out, nil
}

// client gives the client, made at the first use; an attempt that fails is made again.
func (s settings) client() func(context.Context) (*glue.Client, error) {
	turn := make(chan struct{}, 1)
	var made *glue.Client
	return func(ctx context.Context) (*glue.Client, error) {
		select {
		case turn <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		defer func() { <-turn }()
		if made != nil {
			return made, nil
		}
		c, err := s.configure(ctx)
		if err != nil {
			return nil, err
		}
		made = glue.NewFromConfig(c, func(o *glue.Options) {
			if s.endpoint != "" {
				o.BaseEndpoint = &s.endpoint
			}
		})
		return made, nil
	}
}

func (s settings) configure(ctx context.Context) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{}
	if s.region != "" {
		options = append(options, config.WithRegion(s.region))
	}
	if s.keys != nil {
		options = append(options, config.WithCredentialsProvider(s.keys))
	}
	c, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return aws.Config{}, fault.New(fault.Denied, "find the AWS configuration: %w", err).Change(key(s.name, "client.region"))
	}
	if s.role != nil {
		c.Credentials = s.role.assume(c)
		if s.region == "" {
			c.Region = s.role.region
		}
	}
	if c.Region == "" {
		return aws.Config{}, fault.New(fault.Invalid, "the region of Glue is not known").Change(key(s.name, "client.region"))
	}
	return c, nil
}

// assume gives the keys of the role, renewed before their end.
func (r *role) assume(c aws.Config) aws.CredentialsProvider {
	client := sts.NewFromConfig(c, func(o *sts.Options) {
		o.Region = r.region
		if r.endpoint != "" {
			o.BaseEndpoint = &r.endpoint
		}
	})
	return aws.NewCredentialsCache(stscreds.NewAssumeRoleProvider(client, r.arn, func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName, o.Duration, o.Tags = r.session, r.duration, r.tags
		if r.external != "" {
			o.ExternalID = &r.external
		}
	}))
}
