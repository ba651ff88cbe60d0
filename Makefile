# Heddle's one door to building, checking and showing. `make` lists the targets.

SHELL         := bash
.SHELLFLAGS   := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS     += --no-builtin-rules --no-print-directory

BIN     := $(CURDIR)/bin
MODULES := . tools devserver

# One way to compile for everything but the race detector, so that each package
# is compiled once: for the dev server's thousands that is minutes.
export CGO_ENABLED := 0

# The Temporal server that tests, benchmarks and the demo run on, unless the
# environment names another one. devserver/build.sh builds it, or links to a
# `temporal` on the PATH.
BUILT_DEVSERVER  := $(BIN)/temporal-devserver
HEDDLE_DEVSERVER ?= $(BUILT_DEVSERVER)
export HEDDLE_DEVSERVER

say = @printf '\033[1m▸ %s\033[0m\n' "$(1)"

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  \033[1m%-12s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# ---- Run ----------------------------------------------------------------

.PHONY: demo
demo: devserver ## Run the support agent on an embedded Temporal (DEMO_YES=1 approves by itself)
	$(call say,demo: building)
	@go build -o $(BIN)/support-demo ./examples/support/demo
	@$(BIN)/support-demo

.PHONY: demo-openapi
demo-openapi: devserver ## Let an agent assign reviewers to pull requests, by an OpenAPI specification
	$(call say,demo-openapi: building)
	@go build -o $(BIN)/triage-demo ./examples/github-triage/demo
	@$(BIN)/triage-demo

.PHONY: build
build: ## Build bin/worker and bin/starter, static
	$(call say,build: bin/worker bin/starter)
	@go build -o $(BIN)/ ./cmd/worker ./cmd/starter

.PHONY: devserver
devserver: ## Build bin/temporal-devserver, the Temporal server of tests and demo
	@if [[ $(HEDDLE_DEVSERVER) == $(BUILT_DEVSERVER) ]]; then devserver/build.sh $(BUILT_DEVSERVER); fi

# ---- Check --------------------------------------------------------------

.PHONY: test
test: test-go test-devserver ## Run all tests, race detector on, on a real Temporal server

# The tests of the wire contract from another language, and of the TypeScript that
# tools are rendered to, need npm; where there is none they are left out, and said so.
ifneq ($(shell command -v npm),)
NODE_MODULES := $(patsubst %,%/node_modules/.package-lock.json,test/node test/mcp codemode/typescript/testdata/node)
test-go: export HEDDLE_TEST_NODE := required
endif

# What kills workers and servers runs by itself: beside other packages their deadlines
# would measure the machine.
.PHONY: test-go
test-go: devserver $(NODE_MODULES)
	$(call say,test: Go$(if $(NODE_MODULES),, (without npm: no backend in Node, no TypeScript compiler)))
	@export CGO_ENABLED=1; failed=0; \
	go test -race -shuffle=on -timeout 70m $$(go list ./... | grep -v /heddle/test/) || failed=1; \
	go test -race -shuffle=on -timeout 70m -p 1 ./test/... || failed=1; \
	exit $$failed

.PHONY: test-devserver
test-devserver: devserver
	$(call say,test: dev server)
	@cd devserver && go test -timeout 10m ./...

.PHONY: test-node
test-node: devserver $(NODE_MODULES) ## Test the wire contract with a backend in Node
	$(call say,test: a backend in Node)
	@cd test/node && npm test

$(NODE_MODULES): %/node_modules/.package-lock.json: %/package-lock.json %/package.json
	$(call say,test: installing what $* needs)
	@cd $* && npm ci --no-audit --no-fund

# The conformance suite of the Model Context Protocol wants Node 22; where there is an
# older one, npm has it. See docs/mcp-conformance.md.
.PHONY: conformance
conformance: test/mcp/node_modules/.package-lock.json ## Run the conformance suite of the Model Context Protocol
	$(call say,conformance)
	@go build -o $(BIN)/mcp-conformance ./test/mcp/conformance
	@test/mcp/conformance.sh $(BIN)/mcp-conformance

.PHONY: replay
replay: ## Replay the recorded histories: old threads must live on
	$(call say,replay)
	@go test -count=1 -v -run Replay ./workflows

.PHONY: lint
lint: lint-format lint-modules lint-vet lint-workflows lint-static ## Check format, modules, vet, determinism of workflows, staticcheck

.PHONY: lint-format
lint-format: $(BIN)/gofumpt
	$(call say,lint: gofumpt)
	@unformatted=$$(find . -name '*.go' -not -path '*/node_modules/*' -print0 | xargs -0 $(BIN)/gofumpt -l); \
	if [[ -n $$unformatted ]]; then printf 'not formatted, run make fmt:\n%s\n' "$$unformatted" >&2; exit 1; fi

.PHONY: lint-modules
lint-modules:
	$(call say,lint: go mod tidy)
	@for module in $(MODULES); do (cd $$module && go mod tidy -diff) || { echo "$$module/go.mod is not tidy, run make tidy" >&2; exit 1; }; done

.PHONY: lint-vet
lint-vet: devserver
	$(call say,lint: go vet)
	@go vet ./...
	@cd devserver && go vet ./...

# A workflow is replayed, so its code may do only what replays the same. The go
# command caches what a vet tool finds and looks at the name of its configuration
# but not at the content: hence a name made from the content.
.PHONY: lint-workflows
lint-workflows: $(BIN)/workflowcheck
	$(call say,lint: workflowcheck)
	@config=$(BIN)/workflowcheck-$$(cksum < workflowcheck.config.yaml | cut -d ' ' -f 1).yaml; \
	cp workflowcheck.config.yaml $$config; \
	go vet -vettool=$(BIN)/workflowcheck -config=$$config ./workflows/...

# Not of the dev server: staticcheck would go through all of Temporal first.
.PHONY: lint-static
lint-static: $(BIN)/staticcheck
	$(call say,lint: staticcheck)
	@$(BIN)/staticcheck ./...

.PHONY: bench
bench: devserver ## Measure against baselines of the same run; writes bench/results.json
	$(call say,bench)
	@go run ./bench/run -o bench/results.json

# MINUTES, THREADS, PACE and SEED are its flags; what it drew without a SEED it prints.
CHAOS_FLAGS = $(if $(MINUTES),-minutes $(MINUTES)) $(if $(THREADS),-threads $(THREADS)) $(if $(PACE),-pace $(PACE)) $(if $(SEED),-seed $(SEED))

.PHONY: chaos
chaos: devserver ## Kill workers, server and target while threads write, and count (MINUTES, THREADS, PACE, SEED)
	$(call say,chaos)
	@go build -o $(BIN)/chaos ./test/chaos
	@$(BIN)/chaos $(CHAOS_FLAGS)

.PHONY: chaos-naive
chaos-naive: devserver ## Show that the same bench finds doubled effects where writes are simply retried
	$(call say,chaos: with writes that are simply retried)
	@go build -tags naive -o $(BIN)/chaos-naive ./test/chaos
	@if found=$$($(BIN)/chaos-naive $(CHAOS_FLAGS)); then echo "found nothing: $$found" >&2; exit 1; fi; \
	echo "$$found"; grep -q '"doubled":[1-9]' <<< "$$found"

# ---- Keep ---------------------------------------------------------------

.PHONY: fmt
fmt: $(BIN)/gofumpt ## Format all Go files
	@find . -name '*.go' -not -path '*/node_modules/*' -print0 | xargs -0 $(BIN)/gofumpt -w

.PHONY: tidy
tidy: ## Tidy the modules
	@for module in $(MODULES); do (cd $$module && go mod tidy); done

.PHONY: clean
clean: ## Remove what was built
	@rm -rf $(BIN) $(dir $(NODE_MODULES)) bench/results.json

# ---- Tools --------------------------------------------------------------
# Pinned in tools/go.mod, so that they never touch what the product depends on.

.PHONY: tools
tools: $(BIN)/gofumpt $(BIN)/workflowcheck $(BIN)/staticcheck ## Build the tools that lint needs

$(BIN)/gofumpt: TOOL := mvdan.cc/gofumpt
$(BIN)/workflowcheck: TOOL := go.temporal.io/sdk/contrib/tools/workflowcheck
$(BIN)/staticcheck: TOOL := honnef.co/go/tools/cmd/staticcheck

$(BIN)/gofumpt $(BIN)/workflowcheck $(BIN)/staticcheck: tools/go.mod tools/go.sum
	$(call say,tools: building $(@F))
	@cd tools && go build -o $@ $(TOOL)
	@touch $@
