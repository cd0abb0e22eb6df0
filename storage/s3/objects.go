package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/remote"
)

// Get asks for bytes of an object.
func (o *objects) Get(ctx context.Context, at storage.Location, ask remote.Ask) (remote.Answer, error) {
	bucket, key, err := split(at)
	if err != nil {
		return remote.Answer{}, err
	}
	in := &s3.GetObjectInput{Key: &key}
	in.Range = aws.String(remote.RangeHeader(ask))
	if ask.Version != "" {
		in.IfMatch = &ask.Version
	}
	var out *s3.GetObjectOutput
	err = o.inRegion(ctx, bucket, func(c *client) (err error) {
		in.Bucket = &c.bucket
		if c.custom != nil {
			in.SSECustomerAlgorithm, in.SSECustomerKey, in.SSECustomerKeyMD5 = aws.String("AES256"), &c.custom.key, &c.custom.sum
		}
		if c.payer {
			in.RequestPayer = types.RequestPayerRequester
		}
		out, err = c.api.GetObject(ctx, in)
		return err
	})
	if err != nil {
		return remote.Answer{}, err
	}
	length := int64(-1)
	if out.ContentLength != nil {
		length = *out.ContentLength
	}
	answer, err := remote.NewAnswer(out.Body, aws.ToString(out.ContentRange), length, remote.QuotedTag(aws.ToString(out.ETag)))
	if err != nil {
		out.Body.Close()
	}
	return answer, err
}

// inRegion calls with the bucket's client, and once more where the store says that the bucket lies in another region.
func (o *objects) inRegion(ctx context.Context, bucket string, call func(*client) error) error {
	c, err := o.client(ctx, bucket)
	if err != nil {
		return err
	}
	err = call(c)
	if region := regionOf(err); region != "" && region != c.region {
		if c, err = o.move(ctx, bucket, region); err != nil {
			return err
		}
		return call(c)
	}
	return err
}

var expectedRegion = regexp.MustCompile(`expecting '([a-z0-9-]+)'`)

// regionOf gives the region that an error names as the bucket's.
func regionOf(err error) string {
	var response *awshttp.ResponseError
	if !errors.As(err, &response) || response.Response == nil {
		return ""
	}
	switch response.HTTPStatusCode() {
	case http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusBadRequest, http.StatusForbidden:
		if region := response.Response.Header.Get("X-Amz-Bucket-Region"); region != "" {
			return region
		}
		var api smithy.APIError
		if errors.As(err, &api) {
			if m := expectedRegion.FindStringSubmatch(api.ErrorMessage()); m != nil {
				return m[1]
			}
		}
	}
	return ""
}

// List gives a page of the keys below a folder, up to the next slash.
func (o *objects) List(ctx context.Context, folder storage.Location, token string) (page []storage.Info, next string, err error) {
	bucket, prefix, err := split(folder)
	if err != nil {
		return nil, "", err
	}
	if prefix = strings.TrimRight(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	in := &s3.ListObjectsV2Input{Delimiter: aws.String("/"), Prefix: &prefix}
	if token != "" {
		in.ContinuationToken = &token
	}
	var out *s3.ListObjectsV2Output
	err = o.inRegion(ctx, bucket, func(c *client) (err error) {
		in.Bucket = &c.bucket
		if c.payer {
			in.RequestPayer = types.RequestPayerRequester
		}
		out, err = c.api.ListObjectsV2(ctx, in)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	for _, p := range out.CommonPrefixes {
		if name, ok := strings.CutPrefix(strings.TrimSuffix(aws.ToString(p.Prefix), "/"), prefix); ok {
			page = append(page, storage.Info{Location: name, Folder: true})
		}
	}
	for _, c := range out.Contents {
		if name, ok := strings.CutPrefix(aws.ToString(c.Key), prefix); ok {
			page = append(page, storage.Info{Location: name, Size: aws.ToInt64(c.Size), Modified: aws.ToTime(c.LastModified), Version: remote.QuotedTag(aws.ToString(c.ETag))})
		}
	}
	if aws.ToBool(out.IsTruncated) {
		if next = aws.ToString(out.NextContinuationToken); next == "" {
			return nil, "", errors.New("the store says that there is more and not where")
		}
	}
	return page, next, nil
}

// Judge says what an error of S3 means.
func (o *objects) Judge(err error) remote.Verdict {
	var without *noCredentials
	if errors.As(err, &without) {
		return remote.Verdict{Kind: fault.Denied, Text: "no credentials for S3 were found, see s3.access-key-id and client.credentials-provider: " + short(without.cause)}
	}
	code, status, header := "", 0, http.Header(nil)
	var api smithy.APIError
	if errors.As(err, &api) {
		code = api.ErrorCode()
	}
	var response *awshttp.ResponseError
	if errors.As(err, &response) {
		status = response.HTTPStatusCode()
		if response.Response != nil {
			header = response.Response.Header
		}
	}
	if code == "" && status == 0 {
		return remote.Verdict{}
	}
	return verdict(code, status, header)
}

// verdict judges by S3's code, and by the status where that says nothing.
func verdict(code string, status int, header http.Header) remote.Verdict {
	named := fmt.Sprintf("%s, status %d", code, status)
	v := remote.HTTPVerdict(status, named, header)
	switch code {
	case "NoSuchBucket":
		return remote.Verdict{Kind: fault.NotFound, Text: "no such bucket"}
	case "ExpiredToken", "TokenRefreshRequired", "ExpiredTokenException":
		return remote.Verdict{Kind: fault.Denied, Text: "the credentials have expired (" + named + ")"}
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "AccessDenied":
		return remote.Verdict{Kind: fault.Denied, Text: "access is refused (" + named + ")"}
	case "SlowDown", "SlowDownRead", "Throttling", "ThrottlingException", "RequestLimitExceeded", "InternalError", "RequestTimeout", "ServiceUnavailable":
		return remote.Verdict{Kind: fault.Unavailable, Again: true, After: v.After, Text: "the store is overloaded or broken (" + named + ")"}
	}
	return v
}

// short gives the first line of an error, of bounded length.
func short(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text[:min(len(text), 300)]
}
