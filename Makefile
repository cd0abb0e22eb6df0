# Targets for people: run, build, test, bench, check, generate. `make help` lists them.
GO ?= go
BIN := bin
BINARIES := skua skua-catalog skua-conformance
export GOFLAGS := -buildvcs=false $(GOFLAGS)

.PHONY: help run build test race bench check generate clean doctor-tools

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: build ## build, make the demo warehouse if there is none, serve it, show three statements
	$(BIN)/skua serve --demo

build: doctor-tools ## build the binaries into bin/
	@mkdir -p $(BIN)
	@echo "building $(BINARIES) (the first build takes a few minutes)"
	$(GO) build -o $(BIN)/ $(addprefix ./cmd/,$(BINARIES))

test: build ## run the tests
	$(GO) vet ./...
	$(GO) test -timeout 20m ./...

race: doctor-tools ## run the tests of the concurrent packages with the race detector
	$(GO) test -race -short -timeout 30m ./fault ./session ./resource ./predicate ./storage/... ./catalogs/... ./plugins/... ./kernels/... ./scan/... ./engine/... ./flightsql ./server

bench: build ## measure Skua through Flight beside iceberg-go's own reader
	$(GO) run ./bench -skua $(BIN)/skua

check: doctor-tools ## formatting, generated files, lint
	@test -z "$$(gofmt -l . | tee /dev/stderr)" || { echo "gofmt -w the files above"; exit 1; }
	$(GO) vet ./...
	$(GO) test ./internal/lint

generate: ## write the generated files again (needs npx for buf)
	sh plugins/proto/generate.sh
	$(GO) test ./session -run Documentation -update
	$(GO) test ./internal/lint -run NoticeListsWhatIsLinked -update

clean: ## remove bin/ and the demo warehouse
	rm -rf $(BIN) demo-warehouse

doctor-tools:
	@command -v $(GO) >/dev/null || { echo "go is missing: install Go 1.26 or newer from https://go.dev/dl"; exit 1; }
	@$(GO) version | awk '{split(substr($$3,3),v,"."); if (v[1]<1 || (v[1]==1 && v[2]<26)) {print "Go 1.26 or newer is needed, found " $$3 "; install it from https://go.dev/dl"; exit 1}}'
	@command -v cc >/dev/null || command -v gcc >/dev/null || { echo "a C compiler is missing: install gcc or clang (Debian: apt-get install gcc g++)"; exit 1; }
