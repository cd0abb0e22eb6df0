package storetest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// NewGCS starts a store that speaks Google Cloud Storage's JSON interface.
func NewGCS(t testing.TB) *Server { return newServer(t, gcs{}) }

type gcs struct{}

// GCSError is an error document of Cloud Storage.
func GCSError(status int, reason string) string {
	text, _ := json.Marshal(map[string]any{"error": map[string]any{"code": status, "message": "as it happens",
		"errors": []map[string]any{{"reason": reason, "message": "as it happens"}}}})
	return string(text)
}

func (gcs) fail(w http.ResponseWriter, status int, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write([]byte(GCSError(status, reason)))
}

func (p gcs) serve(s *Server, w http.ResponseWriter, r *http.Request) {
	if s.refused(r) {
		p.fail(w, http.StatusForbidden, "forbidden")
		return
	}
	path, ok := strings.CutPrefix(r.URL.EscapedPath(), "/storage/v1/b/")
	bucket, rest, found := strings.Cut(path, "/o")
	if !ok || !found {
		p.fail(w, http.StatusNotFound, "notFound")
		return
	}
	if rest == "" {
		p.list(s, w, r, bucket)
		return
	}
	name, err := url.PathUnescape(strings.TrimPrefix(rest, "/"))
	if err != nil || r.URL.Query().Get("alt") != "media" {
		p.fail(w, http.StatusBadRequest, "invalid")
		return
	}
	o, ok := s.get(bucket + "/" + name)
	if !ok {
		p.fail(w, http.StatusNotFound, "notFound")
		return
	}
	w.Header().Set("X-Goog-Generation", o.version)
	if match := r.URL.Query().Get("ifGenerationMatch"); match != "" && match != o.version {
		p.fail(w, http.StatusPreconditionFailed, "conditionNotMet")
		return
	}
	if !send(w, o, r.Header.Get("Range")) {
		p.fail(w, http.StatusRequestedRangeNotSatisfiable, "requestedRangeNotSatisfiable")
	}
}

func (gcs) list(s *Server, w http.ResponseWriter, r *http.Request, bucket string) {
	q := r.URL.Query()
	folders, files, next := s.page(bucket, q.Get("prefix"), q.Get("pageToken"), 3)
	var items []map[string]any
	for _, f := range files {
		o, _ := s.get(bucket + "/" + f)
		items = append(items, map[string]any{"name": f, "size": strconv.Itoa(len(o.data)), "updated": o.time.UTC().Format("2006-01-02T15:04:05.000Z"), "generation": o.version})
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"prefixes": folders, "items": items, "nextPageToken": next})
}
