# Two commands on a fresh machine: `make demo` and `make test`. Everything is made inside .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help demo test lint fuzz mutants proof-lines reproduce reproduce-quick ratios rivals bench bench-quick bench-losses wild wild-quick bench-many \
  bench-cluster real-data memory campaign clean

help:
	@echo "make demo    solve the embedded problems with all four solvers; table and figure"
	@echo "make test    lint, then the test suite"
	@echo "make lint    ruff and mypy"
	@echo "make fuzz    problems with known solutions through every path (PROBLEMS=200000, FIRST_SEED, 2 processes)"
	@echo "make mutants plant faults in what proofs pass through, one at a time: a test must kill each"
	@echo "make proof-lines   the share of lines that feed a proof and that judged problems execute"
	@echo "make reproduce     the paper's tables and figures, hours; reproduce-quick: smaller, 3 minutes"
	@echo "make ratios  work and time with and without screening on the paper's tables"
	@echo "make bench   the race against every other solver (about 30 minutes); BOXREG_DATA adds real data"
	@echo "make bench-quick   the same in under 5 minutes, fewer cases"
	@echo "make bench-losses  every loss against L-BFGS-B, skglm and scikit-learn; work with and without screening"
	@echo "make wild    problems as scientists bring them against every other solver (MINUTES=15); resumes"
	@echo "make wild-quick    the same in 3 minutes"
	@echo "make real-data     the tests on real data, the long ones too (needs BOXREG_DATA)"
	@echo "make bench-many    many right-hand sides against loops over SciPy; needs BOXREG_DATA"
	@echo "make bench-cluster two dask workers against one process, and what a chunk costs; needs BOXREG_DATA"
	@echo "make memory  peak memory of a solve over the size of A (GB=1)"
	@echo "make campaign      never a worse objective than SciPy or skglm (PER_FAMILY=10000, 2 processes)"

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $(READY)

demo: $(READY)
	$(BIN)/python -m boxreg.demo --out out/demo

# The annotations are written for the stubs of NumPy 2.4 and 2.5; Python 3.10 gets NumPy 2.2, whose stubs know less.
TYPED = $(BIN)/python -c "import numpy; assert tuple(map(int, numpy.__version__.split('.')[:2])) >= (2, 4)" 2> /dev/null
lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@if $(TYPED); then echo $(BIN)/mypy; $(BIN)/mypy; else echo "mypy: left out, see Makefile"; fi

# Two processes, one BLAS thread each.
JOBS ?= 2
test: lint
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

PROBLEMS ?= 200000
FIRST_SEED ?= 1000
fuzz: $(READY)
	$(BIN)/python tests/fuzz.py --problems $(PROBLEMS) --first-seed $(FIRST_SEED)

mutants: $(READY)
	$(BIN)/python tests/mutants.py --page docs/mutants.md

proof-lines: $(READY)
	$(BIN)/python tests/proof_lines.py --least 0.9 --page docs/mutants.md

reproduce: $(READY)
	$(BIN)/python -m boxreg.reproduce all --full --out out/reproduce

reproduce-quick: $(READY)
	$(BIN)/python -m boxreg.reproduce all --quick --out out/reproduce

ratios: $(READY)
	$(BIN)/python -m benchmarks.ratios --out out/ratios

# The race: rivals that live beside the current NumPy in .venv, those that do not in .venv-rivals.
RIVALS := .venv-rivals
BENCH_READY := $(VENV)/.bench-ready
RIVALS_READY := $(RIVALS)/.ready

$(BENCH_READY): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev,bench]" \
	  || for rival in skglm scikit-learn qpsolvers clarabel piqp daqp osqp highspy; do \
	    $(BIN)/python -m pip install --quiet --disable-pip-version-check $$rival \
	      || echo "$$rival did not install; the race reports it as absent"; \
	  done
	touch $(BENCH_READY)

$(RIVALS_READY): benchmarks/rivals-old-numpy.txt
	$(PYTHON) -m venv $(RIVALS)
	$(RIVALS)/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/rivals-old-numpy.txt \
	  || echo "some rivals did not install; the race reports them as absent"
	touch $(RIVALS_READY)

rivals: $(BENCH_READY) $(RIVALS_READY)

bench: rivals
	$(BIN)/python -m benchmarks.race --out out/bench

bench-quick: rivals
	$(BIN)/python -m benchmarks.race --quick --out out/bench

bench-losses: $(BENCH_READY)
	$(BIN)/python -m benchmarks.losses --out out/losses

MINUTES ?= 15
wild: rivals
	$(BIN)/python -m benchmarks.wild --minutes $(MINUTES) --out out/wild

wild-quick: rivals
	$(BIN)/python -m benchmarks.wild --quick --minutes 2.5 --no-clients --out out/wild-quick

real-data: $(READY)
	$(BIN)/python -m pytest -m "slow or not slow" tests/test_real_data.py

bench-many: $(READY)
	$(BIN)/python -m benchmarks.many --out out/many

bench-cluster: $(READY)
	$(BIN)/python -m benchmarks.cluster --out out/cluster

GB ?= 1
memory: $(READY)
	$(BIN)/python -m benchmarks.memory --gigabytes $(GB) --out out/memory

PER_FAMILY ?= 10000
campaign: $(BENCH_READY)
	$(BIN)/python -m benchmarks.campaign --per-family $(PER_FAMILY)

clean:
	rm -rf $(VENV) $(RIVALS) out .pytest_cache .mypy_cache .ruff_cache .hypothesis
