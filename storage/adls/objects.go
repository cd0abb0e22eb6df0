package adls

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/remote"
)

// Get asks for bytes of a blob.
func (o *objects) Get(ctx context.Context, at storage.Location, ask remote.Ask) (remote.Answer, error) {
	p, err := split(at)
	if err != nil {
		return remote.Answer{}, err
	}
	c, err := o.client(ctx, p)
	if err != nil {
		return remote.Answer{}, err
	}
	options := &blob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: ask.Offset, Count: ask.Length}}
	if ask.Version != "" {
		tag := azcore.ETag(ask.Version)
		options.AccessConditions = &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: &tag}}
	}
	out, err := c.NewBlobClient(p.path).DownloadStream(ctx, options)
	if err != nil {
		return remote.Answer{}, err
	}
	length, version, span := int64(-1), "", ""
	if out.ContentLength != nil {
		length = *out.ContentLength
	}
	if out.ETag != nil {
		version = remote.QuotedTag(string(*out.ETag))
	}
	if out.ContentRange != nil {
		span = *out.ContentRange
	}
	answer, err := remote.NewAnswer(out.Body, span, length, version)
	if err != nil {
		out.Body.Close()
	}
	return answer, err
}

// List gives a page of the blobs below a folder, up to the next slash.
func (o *objects) List(ctx context.Context, folder storage.Location, token string) (page []storage.Info, next string, err error) {
	p, err := split(folder)
	if err != nil {
		return nil, "", err
	}
	c, err := o.client(ctx, p)
	if err != nil {
		return nil, "", err
	}
	prefix := strings.TrimRight(p.path, "/")
	if prefix != "" {
		prefix += "/"
	}
	options := &container.ListBlobsHierarchyOptions{Prefix: &prefix, Include: container.ListBlobsInclude{Metadata: true}}
	if token != "" {
		options.Marker = &token
	}
	out, err := c.NewListBlobsHierarchyPager("/", options).NextPage(ctx)
	if err != nil {
		return nil, "", err
	}
	if out.Segment != nil {
		page = entries(out.Segment, prefix)
	}
	if out.NextMarker != nil {
		next = *out.NextMarker
	}
	return page, next, nil
}

// entries gives the children that a page names. A folder may stand there as a blob of its own too.
func entries(segment *container.BlobHierarchyListSegment, prefix string) (page []storage.Info) {
	folders := map[string]bool{}
	add := func(name string) {
		if name, ok := strings.CutPrefix(strings.TrimSuffix(name, "/"), prefix); ok && !folders[name] {
			folders[name] = true
			page = append(page, storage.Info{Location: name, Folder: true})
		}
	}
	for _, f := range segment.BlobPrefixes {
		if f.Name != nil {
			add(*f.Name)
		}
	}
	for _, b := range segment.BlobItems {
		if b.Name == nil {
			continue
		}
		if isFolder(b.Metadata) {
			add(*b.Name)
			continue
		}
		name, ok := strings.CutPrefix(*b.Name, prefix)
		if !ok {
			continue
		}
		entry := storage.Info{Location: name}
		if b.Properties != nil && b.Properties.ContentLength != nil {
			entry.Size = *b.Properties.ContentLength
		}
		if b.Properties != nil && b.Properties.LastModified != nil {
			entry.Modified = *b.Properties.LastModified
		}
		if b.Properties != nil && b.Properties.ETag != nil {
			entry.Version = remote.QuotedTag(string(*b.Properties.ETag))
		}
		page = append(page, entry)
	}
	return page
}

// isFolder says whether a blob stands for a folder.
func isFolder(metadata map[string]*string) bool {
	for k, v := range metadata {
		if strings.EqualFold(k, "hdi_isfolder") && v != nil && strings.EqualFold(*v, "true") {
			return true
		}
	}
	return false
}

// Judge says what an error of Blob storage means.
func (o *objects) Judge(err error) remote.Verdict {
	var login *azidentity.AuthenticationFailedError
	var missing interface{ NonRetriable() }
	var api *azcore.ResponseError
	switch {
	case errors.As(err, &login), !errors.As(err, &api) && errors.As(err, &missing) && strings.Contains(err.Error(), "redential"):
		return remote.Verdict{Kind: fault.Denied, Text: "no credentials for Azure were found, see adls.auth.shared-key.account.name, adls.sas-token.<account> and adls.connection-string.<account>"}
	case api == nil && missing != nil:
		return remote.Verdict{Kind: fault.Denied}
	case api == nil:
		return remote.Verdict{}
	}
	var header http.Header
	if api.RawResponse != nil {
		header = api.RawResponse.Header
	}
	v := remote.HTTPVerdict(api.StatusCode, fmt.Sprintf("%s, status %d", api.ErrorCode, api.StatusCode), header)
	if api.ErrorCode == "ContainerNotFound" {
		v.Text = "no such container"
	}
	return v
}
