package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/skua-data/skua/fault"
)

// maxPause bounds the time between two tries, whatever a service asks for.
const maxPause = 20 * time.Second

// statusError reads an error's body in the forms that catalogs use: Iceberg's {"error": {…}}, OAuth2's {"error": …, "error_description": …}, and
// {"message": …, "errorCode": …}.
func statusError(response *http.Response, body []byte) *StatusError {
	out := &StatusError{Status: response.StatusCode}
	var said struct {
		Error       json.RawMessage `json:"error"`
		Description string          `json:"error_description"`
		Message     string          `json:"message"`
		Code        string          `json:"errorCode"`
	}
	if json.Unmarshal(body, &said) == nil {
		var nested struct{ Message, Type string }
		if json.Unmarshal(said.Error, &nested) == nil {
			out.Message, out.Type = nested.Message, nested.Type
		} else if json.Unmarshal(said.Error, &out.Type) == nil {
			out.Message = strings.Trim(out.Type+": "+said.Description, ": ")
		}
		if out.Message == "" {
			out.Message = said.Message
		}
		if out.Type == "" {
			out.Type = said.Code
		}
	} else if text := strings.TrimSpace(string(body)); text != "" && !strings.HasPrefix(text, "<") {
		out.Message = quoted(body)
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds >= 0 {
		out.after = time.Duration(min(seconds, 3600)) * time.Second
	}
	return out
}

// mayPass reports whether a failed try may be followed by another.
func (c *Client) mayPass(r Request, err error) bool {
	if status, ok := err.(*StatusError); ok {
		switch status.Status {
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			return true
		case http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusRequestTimeout:
			return r.repeatable()
		}
		return false
	}
	var carried *fault.Error
	var host *net.DNSError
	switch {
	case errors.As(err, &carried):
		return false
	case errors.As(err, &host) && host.IsNotFound:
		return false
	case strings.Contains(err.Error(), "certificate") || strings.Contains(err.Error(), "redirection"):
		return false
	}
	return r.repeatable() || strings.Contains(err.Error(), "connection refused")
}

// repeatable reports whether a call that may have reached the service may be sent again.
func (r Request) repeatable() bool { return r.Safe || r.Method == "" || r.Method == http.MethodGet }

// delay is how long to wait before the next try.
func (c *Client) delay(try int, status *StatusError) time.Duration {
	wait := c.config.Pause << min(try, 10)
	if status != nil && status.after > wait {
		wait = status.after
	}
	return min(wait, maxPause)
}

// pause waits, and reports whether the caller is still there.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// kinds maps statuses. A proof that a catalog refuses is the operator's to mend, not the client's.
var kinds = map[int]fault.Kind{
	http.StatusBadRequest: fault.Invalid, http.StatusUnauthorized: fault.Denied, http.StatusForbidden: fault.Denied, http.StatusNotFound: fault.NotFound,
	http.StatusNotAcceptable: fault.Unsupported, http.StatusConflict: fault.Unavailable, http.StatusRequestURITooLong: fault.Invalid,
	http.StatusRequestHeaderFieldsTooLarge: fault.Invalid, http.StatusUnprocessableEntity: fault.Invalid, 419: fault.Denied, http.StatusNotImplemented: fault.Unsupported,
}

// classify makes a fault of whatever ended a call.
func (c *Client) classify(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return fault.New(fault.KindOf(ended), "%w", ended)
	}
	if status, answered := err.(*StatusError); answered {
		kind, ok := kinds[status.Status]
		if !ok {
			kind = fault.Unavailable
		}
		return fault.New(kind, "%w", err)
	}
	var carried *fault.Error
	if errors.As(err, &carried) {
		return err
	}
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err // the URL is the caller's to tell
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.New(fault.Unavailable, "no answer within %s", c.config.Timeout).Change(c.config.Setting)
	}
	return fault.New(fault.Unavailable, "%v", err).Change(c.config.Setting)
}
