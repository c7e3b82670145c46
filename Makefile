# These commands do everything on a machine with Python 3.11 or later, pip and make:
#   make install install into .venv, for .venv/bin/shortlist
#   make demo    install, and find the words of DNA that tell bacteria apart
#   make test    install, then lint, types, layers, tests and doctests
#   make docs    install, then build the documentation in docs/_build/html
#   make test-cluster   tests that start a Ray cluster on this machine
# All install only when pyproject.toml or constraints.txt have changed.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
JOBS   ?= 2
ROUNDS ?= 20
CHROMIUM ?= $(firstword $(foreach name,chromium chromium-browser google-chrome,$(shell command -v $(name))))
export CHROMIUM

.PHONY: install demo docs test test-cluster lint types layers pytest fuzz format clean help
.DEFAULT_GOAL := help

help:
	@sed -n '1,6s/^# \{0,1\}//p' $(MAKEFILE_LIST)

$(VENV)/.ready: pyproject.toml constraints.txt
	@echo "== installing shortlist into $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --constraint constraints.txt pip
	@$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready
	@echo "== installing what tests and checks need"
	@$(PIP) install --constraint constraints.txt --group dev
	@touch $@

$(VENV)/.ready-docs: $(VENV)/.ready
	@echo "== installing what the documentation needs"
	@$(PIP) install --constraint constraints.txt --group docs
	@touch $@

install: $(VENV)/.ready

demo: $(VENV)/.ready
	@echo "== selecting words from the genomes of six bacteria"
	@$(BIN)/python examples/bacteria.py

test: lint types layers pytest
	@echo "== all checks passed"

lint: $(VENV)/.ready-dev
	@echo "== ruff"
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(VENV)/.ready-dev
	@echo "== mypy"
	@$(BIN)/mypy

layers: $(VENV)/.ready-dev
	@echo "== import layers"
	@$(BIN)/lint-imports

# reports are looked at in a real browser, where there is one
pytest: $(VENV)/.ready-dev
	@echo "== tests and doctests"
ifeq ($(CHROMIUM),)
	@echo "== left out: tests in a browser, as no Chromium is found; install Debian's chromium or say CHROMIUM=path"
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -m "not cluster and not browser"
else
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -m "not cluster"
endif

# apart from the others: three nodes of a cluster want both cores
test-cluster: $(VENV)/.ready-dev
	@echo "== tests on a Ray cluster of three local nodes"
	@$(BIN)/python -m pytest -q -m cluster tests/columns/test_cluster.py

# a warning is an error, and so is a name or a page that nothing leads to
docs: $(VENV)/.ready-docs
	@echo "== documentation"
	@rm -rf docs/api/generated
	@$(BIN)/sphinx-build -W --keep-going -n -q -c docs . docs/_build/html
	@echo "== open docs/_build/html/index.html"

fuzz: $(VENV)/.ready-dev
	@echo "== text parsers against their references, 100,000 new lines each"
	@$(BIN)/python -W error tests/fuzz_parsers.py
	@echo "== random tests, new examples in each of $(ROUNDS) rounds"
	@for round in $$(seq $(ROUNDS)); do \
	    SHORTLIST_FUZZ=1 $(BIN)/python -m pytest -q -n $(JOBS) tests/sources tests/kernels \
	        tests/sketch tests/test_shortlist.py tests/test_storage.py || exit 1; \
	done

format: $(VENV)/.ready-dev
	@$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache docs/_build docs/api/generated
