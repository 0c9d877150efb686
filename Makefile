# Two commands matter: `make demo` and `make test`. Both set up what they need, and are quick the second time.
PYTHON ?= $(shell command -v python3.11 || echo python3)
VENV := .venv
BIN := $(VENV)/bin
# Where this is set, every process compiles all that it imports, which takes longer than the import.
unexport PYTHONDONTWRITEBYTECODE
# Programs that tests use, and the Debian package where that has another name. In CI none may be
# missing.
TOOLS := curl dockerd gcc ip nginx openssl redis-server slowhttptest valgrind wrk
PACKAGE_dockerd := docker.io
PACKAGE_ip := iproute2
# Tests run in so many processes. More than there are cores: most of them wait for something.
JOBS ?= 4
# Tests of what is compiled.
COMPILED := tests/balancer tests/laws tests/select
# Branch coverage: one file for each process, in a folder that starts empty.
COVERAGE := .coverage-data
TRACED := rm -rf $(COVERAGE) && mkdir $(COVERAGE) && STEELYARD_PURE=1 $(BIN)/coverage run -m pytest
COVERAGE_TABLE := $(BIN)/coverage combine --quiet && $(BIN)/coverage json --quiet -o $(COVERAGE)/report.json \
	&& $(BIN)/python -m tools.coverage_table $(COVERAGE)/report.json
# The experiments of the lab, in the order of docs/lab.md.
LAB := validate efficiency timeseries makespan scaling compare
# How many examples `make fuzz` tries for each of its tests.
EXAMPLES ?= 20000

.PHONY: help setup build tools demo test suite test-beside-docker test-pythons compose-test coverage fuzz check docs lab lab-traces bench-balancer bench-tail soak swarm-chaos bench-select mesh-chaos mesh-crowd mesh-pool clean

help:
	@echo "make demo   start the demo on http://127.0.0.1:8080"
	@echo "make test   run make check, then every test; JOBS=$(JOBS) processes"
	@echo "make test-pythons   every test on every Python that is found, from 3.11 on"
	@echo "make test-beside-docker   every test beside a Docker engine of the host (ARGS='-k swarm'); as root"
	@echo "make compose-test   build the image, bring compose.yaml up, kill its parts in turn"
	@echo "make coverage   branch coverage of every package; the tests take twice as long"
	@echo "make fuzz   try many new examples on the HTTP grammar; EXAMPLES=$(EXAMPLES)"
	@echo "make check  format, lint, types, architecture, generated docs"
	@echo "make docs   write the generated documents anew"
	@echo "make setup  only create $(VENV)"
	@echo "make build  compile the hot path, where there is a C compiler"
	@echo "make bench-balancer, bench-tail   measure against other proxies (ARGS='--rounds 5')"
	@echo "make bench-select   what a pick costs, from 8 to 100,000 members"
	@echo "make lab    run every experiment of the lab, and write docs/lab.md anew"
	@echo "make swarm-chaos   a swarm of three nodes loses one under load"
	@echo "make mesh-chaos  cut links between hosts of a mesh, and measure how it heals; as root"
	@echo "make mesh-pool   what a unit costs in a pool of children, and what a crash does"
	@echo "make mesh-crowd  100 nodes on this machine: memory, links, and a job (ARGS='--nodes 30')"
	@echo "make lab-traces TRACES=FILE   the policies on traffic of your own"
	@echo "make soak   a minute of load while workers are killed, added, drained and removed"

setup: $(VENV)/.ready
build: $(VENV)/.built

# Setting up does not compile: that is `make build`.
# uv installs the whole set in seconds; pip, which needs most of a minute, is the fall-back.
$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "steelyard needs Python 3.11 or newer; set PYTHON=/path/to/python"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "$(PYTHON) has no venv module; on Debian: apt-get install python3-venv"; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv 2>/dev/null || true
	@if [ -x $(BIN)/uv ]; then \
		STEELYARD_PURE=1 $(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable '.[dev]'; \
	else \
		STEELYARD_PURE=1 $(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'; \
	fi
	@touch $@

# Removes the extension modules of sources that were moved or deleted.
# Stays pure, and says so, where there is no compiler; in CI that is an error.
$(VENV)/.built: $(VENV)/.ready setup.py $(shell find src -name '*.pxd' -o -name '*.pyx' -o -path '*/steelyard/balancer/*.py' -o -path '*/steelyard/select/*.py')
	@find src -name '*.so' -exec sh -c 'for built; do [ -e "$${built%%.*}.pxd" ] || rm "$$built"; done' sh {} +
	@STEELYARD_PURE=$(if $(filter true,$(CI)),0) $(BIN)/python setup.py --quiet build_ext --inplace
	@touch $@

demo: build
	@$(BIN)/steelyard demo

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.docs --check

test: check suite

# Everything as it is built, tests that measure load or keep time two at a time, then what is compiled
# once more as plain Python.
# Only the last pass is traced. On Python 3.11 a trace doubles the processor time of a test (measured:
# 44 s became 87 s for tests/core and tests/config, 10 s became 20 s for tests/select) and adds 0.3 s
# to each child, so a trace of the first pass would not fit. Compiled modules cannot be traced.
suite: tools build
	$(BIN)/pytest -n $(JOBS) -m 'not chaos and not alone'
	$(BIN)/pytest -n 2 -m alone
	$(TRACED) -n $(JOBS) $(COMPILED)
	-@$(COVERAGE_TABLE) balancer select

# Some tests keep time and may fail where they are traced: a figure is made here, `make test` judges.
coverage: tools setup
	-$(TRACED) -n $(JOBS) -m 'not chaos and not alone'
	-@$(COVERAGE_TABLE)

# A host's Docker engine drops what others forward; it and the tests run in namespaces of their own.
test-beside-docker: tools build
	$(BIN)/python -m tests.docker.beside -n $(JOBS) -m 'not chaos and not alone' $(ARGS)

# Each Python has an environment of its own. One that is red does not keep the others from running.
test-pythons:
	@all=$$($(PYTHON) -m tools.pythons) && [ -n "$$all" ] || { echo "no Python from 3.11 on was found"; exit 1; }; \
	for found in $$all; do \
		echo "== Python $${found%%=*}: $${found#*=}"; \
		$(MAKE) --no-print-directory suite VENV=.venv-$${found%%=*} PYTHON=$${found#*=} || red="$$red $${found%%=*}"; \
	done; [ -z "$$red" ] || { echo "tests failed on Python$$red"; exit 1; }

# Quiet, and quick when nothing is missing. Installing on somebody's own machine is theirs to do.
tools:
	@if [ "$$CI" = true ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		for pair in $(foreach tool,$(TOOLS),$(tool):$(or $(PACKAGE_$(tool)),$(tool))); do \
			command -v $${pair%%:*} >/dev/null || missing="$$missing $${pair##*:}"; done; \
		[ -z "$$missing" ] || { apt-get -qq update && \
			DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends $$missing; } >/dev/null; \
	fi

# Minutes: an image is built, and each of its containers killed in turn.
compose-test: setup
	$(BIN)/pytest tests/compose

fuzz: setup
	FUZZ=$(EXAMPLES) $(BIN)/pytest --timeout 0 tests/balancer/fuzz

bench-balancer: build
	@$(BIN)/steelyard bench balancer $(ARGS)

bench-tail: build
	@$(BIN)/steelyard bench tail $(ARGS)

# A swarm of three nodes, one of which is lost.
swarm-chaos: build tools
	$(BIN)/pytest -m chaos tests/chaos

bench-select: build
	@$(BIN)/steelyard bench select $(ARGS)

soak: build
	@$(BIN)/steelyard bench soak $(ARGS)

mesh-chaos: setup
	@$(BIN)/python -m tests.mesh.chaos $(ARGS)

mesh-pool: setup
	@$(BIN)/python -m tests.mesh.execution.cost $(ARGS)

mesh-crowd: setup
	@$(BIN)/python -m tests.mesh.crowd $(ARGS)

# Some minutes. The same seeds give the same document, but for the jobs on real processes.
lab: setup
	for name in $(LAB); do $(BIN)/steelyard lab $$name --out docs/lab --page docs/lab.md || exit 1; done
	$(BIN)/steelyard lab compare --real --out docs/lab --page docs/lab.md

# The same for traffic from elsewhere, in hours or weeks of virtual time: TRACES='a.csv b.log'
lab-traces: setup
	for file in $(TRACES); do $(BIN)/steelyard lab scaling --trace $$file --bars --out docs/lab --page docs/lab.md || exit 1; done

docs: setup
	$(BIN)/python -m tools.docs

clean:
	find src -name '*.so' -delete
	rm -rf $(VENV) .venv-3.* build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache $(COVERAGE)
