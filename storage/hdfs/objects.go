package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/remote"
)

// mostIdle bounds the files that are kept open between two requests.
const mostIdle = 64

// Get opens a file, or takes one that was read before, and gives its bytes from an offset on.
func (o *objects) Get(ctx context.Context, at storage.Location, ask remote.Ask) (remote.Answer, error) {
	authority, path, err := o.split(at)
	if err != nil {
		return remote.Answer{}, err
	}
	c, err := o.cluster(authority)
	if err != nil {
		return remote.Answer{}, err
	}
	r := c.take(path, ask.Version)
	if r == nil {
		if r, err = c.open(path); err != nil {
			if broken(err) {
				o.lose(authority, c)
			}
			return remote.Answer{}, err
		}
	}
	info := r.Stat()
	if info.IsDir() {
		r.Close()
		return remote.Answer{}, fault.New(fault.NotFound, "open %s: it is a folder, not a file", at).In(at)
	}
	answer := remote.Answer{Total: info.Size(), Version: versionOf(info)}
	if answer.Offset, answer.Length = ask.Offset, ask.Length; ask.Offset < 0 {
		answer.Length = min(info.Size(), -ask.Offset)
		answer.Offset = info.Size() - answer.Length
	}
	switch {
	case ask.Version != "" && ask.Version != answer.Version:
		r.Close()
		return answer, errChanged
	case answer.Offset >= info.Size():
		r.Close()
		return answer, errBehind
	}
	answer.Length = min(answer.Length, info.Size()-answer.Offset)
	if _, err := r.Seek(answer.Offset, io.SeekStart); err != nil {
		r.Close()
		return answer, err
	}
	answer.Body = &body{ctx: ctx, cluster: c, file: idleReader{path, answer.Version, r}, left: answer.Length}
	return answer, nil
}

// versionOf names a file's version.
func versionOf(info fs.FileInfo) string {
	return fmt.Sprintf("%d.%d", info.ModTime().UnixMilli(), info.Size())
}

var (
	errChanged = errors.New("another version")
	errBehind  = errors.New("behind the end")
)

// take gives an idle file of just this version; nil: there is none.
func (h *held) take(name, version string) reader {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, r := range h.idle {
		if version != "" && r.name == name && r.version == version {
			h.idle = append(h.idle[:i], h.idle[i+1:]...)
			return r.reader
		}
	}
	return nil
}

// give keeps a file for the next request.
func (h *held) give(r idleReader) {
	h.mu.Lock()
	h.idle = append(h.idle, r)
	var old reader
	if len(h.idle) > mostIdle {
		old = h.idle[0].reader
		h.idle = h.idle[1:]
	}
	h.mu.Unlock()
	if old != nil {
		old.Close()
	}
}

func (h *held) drop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.idle {
		r.reader.Close()
	}
	h.idle = nil
}

// body is a part of a file. A file that was read without failure is kept.
type body struct {
	ctx     context.Context // of the request
	cluster *held
	file    idleReader
	left    int64
	failed  bool
}

// Read reads on.
func (b *body) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if b.left == 0 {
		return 0, io.EOF
	}
	if d, ok := b.file.reader.(interface{ deadline() }); ok {
		d.deadline()
	}
	n, err := b.file.reader.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	b.failed = b.failed || err != nil
	return n, err
}

// Close keeps the file or closes it.
func (b *body) Close() error {
	if b.failed {
		return b.file.reader.Close()
	}
	b.cluster.give(b.file)
	return nil
}

// List gives all that a folder holds.
func (o *objects) List(_ context.Context, folder storage.Location, _ string) (page []storage.Info, next string, err error) {
	authority, path, err := o.split(folder)
	if err != nil {
		return nil, "", err
	}
	c, err := o.cluster(authority)
	if err != nil {
		return nil, "", err
	}
	if path = strings.TrimRight(path, "/"); path == "" {
		path = "/"
	}
	entries, err := c.list(path)
	if err != nil {
		if broken(err) {
			o.lose(authority, c)
		}
		return nil, "", err
	}
	page = []storage.Info{{}} // the folder itself: one that is empty is there too
	for _, e := range entries {
		info := storage.Info{Location: e.Name(), Folder: e.IsDir(), Modified: e.ModTime()}
		if !info.Folder {
			info.Size, info.Version = e.Size(), versionOf(e)
		}
		page = append(page, info)
	}
	return page, "", nil
}

// Judge says what an error of HDFS means.
func (o *objects) Judge(err error) remote.Verdict {
	var java interface {
		Exception() string
		Message() string
	}
	switch {
	case errors.Is(err, errChanged):
		return remote.Changed()
	case errors.Is(err, errBehind):
		return remote.Verdict{Kind: fault.Corrupt, Empty: true, Text: "the file is shorter than what was asked for"}
	case errors.Is(err, fs.ErrNotExist):
		return remote.Verdict{Kind: fault.NotFound, Text: "no such file or folder"}
	case errors.Is(err, fs.ErrPermission):
		return remote.Verdict{Kind: fault.Denied, Text: "permission denied to the user " + o.user()}
	case errors.As(err, &java):
		name := java.Exception()[strings.LastIndexByte(java.Exception(), '.')+1:]
		text, _, _ := strings.Cut(java.Message(), "\n")
		again := name == "StandbyException" || name == "SafeModeException" || name == "RetriableException" || name == "IOException"
		return remote.Verdict{Kind: fault.Unavailable, Again: again, Text: name + ": " + text}
	}
	return remote.Verdict{}
}
