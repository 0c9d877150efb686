# Two commands matter: `make demo` and `make test`. Both set up what they need, and are quick the second time.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help setup demo test check tools docs bench-balancer bench-tail clean

help:
	@echo "make demo   start the demo on http://127.0.0.1:8080"
	@echo "make test   run make check, then every test"
	@echo "make check  format, lint, types, architecture, generated docs"
	@echo "make docs   write the generated documents anew"
	@echo "make setup  only create $(VENV)"
	@echo "make bench-balancer, bench-tail   measure against other proxies (ARGS='--rounds 5')"

setup: $(VENV)/.ready

# uv installs the whole set in seconds; pip, which needs most of a minute, is the fall-back.
$(VENV)/.ready: pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "steelyard needs $(PYTHON); set PYTHON=/path/to/python (3.11 or newer)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "$(PYTHON) has no venv module; on Debian: apt-get install python3-venv"; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv 2>/dev/null || true
	@if [ -x $(BIN)/uv ]; then \
		$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable '.[dev]'; \
	else \
		$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'; \
	fi
	@touch $@

demo: setup
	@$(BIN)/steelyard demo

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.docs --check

# CI skips nothing, so it gets what tests need; elsewhere they say what they lack.
tools: setup
	@test "$$CI" != true || $(BIN)/python -m steelyard.bench.tools nginx wrk

test: check tools
	$(BIN)/pytest

bench-balancer: setup
	@$(BIN)/steelyard bench balancer $(ARGS)

bench-tail: setup
	@$(BIN)/steelyard bench tail $(ARGS)

docs: setup
	$(BIN)/python -m tools.docs

clean:
	rm -rf $(VENV) build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
