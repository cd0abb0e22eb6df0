#!/bin/sh
# hostcheck.sh [-d [conditions]]: the kernels as host C++ under the address and thread sanitizers, a second opinion by another compiler and another
# race detector. -d also deletes each barrier in turn and shows what the thread sanitizer says of the check that is about its file; -d conditions
# deletes each condition of each marked line and shows what the address sanitizer says on damaged inputs, or that results are others. It needs
# g++ 12 or newer; SKUA_GPU_ONLY=lists.cu,unpack.cu takes some.
set -eu
cd "$(dirname "$0")"
cxx=${CXX:-g++}
command -v "$cxx" >/dev/null || { echo "no $cxx: the kernels were not run as host C++"; exit 0; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
flags="-std=c++20 -O1 -g -DHOSTEMU -w"
for s in address,undefined thread; do
  "$cxx" $flags -fsanitize=$s testdata/hostcheck.cpp -o "$tmp/check" -lpthread
  printf '%s: ' "$s"
  timeout 300 "$tmp/check"
done
[ "${1:-}" = -d ] || exit 0
if [ "${2:-}" = conditions ]; then
  cd .. && SKUA_GPU_DELETE=host exec "${GO:-go}" test -timeout 5h -count=1 -run TheHostSees -v .
fi
caught=0 total=0
for at in $(grep -nE '^ *(barrier|warpSync)\(\);' *.cu *.cuh | cut -d: -f1,2); do
  f=${at%:*} l=${at#*:}
  total=$((total + 1))
  rm -rf "$tmp/ptx" && mkdir -p "$tmp/ptx/testdata" && cp *.cu *.cuh *.h "$tmp/ptx/" && cp testdata/hostcheck.cpp "$tmp/ptx/testdata/"
  sed -E "${l}s/(barrier|warpSync)\(\);//" "$f" >"$tmp/ptx/$f"
  "$cxx" $flags -fsanitize=thread "$tmp/ptx/testdata/hostcheck.cpp" -o "$tmp/check" -lpthread
  case $f in
  deltas.cu) check=delta ;;
  texts.cu) check=strings ;;
  textdeltas.cu | delta.cuh) check=sharing ;;
  lists.cu | levels.cuh) check=listed ;;
  unpack.cu) check=packed ;;
  *) check=dictionary ;;
  esac
  if TSAN_OPTIONS=halt_on_error=1 timeout "${LIMIT:-60}" "$tmp/check" $check >"$tmp/log" 2>&1; then
    echo "$at: not caught"
  else
    caught=$((caught + 1))
    echo "$at: $(grep -m1 -E 'SUMMARY|wrong' "$tmp/log" | sed "s|$tmp/ptx/||g" || echo hang)"
  fi
done
echo "$caught of $total deletions caught"
