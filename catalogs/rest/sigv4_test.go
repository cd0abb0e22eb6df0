package rest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
)

// signature computes what AWS' documentation of Signature Version 4 says that a request's signature must be, from the request as it arrived. The path of a request is
// encoded once more, as for every service but S3.
func signature(t *testing.T, secret string, r *http.Request, body []byte) (want, got string) {
	t.Helper()
	fields := map[string]string{}
	for part := range strings.SplitSeq(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 "), ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[k] = v
	}
	headers := ""
	for name := range strings.SplitSeq(fields["SignedHeaders"], ";") {
		value := r.Header.Get(name)
		switch name {
		case "host":
			value = r.Host
		case "content-length": // which Go takes out of the headers
			value = "0"
		}
		headers += name + ":" + strings.Join(strings.Fields(value), " ") + "\n"
	}
	path := r.URL.EscapedPath()
	if path == "" {
		path = "/"
	}
	path = strings.ReplaceAll(path, "%", "%25")
	query := strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20")
	sum := sha256.Sum256(body)
	canonical := strings.Join([]string{r.Method, path, query, headers, fields["SignedHeaders"], hex.EncodeToString(sum[:])}, "\n")
	_, scope, _ := strings.Cut(fields["Credential"], "/")
	hashed := sha256.Sum256([]byte(canonical))
	key := []byte("AWS4" + secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = keyed(key, part)
	}
	text := strings.Join([]string{"AWS4-HMAC-SHA256", r.Header.Get("X-Amz-Date"), scope, hex.EncodeToString(hashed[:])}, "\n")
	return hex.EncodeToString(keyed(key, text)), fields["Signature"]
}

func keyed(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// TestSignaturesAreAsAWSPublishesThem checks the arithmetic above by the vector get-vanilla of AWS' test suite, and then the requests of a catalog by the arithmetic.
func TestSignaturesAreAsAWSPublishesThem(t *testing.T) {
	vector, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.amazonaws.com/", nil)
	if err != nil {
		t.Fatal(err)
	}
	vector.Header.Set("X-Amz-Date", "20150830T123600Z")
	vector.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, "+
		"Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")
	if want, got := signature(t, "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", vector, nil); got != want {
		t.Fatalf("the vector gives %s, and AWS says %s", want, got)
	}
	for name, p := range map[string]iceberg.Properties{
		"keys alone":            {},
		"with a session's":      {"rest.session-token": "the/session+token="},
		"over OAuth2":           {"token": "opaque"},
		"a header of one's own": {"header.x-tenant": "a  b"},
	} {
		t.Run(name, func(t *testing.T) {
			s := small()
			s.config = map[string]any{"overrides": map[string]string{"prefix": "a b/c"}}
			for k, v := range map[string]string{"uri": newService(t, s), "rest.sigv4-enabled": "true", "rest.signing-region": "eu-west-1", "rest.signing-name": "glue",
				"rest.access-key-id": "AKID", "rest.secret-access-key": "planted", "warehouse": "s3://w/a b"} {
				p[k] = v
			}
			if _, err := load(open(t, p), t, orders...); err != nil {
				t.Fatal(err)
			}
			for _, part := range []string{"/v1/config", "/tables/orders"} {
				r := s.last(part)
				if want, got := signature(t, "planted", r, nil); got != want {
					t.Errorf("%s: signed %s, want %s", r.URL, got, want)
				}
				if wrong, got := signature(t, "other", r, nil); got == wrong {
					t.Error("another secret signs the same")
				}
				if at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date")); err != nil || time.Since(at).Abs() > time.Hour {
					t.Errorf("the date %q", r.Header.Get("X-Amz-Date"))
				}
			}
		})
	}
}
