#!/bin/sh
# carry.sh FOLDER: makes a folder to carry to a machine with a GPU. run.sh in it needs neither Go nor this tree, and takes under three minutes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$here"
go test -c -tags cuda -ldflags="-s -w" -o "$out/gpu.test" .
mkdir -p "$out/cudart" "$out/testdata" "$out/ptx"
cp -r cudart/include "$out/cudart/"
cp testdata/* "$out/testdata/"
cp ../ptx/*.ptx "$out/ptx/"
cp run.sh "$out/"
du -sh "$out"
