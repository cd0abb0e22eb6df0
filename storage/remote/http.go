package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/skua-data/skua/fault"
)

// RangeHeader spells an Ask as HTTP does.
func RangeHeader(ask Ask) string {
	if ask.Offset < 0 {
		return fmt.Sprintf("bytes=%d", ask.Offset)
	}
	return fmt.Sprintf("bytes=%d-%d", ask.Offset, ask.Offset+ask.Length-1)
}

// QuotedTag spells an ETag as a header has it. Listings of some stores leave the quotes out.
func QuotedTag(tag string) string {
	if tag == "" || strings.HasSuffix(tag, `"`) {
		return tag
	}
	return `"` + tag + `"`
}

// HTTPAnswer reads what a store says of an answer by HTTP, and closes its body where that cannot be. Without a range it should be the whole file;
// a store in trouble may send an error there.
func HTTPAnswer(r *http.Response, version string) (Answer, error) {
	a, err := NewAnswer(r.Body, r.Header.Get("Content-Range"), r.ContentLength, version)
	if err != nil {
		r.Body.Close()
	}
	return a, err
}

// NewAnswer makes an Answer of a body and of what the store says of it: a Content-Range or "", a length or -1, a version or "".
func NewAnswer(body io.ReadCloser, contentRange string, length int64, version string) (Answer, error) {
	a := Answer{Body: body, Version: version}
	if contentRange != "" {
		var err error
		if a.Offset, a.Length, a.Total, err = parseRange(contentRange); err != nil || length >= 0 && length != a.Length {
			return a, &failure{kind: fault.Unavailable, text: "the store answered with a Content-Range that cannot be"}
		}
		return a, nil
	}
	head := make([]byte, 512)
	n, _ := io.ReadFull(body, head)
	if code := errorCode(head[:n]); code != "" {
		return a, &failure{kind: fault.Unavailable, text: "the store answered with success and an error inside: " + code}
	}
	if version == "" {
		return a, &failure{kind: fault.Unavailable, text: "the store answered with success and neither a range nor a version"}
	}
	a.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head[:n]), body), body}
	a.Length, a.Total = length, length
	return a, nil
}

// HTTPVerdict judges by a status; named is how the store calls the error. It knows Retry-After in seconds.
func HTTPVerdict(status int, named string, header http.Header) Verdict {
	named = " (" + named + ")"
	seconds, _ := strconv.Atoi(header.Get("Retry-After"))
	switch {
	case status == http.StatusNotFound:
		return Verdict{Kind: fault.NotFound, Text: "no such file"}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return Verdict{Kind: fault.Denied, Text: "access is refused" + named}
	case status == http.StatusPreconditionFailed:
		return Changed()
	case status == http.StatusRequestedRangeNotSatisfiable:
		return Verdict{Kind: fault.Corrupt, Empty: true, Text: "the file is shorter than what was asked for"}
	case status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= 500:
		return Verdict{Kind: fault.Unavailable, Again: true, After: time.Duration(seconds) * time.Second, Text: "the store is overloaded or broken" + named}
	case status >= 300:
		return Verdict{Kind: fault.Unavailable, Text: "the store refuses the request" + named}
	}
	return Verdict{Kind: fault.Unavailable, Again: true}
}

var errorDocument = regexp.MustCompile(`^\s*(<\?xml[^>]*>\s*)?<Error>(?s:.*?)<Code>([A-Za-z0-9.]+)</Code>`)

// errorCode gives the code of an error document in XML.
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
