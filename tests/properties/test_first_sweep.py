"""The sweep that comes with the survey of A is the one that would have been made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import boxreg
from boxreg import validate
from boxreg.designs import dense
from boxreg.designs.epochs import LONG, Sweep, SweepTerms, quarters
from boxreg.solvers import working_set

RNG = np.random.default_rng(71)
ROWS = LONG + 101


def data(n: int, dtype: Any = np.float64) -> tuple[Any, Any]:
    A = np.asfortranarray(RNG.standard_normal((ROWS, n)), dtype=dtype)
    A[:, 3] = 0.0
    return A, RNG.standard_normal(ROWS)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [4, 23, 40])
def test_survey_and_sweep(n: int, dtype: Any) -> None:
    """Four at a time with some left over; 0 inside, at either end, between equal bounds, no bounds."""
    A, y = data(n, dtype)
    lower, upper = -0.01 * RNG.random(n), 0.01 * RNG.random(n)
    lower[::5], upper[1::5] = 0.0, 0.0
    lower[2], upper[2] = 0.0, 0.0
    lower[-1], upper[-1] = -np.inf, np.inf
    design = validate.design(A)
    plain, seen = design.survey(y), design.survey(y, (lower, upper))
    assert plain.sweep is None
    for name in ("norms", "sums", "correlation"):
        np.testing.assert_allclose(
            getattr(seen, name), getattr(plain, name), rtol=1e-12, atol=1e-12
        )
    first = seen.sweep
    assert first is not None

    movable = np.flatnonzero(plain.norms > 0.0)
    terms = SweepTerms(lower, upper, plain.norms**2, np.zeros(n), None)
    order = quarters(np.arange(n))
    x, residual, margin = np.zeros(n), y.copy(), 0.3
    order = order[np.isin(order, movable)]
    # One at a time, so that leaving out a column does not change which four go together.
    kept: list[int] = []
    largest, changed = 0.0, 0
    for j in order:
        done = design.sweep(Sweep(np.arange(n), terms, x, residual, np.array([j]), margin))
        kept += done.order.tolist()
        largest, changed = max(largest, done.largest), changed + done.changed
    np.testing.assert_allclose(first.x, x, atol=1e-12)
    np.testing.assert_allclose(first.residual, residual, atol=1e-11)
    swept = first.as_swept(order, terms, margin)
    np.testing.assert_array_equal(swept.order, kept)
    assert swept.changed == changed
    assert swept.largest == pytest.approx(largest, rel=1e-9)
    assert swept.total == pytest.approx(np.linalg.norm(x * plain.norms), rel=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_runs_go_as_if_the_sweep_had_been_made_later(dtype: Any) -> None:
    """With the same work; an x0, which nobody sweeps from ahead of time, is 0 here."""
    A, y = data(150, dtype)
    A[:, 3] = 1.0  # which a sweep made later would leave out, and take other columns together
    y *= 0.3
    both = [boxreg.solve(A, y, -0.01, 0.01, x0=x0) for x0 in (None, np.zeros(150))]
    np.testing.assert_allclose(both[0].x, both[1].x, atol=1e-14)
    assert both[0].work == both[1].work
    assert all(result.certificate.rigorous for result in both)
    fit = boxreg.lsq_linear(A, y, (-0.01, 0.01))
    np.testing.assert_allclose(fit.x, both[0].x, atol=1e-14)


def test_who_sweeps_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain least squares over boxes around 0, by the default solver, over long columns in one piece,
    where a survey does not have several threads."""
    A, y = data(150)
    box = (np.full(150, -1.0), np.full(150, 1.0))
    asked: dict[str, Any] = {"sweeping": True}

    def ahead(
        matrix: Any, lower: Any, upper: Any, loss: str = "least_squares", **terms: Any
    ) -> bool:
        return validate.problem(matrix, y, lower, upper, loss, **terms).survey.sweep is not None

    assert ahead(A, *box, **asked)
    with monkeypatch.context() as many:
        many.setattr(dense, "shares", lambda entries: 3)
        assert not ahead(A, *box, **asked)
    assert not ahead(A, *box)
    assert not ahead(np.ascontiguousarray(A), *box, **asked)
    assert not ahead(sparse.csc_array(A), *box, **asked)
    assert not ahead(A, 0.0, 1.0, **asked)
    assert not ahead(A, 0.5, 1.0, **asked)
    assert not ahead(A, *box, "huber", **asked)
    for term in ({"linear": np.ones(150)}, {"ridge": 1.0}, {"sample_weight": y**2}):
        assert not ahead(A, *box, **asked, **term)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_what_cannot_be_swept_over_is_refused_as_ever(bad: float) -> None:
    A, y = data(150)
    A[7, 9] = bad
    with pytest.raises(ValueError, match="A:"):
        boxreg.solve(A, y, -1.0, 1.0)


def test_the_sweep_is_taken_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that starts from 0 has one sweep less to make."""
    A, y = data(150)
    asked = []
    made = Sweep.by

    def counted(self: Sweep, *arguments: Any) -> Any:
        asked.append(len(self.order))
        return made(self, *arguments)

    monkeypatch.setattr(Sweep, "by", counted)
    boxreg.solve(A, y, -0.01, 0.01)
    assert asked
    assert max(asked) < 149
    asked.clear()
    boxreg.solve(A, y, -0.01, 0.01, solver=working_set.WorkingSet())
    assert max(asked) == 149
