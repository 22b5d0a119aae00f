"""Nothing is screened that exact arithmetic contradicts, and every rigorous gap is a true bound."""

from __future__ import annotations

import warnings
import zlib

import numpy as np
import pytest
from scipy import sparse

import boxreg
from judging import (
    DUALS,
    REGIONS,
    VARIANTS,
    assert_feasible,
    assert_gap_is_a_bound,
    false_screenings,
)
from references.exact import exact_solution
from references.problems import FAMILIES, generated

PER_FAMILY = 120
"""21 families and more: over 2,500 problems in the default run; `make fuzz` runs 100,000."""

TOLERANCES = (0.0, 1e-12, 1e-6)


def check(family: str, seed: int) -> int:
    """Solve one generated problem in a way chosen by its seed and judge it; returns the screened."""
    problem = generated(family, seed)
    reference = exact_solution(*problem.data)
    way = np.random.default_rng([zlib.crc32(family.encode()), seed, 1])
    A = sparse.csc_array(problem.A) if way.integers(2) else problem.A
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", boxreg.ConvergenceWarning)
        result = boxreg.solve(
            A,
            problem.y,
            problem.lower,
            problem.upper,
            solver=list(VARIANTS.values())[way.integers(len(VARIANTS))],
            region=REGIONS[way.integers(len(REGIONS))],
            dual=list(DUALS.values())[way.integers(len(DUALS))],
            tol=TOLERANCES[way.integers(len(TOLERANCES))],
            max_iter=400,
        )
    wrong = false_screenings(result, reference.signs())
    assert not len(wrong), f"{family} {seed}: false screening of {wrong}"
    assert not set(problem.planted) & set(np.flatnonzero(result.screened))
    assert_feasible(result, problem)
    assert_gap_is_a_bound(result, problem, reference)
    return int(np.count_nonzero(result.screened))


def test_enough_problems() -> None:
    """The default run judges at least 2,000 problems."""
    assert len(FAMILIES) * PER_FAMILY >= 2000


@pytest.mark.parametrize("family", FAMILIES)
def test_no_false_screening(family: str) -> None:
    """Every problem of the family, for the seeds of the default run."""
    for seed in range(PER_FAMILY):
        check(family, seed)


def test_the_campaign_screens_something() -> None:
    """The property is not empty: a fair share of the coordinates is screened."""
    assert sum(check(family, seed) for family in FAMILIES for seed in range(16)) > 100
