// Package storetest has stores in memory that speak the protocols of the real ones and fail on demand, and the suite that every store behind a
// network passes. The servers are small: they know what the readers here ask for, and check no signatures beyond a key's name.
package storetest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a store that listens on loopback.
type Server struct {
	URL string

	mu       sync.Mutex
	objects  map[string]object // by bucket/key
	puts     int
	faults   []Fault
	requests []string
	refuse   func(r *http.Request) bool // true: the caller is not let in
	regions  map[string]string          // of buckets; where it is not the caller's, the answer is a redirect
}

type object struct {
	data    []byte
	version string
	time    time.Time
}

// Fault is what happens to one request; serve answers it as it should be. A nil Fault does nothing.
type Fault func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc)

// protocol answers requests in the way of one kind of store.
type protocol interface {
	serve(s *Server, w http.ResponseWriter, r *http.Request)
}

func newServer(t testing.TB, p protocol) *Server {
	t.Helper()
	s := &Server{objects: map[string]object{}, regions: map[string]string{}}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Range")+r.Header.Get("X-Ms-Range"))
		var fault Fault
		if len(s.faults) > 0 {
			fault, s.faults = s.faults[0], s.faults[1:]
		}
		s.mu.Unlock()
		serve := func(w http.ResponseWriter, r *http.Request) { p.serve(s, w, r) }
		if fault == nil {
			serve(w, r)
			return
		}
		fault(w, r, serve)
	}))
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	s.URL = h.URL
	return s
}

// Put stores an object under bucket/key.
func (s *Server) Put(name string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.puts++
	s.objects[name] = object{data: data, version: strconv.Itoa(1000 + s.puts), time: time.Unix(1_700_000_000, 0)}
}

// Remove takes an object away.
func (s *Server) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, name)
}

// Fail lets the next requests fail, one after the other.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Refuse lets requests through of which refuse says false. It is asked for several at once.
func (s *Server) Refuse(refuse func(r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = refuse
}

// Place says in which region a bucket lies.
func (s *Server) Place(bucket, region string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.regions[bucket] = region
}

// Requests gives what was asked since the last call, and forgets faults that nothing met.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.requests
	s.requests, s.faults = nil, nil
	return out
}

func (s *Server) get(name string) (object, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[name]
	return o, ok
}

func (s *Server) refused(r *http.Request) bool {
	s.mu.Lock()
	refuse := s.refuse
	s.mu.Unlock()
	return refuse != nil && refuse(r)
}

// page gives the children of a prefix in the order of keys, from a token on.
func (s *Server) page(bucket, prefix, token string, most int) (folders []string, files []string, next string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[string]bool{}
	var all []string
	for name := range s.objects {
		key, ok := strings.CutPrefix(name, bucket+"/"+prefix)
		if !ok {
			continue
		}
		child := prefix + key
		if head, _, deep := strings.Cut(key, "/"); deep {
			child = prefix + head + "/"
		}
		if !seen[child] && child > token {
			seen[child] = true
			all = append(all, child)
		}
	}
	slices.Sort(all)
	if len(all) > most {
		all, next = all[:most], all[most-1]
	}
	for _, child := range all {
		if strings.HasSuffix(child, "/") && child != prefix {
			folders = append(folders, child)
			continue
		}
		files = append(files, child)
	}
	return folders, files, next
}

// span reads a Range header against a length; status is 206, 200 without one, or 416.
func span(header string, length int64) (from, to int64, status int) {
	text, ok := strings.CutPrefix(header, "bytes=")
	if !ok {
		return 0, length, http.StatusOK
	}
	first, last, _ := strings.Cut(text, "-")
	if first == "" {
		n, _ := strconv.ParseInt(last, 10, 64)
		from, to = max(0, length-n), length
	} else {
		from, _ = strconv.ParseInt(first, 10, 64)
		if to = length; last != "" {
			end, _ := strconv.ParseInt(last, 10, 64)
			to = min(length, end+1)
		}
	}
	if from >= to {
		return 0, 0, http.StatusRequestedRangeNotSatisfiable
	}
	return from, to, http.StatusPartialContent
}

// send answers with a range of an object.
func send(w http.ResponseWriter, o object, header string) bool {
	from, to, status := span(header, int64(len(o.data)))
	if status == http.StatusRequestedRangeNotSatisfiable {
		return false
	}
	w.Header().Set("Content-Length", strconv.FormatInt(to-from, 10))
	if status == http.StatusPartialContent {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, len(o.data)))
	}
	w.WriteHeader(status)
	w.Write(o.data[from:to])
	return true
}

// Status answers with a status and, if it is not empty, a body.
func Status(code int, body string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// CutAfter sends a number of bytes of the right answer and breaks the connection.
func CutAfter(n int) Fault {
	return func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
		serve(&cut{ResponseWriter: w, left: n, end: func() { panic(http.ErrAbortHandler) }}, r)
	}
}

// StallAfter sends a number of bytes of the right answer and then nothing until the caller leaves.
func StallAfter(n int) Fault {
	return func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
		stall := func() {
			if f, ok := w.(http.Flusher); ok {
				f.Flush()
			}
			<-r.Context().Done()
			panic(http.ErrAbortHandler)
		}
		serve(&cut{ResponseWriter: w, left: n, end: stall}, r)
	}
}

// Silent answers nothing at all until the caller leaves.
func Silent() Fault {
	return func(_ http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
}

// Header changes a header of the right answer.
func Header(name string, change func(string) string) Fault {
	return func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
		serve(&rewritten{ResponseWriter: w, name: name, change: change}, r)
	}
}

type cut struct {
	http.ResponseWriter
	left int
	end  func()
}

func (c *cut) Write(p []byte) (int, error) {
	if len(p) > c.left {
		c.ResponseWriter.Write(p[:c.left])
		if f, ok := c.ResponseWriter.(http.Flusher); ok {
			f.Flush()
		}
		c.end()
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

type rewritten struct {
	http.ResponseWriter
	name   string
	change func(string) string
}

func (r *rewritten) WriteHeader(status int) {
	r.Header().Set(r.name, r.change(r.Header().Get(r.name)))
	r.ResponseWriter.WriteHeader(status)
}
