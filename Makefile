# One command for each task. `make` alone prints the targets, under the headings that begin with ##@.
#
# Each target installs what it needs, so that every target can be the first one on a bare machine:
# scripts/build.sh installs the packages of the groups it is given, and no others, before it builds.

CODE := $(shell git ls-files -co --exclude-standard -- '*.cc' '*.h' 2>/dev/null)
MYSQL_ROOT ?= $(HOME)/.cache/tenure/mysql-root
PEERS ?= $(HOME)/.cache/tenure/peers
PROMETHEUS ?= $(HOME)/.cache/tenure/prometheus
TOOLS ?= $(HOME)/.cache/tenure/bin
IMAGES ?= $(HOME)/.cache/tenure/images
ROOTS ?= $(HOME)/.cache/tenure/roots
IMAGE ?= tenure:$(shell awk '/^project/ { print $$3 }' CMakeLists.txt)
GRPC ?= $(HOME)/.cache/tenure/grpc
GALERA ?= $(HOME)/.cache/tenure/galera
PREFIX ?= /usr/local
# Tenure on MySQL is measured by root only: MySQL runs under chroot.
BENCH_MYSQL = $(if $(filter 0,$(shell id -u)),--mysql $(MYSQL_ROOT))
BUILD_BENCH = @scripts/build.sh --with test --with bench --with pictures tenured tenure-bench

export GRPC
# Applications that link the library have the system's gRPC.
BUILD_LIBRARY = @GRPC=/usr scripts/build.sh --preset library

.DEFAULT_GOAL := help
.PHONY: help build grpc install run demo demo-fencing test test-unit sim test-engines test-upgrade test-clusters cluster-contract \
	test-guarded-set test-hostile test-admin-storm fuzz test-run test-bare test-stubs test-clients dist-clients test-helm test-image test-package \
	test-compose test-docs test-monitoring bad-days bad-days-mistakes chaos chaos-mistakes soak mutants test-sanitizers \
	image package pictures bench bench-scale bench-overload bench-figure bench-homegrown check check-locks check-style check-proto model fix clean

##@ Run

help: ## Print this help
	@echo "Tenure: leader election as a service, on the SQL database that you already run."
	@awk -F ':.*## ' '/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build build/bin/tenured and build/bin/tenure (release)
	@scripts/build.sh tenured tenure

grpc: ## Build gRPC 1.56.2, which every build takes from then on (a quarter of an hour, once)
	@scripts/install-grpc.sh $(GRPC)

run: build ## Build, and serve on 127.0.0.1:7070 with the embedded store
	@scripts/run.sh

demo: build ## An election in one terminal: three candidates, and a leader that is killed
	@scripts/demo.sh

demo-fencing: ## A paused leader writes too late, with the fence and without
	@scripts/build.sh --with mariadb tenured tenure
	@scripts/demo-fencing.sh

clean: ## Remove the build folder
	@rm -rf build

##@ Test

test: ## Build and run every test, including those on a private MariaDB (WITHOUT=unit: without that label)
	@scripts/build.sh --with test all
	$(BUILD_LIBRARY) tenure_package
	@scripts/test.sh $(if $(WITHOUT),--label-exclude '^($(WITHOUT))$$')

test-unit: ## Build and run the tests that need no server, 400 simulated seeds among them
	@scripts/build.sh --with test unit_tests
	@scripts/test.sh --label-regex '^(unit|sim)$$'

sim: ## Simulate SEEDS=200 runs with faults, or trace a single one: SEED=7
	@scripts/build.sh --with test sim
	@build/bin/sim $(if $(SEED),--seed $(SEED) --trace,--seeds $(or $(SEEDS),200) --from $(or $(FROM),1))

test-engines: ## Run the storage tests on MySQL 9.7 (needs root)
	@scripts/build.sh --with test --with engines \
		store_contract_test admin_contract_test login_contract_test sql_surface_test rpc_test
	@scripts/install-mysql.sh $(MYSQL_ROOT)
	@scripts/test-engines.sh $(MYSQL_ROOT)

test-upgrade: ## Upgrade replicas from a version that may not serve beside this one, under load
	@scripts/build.sh --with test library_test
	@scripts/test-upgrade.sh

test-clusters: ## Fail the servers of database clusters, FAILOVERS=1 time in each way under load, or 0 (needs root)
	@scripts/build.sh --with test --with engines --with clusters clusters_test
	@scripts/install-mysql.sh $(MYSQL_ROOT)
	@scripts/install-galera.sh $(GALERA)
	@scripts/test-clusters.sh $(MYSQL_ROOT) $(GALERA) $(or $(FAILOVERS),1)

cluster-contract: ## Run the storage tests on a server of each database cluster (needs root)
	@scripts/build.sh --with test --with engines --with clusters clusters_contract_test
	@scripts/install-mysql.sh $(MYSQL_ROOT)
	@scripts/install-galera.sh $(GALERA)
	@scripts/test-clusters.sh $(MYSQL_ROOT) $(GALERA) contract

test-guarded-set: ## Pause leaders during INSERTS=10000, with the fence and without; count lost writes
	@scripts/build.sh --with test guarded_set
	@build/bin/guarded_set --inserts $(or $(INSERTS),10000) --seed $(or $(SEED),1)
	@build/bin/guarded_set --inserts $(or $(INSERTS),10000) --seed $(or $(SEED),1) --no-fence

test-hostile: ## Attack a replica in every way that was found, and then in all ways for SECONDS=1800 (SEED=7)
	@scripts/build.sh --with test tenured hostile_test
	@TENURE_TEST_SECONDS=$(or $(SECONDS),1800) $(if $(SEED),TENURE_TEST_SEED=$(SEED)) scripts/test.sh \
		--label-regex '^hostile$$' --timeout 4000 --verbose

test-admin-storm: ## Operators and candidates act all at once for SECONDS=60 (SEED=7)
	@scripts/build.sh --with test admin_storm_test
	@TENURE_TEST_SECONDS=$(or $(SECONDS),60) $(if $(SEED),TENURE_TEST_SEED=$(SEED)) build/bin/admin_storm_test

fuzz: ## Look for bytes that break the law, a parser or a port, for SECONDS=60 each (TARGET=law: only that one)
	@scripts/build.sh --preset fuzz --with fuzz $(if $(TARGET),fuzz_$(TARGET),fuzz_targets)
	@scripts/fuzz.sh $(or $(SECONDS),60) $(TARGET)

test-run: ## A new user's first minutes on this machine: make run, a campaign, and one suite
	@scripts/first-minutes.sh

test-bare: ## A new user's first minutes in a bare Debian, SUITE=bookworm (FIRST=demo: only that target)
	@scripts/test-bare.sh $(ROOTS) $(or $(SUITE),bookworm) $(FIRST)

chaos: ## Break everything around 200 candidates for SECONDS=600 (SEED=7, DATABASES=galera or group), and check what they saw
	@scripts/build.sh --with test tenured chaos
	@scripts/chaos.sh $(or $(DATABASES),mariadb) $(MYSQL_ROOT) $(GALERA) --seconds $(or $(SECONDS),600) --seed $(or $(SEED),1)

soak: ## Steady work with a fault in each minute for HOURS=1, which must not need more in the end
	@scripts/build.sh --with test tenured chaos
	@scripts/chaos.sh mariadb $(MYSQL_ROOT) $(GALERA) --soak --seconds $$(awk 'BEGIN { print int(3600 * $(or $(HOURS),1)) }') --seed $(or $(SEED),1)

chaos-mistakes: ## Plant mistakes in tenured, and let chaos see each within SECONDS=120
	@scripts/build.sh --with test chaos
	@scripts/chaos-mistakes.sh --seconds $(or $(SECONDS),120)

mutants: ## Plant MOST=40 mistakes in each of FILES=core/law/law.cc, and say which ones no test notices (SEED=7)
	@scripts/mutants.sh --most $(or $(MOST),40) --seed $(or $(SEED),1) $(or $(FILES),core/law/law.cc)

test-sanitizers: ## Build and test under the address, undefined-behaviour and thread sanitizers (SANITIZER=tsan: only that)
	@scripts/test-sanitizers.sh $(SANITIZER)

test-stubs: ## A client from generated stubs, in Rust, contends with itself, and each leader is killed
	@scripts/build.sh --with test stubs_test
	@scripts/test-stubs.sh

test-clients: dist-clients ## Test the client libraries, and install what is packed into empty projects (LANGUAGES="go python")
	@scripts/build.sh --with test tenured tenure
	@scripts/clients.sh test $(LANGUAGES)

bad-days: ## Candidates of all client libraries live through ROUNDS=2 of bad days each (LANGUAGES="go python run")
	@scripts/build.sh --with test bad_days
	@scripts/bad-days.sh $(or $(ROUNDS),2) $(LANGUAGES)

bad-days-mistakes: ## Plant a mistake in each client library, which bad days have to see
	@scripts/build.sh --with test bad_days
	@scripts/bad-days.sh mistakes $(LANGUAGES)

test-helm: ## Lint, render and test the Helm chart
	@scripts/install-helm.sh $(TOOLS)
	@cd tests/helm && PATH=$(TOOLS):$$PATH go test -count=1 ./...

test-monitoring: ## Kill a leader, and check every alert, dashboard and runbook against Prometheus
	@scripts/build.sh --with test --with monitoring alerts_test monitoring_test
	@scripts/install-prometheus.sh $(PROMETHEUS)
	@scripts/test-monitoring.sh $(PROMETHEUS)

pictures: ## Kill leaders for two minutes, and redraw docs/dashboards
	@scripts/build.sh --with test --with pictures monitoring_test
	@scripts/install-prometheus.sh $(PROMETHEUS)
	@scripts/render-dashboards.sh $(PROMETHEUS)

test-image: image ## Build the container image, inspect it, and elect a leader with it
	@scripts/build.sh --with test image_test
	@scripts/check-sbom.sh build/tenure-image.spdx.json
	@scripts/test-image.sh $(IMAGES) $(IMAGE)

test-package: package ## Install the Debian packages on a bare Debian, and use them there (needs root)
	@scripts/check-sbom.sh build/packaging/*.spdx.json
	@scripts/test-package.sh $(ROOTS)

test-compose: ## Check compose.yaml against the Compose specification and its own promises
	@scripts/install-go.sh
	@cd tests/compose && go test -count=1 ./...

test-docs: ## Run the shell, SQL, YAML and C++ blocks of every page (needs root)
	@scripts/build.sh --with docs tenured tenure
	$(BUILD_LIBRARY) tenure_package
	@tests/docs/run_test.py
	@tests/docs/run.py

##@ Benchmarks

bench: ## Compare with etcd and ZooKeeper, about fifteen minutes (QUICK=1: three minutes)
	$(BUILD_BENCH)
	@scripts/install-peers.sh $(PEERS)
	$(if $(BENCH_MYSQL),@scripts/install-deps.sh engines && scripts/install-mysql.sh $(MYSQL_ROOT))
	@scripts/bench.sh $(PEERS) $(BENCH_MYSQL) $(if $(QUICK),--quick)

bench-scale: ## Load one replica with 10,000 waiters and 100,000 sessions (QUICK=1: a tenth)
	$(BUILD_BENCH)
	@scripts/bench.sh $(PEERS) scale $(if $(QUICK),--quick)

bench-overload: ## Send ten times more calls than one replica can answer; leaders must keep seats
	$(BUILD_BENCH)
	@scripts/bench.sh $(PEERS) overload $(if $(QUICK),--quick)

bench-figure: ## Crash leaders with 100 to 10,000 candidates waiting, beside etcd and ZooKeeper
	$(BUILD_BENCH)
	@scripts/install-peers.sh $(PEERS)
	@scripts/bench.sh $(PEERS) figure $(if $(QUICK),--quick)

bench-homegrown: ## Measure Tenure beside election schemes that teams write in SQL, on one MariaDB
	$(BUILD_BENCH)
	@scripts/bench.sh $(PEERS) homegrown $(if $(QUICK),--quick)

##@ Checks

check: check-style ## Check the code without running it: style, clang-tidy, and clang's analysis of locks
	@scripts/build.sh --with check tenure_proto tenure_proto_replicas tenure_rich_error grpc_services_proto
	@scripts/check-clang.sh

check-locks: ## Check with clang that what a mutex guards is used under its lock only
	@scripts/build.sh --with check tenure_proto tenure_proto_replicas tenure_rich_error grpc_services_proto
	@scripts/check-clang.sh --locks

check-style: ## Check the style of code and prose, rooms and bounds, links, versions, and that CI runs every target
	@scripts/install-deps.sh check
	@scripts/check-version.sh
	@scripts/check-targets.sh
	@tests/ci/parts_test.py
	@clang-format --dry-run --Werror $(CODE)
	@scripts/check-house.py
	@scripts/check-prose.py
	@scripts/check-links.sh

check-proto: ## Lint the contract with buf, and generate stubs into build/stubs
	@scripts/install-deps.sh build
	@command -v npm >/dev/null || scripts/install-deps.sh proto
	@scripts/check-proto.sh

model: ## Check the models of homes, lost commits and the hand-over with Spin, and show what each weakened rule breaks
	@scripts/install-deps.sh model
	@scripts/check-model.py

fix: ## Reformat the code
	@scripts/install-deps.sh check
	@clang-format -i $(CODE)

##@ Packaging

install: ## Install both programs and the C++ library under PREFIX=/usr/local
	@scripts/build.sh tenured tenure
	$(BUILD_LIBRARY) tenure_package
	@scripts/install.sh $(PREFIX)

image: ## Build the container image without a daemon, into build/tenure-image.tar
	@scripts/install-deps.sh image
	@scripts/build-image.sh $(IMAGES) $(IMAGE)

dist-clients: ## Pack the client libraries into dist/ (LANGUAGES="go python")
	@scripts/clients.sh pack $(LANGUAGES)

package: grpc ## Build the Debian packages of the server, the tool and the C++ library, into build/packages
	@scripts/build.sh --with package tenured tenure tenure_manual
	$(BUILD_LIBRARY) --with package tenure_package
	@scripts/package.sh
