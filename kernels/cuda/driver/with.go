//go:build cuda

package driver

import (
	"fmt"

	"gorgonia.org/cu"

	"github.com/skua-data/skua/kernels/cuda/device"
	"github.com/skua-data/skua/kernels/cuda/driver/cudart"
)

// Open opens all devices and loads the kernels, given as PTX, into each. The report says why there are none.
func Open(texts []string) ([]device.Device, Report) {
	r := Report{Built: true, Reason: cudart.Reason(), Missing: cudart.Missing()}
	n, err := cu.NumDevices()
	if err != nil {
		r.Reason = "count the devices: " + err.Error()
	}
	r.Devices = n
	var out []device.Device
	for i := range n {
		d, err := open(cu.Device(i), texts)
		if err != nil {
			r.Reason = fmt.Sprintf("device %d: %v", i, err)
			continue
		}
		out = append(out, d)
	}
	return out, r
}
