//go:build cuda && !cudafake

package driver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReport prints what is found, for the test below.
func TestReport(t *testing.T) {
	devices, r := Open(nil)
	fmt.Printf("report: %+v\n", r)
	for _, d := range devices {
		fmt.Printf("device: %+v\n", d.Info())
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

const oneDevice = `
int cuInit(unsigned f) { return 0; }
int cuDeviceGetCount(int *n) { *n = 1; return 0; }
int cuDriverGetVersion(int *v) { *v = 12345; return 0; }
int cuDeviceGetName(char *s, int n, int d) { __builtin_strcpy(s, "Stub"); return 0; }
int cuDeviceTotalMem_v2(unsigned long *n, int d) { *n = 7ul << 20; return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) { *v = MAJOR; return 0; }
`

// TestStart starts this program with no driver, and with libraries that are not much of one: it says what is wrong, and ends well.
func TestStart(t *testing.T) {
	if needed, err := exec.Command("ldd", os.Args[0]).Output(); err == nil && strings.Contains(string(needed), "libcuda") {
		t.Fatalf("the program needs libcuda to start:\n%s", needed)
	}
	for name, c := range map[string]struct{ source, want string }{
		"no driver":    {"", "Reason:libcuda.so.1: cannot open"},
		"no device":    {"int cuInit(unsigned f) { return 100; } int cuDeviceGetCount(int *n) { return 3; }", "Devices:0 Reason:cuInit: error 100 (no device)"},
		"not a driver": {"int x;", "Devices:0 Reason:the driver library has no cuInit"},
		"old device":   {strings.ReplaceAll(oneDevice, "MAJOR", "7"), "Devices:1 Reason:device 0: Stub has the architecture 7.7, the kernels need 8.0"},
		"half a one":   {strings.ReplaceAll(oneDevice, "MAJOR", "9"), "Devices:1 Reason:device 0: NotFound"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.source != "" {
				cc := exec.Command("cc", "-shared", "-fPIC", "-x", "c", "-", "-o", filepath.Join(dir, "libcuda.so.1"))
				cc.Stdin = strings.NewReader(c.source)
				if out, err := cc.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			} else if exec.Command("sh", "-c", "ldconfig -p | grep -q libcuda.so.1").Run() == nil {
				t.Skip("this machine has a driver")
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestReport$", "-test.v")
			cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+dir)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), c.want) {
				t.Fatalf("%v: %s\nwant %s", err, out, c.want)
			}
		})
	}
}

// TestHeaderAgreesWithNVIDIAs compares our header with NVIDIA's of CUDA 12, in the folder that SKUA_CUDA_INCLUDE names.
func TestHeaderAgreesWithNVIDIAs(t *testing.T) {
	folder := os.Getenv("SKUA_CUDA_INCLUDE")
	if folder == "" {
		t.Skip("SKUA_CUDA_INCLUDE is not set")
	}
	out, err := exec.Command("sh", "testdata/abi.sh", folder).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "all equal") || !strings.Contains(string(out), "prototypes agree") {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("%s", out)
}
