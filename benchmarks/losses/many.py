"""All tumours in one call of `solve_many`, where boxreg has it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import boxreg

from .functions import Array, KullbackLeibler
from .problem import LossProblem, make
from .rivals.ours import ASKED, solved
from .scoring import Judge

SAMPLES = 3


def race_many(
    A: Array, Y: Array, sample: list[LossProblem], show: Callable[[str], None]
) -> dict[str, Any] | None:
    """Seconds a tumour over all of them, the best of a few calls; the worst gap of those in `sample`."""
    solve_many = getattr(boxreg, "solve_many", None)
    if solve_many is None:
        return None
    show(f"solve_many, {Y.shape[1]} tumours")
    options = {"loss": "kullback_leibler", "tol": ASKED}
    solve_many(A, Y[:, :4], **options)
    seconds, found = np.inf, None
    for _ in range(SAMPLES):
        clock = time.perf_counter()
        found = solve_many(A, Y, **options)
        seconds = min(seconds, time.perf_counter() - clock)
    assert found is not None
    gaps = []
    X = np.asarray(found.x)
    for problem in sample:
        j = int(np.flatnonzero(np.all(problem.y[:, None] == Y, axis=0))[0])
        judge = Judge(make(A, problem.y, KullbackLeibler()))
        judge.learn_dual(solved(problem, tol=1e-11).theta)
        gaps.append(judge.score(X[:, j] if X.shape[0] == A.shape[1] else X[j]).relative_gap)
    return {
        "problems": Y.shape[1],
        "seconds_each": seconds / Y.shape[1],
        "worst_gap": float(max(gaps)),
    }
