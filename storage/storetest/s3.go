package storetest

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// NewS3 starts a store that speaks S3's protocol, with buckets in the path.
func NewS3(t testing.TB) *Server { return newServer(t, s3{}) }

type s3 struct{}

type s3List struct {
	XMLName               xml.Name   `xml:"ListBucketResult"`
	IsTruncated           bool       `xml:"IsTruncated"`
	NextContinuationToken string     `xml:"NextContinuationToken,omitempty"`
	Contents              []s3Entry  `xml:"Contents"`
	CommonPrefixes        []s3Prefix `xml:"CommonPrefixes"`
}

type s3Entry struct {
	Key          string
	Size         int
	LastModified string
	ETag         string
}

type s3Prefix struct{ Prefix string }

// S3Error is an error document of S3.
func S3Error(code string) string {
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n<Error><Code>" + code + "</Code><Message>as it happens</Message></Error>"
}

func (s3) fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	io.WriteString(w, S3Error(code))
}

func (p s3) serve(s *Server, w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	bucket, key, _ := strings.Cut(name, "/")
	s.mu.Lock()
	region := s.regions[bucket]
	s.mu.Unlock()
	if region != "" && !strings.Contains(r.Header.Get("Authorization"), "/"+region+"/") {
		w.Header().Set("X-Amz-Bucket-Region", region)
		p.fail(w, http.StatusMovedPermanently, "PermanentRedirect")
		return
	}
	if s.refused(r) {
		p.fail(w, http.StatusForbidden, "AccessDenied")
		return
	}
	if key == "" {
		p.list(s, w, r, bucket)
		return
	}
	o, ok := s.get(name)
	if !ok {
		p.fail(w, http.StatusNotFound, "NoSuchKey")
		return
	}
	w.Header().Set("ETag", `"`+o.version+`"`)
	if match := r.Header.Get("If-Match"); match != "" && match != `"`+o.version+`"` {
		p.fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}
	if !send(w, o, r.Header.Get("Range")) {
		p.fail(w, http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
	}
}

func (s3) list(s *Server, w http.ResponseWriter, r *http.Request, bucket string) {
	q := r.URL.Query()
	folders, files, next := s.page(bucket, q.Get("prefix"), q.Get("continuation-token"), 3)
	out := s3List{IsTruncated: next != "", NextContinuationToken: next}
	for _, f := range folders {
		out.CommonPrefixes = append(out.CommonPrefixes, s3Prefix{f})
	}
	for _, f := range files {
		o, _ := s.get(bucket + "/" + f)
		out.Contents = append(out.Contents, s3Entry{f, len(o.data), o.time.UTC().Format("2006-01-02T15:04:05.000Z"), `"` + o.version + `"`})
	}
	text, err := xml.Marshal(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/xml")
	fmt.Fprintf(w, "%s%s", xml.Header, text)
}
