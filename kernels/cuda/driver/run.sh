#!/bin/sh
# run.sh: what only a machine with a GPU can tell. It compares our header with the toolkit's, lists what the driver lacks, assembles the
# kernels, runs the suite of decoders on the device, and measures the link, the kernels and some columns.
cd "$(dirname "$0")"
bad=0
echo "== header"
include=$(ls -d "${CUDA_HOME:-/usr/local/cuda}/include" /usr/include 2>/dev/null | while read -r d; do [ -f "$d/cuda.h" ] && echo "$d" && break; done)
if [ -n "$include" ] && command -v cc >/dev/null; then
  sh testdata/abi.sh "$include" || bad=1
else
  echo "no toolkit or no C compiler: not compared"
fi
echo "== driver"
./gpu.test -test.run '^TestReport$' -test.v | grep -E '^(report|device)' || bad=1
echo "== assembler"
ptxas=$(command -v ptxas || ls "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas" 2>/dev/null)
arch=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .)
if [ -n "$ptxas" ] && [ "$arch" != sm_ ]; then
  for f in ptx/*.ptx; do
    "$ptxas" -arch="$arch" -v "$f" -o /dev/null 2>&1 | grep -E 'Used|error|spill' || bad=1
  done
else
  echo "no ptxas: the driver's own compiler has to do"
fi
echo "== suite and rates"
timeout 150 ./gpu.test -test.run 'Binding|Rates' -test.v || bad=1
./gpu.test -test.run '^TestReport$' -test.v | grep -q '^device:' || { echo "no device was tested"; bad=1; }
[ $bad = 0 ] && echo "all well" || echo "NOT all well"
exit $bad
