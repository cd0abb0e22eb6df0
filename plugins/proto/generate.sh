#!/bin/sh
# Lints the protos and writes the Go code beside them. Needs go and npx. With "check" it writes nothing and fails where the code is not what the protos give, or
# where a proto breaks what branch main promised.
set -eu
cd "$(dirname "$0")/../.."
buf="npx --yes @bufbuild/buf@1.75.0"

programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
GOBIN="$programs" go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
GOBIN="$programs" go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2
PATH="$programs:$PATH"
export PATH

$buf lint
if [ "${1:-}" != check ]; then
  $buf generate
  exit 0
fi
if git rev-parse --verify --quiet main >/dev/null; then
  $buf breaking --against '.git#branch=main'
fi
$buf generate --output "$programs/out"
for file in plugins/proto/skua/catalog/v1/*.go; do
  cmp "$file" "$programs/out/$file"
done
