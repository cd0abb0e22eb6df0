package storetest

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// NewADLS starts a store that speaks Azure's Blob interface, with account and container in the path.
func NewADLS(t testing.TB) *Server { return newServer(t, adls{}) }

type adls struct{}

type adlsList struct {
	XMLName    xml.Name     `xml:"EnumerationResults"`
	Blobs      []adlsBlob   `xml:"Blobs>Blob"`
	Prefixes   []adlsPrefix `xml:"Blobs>BlobPrefix"`
	NextMarker string       `xml:"NextMarker"`
}

type adlsBlob struct {
	Name     string
	Modified string `xml:"Properties>Last-Modified"`
	Length   int    `xml:"Properties>Content-Length"`
	Tag      string `xml:"Properties>Etag"` // without quotes, unlike the header
}

type adlsPrefix struct{ Name string }

func (adls) fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("X-Ms-Error-Code", code)
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	io.WriteString(w, S3Error(code))
}

func (p adls) serve(s *Server, w http.ResponseWriter, r *http.Request) {
	if s.refused(r) {
		p.fail(w, http.StatusForbidden, "AuthenticationFailed")
		return
	}
	_, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if r.URL.Query().Get("comp") == "list" {
		p.list(s, w, r, name)
		return
	}
	o, ok := s.get(name)
	if !ok {
		p.fail(w, http.StatusNotFound, "BlobNotFound")
		return
	}
	tag := `"0x` + o.version + `"`
	w.Header().Set("ETag", tag)
	if match := r.Header.Get("If-Match"); match != "" && match != tag {
		p.fail(w, http.StatusPreconditionFailed, "ConditionNotMet")
		return
	}
	if !send(w, o, r.Header.Get("X-Ms-Range")) {
		p.fail(w, http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
	}
}

func (adls) list(s *Server, w http.ResponseWriter, r *http.Request, bucket string) {
	q := r.URL.Query()
	folders, files, next := s.page(bucket, q.Get("prefix"), q.Get("marker"), 3)
	out := adlsList{NextMarker: next}
	for _, f := range folders {
		out.Prefixes = append(out.Prefixes, adlsPrefix{f})
	}
	for _, f := range files {
		o, _ := s.get(bucket + "/" + f)
		out.Blobs = append(out.Blobs, adlsBlob{f, o.time.UTC().Format(http.TimeFormat), len(o.data), "0x" + o.version})
	}
	text, err := xml.Marshal(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/xml")
	fmt.Fprintf(w, "%s%s", xml.Header, text)
}
