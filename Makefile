# Needs make and Python 3.11 or newer, nothing else. `make install PYTHON=…` chooses the Python.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq

.DEFAULT_GOAL := help
.PHONY: help install demo reproduce pages docs docs-serve test test-full dist bench format lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s  %s\n", $$1, $$2 }' Makefile

install: .venv/.installed ## Make .venv from requirements.lock
	@:

demo: install ## Serve three campaigns in a simulated world: open http://127.0.0.1:8000
	@$(BIN)/unimodal serve --demo

reproduce: install ## Reproduce the paper
	@$(BIN)/unimodal reproduce

pages: install ## Render the pages of docs/studies from their stored data
	@$(BIN)/python -m unimodal.studies.pages docs/studies

docs: pages ## Build the site: build/site/index.html
	@rm -rf build/site
	$(BIN)/sphinx-build -q -W --keep-going -j auto docs build/site

docs-serve: docs ## Build the site and show it: open http://127.0.0.1:8080
	@echo "The site is at http://127.0.0.1:8080; end with Ctrl-C"
	@$(BIN)/python -m http.server 8080 --bind 127.0.0.1 --directory build/site

test: install ## Lint, types, import contract, tests and doctests
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	($(BIN)/lint-imports --no-logo && $(BIN)/mypy --no-error-summary) & types=$$!; \
	$(BIN)/pytest -q -n auto --dist loadfile && wait $$types

test-full: install ## Every test, the slow ones included
	$(BIN)/pytest -q -n auto --dist worksteal -m "" -o faulthandler_timeout=3600

dist: install ## Build wheel and sdist, and try them in new environments
	rm -rf dist
	$(BIN)/python -m hatchling build
	$(BIN)/twine check --strict dist/*
	$(BIN)/python packaging/check_distribution.py dist

bench: install ## Time engines, agents, campaigns and the service
	@$(BIN)/python benchmarks/run.py

format: install ## Format the code and fix what ruff can fix
	$(BIN)/ruff check --fix --quiet
	$(BIN)/ruff format --quiet

lock: ## Renew requirements.lock after a change of pyproject.toml; UPGRADE=--upgrade takes newer versions
	@tmp=$$(mktemp -d) && trap 'rm -rf "$$tmp"' EXIT && \
	$(PYTHON) -m venv "$$tmp" && "$$tmp/bin/pip" install -qq uv && \
	"$$tmp/bin/uv" --no-config pip compile --quiet $(UPGRADE) --universal --python-version 3.11 \
		--generate-hashes --no-header --group dev pyproject.toml --output-file requirements.lock

clean: ## Remove .venv, caches and everything that was built
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis build dist
	find src tests -name __pycache__ -prune -exec rm -rf {} +

# Bytecode is compiled here because PYTHONDONTWRITEBYTECODE would leave every start slow. Not that of
# other packages' tests and of what is not imported, which would take longer than the rest.
.venv/.locked: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo \
		"unimodal needs Python 3.11 or newer, which '$(PYTHON)' is not:" \
		"name another one, as in 'make install PYTHON=python3.12'." >&2; exit 1; }
	@echo "Making .venv from requirements.lock (about a minute)"
	@$(PYTHON) -m venv --clear .venv
	@$(PIP) install --no-compile --no-deps --require-hashes -r requirements.lock
	@$(BIN)/python -m compileall -q -j 0 -x '/(tests?|pip|setuptools|debugpy|jedi|mypyc?|mpmath|babel|bs4|cryptography|docutils|keyring|sphinx|sqlalchemy)/' .venv/lib
	@touch $@

.venv/.installed: .venv/.locked pyproject.toml
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q -j 0 src
	@touch $@
