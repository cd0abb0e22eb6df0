// Package s3 is the store of Amazon S3 and of what speaks its protocol. It takes the properties of Iceberg's S3FileIO and, where those say nothing,
// the keys of Hadoop's S3A under hadoop.fs.s3a. Locations are s3://bucket/key, with s3a and s3n as other spellings of the same; what follows the
// bucket is the key letter by letter. A store serves any number of buckets, each in its region.
package s3

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/remote"
)

// Kind serves s3, s3a and s3n.
var Kind = storage.Kind{Schemes: []string{"s3", "s3a", "s3n"}, New: New, Idle: idle}

// New makes a store of properties and of a vended credential, which goes over them. Properties that would need what is not built are refused.
func New(properties map[string]string, credentials []storage.Credential) (storage.Store, error) {
	merged := maps.Clone(properties)
	if merged == nil {
		merged = map[string]string{}
	}
	for _, c := range credentials {
		maps.Copy(merged, c.Properties)
	}
	if err := refuse(merged); err != nil {
		return nil, err
	}
	retry, err := retryOf(merged)
	if err != nil {
		return nil, err
	}
	return remote.New(remote.Config{
		Objects:  &objects{properties: merged, clients: map[string]*client{}},
		Identity: identity(merged),
		Retry:    retry,
		Secrets:  secrets(merged),
	}), nil
}

// identity is a digest of what the store is and as whom it is asked. Keys of a session are left out: they change at every load, and what they may
// read the catalog decides each time.
func identity(properties map[string]string) string {
	digest := sha256.New()
	session := sessionToken(properties, "") != ""
	for _, k := range slices.Sorted(maps.Keys(properties)) {
		mine := slices.ContainsFunc(families, func(f string) bool { return strings.HasPrefix(k, f) })
		if !mine || session && slices.Contains(sessionKeys, k) {
			continue
		}
		fmt.Fprintf(digest, "%d %s%d %s", len(k), k, len(properties[k]), properties[k])
	}
	return fmt.Sprintf("s3 %x", digest.Sum(nil))
}

// objects is S3's protocol.
type objects struct {
	properties map[string]string
	mu         sync.Mutex
	clients    map[string]*client // by bucket
}

var _ remote.Objects = (*objects)(nil)

// client is how one bucket is asked.
type client struct {
	api    *s3.Client
	region string
	bucket string // the bucket, or an access point that stands for it
	custom *customKey
	payer  bool // requester pays
}

// split gives a location's bucket and key.
func split(at storage.Location) (bucket, key string, err error) {
	_, rest, ok := strings.Cut(at, "://")
	bucket, key, _ = strings.Cut(rest, "/")
	if !ok || bucket == "" {
		return "", "", fault.New(fault.Invalid, "open %s: expected s3://bucket/key", at).In(at)
	}
	return bucket, key, nil
}

// Name is bucket and key.
func (o *objects) Name(at storage.Location) (string, error) {
	bucket, key, err := split(at)
	return bucket + "/" + key, err
}

// client gives the bucket's client, made at its first use.
func (o *objects) client(ctx context.Context, bucket string) (*client, error) {
	o.mu.Lock()
	c := o.clients[bucket]
	o.mu.Unlock()
	if c != nil {
		return c, nil
	}
	c, err := newClient(ctx, settingsOf(o.properties, bucket))
	if err != nil {
		return nil, err
	}
	return o.keep(bucket, c), nil
}

// keep stores a bucket's client, unless another was faster.
func (o *objects) keep(bucket string, c *client) *client {
	o.mu.Lock()
	defer o.mu.Unlock()
	if known := o.clients[bucket]; known != nil && known.region == c.region {
		return known
	}
	o.clients[bucket] = c
	return c
}

// move makes the bucket's client anew for another region.
func (o *objects) move(ctx context.Context, bucket, region string) (*client, error) {
	settings := settingsOf(o.properties, bucket)
	settings.region = region
	c, err := newClient(ctx, settings)
	if err != nil {
		return nil, err
	}
	return o.keep(bucket, c), nil
}

func retryOf(properties map[string]string) (out remote.Retry, err error) {
	more, key := storage.First(properties, "s3.retry.num-retries", "hadoop.fs.s3a.attempts.maximum")
	if more != "" {
		n, err := number(key, more)
		if err != nil {
			return out, err
		}
		out.Tries = n + 1
	}
	for _, d := range []struct {
		field *time.Duration
		names []string
	}{{&out.Least, []string{"s3.retry.min-wait-ms"}}, {&out.Most, []string{"s3.retry.max-wait-ms"}}, {&out.Stall, []string{hadoop + "connection.timeout"}}} {
		text, key := storage.First(properties, d.names...)
		if text == "" {
			continue
		}
		if *d.field, err = duration(key, text, time.Millisecond); err != nil {
			return out, err
		}
	}
	out.First = out.Stall
	return out, nil
}
