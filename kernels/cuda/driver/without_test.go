//go:build !cuda

package driver

import (
	"strings"
	"testing"
)

func TestWithoutTheTagThereAreNoDevices(t *testing.T) {
	devices, r := Open(nil)
	if len(devices) > 0 || r.Built || !strings.Contains(r.Reason, "make build-gpu") {
		t.Errorf("%v, %+v", devices, r)
	}
}
