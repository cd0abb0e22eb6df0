//go:build cuda && cudafake

package driver

import _ "github.com/skua-data/skua/kernels/cuda/driver/standin" // takes the driver's place
