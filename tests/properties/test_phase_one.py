"""Strictly feasible dual points where they form no cone, and directions that prove there are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import boxreg
from boxreg import phase_one, validate
from boxreg.designs import DenseDesign
from boxreg.directions import build_cone, first_cone, is_cone
from boxreg.dual_cone import DualCone
from boxreg.duality import DualPoint, duality_gap
from boxreg.phase_one import cheap_anchor, strictly_feasible
from boxreg.point import Point
from boxreg.presolve import presolve
from boxreg.recession import falling_cost, receding_answer, recession
from boxreg.reduced import ReducedProblem
from boxreg.status import Status
from boxreg.work import WorkMeter
from building import mirrored, reduced
from judge import make
from loss_judging import arguments
from rational import exact, slopes
from references.loss_unattained import UNBOUNDED_LOSSES, level, separable, unbounded

KINDS = ("costs", "costs and free", "logistic", "logistic with weights", "huber", "log_cosh")


def posed(kind: str, seed: int) -> tuple[ReducedProblem, np.ndarray, np.ndarray]:
    """A small problem whose dual feasible set is no cone; its A and costs."""
    rng = np.random.default_rng([seed, 31])
    A, y, c = rng.standard_normal((8, 6)), rng.standard_normal(8), np.zeros(6)
    terms: dict[str, Any] = {}
    if kind.startswith("costs"):
        c = terms["linear"] = rng.standard_normal(6)
    else:
        terms["loss"] = kind.split(maxsplit=1)[0]
        y = np.sign(y) if kind.startswith("logistic") else y
    if kind.endswith("weights"):
        terms["sample_weight"] = rng.uniform(0.2, 3.0, 8)
    A, y, lower, upper = mirrored(A, y, 0.0, np.inf, np.arange(6) % 2 == 0)
    if kind.endswith("free"):
        lower[0] = upper[0] = np.inf
        lower[0] = -np.inf
    return reduced(A, y, lower, upper, **terms), A, c


def strictly_inside(problem: ReducedProblem, A: Any, c: Any, theta: np.ndarray) -> bool:
    """±w_j < 0 in rational arithmetic, and -theta in the domain of f*, strictly with equalities."""
    low, high = problem.loss.dual_domain(problem.target)
    signed = zip(exact(problem.side), slopes(A, theta, c), strict=True)
    strictly = np.all((low < -theta) & (-theta < high))
    closed = problem.equality is None and np.all((low <= -theta) & (-theta <= high))
    return all(side == 0 or side * w < 0 for side, w in signed) and bool(strictly or closed)


@pytest.mark.parametrize("kind", KINDS)
def test_the_anchor_is_strictly_feasible_in_exact_arithmetic(kind: str) -> None:
    """And every point pushed towards it is feasible; its gap is finite."""
    anchors = 0
    for seed in range(20):
        problem, A, c = posed(kind, seed)
        assert not is_cone(problem)
        cone = strictly_feasible(problem)
        if cone.anchor is None:
            assert cone.recession is not None or cone.implicit.any()
            continue
        anchors += 1
        assert cone.direction is None
        if cone.recession is not None:  # then theta is 0 in the rows that recede, here in all
            assert cone.implicit.all()
            assert not cone.anchor.theta.any()
            continue
        assert strictly_inside(problem, A, c, cone.anchor.theta)
        problem = problem.with_equalities(cone.implicit)
        point = Point(problem, np.clip(0.1, problem.lower, problem.upper) * np.ones(6))
        pushed = cone.push(DualPoint.residual(point), point)
        signed = zip(exact(problem.side), slopes(A, pushed.theta, c), strict=True)
        assert all(side * w <= 0 for side, w in signed)
        assert np.isfinite(duality_gap(point, pushed))
    assert anchors >= 10


@pytest.mark.parametrize("kind", KINDS)
def test_cheap_anchors_are_strictly_feasible_too(kind: str) -> None:
    """0, a multiple of -1, or -½ in the rows whose domain allows it; where A x <= 0 it is 0."""
    for seed in range(20):
        problem, A, c = posed(kind, seed)
        anchor = cheap_anchor(problem)
        if anchor is not None:
            assert strictly_inside(problem, A, c, anchor.theta)
            off = np.abs(A.T @ anchor.theta - c - anchor.correlation)
            assert np.all(off <= anchor.uncertainty(problem))
            before = problem.work.total
            known = cheap_anchor(problem, A.sum(axis=0))
            even = np.all(problem.loss.dual_domain(problem.target)[1] > 0.0)
            assert problem.work.total == before or not even, "no product where the sums are known"
            assert known is not None
            np.testing.assert_array_equal(known.theta, anchor.theta)
        assert anchor is None or not problem.free.any()
    problem = reduced(np.eye(3), np.ones(3), -np.inf, 0.0, linear=-np.ones(3))
    anchor = cheap_anchor(problem)
    assert anchor is not None
    assert not anchor.theta.any()
    cone = first_cone(problem, "auto", None, exact=True)
    assert cone.anchor is not None
    assert not cone.pending


def test_a_positive_design_has_a_cheap_anchor_with_any_bounded_domain() -> None:
    """Logistic with labels 1 would need theta >= 0; with labels -1 the point -½ is inside."""
    A = np.abs(np.random.default_rng(0).standard_normal((5, 4))) + 0.1
    anchor = cheap_anchor(reduced(A, -np.ones(5), loss="logistic"))
    assert anchor is None or np.all(A.T @ anchor.theta < 0.0)
    both = reduced(A, np.zeros(5), loss="huber")
    anchor = cheap_anchor(both)
    assert anchor is not None
    np.testing.assert_array_equal(anchor.theta, np.full(5, -0.5))


def test_implicit_equalities_of_costs() -> None:
    """Columns a and -a with costs 1 and -1: every feasible theta has aᵀtheta = 1, and is found."""
    rng = np.random.default_rng(3)
    a = rng.standard_normal((6, 1))
    A = np.column_stack([a, -a, rng.standard_normal((6, 2))])
    problem = reduced(A, rng.standard_normal(6), linear=[1.0, -1.0, 0.5, 0.2])
    cone = build_cone(problem, "auto")
    assert cone.implicit.tolist() == [True, True, False, False]
    assert cone.recession is None
    assert cone.anchor is not None
    assert float(a[:, 0] @ cone.anchor.theta) == pytest.approx(1.0, abs=1e-9)
    assert all(w < 0 for w in slopes(A[:, 2:], cone.anchor.theta, [0.5, 0.2]))
    assert "not unique" in cone.note


@pytest.mark.parametrize("seed", range(8))
def test_separable_logistic_recedes(seed: int) -> None:
    """A direction of the box along which no row's loss grows and some fall: the infimum is 0."""
    case = separable(seed, intercept=bool(seed % 2))
    problem = reduced(**arguments(case.problem))
    known = recession(problem, case.direction)
    assert known is not None
    assert known.status is Status.NOT_ATTAINED
    found = strictly_feasible(problem).recession
    assert found is not None
    assert found.status is Status.NOT_ATTAINED
    assert np.all(found.direction[case.problem.lower == 0.0] >= 0.0)
    margins = case.problem.y * (case.problem.A @ found.direction)
    assert np.min(margins) >= -1e-8
    assert np.max(margins) > 1e-6
    assert receding_answer(Point(problem, case.direction)) is not None


@pytest.mark.parametrize("seed", range(4))
def test_an_answer_whose_prediction_is_known_is_judged_without_a_product(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And alike; but where rounding is cleaned off the direction the prediction is that of another."""
    case = separable(seed, intercept=False)
    problem = reduced(**arguments(case.problem))
    x = np.where(case.direction > 1e-6 * np.max(case.direction), case.direction, 0.0)
    point, blurred = Point(problem, x), Point(problem, np.where(x == 0.0, 1e-30, x))
    expected = recession(problem, x)
    assert expected is not None
    assert point.prediction is not None
    assert blurred.prediction is not None
    asked = []
    matvec = DenseDesign.matvec
    monkeypatch.setattr(DenseDesign, "matvec", lambda s, d: (asked.append(d), matvec(s, d))[1])
    found = receding_answer(point)
    assert not asked
    assert found is not None
    assert found.status is expected.status
    np.testing.assert_array_equal(found.direction, expected.direction)
    again = receding_answer(blurred)
    assert again is not None
    np.testing.assert_array_equal(again.direction, expected.direction)
    assert len(asked) == bool(np.any(x == 0.0))


@pytest.mark.parametrize("loss", UNBOUNDED_LOSSES)
def test_unbounded_problems_recede(loss: str) -> None:
    """Along the direction that is known, and along the one found, which falls too."""
    for seed in range(6):
        case = unbounded(seed, loss)
        posed = validate.problem(**arguments(case.problem))
        problem = presolve(posed, WorkMeter(len(posed.lower)))
        idle = falling_cost(posed)
        found = [recession(problem, case.direction), strictly_feasible(problem).recession]
        for way in [idle] if np.any(problem.norms == 0.0) else found:
            assert way is not None
            assert way.status is Status.UNBOUNDED
            assert np.all(way.direction >= 0.0)
            near, far, farther = (
                Point(problem, case.start + s * way.direction).objective for s in (0.0, 1e4, 2e4)
            )
            assert farther < far < near


@pytest.mark.parametrize("loss", ["logistic", "log_cosh"])
def test_level_problems_recede(loss: str) -> None:
    """The cost takes back what the loss adds, exactly: there is an infimum, and it is not attained."""
    case = level(1, loss)
    way = recession(reduced(**arguments(case.problem)), case.direction)
    assert way is not None
    assert way.status is Status.NOT_ATTAINED


@pytest.mark.parametrize("direction", ["auto", "ones"])
def test_a_named_direction_does_not_hide_a_recession(direction: str) -> None:
    """Where feasible points form no cone the direction has no part; what was found is said."""
    case = unbounded(1, "least_squares")
    result = boxreg.solve(**arguments(case.problem), direction=direction)
    assert result.status is Status.UNBOUNDED


@pytest.mark.parametrize(("c", "lower", "upper"), [(-1.0, 0.0, np.inf), (1.0, -np.inf, 0.0)])
def test_costs_of_zero_columns(c: float, lower: float, upper: float) -> None:
    """Unbounded where the cost falls towards no end; otherwise the coordinate is fixed."""
    A = np.array([[1.0, 0.0], [2.0, 0.0]])
    posed = validate.problem(A, np.ones(2), lower, upper, "least_squares", linear=[0.0, c])
    way = falling_cost(posed)
    assert way is not None
    np.testing.assert_array_equal(way.direction, [0.0, -np.sign(c)])
    other = validate.problem(A, np.ones(2), lower, upper, "least_squares", linear=[0.0, -c])
    assert falling_cost(other) is None
    assert not presolve(other, WorkMeter(2)).open[1]


def test_what_does_not_recede() -> None:
    """No direction, one that the box forbids, one along which squares grow, a level one."""
    A = np.array([[1.0, 0.0], [0.0, 1.0]])
    problem = reduced(A, np.ones(2), [0.0, -np.inf], [np.inf, 1.0], linear=[-1.0, 0.0])
    assert recession(problem, np.zeros(2)) is None
    assert recession(problem, np.array([-1.0, 0.0])) is None
    assert recession(problem, np.array([1.0, 0.0])) is None
    flat = reduced(np.array([[1.0, -1.0]]), np.ones(1))
    assert recession(flat, np.ones(2)) is None
    down = reduced(np.array([[1.0, -1.0]]), np.ones(1), linear=[0.5, -1.0])
    way = recession(down, np.ones(2))
    assert way is not None
    assert way.status is Status.UNBOUNDED


def test_costs_that_cancel_do_not_recede() -> None:
    """What rounding leaves of a sum of costs says nothing, whatever its sign."""
    level = np.array([[1.0, 2.0, -3.0]])
    for costs in ([-0.1, -0.2, 0.3], [0.1, 0.2, -0.3]):
        assert recession(reduced(level, np.ones(1), linear=costs), np.ones(3)) is None


def test_large_programs_are_left_alone(change: Callable[..., object]) -> None:
    """Then no anchor is known, and the note says what that means."""
    change(program_entries=10)
    problem, _, _ = posed("logistic", 0)
    cone = strictly_feasible(problem)
    assert cone.anchor is None
    assert cone.recession is None
    assert "No strictly feasible dual point is known" in cone.note


def test_an_anchor_on_the_boundary_is_all_there_is() -> None:
    """With nothing to spare at the anchor, a point beyond the half-space goes all the way to it."""
    problem = reduced([[1.0], [1.0]], [3.0, 3.0], loss="huber")
    anchor = DualPoint.at(np.array([0.5, -0.5]), problem)
    cone = DualCone(None, np.zeros(1, dtype=bool), anchor=anchor)
    point = Point(problem, np.zeros(1))
    pushed = cone.push(DualPoint.residual(point), point)
    np.testing.assert_allclose(pushed.theta, anchor.theta, atol=1e-12)


@pytest.mark.parametrize("loss", ["least_squares", "logistic"])
def test_implicit_equalities_are_found_together(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifteen pairs of opposite columns with opposite costs: three programs, not one a pair."""
    rng = np.random.default_rng(5)
    y = np.where(rng.random(20) < 0.5, 1.0, -1.0)
    theta = y * rng.uniform(0.2, 0.8, 20)  # inside the domain of the logistic loss
    pairs, others = rng.integers(-4, 5, (20, 15)).astype(float), rng.standard_normal((20, 10))
    costs = np.round(pairs.T @ theta, 3)
    linear = np.concatenate([costs, -costs, others.T @ theta + 1.0])
    problem = reduced(np.hstack([pairs, -pairs, others]), y, loss=loss, linear=linear)
    calls, solved = [], phase_one._solved
    monkeypatch.setattr(phase_one, "_solved", lambda *a, **k: calls.append(1) or solved(*a, **k))
    cone = strictly_feasible(problem)
    np.testing.assert_array_equal(cone.implicit, np.arange(40) < 30)
    assert cone.anchor is not None
    assert len(calls) <= 3


@pytest.mark.parametrize("seed", [106, 115])
def test_a_dual_feasible_set_that_is_a_point(seed: int) -> None:
    """More columns with w* = 0 than rows: x was optimal, and its gap infinite."""
    problem = make("wide-planted-least_squares-nonnegative", seed)
    result = boxreg.solve(**problem.posed)
    assert result.success
    assert problem.excess(result.x) <= result.gap <= result.target_gap
    assert result.work <= 5_000.0
