"""Nothing is screened that the reference contradicts, whatever the loss, bounds and terms."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest

import boxreg
from judging import REGIONS
from loss_judging import arguments, judge
from references.loss_families import CELLS, loss_problem
from references.loss_problem import LossProblem
from references.loss_reference import reference_solutions

PER_CELL = 1000
"""Problems judged with every loss and kind of bounds; `make fuzz` runs more."""

SPARE = 40
"""Problems more than that, for those whose reference is not accurate."""

OTHERS = ("coordinate_descent", "projected_gradient", "chambolle_pock")
TOLERANCES = (1e-10, 1e-6, 1e-3)
STEPS = (1, 2, 3)
"""Runs are mostly cut short: what is screened from a large gap is the harder thing to get right."""


def ways(problem: LossProblem, seed: int) -> dict[str, Any]:
    """How to solve a problem, chosen by its seed: one in twenty to the end, one with another solver."""
    rng = np.random.default_rng([zlib.crc32(problem.name.encode()), seed, 1])
    kind = rng.integers(20)
    return {
        "storage": ("dense", "sparse")[rng.integers(2)],
        "solver": OTHERS[rng.integers(len(OTHERS))] if kind == 0 else "auto",
        "region": REGIONS[rng.integers(len(REGIONS))],
        "tol": TOLERANCES[rng.integers(len(TOLERANCES))],
        "max_iter": {0: 20, 1: None}.get(int(kind), STEPS[rng.integers(len(STEPS))]),
    }


def answer(problem: LossProblem, seed: int) -> boxreg.Result:
    """Solve a problem in its way; in the default way where that solver does not fit the loss."""
    way = ways(problem, seed)
    posed = arguments(problem, way.pop("storage"))
    try:
        return boxreg.solve(**posed, **way)
    except ValueError as error:
        if not str(error).startswith(("solver", "region")):
            raise
        return boxreg.solve(**posed, tol=way["tol"])


def check_cell(
    loss: str, kind: str, seeds: Iterable[int], enough: int | None = None
) -> tuple[int, int, list[str]]:
    """Judge the problems of these seeds: how many were judged, coordinates screened, complaints.

    Problems whose reference is not accurate are judged on all but their screening, and not counted.
    """
    numbers = list(seeds)
    problems = [loss_problem(loss, kind, seed) for seed in numbers]
    references = reference_solutions(problems)
    judged, complaints, kept = 0, [], []
    for k, seed in enumerate(numbers):
        if judged == enough:
            break
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", boxreg.ConvergenceWarning)
                result = answer(problems[k], seed)
        except Exception as error:  # every complaint is collected, none ends the campaign
            way = ways(problems[k], seed)
            complaints.append(f"{problems[k]!r}: {type(error).__name__}: {error} {way}")
            continue
        kept.append((problems[k], result, references[k]))
        judged += references[k].accurate
    complaints += _judged(kept)
    screened = sum(
        int(np.count_nonzero(result.screened[problem.lower < problem.upper]))
        for problem, result, _ in kept
    )
    return judged, screened, complaints


def _judged(kept: Sequence[tuple[Any, Any, Any]]) -> list[str]:
    return judge(*zip(*kept, strict=True), verified=5) if kept else []


@pytest.mark.parametrize(("loss", "kind"), CELLS)
def test_no_false_screening(loss: str, kind: str) -> None:
    """1,000 problems of the cell; and coordinates are screened, so that there is something to judge."""
    judged, screened, complaints = check_cell(loss, kind, range(PER_CELL + SPARE), PER_CELL)
    assert not complaints, "\n".join([f"{len(complaints)} complaints", *complaints[:20]])
    assert judged >= PER_CELL
    assert screened >= PER_CELL // 10
