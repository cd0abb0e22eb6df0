//go:build !cuda

package driver

import "github.com/skua-data/skua/kernels/cuda/device"

// Open gives no devices: this build has no driver.
func Open([]string) ([]device.Device, Report) {
	return nil, Report{Reason: "this build has no support for GPUs (make build-gpu makes one)"}
}
