package s3

import (
	"strconv"
	"strings"
	"time"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
)

const hadoop = "hadoop.fs.s3a."

// families are the beginnings of the properties that are this store's.
var families = []string{"s3.", "client.", hadoop}

// sessionKeys are what a vended session changes.
var sessionKeys = []string{"s3.access-key-id", "s3.secret-access-key", "s3.session-token", "s3.session-token-expires-at-ms",
	hadoop + "access.key", hadoop + "secret.key", hadoop + "session.token"}

const (
	concernsWriting = "it concerns writing"
	concernsJava    = "it concerns a Java client"
)

// known are the properties of Iceberg's S3FileIO and of Hadoop's S3A that this store reads, or leaves for a reason.
var known = []storage.Property{
	{Name: "s3.endpoint"}, {Name: "s3.region"}, {Name: "s3.path-style-access"}, {Name: "s3.access-key-id"}, {Name: "s3.secret-access-key"},
	{Name: "s3.session-token"}, {Name: "s3.session-token-expires-at-ms"}, {Name: "s3.remote-signing-enabled"}, {Name: "s3.access-grants.enabled"},
	{Name: "s3.use-arn-region-enabled"}, {Name: "s3.acceleration-enabled"}, {Name: "s3.dualstack-enabled"}, {Name: "s3.access-points."},
	{Name: "s3.retry.num-retries"}, {Name: "s3.retry.min-wait-ms"}, {Name: "s3.retry.max-wait-ms"}, {Name: "s3.sse.type"}, {Name: "s3.sse.key"},
	{Name: "s3.sse.md5"}, {Name: "s3.cross-region-access-enabled", Idle: "buckets of other regions are always found"},
	{Name: "client.region"}, {Name: "client.credentials-provider"}, {Name: "client.assume-role."}, {Name: "client.factory"},
	{Name: "client.refresh-credentials-enabled", Idle: "credentials are renewed through the catalog"},
	{Name: "client.refresh-credentials-endpoint", Idle: "credentials are renewed through the catalog"},
	{Name: "s3.signer.", Idle: "requests are signed here"},
	{Name: "s3.preload-client-enabled", Idle: concernsJava}, {Name: "s3.crt.", Idle: concernsJava}, {Name: "s3.client-factory-impl", Idle: concernsJava},
	{Name: "s3.analytics-accelerator.", Idle: concernsJava}, {Name: "s3.checksum-enabled", Idle: concernsWriting},
	{Name: "s3.acl", Idle: concernsWriting}, {Name: "s3.multipart.", Idle: concernsWriting}, {Name: "s3.staging-dir", Idle: concernsWriting},
	{Name: "s3.write.", Idle: concernsWriting}, {Name: "s3.delete.", Idle: concernsWriting}, {Name: "s3.delete-enabled", Idle: concernsWriting},
	{Name: "s3.chunked-encoding-enabled", Idle: concernsWriting}, {Name: "s3.directory-bucket.", Idle: "it concerns deleting"},

	{Name: hadoop + "endpoint"}, {Name: hadoop + "endpoint.region"}, {Name: hadoop + "path.style.access"}, {Name: hadoop + "access.key"},
	{Name: hadoop + "secret.key"}, {Name: hadoop + "session.token"}, {Name: hadoop + "connection.ssl.enabled"},
	{Name: hadoop + "aws.credentials.provider"}, {Name: hadoop + "assumed.role.arn"}, {Name: hadoop + "assumed.role.external.id"},
	{Name: hadoop + "assumed.role.session.name"}, {Name: hadoop + "assumed.role.session.duration"}, {Name: hadoop + "assumed.role.sts.endpoint"},
	{Name: hadoop + "assumed.role.sts.endpoint.region"}, {Name: hadoop + "attempts.maximum"}, {Name: hadoop + "requester.pays.enabled"},
	{Name: hadoop + "bucket."}, {Name: hadoop + "connection.timeout"}, {Name: hadoop + "impl", Idle: concernsJava},
}

// idle names the properties of this store that have no effect.
func idle(properties map[string]string) []string { return storage.Idle(known, families, properties) }

// settings are the properties as they hold for one bucket.
type settings struct {
	bucket, endpoint, region       string
	pathStyle, accelerate, dual    bool
	arnRegion, requesterPays       bool
	accessKey, secretKey, token    string
	provider                       string // a Java class
	role                           role
	customKey, customMD5, keyGiven string
}

// role is a role to be assumed; without an ARN none is.
type role struct {
	arn, externalID, session, region, endpoint string
	seconds                                    string
	tags                                       map[string]string
}

// pick gives the value of Iceberg's property, or else of Hadoop's, whose own form for the bucket goes first. HadoopFileIO asks for Hadoop's alone.
func pick(properties map[string]string, bucket, s3a string, iceberg ...string) string {
	if strings.HasSuffix(properties["io-impl"], ".HadoopFileIO") {
		iceberg = nil
	}
	names := iceberg
	if s3a != "" {
		if bucket != "" {
			names = append(names[:len(names):len(names)], hadoop+"bucket."+bucket+"."+s3a)
		}
		names = append(names[:len(names):len(names)], hadoop+s3a)
	}
	v, _ := storage.First(properties, names...)
	return v
}

func sessionToken(properties map[string]string, bucket string) string {
	return pick(properties, bucket, "session.token", "s3.session-token")
}

func settingsOf(p map[string]string, bucket string) settings {
	s := settings{
		bucket:        bucket,
		endpoint:      pick(p, bucket, "endpoint", "s3.endpoint"),
		region:        pick(p, bucket, "endpoint.region", "s3.region", "client.region"),
		pathStyle:     yes(pick(p, bucket, "path.style.access", "s3.path-style-access")),
		accelerate:    yes(pick(p, bucket, "", "s3.acceleration-enabled")),
		dual:          yes(pick(p, bucket, "", "s3.dualstack-enabled")),
		arnRegion:     yes(pick(p, bucket, "", "s3.use-arn-region-enabled")),
		requesterPays: yes(pick(p, bucket, "requester.pays.enabled")),
		accessKey:     pick(p, bucket, "access.key", "s3.access-key-id"),
		secretKey:     pick(p, bucket, "secret.key", "s3.secret-access-key"),
		token:         sessionToken(p, bucket),
		provider:      pick(p, bucket, "aws.credentials.provider", "client.credentials-provider"),
		role: role{
			arn:        pick(p, bucket, "assumed.role.arn", "client.assume-role.arn"),
			externalID: pick(p, bucket, "assumed.role.external.id", "client.assume-role.external-id"),
			session:    pick(p, bucket, "assumed.role.session.name", "client.assume-role.session-name"),
			region:     pick(p, bucket, "assumed.role.sts.endpoint.region", "client.assume-role.region"),
			endpoint:   pick(p, bucket, "assumed.role.sts.endpoint"),
			seconds:    pick(p, bucket, "assumed.role.session.duration", "client.assume-role.timeout-sec"),
			tags:       map[string]string{},
		},
	}
	if point := p["s3.access-points."+bucket]; point != "" {
		s.bucket = point
	}
	if p["s3.sse.type"] == "custom" {
		s.customKey, s.customMD5 = p["s3.sse.key"], p["s3.sse.md5"]
	}
	for k, v := range p {
		if name, ok := strings.CutPrefix(k, "client.assume-role.tags."); ok {
			s.role.tags[name] = v
		}
	}
	s.place(!strings.EqualFold(pick(p, bucket, "connection.ssl.enabled"), "false"))
	return s
}

// place makes a URL of an endpoint without a scheme, as Hadoop has them. The endpoints of AWS itself only tell the region.
func (s *settings) place(secure bool) {
	host := s.endpoint[strings.LastIndexByte(s.endpoint, '/')+1:]
	if rest, ok := strings.CutSuffix(strings.TrimSuffix(s.endpoint, "/"), ".amazonaws.com"); ok && !strings.Contains(rest, "vpce") {
		rest = rest[strings.LastIndexByte(rest, '/')+1:]
		if region, ok := strings.CutPrefix(rest, "s3."); ok && !strings.Contains(region, ".") {
			if s.region == "" {
				s.region = region
			}
			s.endpoint = ""
		} else if rest == "s3" {
			s.endpoint = ""
		}
	}
	if s.endpoint != "" && host == s.endpoint {
		scheme := "https://"
		if !secure {
			scheme = "http://"
		}
		s.endpoint = scheme + s.endpoint
	}
}

// refuse names what a property asks for and this store lacks.
func refuse(p map[string]string) error {
	for _, r := range []struct{ name, what string }{
		{"s3.remote-signing-enabled", "signing S3 requests by the catalog (remote signing) is not supported"},
		{"s3.access-grants.enabled", "S3 Access Grants are not supported"},
	} {
		if yes(p[r.name]) {
			return fault.New(fault.Unsupported, "%s", r.what).Change(r.name)
		}
	}
	if t := p["s3.sse.type"]; t == "custom" && p["s3.sse.key"] == "" {
		return fault.New(fault.Invalid, "s3.sse.type is custom and s3.sse.key is not set").Change("s3.sse.key")
	}
	if f := p["client.factory"]; f != "" && !strings.HasSuffix(f, ".AssumeRoleAwsClientFactory") && !strings.HasSuffix(f, "$DefaultAwsClientFactory") {
		return fault.New(fault.Unsupported, "the AWS client factory %s is not supported", f).Change("client.factory")
	}
	if f := p["client.factory"]; strings.HasSuffix(f, ".AssumeRoleAwsClientFactory") && p["client.assume-role.arn"] == "" {
		return fault.New(fault.Invalid, "Cannot initialize AssumeRoleClientConfigFactory with null role ARN").Change("client.assume-role.arn")
	}
	if (p["s3.access-key-id"] == "") != (p["s3.secret-access-key"] == "") {
		return fault.New(fault.Invalid, "S3 client access key ID and secret access key must be set at the same time").Change("s3.access-key-id")
	}
	if e := p["s3.endpoint"]; e != "" && !strings.HasPrefix(e, "http://") && !strings.HasPrefix(e, "https://") {
		return fault.New(fault.Invalid, "s3.endpoint must begin with http:// or https://").Change("s3.endpoint")
	}
	return checkProvider(pick(p, "", "aws.credentials.provider", "client.credentials-provider"))
}

// secrets are the values that no error may show.
func secrets(p map[string]string) []string {
	var out []string
	for k, v := range p {
		for _, part := range []string{"secret", "token", "sse.key", "password"} {
			if strings.Contains(k, part) && !strings.HasSuffix(k, "expires-at-ms") {
				out = append(out, v)
				break
			}
		}
	}
	return out
}

// duration reads a number of a unit, or one with Hadoop's name of a unit behind it.
func duration(key, text string, unit time.Duration) (time.Duration, error) {
	for _, u := range []struct {
		name string
		unit time.Duration
	}{{"ms", time.Millisecond}, {"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}} {
		if digits, ok := strings.CutSuffix(strings.ToLower(text), u.name); ok {
			text, unit = digits, u.unit
			break
		}
	}
	n, err := number(key, text)
	return time.Duration(n) * unit, err
}

func yes(text string) bool { return strings.EqualFold(strings.TrimSpace(text), "true") }

func number(key, text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 || n > 1<<31-1 {
		return 0, fault.New(fault.Invalid, "%s: expected a number of 0 or more", key).Change(key)
	}
	return n, nil
}
