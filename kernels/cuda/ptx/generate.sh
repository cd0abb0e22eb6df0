#!/bin/sh
# Compiles the kernels to PTX and writes the manifest: sh generate.sh [folder]. It needs Debian's clang-16; clang-14 moves reads of shared
# memory above barriers.
set -eu
cd "$(dirname "$0")"
out=${1:-.}
flags="-x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_80 -Xclang -target-feature -Xclang +ptx70 -O3 -std=c++17 -gline-directives-only -fdebug-compilation-dir=."
version=$(clang-16 --version | head -n 1)
for f in *.cu; do
  clang-16 $flags -S "$f" -o "$out/${f%.cu}.ptx"
done
{
  echo "# Written by generate.sh: what the PTX was made with, and the SHA-256 of sources and results."
  echo "compiler: $version"
  echo "flags: $flags"
  sha256sum -- *.cu *.cuh
  (cd "$out" && sha256sum -- *.ptx)
} >"$out/manifest.txt"
