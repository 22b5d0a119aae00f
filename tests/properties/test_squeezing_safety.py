"""Squeezing and gaps of the ℓ∞-penalised problem, judged in rational arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from boxreg import AntisparseResult, antisparse
from boxreg.linf import level_search, proof, run
from references.antisparse import ExactAntisparse, exact_antisparse, exact_objective

pytestmark = pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")

Data = tuple[Any, Any, float]
_SHARES = [1.5, 1.0, 1.0 - 1e-15, 0.999999999, 0.9, 0.5, 0.1, 0.01, 1e-6, 1e-12]


def judge(A: Any, y: Any, penalty: float) -> tuple[AntisparseResult, ExactAntisparse]:
    """Solve, and check every claim against the exact solution."""
    found = antisparse(A, y, penalty)
    exact = exact_antisparse(A, y, penalty, found.x)
    excess = exact_objective(A, y, penalty, found.x) - exact.objective
    assert excess >= 0
    assert np.isfinite(found.gap)
    assert excess <= Fraction(found.gap)
    for sign, w in zip(found.squeezed.tolist(), exact.w, strict=True):
        assert sign == 0 or sign * w > 0
    columns = np.asarray(A, dtype=float).T.tolist()
    theta = [Fraction(v) for v in found.theta.tolist()]
    load = sum(abs(sum(Fraction(a) * t for a, t in zip(c, theta, strict=True))) for c in columns)
    assert load <= Fraction(penalty)
    return found, exact


def _penalty(A: Any, y: Any, share: float) -> float:
    return share * float(np.abs(A.T @ y).sum()) or 1.0


def _gaussian(rng: np.random.Generator, m: int, n: int) -> Data:
    A, y = rng.standard_normal((m, n)), rng.standard_normal(m)
    return A, y, _penalty(A, y, rng.choice(_SHARES))


def _integers(rng: np.random.Generator, m: int, n: int) -> Data:
    """Many exact ties: w*_j = 0, |x_j| = c with w*_j = 0, several solutions."""
    A, y = rng.integers(-2, 3, (m, n)), rng.integers(-3, 4, m)
    return A.astype(float), y.astype(float), float(rng.integers(1, 8))


def _repeated(rng: np.random.Generator, m: int, n: int) -> Data:
    A, y, penalty = _gaussian(rng, m, n)
    A[:, -1] = A[:, 0] * rng.choice([1.0, -1.0])
    return A, y, penalty


def _nearly_repeated(rng: np.random.Generator, m: int, n: int) -> Data:
    A, y, penalty = _gaussian(rng, m, n)
    A[:, -1] = A[:, 0] + 10.0 ** rng.uniform(-14, -6) * rng.standard_normal(m)
    return A, y, penalty


def _uneven(rng: np.random.Generator, m: int, n: int) -> Data:
    A, y, _ = _gaussian(rng, m, n)
    A = A * 10.0 ** rng.uniform(-8, 8, n)
    return A, y, _penalty(A, y, rng.choice(_SHARES))


def _nearly_tied(rng: np.random.Generator, m: int, n: int) -> Data:
    """A coordinate that would by itself stop within rounding of the level: w*_j is all but 0."""
    q, _ = np.linalg.qr(rng.standard_normal((max(m, n), n)))
    v = rng.choice([-1.0, 1.0], n) * rng.uniform(1.5, 3.0, n)
    v[-1] = 1.0 + rng.choice([0.0, 1.0, -1.0]) * 10.0 ** rng.uniform(-17, -8)
    return q, q @ v, float(np.abs(v[:-1]).sum() - (n - 1)) or 0.5


FAMILIES: list[Callable[[np.random.Generator, int, int], Data]] = [
    _gaussian,
    _integers,
    _repeated,
    _nearly_repeated,
    _uneven,
    _nearly_tied,
]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__.strip("_"))
def test_claims_hold(family: Callable[[np.random.Generator, int, int], Data]) -> None:
    squeezed = 0
    for seed in range(100):
        rng = np.random.default_rng([seed, FAMILIES.index(family)])
        A, y, penalty = family(rng, int(rng.integers(1, 6)), int(rng.integers(1, 5)))
        found, exact = judge(A, y, penalty)
        squeezed += int(np.count_nonzero(found.squeezed))
        scale = 0.5 * float(y @ y)
        if found.success and scale > 0.0:
            assert abs(found.objective - float(exact.objective)) <= 2e-8 * scale
    assert squeezed >= 50  # the claims are not empty


@given(
    st.integers(1, 4).flatmap(
        lambda m: st.integers(1, 4).flatmap(
            lambda n: st.tuples(
                arrays(float, (m, n), elements=st.floats(-8, 8, width=16)),
                arrays(float, m, elements=st.floats(-8, 8, width=16)),
            )
        )
    ),
    st.sampled_from([2.0**k for k in range(-12, 8)]),
)
def test_claims_hold_on_whatever_comes(data: tuple[Any, Any], penalty: float) -> None:
    judge(*data, penalty)


def test_margins_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its allowances for rounding, the test squeezes coordinates with w*_j of another sign."""

    def careless(merged: Any, point: Any, found: proof.Proof) -> tuple[Any, Any]:
        w, unknown = found.dual.correlation, merged.signs == 0
        reach = 1e-17 * merged.whole.norms
        return unknown & (w < -reach), unknown & (w > reach)

    for module in (level_search, run):
        monkeypatch.setattr(module, "squeezable", careless)
    wrong = 0
    for seed in range(100):
        rng = np.random.default_rng([seed, FAMILIES.index(_nearly_tied)])
        A, y, penalty = _nearly_tied(rng, int(rng.integers(1, 6)), int(rng.integers(2, 5)))
        found = antisparse(A, y, penalty)
        exact = exact_antisparse(A, y, penalty)
        wrong += any(s * w < 0 for s, w in zip(found.squeezed.tolist(), exact.w, strict=True))
    assert wrong > 0


@pytest.mark.parametrize("shape", [(8, 40), (40, 60), (60, 40)])
def test_squeezed_coordinates_of_larger_problems(shape: tuple[int, int]) -> None:
    """Extended precision says the same of w* = Aᵀ(y - A x*) where it can tell."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        A, y = rng.standard_normal(shape), rng.standard_normal(shape[0])
        found = antisparse(A, y, _penalty(A, y, [0.8, 0.4, 0.1, 0.01][seed % 4]))
        long = A.astype(np.longdouble)
        w = long.T @ (y - long @ found.x.astype(np.longdouble))
        at = found.squeezed != 0
        assert np.all(found.squeezed[at] * w[at] > 0)
        assert np.all(found.x[at] == found.squeezed[at] * found.level)
        inside = np.abs(found.x) < found.level
        assert not at[inside].any()
        assert np.abs(w[inside]).max(initial=0.0) <= 1e-10 * np.abs(A.T @ y).max()
