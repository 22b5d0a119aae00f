"""Squeezing and gaps of the ℓ∞-penalised problem, judged in rational arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from boxreg import antisparse
from boxreg.linf import level_search, proof, run
from judging_antisparse import FAMILIES, draw, judge, nearly_tied, penalty_of
from references.antisparse import exact_antisparse

pytestmark = pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")


@pytest.mark.parametrize("family", range(len(FAMILIES)), ids=lambda k: FAMILIES[k].__name__)
def test_claims_hold(family: int) -> None:
    squeezed = 0
    for seed in range(100):
        A, y, penalty = draw(family, seed)
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

    def goes_wrong(seed: int) -> bool:
        A, y, penalty = draw(FAMILIES.index(nearly_tied), seed, least=2)
        found = antisparse(A, y, penalty)
        exact = exact_antisparse(A, y, penalty)
        return any(s * w < 0 for s, w in zip(found.squeezed.tolist(), exact.w, strict=True))

    # Which ones depends on the last bits of a BLAS: some fifty in a thousand.
    assert any(map(goes_wrong, range(1000)))


@pytest.mark.parametrize("shape", [(8, 40), (40, 60), (60, 40)])
def test_squeezed_coordinates_of_larger_problems(shape: tuple[int, int]) -> None:
    """Extended precision says the same of w* = Aᵀ(y - A x*) where it can tell."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        A, y = rng.standard_normal(shape), rng.standard_normal(shape[0])
        found = antisparse(A, y, penalty_of(A, y, [0.8, 0.4, 0.1, 0.01][seed % 4]))
        long = A.astype(np.longdouble)
        w = long.T @ (y - long @ found.x.astype(np.longdouble))
        at = found.squeezed != 0
        assert np.all(found.squeezed[at] * w[at] > 0)
        assert np.all(found.x[at] == found.squeezed[at] * found.level)
        inside = np.abs(found.x) < found.level
        assert not at[inside].any()
        assert np.abs(w[inside]).max(initial=0.0) <= 1e-10 * np.abs(A.T @ y).max()
