"""The rounding margins are needed: without them the same problems are screened falsely."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import boxreg
from judging import SOLVERS, VARIANTS, false_screenings
from references.exact import exact_solution
from references.problems import generated

pytestmark = pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")

SHOWN = [
    ("nearly_degenerate", range(60)),  # w* of relative size 1e-17 … 1e-12
    ("huge_cancellation", range(60)),  # residuals tiny against y
    ("float32", range(60)),
    ("badly_scaled_columns", range(60)),  # norms from 1e-8 to 1e8
    ("zero_residual", range(60)),  # tiny gaps
]


def remove_margins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that arithmetic is exact, everywhere in the library."""
    for name, module in list(sys.modules.items()):
        if name.startswith("boxreg."):
            for constant, value in (("UNIT_ROUNDOFF", 0.0), ("SLACK", 1.0)):
                if hasattr(module, constant):
                    monkeypatch.setattr(module, constant, value)
            if hasattr(module, "gamma"):
                monkeypatch.setattr(module, "gamma", lambda terms: 0.0)


def falsely_screened(family: str, seeds: range) -> int:
    """Problems of the family with at least one false screening, run to the end of precision."""
    count = 0
    for seed in seeds:
        problem = generated(family, seed)
        signs = exact_solution(*problem.data).signs()
        for solver in VARIANTS.values():
            result = boxreg.solve(*problem.data, solver=solver, tol=0.0, max_iter=300)
            count += bool(len(false_screenings(result, signs)))
    return count


@pytest.mark.parametrize(("family", "seeds"), SHOWN, ids=[name for name, _ in SHOWN])
def test_margins_are_needed(family: str, seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the margins nothing is wrong; without them something is."""
    assert falsely_screened(family, seeds) == 0
    remove_margins(monkeypatch)
    assert falsely_screened(family, seeds) > 0


def test_a_coordinate_orthogonal_to_the_dual_solution_is_never_screened() -> None:
    """theta* = (0, 0, 1) is orthogonal to both columns, a_2 = 0.1 a_1: every (1 - 0.1 s, s) is optimal.

    No safe rule may fix x_2, however small the gap.
    """
    A = np.array([[1.0, 0.1], [0.0, 0.0], [0.0, 0.0]])
    y = np.array([1.0, 0.0, 1.0])
    for solver in SOLVERS:
        result = boxreg.solve(A, y, solver=solver, tol=0.0, max_iter=500)
        assert result.screened[1] == 0
