SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules
# Each Go command uses all processors itself, and the tests come last.
.NOTPARALLEL:

modules := . cluster e2e cluster/e2e
# Build tags that leave parts of libraries out of the binary; see docs/dependencies.md.
tags := $(shell cat .ci/tags)
# One for each system, since the code has no files for a processor, and one with 32 bits. make release-check builds all.
platforms := linux/arm64 linux/arm darwin/arm64 windows/amd64
# The duration of fuzzing for each target, as -fuzztime.
FUZZTIME ?= 10m
# Further arguments of make bench, such as -rounds 1.
BENCH_ARGS ?=
# The version of the script that draws the docs page.
SCALAR_VERSION ?= $(shell cat internal/apidocs/scalar/VERSION)
# Further arguments of make image, such as --build-arg=GO_IMAGE=...
IMAGE_ARGS ?=

# Each tool carries its version in its name, so that a new version is installed.
golangci_lint := $(CURDIR)/.tools/golangci-lint-v2.15.0
gofumpt := $(CURDIR)/.tools/gofumpt-v0.12.0
goreleaser := $(CURDIR)/.tools/goreleaser-v2.16.0
# goreleaser requires this name.
syft := $(CURDIR)/.tools/syft

# The toolchain stamps the version from git, which fails before the first commit.
ifeq ($(shell git rev-parse --verify --quiet HEAD 2>/dev/null),)
export GOFLAGS += -buildvcs=false
endif

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build the static binary bin/plantstore
	CGO_ENABLED=0 go build -tags $(tags) -trimpath -ldflags '-s -w' -o bin/plantstore$(shell go env GOEXE) .

.PHONY: cluster
cluster: ## build the static binary bin/plantstore-cluster, for several machines
	CGO_ENABLED=0 go build -C cluster -tags $(tags) -trimpath -ldflags '-s -w' -o ../bin/plantstore-cluster$(shell go env GOEXE) .

.PHONY: quick
quick: $(gofumpt) ## format, vet and test the packages that differ from main, in about 20 s
	.ci/quick $(gofumpt)

.PHONY: check
check: lint cross tidy test-all ## lint, build for other systems and run all tests, like CI without fuzz and vuln

# The program for end-to-end tests, which would build it themselves, but silently, and within their timeout.
.PHONY: program
program:
	@echo 'Building the program. The first time, this takes a few minutes.'
	go build -tags $(tags) -trimpath -ldflags '-s -w' -o bin/e2e/plantstore .

.PHONY: test
test: program ## run the unit tests and scripts against the real program, in about two minutes; needs Go, git and make
	cd e2e && go test -vet=off -tags $(tags) -count=1 -timeout 20m -run '^TestScripts$$' ./scripts
	cd cluster && go test -vet=off -tags $(tags) -timeout 20m ./...
	go test -vet=off -tags $(tags) -timeout 20m ./...

.PHONY: test-all
test-all: tools program ## run all tests, with the race detector; on Debian, installs missing packages as root
	cd e2e && go test -vet=off -p 3 -tags $(tags) -count=1 -timeout 20m ./...
	cd cluster/e2e && go test -vet=off -parallel 4 -tags $(tags) -count=1 -timeout 20m ./...
	cd cluster && go test -vet=off -race -tags $(tags) ./...
	go test -vet=off -race -tags $(tags) ./...

.PHONY: torture
torture: tools ## run the fault tests in their long form, for three to four hours
	TORTURE=1 go test -race -tags $(tags) -count=1 -timeout 2h -run '^TestRace$$' -v ./storage/bbolt
	@for run in "e2e ./crash ./durability ./overload" "cluster/e2e ."; do (set -x; cd $${run%% *}; \
		TORTURE=1 go test -tags $(tags) -count=1 -timeout 3h -p 1 -v $${run#* } | grep -vE '^ *(=== |--- PASS: .*/)'); \
	done

.PHONY: fuzz
fuzz: ## fuzz each target for FUZZTIME (default: 10m)
	.ci/fuzz $(FUZZTIME)

.PHONY: bench
bench: ## measure the speed and write docs/benchmarks.md; BENCH_ARGS=-help lists the arguments
	cd e2e && go run -tags $(tags) ./bench $(BENCH_ARGS)

.PHONY: lint
lint: $(golangci_lint) $(gofumpt) ## check the format of all modules, and vet and lint them
	@unformatted=$$($(gofumpt) -l .); test -z "$$unformatted" || { echo "not formatted by gofumpt: $$unformatted" >&2; exit 1; }
	@for module in $(modules); do (set -x; cd $$module; $(golangci_lint) run --build-tags $(tags) ./...); done

.PHONY: cross
cross: ## build for other systems
	@for platform in $(platforms); do for module in . cluster; do \
		(set -x; CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/} go build -C $$module -tags $(tags) -trimpath -o /dev/null .); \
	done; done

.PHONY: vuln
vuln: ## check the linked code for known vulnerabilities, if their database is reachable
	.ci/vuln v1.3.0

.PHONY: tidy
tidy: ## check that go.mod and go.sum of all modules are tidy
	@for module in $(modules) cluster/e2e/etcd e2e/pebble; do (set -x; cd $$module; go mod tidy -diff); done

.PHONY: generate
generate: ## rewrite the golden files and the generated documents
	go test -tags $(tags) -count=1 -vet=off -run '^TestGenerated' \
		$$(grep -rlE --include='*_test.go' 'must\.Generate(Part)?\(' . | xargs -n1 dirname | sort -u) -update

.PHONY: update-docs-ui
update-docs-ui: ## download the script of the docs page, in SCALAR_VERSION
	.ci/update-docs-ui $(SCALAR_VERSION)

.PHONY: image
image: ## build the container image with buildah; IMAGE_ARGS adds arguments
	buildah build --format=docker --tag=plantstore $(IMAGE_ARGS) .

.PHONY: cluster-image
cluster-image: ## build the container image of plantstore-cluster
	buildah build --format=docker --tag=plantstore-cluster --build-arg=MODULE=cluster $(IMAGE_ARGS) .

.PHONY: completions
completions: ## write shell completions into bin/completions
	mkdir -p bin/completions
	go run -tags $(tags) . completion bash >bin/completions/plantstore.bash
	go run -tags $(tags) . completion zsh >bin/completions/_plantstore
	go run -tags $(tags) . completion fish >bin/completions/plantstore.fish

.PHONY: licences
licences: ## write the licenses of all linked modules into bin/LICENCES and bin/cluster/LICENCES
	mkdir -p bin/cluster
	.ci/licences . >bin/LICENCES
	.ci/licences cluster >bin/cluster/LICENCES

.PHONY: release-check
release-check: $(goreleaser) $(syft) ## build a release in dist, without a tag
	PATH=$(CURDIR)/.tools:$$PATH $(goreleaser) check
	PATH=$(CURDIR)/.tools:$$PATH $(goreleaser) release --snapshot --clean

.PHONY: release
release: $(goreleaser) $(syft) ## build a release of the checked-out tag, and publish it as a draft
	PATH=$(CURDIR)/.tools:$$PATH $(goreleaser) release --clean

.PHONY: rename
rename: ## give the module a path: make rename MODULE=github.com/you/plantstore
	.ci/rename '$(MODULE)'

.PHONY: tools
tools: ## install the tools that tests need
	.ci/tools

$(golangci_lint):
	GOBIN=$(@D) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
	mv $(@D)/golangci-lint $@

$(gofumpt):
	GOBIN=$(@D) go install mvdan.cc/gofumpt@v0.12.0
	mv $(@D)/gofumpt $@

$(goreleaser):
	GOBIN=$(@D) go install github.com/goreleaser/goreleaser/v2@v2.16.0
	mv $(@D)/goreleaser $@

$(syft):
	GOBIN=$(@D) go install github.com/anchore/syft/cmd/syft@v1.54.1

.PHONY: clean
clean: ## remove built files and installed tools
	rm -rf bin dist .bench-* .tools e2e/node/node_modules
