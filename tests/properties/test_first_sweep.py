"""The sweep that comes with the norms of A is the one that would have been made."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import boxreg
from boxreg import in_threads, validate
from boxreg.designs import dense
from boxreg.designs.epochs import Sweep, SweepTerms, quarters
from boxreg.point import Point
from boxreg.settings import Settings
from boxreg.solvers import working_set
from boxreg.solvers.sweeps import Sweeps
from building import reduced

RNG = np.random.default_rng(71)
ROWS = Settings.long_columns + 101


def data(n: int, dtype: Any = np.float64) -> tuple[Any, Any]:
    A = np.asfortranarray(RNG.standard_normal((ROWS, n)), dtype=dtype)
    A[:, 3] = 0.0
    return A, RNG.standard_normal(ROWS)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [4, 23, 40])
def test_norms_and_sweep(n: int, dtype: Any) -> None:
    """Four at a time with some left over; 0 inside, at either end, between equal bounds, no bounds."""
    A, y = data(n, dtype)
    lower, upper = -0.01 * RNG.random(n), 0.01 * RNG.random(n)
    lower[::5], upper[1::5] = 0.0, 0.0
    lower[2], upper[2] = 0.0, 0.0
    lower[-1], upper[-1] = -np.inf, np.inf
    design = validate.design(A)
    plain, seen = design.survey(y), design.survey(y, (lower, upper))
    assert plain.sweep is None
    np.testing.assert_allclose(seen.norms, plain.norms, rtol=1e-12)
    assert seen.sums is seen.correlation is None
    first = seen.sweep
    assert first is not None

    movable = np.flatnonzero(plain.norms > 0.0)
    terms = SweepTerms(lower, upper, plain.norms**2, np.zeros(n), None)
    order = quarters(np.arange(n))
    steps = 2.0
    x, residual, margin = np.zeros(n), y.copy(), steps * float(np.max(np.abs(first.x) * seen.norms))
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
    swept = first.as_swept(order, terms, steps)
    np.testing.assert_array_equal(swept.order, kept)
    assert swept.changed == changed
    assert swept.largest == pytest.approx(largest, rel=1e-9)
    assert swept.total == pytest.approx(np.linalg.norm(x * plain.norms), rel=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_runs_go_as_if_the_sweep_had_been_made_later(dtype: Any) -> None:
    """But for a check at x = 0 and its two products. Nobody sweeps ahead of time from an x0."""
    A, y = data(150, dtype)
    A[:, 3] = 1.0  # which a sweep made later would leave out, and take other columns together
    y *= 0.3
    both = [boxreg.solve(A, y, -0.01, 0.01, x0=x0) for x0 in (None, np.zeros(150))]
    np.testing.assert_allclose(both[0].x, both[1].x, atol=1e-14)
    assert both[0].work == pytest.approx(both[1].work - 2.0, abs=0.1)
    assert all(result.certificate.rigorous for result in both)
    assert [result.history.iteration[0] for result in both] == [1, 0]
    fit = boxreg.lsq_linear(A, y, (-0.01, 0.01))
    np.testing.assert_allclose(fit.x, both[0].x, atol=1e-14)


def test_who_sweeps_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain least squares over bounded boxes around 0, by the default solver, over long columns in one
    piece, unless many threads would share them."""
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
    for unbounded in ((-np.inf, 1.0), (-1.0, np.inf), (-np.inf, np.inf)):
        assert not ahead(A, *unbounded, **asked)
    assert not ahead(A, *box, "huber", **asked)
    for term in ({"linear": np.ones(150)}, {"ridge": 1.0}, {"sample_weight": y**2}):
        assert not ahead(A, *box, **asked, **term)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_what_cannot_be_swept_over_is_refused_as_ever(bad: float) -> None:
    A, y = data(150)
    A[7, 9] = bad
    with pytest.raises(ValueError, match="A:"):
        boxreg.solve(A, y, -1.0, 1.0)


def test_without_steps_there_is_no_sweep() -> None:
    A, y = data(150)
    with pytest.warns(boxreg.ConvergenceWarning):
        result = boxreg.solve(A, y, -0.01, 0.01, max_iter=0)
    assert not result.x.any()
    assert result.n_iter == 0
    assert result.certificate


def shared(A: Any, y: Any, box: float, parts: int, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The first sweep by so many threads, each with some of the columns."""
    n = A.shape[1]
    with monkeypatch.context() as several:
        several.setattr(in_threads, "shares", lambda entries: parts)
        several.setattr(dense, "shares", lambda entries: 1)
        return validate.design(A).survey(y, (np.full(n, -box), np.full(n, box)))


@pytest.mark.parametrize("parts", [2, 3])
def test_a_sweep_in_parts(parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every part is a sweep of its own, and the residual that of all of them."""
    A, y = data(90)
    seen = shared(A, y, 0.01, parts, monkeypatch)
    np.testing.assert_allclose(seen.norms, np.linalg.norm(A, axis=0), rtol=1e-12)
    edges = np.linspace(0, 90, parts + 1).astype(int)
    for a, b in pairwise(edges):
        alone = validate.design(A[:, a:b]).survey(y, (np.full(b - a, -0.01), np.full(b - a, 0.01)))
        np.testing.assert_array_equal(seen.sweep.x[a:b], alone.sweep.x)
        np.testing.assert_array_equal(seen.sweep.back[a:b], alone.sweep.back)
    np.testing.assert_allclose(seen.sweep.residual, y - A @ seen.sweep.x, atol=1e-12)


def test_parts_that_get_in_each_others_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two halves that are the same fit y twice: one of them waits, and nothing is held back in it."""
    A, y = data(40)
    y = A[:, :20] @ RNG.uniform(-1.0, 1.0, 20)
    A[:, 20:] = A[:, :20]
    swept = shared(A, y, 1.5, 2, monkeypatch).sweep
    assert [half.any() for half in np.split(swept.x, 2)] == [True, False]
    assert not swept.back[20:].any()
    np.testing.assert_allclose(swept.residual, y - A @ swept.x, atol=1e-12)


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_how_far_the_prediction_is_off(parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against sums in extended precision, where steps are large and little is left of y."""
    A, y = data(100)
    A *= 10.0 ** RNG.uniform(-2, 2, 100)
    y = A @ RNG.choice([-1.0, 1.0], 100)
    survey = shared(A, y, 1.0, parts, monkeypatch)
    point = Point(reduced(A, y, -1.0, 1.0), np.zeros(100))
    point.sweep = survey.sweep
    sweeps = Sweeps(point)
    sweeps.sweep()
    exact = A.astype(np.longdouble) @ sweeps.x.astype(np.longdouble)
    off = float(np.sqrt(np.sum((exact - (y - sweeps._residual)) ** 2)))
    assert 0.0 < off <= sweeps._error


def test_runs_whose_sweep_came_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    A, y = data(150)
    whole = boxreg.solve(A, y, -0.01, 0.01)
    monkeypatch.setattr(in_threads, "shares", lambda entries: 2)
    parts = boxreg.solve(A, y, -0.01, 0.01)
    np.testing.assert_allclose(parts.x, whole.x, atol=1e-13)
    assert parts.certificate.rigorous


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
