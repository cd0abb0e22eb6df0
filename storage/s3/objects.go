package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

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
	if in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", ask.Offset, ask.Offset+ask.Length-1)); ask.Offset < 0 {
		in.Range = aws.String(fmt.Sprintf("bytes=%d", ask.Offset))
	}
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
	answer, err := answerOf(out)
	if err != nil {
		out.Body.Close()
	}
	return answer, err
}

// answerOf reads what the store says of its answer. Without a range it should be the whole object; a store in trouble may send an error there.
func answerOf(out *s3.GetObjectOutput) (remote.Answer, error) {
	answer := remote.Answer{Body: out.Body, Version: aws.ToString(out.ETag)}
	if out.ContentRange != nil {
		var err error
		answer.Offset, answer.Length, answer.Total, err = parseRange(*out.ContentRange)
		if err != nil || out.ContentLength != nil && *out.ContentLength >= 0 && *out.ContentLength != answer.Length {
			return answer, errors.New("the store answered with a Content-Range that cannot be")
		}
		return answer, nil
	}
	head := make([]byte, 512)
	n, _ := io.ReadFull(out.Body, head)
	if code := errorCode(head[:n]); code != "" || answer.Version == "" {
		if code == "" {
			code = "neither a range nor an ETag"
		}
		return answer, &badAnswer{code}
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head[:n]), out.Body), out.Body}
	answer.Total = aws.ToInt64(out.ContentLength)
	answer.Length = answer.Total
	return answer, nil
}

// badAnswer is an answer that says success and holds none.
type badAnswer struct{ code string }

func (b *badAnswer) Error() string {
	return "the store answered with success and an error inside: " + b.code
}

var errorDocument = regexp.MustCompile(`^\s*(<\?xml[^>]*>\s*)?<Error>(?s:.*?)<Code>([A-Za-z0-9.]+)</Code>`)

// errorCode gives the code of an error document.
func errorCode(text []byte) string {
	if m := errorDocument.FindSubmatch(text); m != nil {
		return string(m[2])
	}
	return ""
}

// parseRange reads "bytes 0-9/100".
func parseRange(text string) (offset, length, total int64, err error) {
	var last int64
	span, all, ok := strings.Cut(strings.TrimPrefix(text, "bytes "), "/")
	from, to, dashed := strings.Cut(span, "-")
	if !ok || !dashed {
		return 0, 0, 0, errors.New("no range")
	}
	if offset, err = strconv.ParseInt(from, 10, 64); err == nil {
		last, err = strconv.ParseInt(to, 10, 64)
	}
	if total = -1; err == nil && all != "*" {
		total, err = strconv.ParseInt(all, 10, 64)
	}
	if err != nil || last < offset || offset < 0 || total >= 0 && last >= total {
		return 0, 0, 0, errors.New("no range")
	}
	return offset, last - offset + 1, total, nil
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
			page = append(page, storage.Info{Location: name, Size: aws.ToInt64(c.Size), Modified: aws.ToTime(c.LastModified)})
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
	var bad *badAnswer
	if errors.As(err, &bad) {
		return remote.Verdict{Kind: fault.Unavailable, Again: true, Text: bad.Error()}
	}
	code, status, after := "", 0, time.Duration(0)
	var api smithy.APIError
	if errors.As(err, &api) {
		code = api.ErrorCode()
	}
	var response *awshttp.ResponseError
	if errors.As(err, &response) {
		status = response.HTTPStatusCode()
		if response.Response != nil {
			seconds, _ := strconv.Atoi(response.Response.Header.Get("Retry-After"))
			after = time.Duration(seconds) * time.Second
		}
	}
	if code == "" && status == 0 {
		return remote.Verdict{}
	}
	v := verdict(code, status)
	v.After = after
	return v
}

// verdict judges by S3's code, and by the status where that says nothing.
func verdict(code string, status int) remote.Verdict {
	named := fmt.Sprintf(" (%s, status %d)", code, status)
	switch code {
	case "NoSuchBucket":
		return remote.Verdict{Kind: fault.NotFound, Text: "no such bucket"}
	case "NoSuchKey", "NotFound":
		return remote.Verdict{Kind: fault.NotFound, Text: "no such file"}
	case "ExpiredToken", "TokenRefreshRequired", "ExpiredTokenException":
		return remote.Verdict{Kind: fault.Denied, Text: "the credentials have expired" + named}
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "AccessDenied":
		return remote.Verdict{Kind: fault.Denied, Text: "access is refused" + named}
	case "SlowDown", "SlowDownRead", "Throttling", "ThrottlingException", "RequestLimitExceeded", "InternalError", "RequestTimeout", "ServiceUnavailable":
		return remote.Verdict{Kind: fault.Unavailable, Again: true, Text: "the store is overloaded or broken" + named}
	}
	switch {
	case status == http.StatusNotFound:
		return remote.Verdict{Kind: fault.NotFound, Text: "no such file"}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return remote.Verdict{Kind: fault.Denied, Text: "access is refused" + named}
	case status == http.StatusPreconditionFailed:
		return remote.Changed()
	case status == http.StatusRequestedRangeNotSatisfiable:
		return remote.Verdict{Kind: fault.Corrupt, Empty: true, Text: "the file is shorter than what was asked for"}
	case status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= 500:
		return remote.Verdict{Kind: fault.Unavailable, Again: true, Text: "the store is overloaded or broken" + named}
	case status >= 300:
		return remote.Verdict{Kind: fault.Unavailable, Text: "the store refuses the request" + named}
	}
	return remote.Verdict{Kind: fault.Unavailable, Again: true}
}

// short gives the first line of an error, of bounded length.
func short(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text[:min(len(text), 300)]
}
