# Two commands on a fresh machine: `make demo` and `make test`. Everything is made inside .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help demo test lint fuzz ratios clean

help:
	@echo "make demo    solve the embedded problems with all four solvers; table and figure"
	@echo "make test    lint, then the test suite"
	@echo "make lint    ruff and mypy"
	@echo "make fuzz    screening safety against exact arithmetic (PROBLEMS=100000, 2 processes)"
	@echo "make ratios  work and time with and without screening on the paper's tables"

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $(READY)

demo: $(READY)
	$(BIN)/python -m boxreg.demo --out out/demo

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest

PROBLEMS ?= 100000
fuzz: $(READY)
	$(BIN)/python tests/fuzz.py --problems $(PROBLEMS)

ratios: $(READY)
	$(BIN)/python -m benchmarks.ratios --out out/ratios

clean:
	rm -rf $(VENV) out .pytest_cache .mypy_cache .ruff_cache .hypothesis
