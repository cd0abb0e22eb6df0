# Targets for people: run, build, test, bench, check, generate. `make help` lists them.
GO ?= go
BIN := bin
BINARIES := skua skua-catalog skua-conformance
GPU_FLAGS := CGO_CFLAGS="-I$(CURDIR)/kernels/cuda/driver/cudart/include"
export GOFLAGS := -buildvcs=false $(GOFLAGS)

.PHONY: help run build build-gpu gpu-test gpu-deleted gpu-device test servers servers-docs chaos superset race bench bench-kernels check generate clean doctor-tools

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: build ## build, make the demo warehouse if there is none, serve it, show three statements
	$(BIN)/skua serve --demo

build: doctor-tools ## build the binaries into bin/
	@mkdir -p $(BIN)
	@echo "building $(BINARIES) (the first build takes a few minutes)"
	$(GO) build -o $(BIN)/ $(addprefix ./cmd/,$(BINARIES))

build-gpu: doctor-tools ## build bin/skua-gpu, which decodes on NVIDIA's GPUs where there are any; it needs no toolkit
	@mkdir -p $(BIN)
	$(GPU_FLAGS) $(GO) build -tags cuda -o $(BIN)/skua-gpu ./cmd/skua

test: build ## run the tests
	$(GO) vet ./...
	$(GO) test -timeout 20m ./...

servers: doctor-tools ## read a lake through real catalogs and stores, which it starts (see conformance/servers); SERVERS=hive4,s3 for some
	SKUA_SERVERS=$(or $(SERVERS),all) $(GO) test -count=1 -timeout 90m -v ./conformance/servers

servers-docs: doctor-tools ## the same, and write what passed into docs/catalogs.md
	SKUA_SERVERS=all SKUA_SERVERS_DOCS=1 $(GO) test -count=1 -timeout 90m -v ./conformance/servers -run TestMatrix

chaos: doctor-tools ## ten minutes of sixteen clients while plugins, connections, tokens and the store fail; MINUTES=60 SEED=7 for others
	SKUA_CHAOS_MINUTES=$(or $(MINUTES),10) SKUA_CHAOS_SEED=$(SEED) $(GO) test -count=1 -timeout 24h -v ./conformance/chaos

race: doctor-tools ## run the tests of the concurrent packages with the race detector
	$(GO) test -race -short -timeout 30m ./fault ./session ./resource ./predicate ./storage/... ./catalogs/... ./plugins/... ./kernels/... ./scan/... ./engine/... ./flightsql ./server

gpu-test: doctor-tools ## test the GPU parts at length, without a GPU: the stand-in for the driver, damaged pages, the host compiler
	$(GPU_FLAGS) $(GO) vet -tags cuda ./kernels/cuda/...
	$(GPU_FLAGS) $(GO) test -tags cuda ./kernels/cuda/driver
	$(GPU_FLAGS) $(GO) test -tags "cuda cudafake" ./kernels/cuda/driver ./conformance/inprocess -run "Binding|Broken|GPU"
	SKUA_GPU_PAGES=20000 $(GO) test -timeout 60m -count=1 ./kernels/cuda ./kernels/cuda/ptx
	sh kernels/cuda/ptx/hostcheck.sh

gpu-deleted: doctor-tools ## delete every barrier and bounds check of the GPU kernels in turn and see it caught (ten minutes; needs clang-16)
	SKUA_GPU_DELETE=1 $(GO) test -timeout 60m -count=1 -run EveryDeleted -v ./kernels/cuda

gpu-device: doctor-tools ## build bin/gpu-check, a folder to carry to a machine with a GPU; run.sh in it takes under three minutes
	$(GPU_FLAGS) sh kernels/cuda/driver/carry.sh $(BIN)/gpu-check

bench: build ## measure Skua in process and through Flight beside iceberg-go's and arrow-go's readers; BENCH="-rows 4000000 -rounds 5" for more
	$(GO) build -o $(BIN)/skua-local ./bench/local
	$(GO) run ./bench -skua $(BIN)/skua -local $(BIN)/skua-local $(BENCH)

bench-kernels: doctor-tools ## measure the decoder encoding by encoding, and sending alone
	$(GO) test ./kernels/cpu ./scan/parquet -run - -bench . -benchtime 1s
	$(GO) test ./flightsql -run - -bench Send -benchtime 3x

conformance: doctor-tools ## run the whole conformance matrix in process, and every recorded answer; results go to bin/conformance
	@mkdir -p $(BIN)/conformance
	SKUA_CONFORMANCE=full SKUA_CONFORMANCE_OUT=$(CURDIR)/$(BIN)/conformance $(GO) test -count=1 -timeout 2h -v -run "Matrix|Oracle|Planted|Fixtures" ./conformance/inprocess

conformance-gpu: doctor-tools ## the same with a stand-in for a GPU, which runs the kernels on the CPU
	$(GPU_FLAGS) SKUA_CONFORMANCE=full $(GO) test -tags "cuda cudafake" -count=1 -timeout 60m -v -run MatrixOnTheGPU ./conformance/inprocess

conformance-clients: build ## run the scripts through ADBC from Python and from Go and Arrow's JDBC driver (needs Python with adbc-driver-flightsql and pyarrow, Java 17, Maven)
	cd conformance/outside/adbcgo && $(GO) build -o $(CURDIR)/$(BIN)/adbc-go .
	cd conformance/outside && mvn -q package -DoutputDirectory=$(CURDIR)/$(BIN)/jdbc
	SKUA_CLIENTS=$(CURDIR)/$(BIN) $(GO) test -count=1 -timeout 30m -v -run OtherClients ./conformance/inprocess

superset: build ## use Superset on Skua in headless Chromium and take pictures (needs Python 3.10 or 3.11 and Chromium; see conformance/superset)
	$(or $(PYTHON),python3) conformance/superset/run.py --bin $(BIN) --work $(BIN)/superset $(KEEP)

check: doctor-tools ## formatting, generated files, lint
	@test -z "$$(gofmt -l . | tee /dev/stderr)" || { echo "gofmt -w the files above"; exit 1; }
	$(GO) vet ./...
	$(GO) test ./internal/lint

generate: ## write the generated files again (needs npx for buf)
	sh plugins/proto/generate.sh
	$(GO) test ./session -run OptionsPage -update
	$(GO) test ./internal/lint -run NoticeListsWhatIsLinked -update

clean: ## remove bin/ and the demo warehouse
	rm -rf $(BIN) demo-warehouse

doctor-tools:
	@command -v $(GO) >/dev/null || { echo "go is missing: install Go 1.26 or newer from https://go.dev/dl"; exit 1; }
	@$(GO) version | awk '{split(substr($$3,3),v,"."); if (v[1]<1 || (v[1]==1 && v[2]<26)) {print "Go 1.26 or newer is needed, found " $$3 "; install it from https://go.dev/dl"; exit 1}}'
	@command -v cc >/dev/null || command -v gcc >/dev/null || { echo "a C compiler is missing: install gcc or clang (Debian: apt-get install gcc g++)"; exit 1; }
