package gcs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"google.golang.org/api/googleapi"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/remote"
)

// split gives a location's bucket and object.
func split(at storage.Location) (bucket, object string, err error) {
	_, rest, ok := strings.Cut(at, "://")
	bucket, object, _ = strings.Cut(rest, "/")
	if !ok || bucket == "" {
		return "", "", fault.New(fault.Invalid, "open %s: expected gs://bucket/object", at).In(at)
	}
	return bucket, object, nil
}

// Name is bucket and object.
func (o *objects) Name(at storage.Location) (string, error) {
	bucket, object, err := split(at)
	return bucket + "/" + object, err
}

// Get asks for bytes of an object.
func (o *objects) Get(ctx context.Context, at storage.Location, ask remote.Ask) (remote.Answer, error) {
	bucket, object, err := split(at)
	if err != nil {
		return remote.Answer{}, err
	}
	service, err := o.client(ctx)
	if err != nil {
		return remote.Answer{}, err
	}
	call := service.Objects.Get(bucket, object).Context(ctx)
	if payer := o.properties["gcs.user-project"]; payer != "" {
		call.UserProject(payer)
	}
	if ask.Version != "" {
		generation, err := strconv.ParseInt(ask.Version, 10, 64)
		if err != nil {
			return remote.Answer{}, fault.New(fault.Internal, "%q is no generation", ask.Version)
		}
		call.IfGenerationMatch(generation)
	}
	h := call.Header()
	h.Set("Range", remote.RangeHeader(ask))
	if o.key != nil {
		h.Set("X-Goog-Encryption-Algorithm", "AES256")
		h.Set("X-Goog-Encryption-Key", o.key.key)
		h.Set("X-Goog-Encryption-Key-Sha256", o.key.sum)
	}
	response, err := call.Download()
	if err != nil {
		return remote.Answer{}, err
	}
	return remote.HTTPAnswer(response, response.Header.Get("X-Goog-Generation"))
}

// List gives a page of the objects below a folder, up to the next slash.
func (o *objects) List(ctx context.Context, folder storage.Location, token string) (page []storage.Info, next string, err error) {
	bucket, prefix, err := split(folder)
	if err != nil {
		return nil, "", err
	}
	if prefix = strings.TrimRight(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	service, err := o.client(ctx)
	if err != nil {
		return nil, "", err
	}
	call := service.Objects.List(bucket).Context(ctx).Prefix(prefix).Delimiter("/").PageToken(token).
		Fields("nextPageToken", "prefixes", "items(name,size,updated,generation)")
	if payer := o.properties["gcs.user-project"]; payer != "" {
		call.UserProject(payer)
	}
	out, err := call.Do()
	if err != nil {
		return nil, "", err
	}
	for _, p := range out.Prefixes {
		if name, ok := strings.CutPrefix(strings.TrimSuffix(p, "/"), prefix); ok {
			page = append(page, storage.Info{Location: name, Folder: true})
		}
	}
	for _, i := range out.Items {
		if name, ok := strings.CutPrefix(i.Name, prefix); ok {
			modified, _ := time.Parse(time.RFC3339, i.Updated)
			entry := storage.Info{Location: name, Size: int64(i.Size), Modified: modified}
			if i.Generation != 0 {
				entry.Version = strconv.FormatInt(i.Generation, 10)
			}
			page = append(page, entry)
		}
	}
	return page, out.NextPageToken, nil
}

// Judge says what an error of Cloud Storage means.
func (o *objects) Judge(err error) remote.Verdict {
	var without *noCredentials
	var token *oauth2.RetrieveError
	if errors.As(err, &without) || errors.As(err, &token) {
		return remote.Verdict{Kind: fault.Denied, Text: "no credentials for Google Cloud Storage were found, see gcs.oauth2.token and gcs.no-auth"}
	}
	var api *googleapi.Error
	if !errors.As(err, &api) {
		return remote.Verdict{}
	}
	reason := ""
	if len(api.Errors) > 0 {
		reason = api.Errors[0].Reason + ", "
	}
	v := remote.HTTPVerdict(api.Code, fmt.Sprintf("%sstatus %d", reason, api.Code), api.Header)
	if api.Code == http.StatusNotFound && strings.Contains(api.Message, "bucket") {
		v.Text = "no such bucket"
	}
	return v
}
