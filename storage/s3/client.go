package s3

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/skua-data/skua/fault"
)

// The ways to credentials that a Java class may name.
const (
	wayChain = iota // environment, files, containers, instances, as the SDK looks for them
	wayStatic
	wayAnonymous
	wayRole
)

// providers are the Java classes that name a way to credentials, by the end of their names.
var providers = map[string]int{
	"DefaultCredentialsProvider": wayChain, "DefaultAWSCredentialsProviderChain": wayChain, "EnvironmentVariableCredentialsProvider": wayChain,
	"EnvironmentVariableCredentialsProvider.create": wayChain, "ProfileCredentialsProvider": wayChain, "InstanceProfileCredentialsProvider": wayChain,
	"ContainerCredentialsProvider": wayChain, "WebIdentityTokenFileCredentialsProvider": wayChain, "WebIdentityTokenCredentialsProvider": wayChain,
	"IAMInstanceCredentialsProvider": wayChain, "EC2ContainerCredentialsProviderWrapper": wayChain, "SystemPropertyCredentialsProvider": wayChain,
	"SimpleAWSCredentialsProvider": wayStatic, "TemporaryAWSCredentialsProvider": wayStatic, "StaticCredentialsProvider": wayStatic,
	"VendedCredentialsProvider":    wayStatic,
	"AnonymousCredentialsProvider": wayAnonymous, "AnonymousAWSCredentialsProvider": wayAnonymous,
	"AssumedRoleCredentialProvider": wayRole,
}

// waysOf reads a list of classes, as Hadoop has them: the first that may give something decides.
func waysOf(classes string) (out []int, unknown string) {
	for _, class := range strings.FieldsFunc(classes, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' }) {
		way, ok := providers[class[strings.LastIndexByte(class, '.')+1:]]
		if !ok {
			return nil, class
		}
		out = append(out, way)
	}
	return out, ""
}

func checkProvider(classes string) error {
	if _, unknown := waysOf(classes); unknown != "" {
		return fault.New(fault.Unsupported, "the AWS credentials provider %s is not supported", unknown).Change("client.credentials-provider")
	}
	return nil
}

// newClient makes a client. It sends nothing; credentials are looked for when the first request is signed.
func newClient(ctx context.Context, s settings) (*client, error) {
	shared, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fault.New(fault.Invalid, "read the AWS configuration of the environment: %s", err.Error())
	}
	if s.region == "" {
		s.region = shared.Region
	}
	if s.region == "" {
		s.region = "us-east-1" // where a bucket lies, its first answer tells
	}
	keys, err := s.credentials(shared)
	if err != nil {
		return nil, err
	}
	endpoint := shared.BaseEndpoint
	if s.endpoint != "" {
		endpoint = aws.String(strings.TrimSuffix(s.endpoint, "/"))
	}
	out := &client{region: s.region, bucket: s.bucket, payer: s.requesterPays}
	if out.custom, err = newCustomKey(s.customKey, s.customMD5); err != nil {
		return nil, err
	}
	options := s3.Options{
		Region: s.region, BaseEndpoint: endpoint, UsePathStyle: s.pathStyle, UseAccelerate: s.accelerate, UseARNRegion: s.arnRegion,
		Credentials: keys, HTTPClient: transport, Retryer: aws.NopRetryer{},
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
	}
	if s.dual {
		options.EndpointOptions.UseDualStackEndpoint = aws.DualStackEndpointStateEnabled
	}
	out.api = s3.New(options)
	return out, nil
}

// transport is shared by all clients, so that connections are used again whatever the credentials.
var transport = awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 256, 64
	t.DisableCompression = true
	t.ReadBufferSize = 64 << 10
})

// credentials gives the way to sign requests.
func (s *settings) credentials(shared aws.Config) (aws.CredentialsProvider, error) {
	ways, _ := waysOf(s.provider)
	base := shared.Credentials
	if s.accessKey != "" {
		base = credentials.NewStaticCredentialsProvider(s.accessKey, s.secretKey, s.token)
	}
	role := s.role.arn != "" && len(ways) == 0
	for _, way := range ways {
		switch way {
		case wayAnonymous:
			if len(ways) == 1 || s.accessKey == "" {
				return aws.AnonymousCredentials{}, nil
			}
		case wayRole:
			role = true
		}
	}
	if role && s.role.arn != "" {
		return s.assumed(base, shared)
	}
	return aws.NewCredentialsCache(named{base}), nil
}

// assumed gives the keys of a role, renewed before they expire.
func (s *settings) assumed(base aws.CredentialsProvider, shared aws.Config) (aws.CredentialsProvider, error) {
	region := s.role.region
	if region == "" {
		region = s.region
	}
	lasting := time.Hour
	if s.role.seconds != "" {
		var err error
		if lasting, err = duration("client.assume-role.timeout-sec", s.role.seconds, time.Second); err != nil {
			return nil, err
		}
	}
	options := sts.Options{Region: region, Credentials: base, HTTPClient: transport, BaseEndpoint: shared.BaseEndpoint}
	if s.role.endpoint != "" {
		options.BaseEndpoint = aws.String(withScheme(s.role.endpoint))
	}
	provider := stscreds.NewAssumeRoleProvider(sts.New(options), s.role.arn, func(o *stscreds.AssumeRoleOptions) {
		if s.role.session != "" {
			o.RoleSessionName = s.role.session
		} else {
			o.RoleSessionName = "skua"
		}
		if s.role.externalID != "" {
			o.ExternalID = aws.String(s.role.externalID)
		}
		o.Duration = lasting
		for k, v := range s.role.tags {
			o.Tags = append(o.Tags, ststypes.Tag{Key: aws.String(k), Value: aws.String(v)})
		}
	})
	return aws.NewCredentialsCache(named{provider}, func(o *aws.CredentialsCacheOptions) {
		o.ExpiryWindow, o.ExpiryWindowJitterFrac = 5*time.Minute, 0.5
	}), nil
}

func withScheme(endpoint string) string {
	if strings.Contains(endpoint, "://") {
		return endpoint
	}
	return "https://" + endpoint
}

// noCredentials is the failure to find any.
type noCredentials struct{ cause error }

func (n *noCredentials) Error() string { return n.cause.Error() }

func (n *noCredentials) Unwrap() error { return n.cause }

// named gives failures to find credentials a type of their own.
type named struct{ aws.CredentialsProvider }

// Retrieve looks for credentials.
func (n named) Retrieve(ctx context.Context) (aws.Credentials, error) {
	if n.CredentialsProvider == nil {
		return aws.Credentials{}, &noCredentials{errors.New("there are none")}
	}
	out, err := n.CredentialsProvider.Retrieve(ctx)
	if err != nil {
		return out, &noCredentials{err}
	}
	return out, nil
}

// customKey is a key of the user's with which the store unpacks objects.
type customKey struct{ key, sum string }

func newCustomKey(key, sum string) (*customKey, error) {
	if key == "" {
		return nil, nil
	}
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return nil, fault.New(fault.Invalid, "s3.sse.key is not in base64").Change("s3.sse.key")
	}
	if sum == "" {
		digest := md5.Sum(raw)
		sum = base64.StdEncoding.EncodeToString(digest[:])
	}
	return &customKey{key, sum}, nil
}
