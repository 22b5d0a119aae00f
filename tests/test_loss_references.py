"""The generated problems with losses, and the reference that solves them, tested on their own."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize

from references.exact import exact_solution
from references.loss_batch import Batch
from references.loss_families import CELLS, LABELS, LOSSES, OPTIONS, POSITIVE, loss_problem
from references.loss_functions import jet
from references.loss_interior import inside
from references.loss_problem import LossProblem
from references.loss_reference import LossSolution, exact_values, reference_solutions
from references.loss_unattained import (
    UNBOUNDED_LOSSES,
    Unattained,
    level,
    separable,
    unbounded,
)

INF = np.inf

cells = pytest.mark.parametrize(("loss", "kind"), CELLS)
extended_precision = pytest.mark.skipif(
    bool(np.finfo(np.longdouble).eps > 1e-18), reason="np.longdouble is no wider than float64 here"
)


def scalar(loss: str, a: Any, y: Any, lower: float = 0.0, upper: float = INF, **terms: Any) -> Any:
    """A problem with one unknown."""
    A, target = np.reshape(np.asarray(a, dtype=float), (-1, 1)), np.atleast_1d(np.asarray(y, float))
    given = {"huber": "delta", "log_cosh": "scale", "kullback_leibler": "background"}
    names = ("beta", "background") if loss == "beta_divergence" else (given.get(loss),)
    parameters = {k: terms.pop(k, 0.0) for k in names if k}
    terms = {k: np.atleast_1d(v) if k != "ridge" else v for k, v in terms.items()}
    ends = np.array([lower]), np.array([upper])
    return LossProblem("by hand", loss, A, target, *ends, parameters, **terms)


# A problem with one unknown and, worked by hand, its x and w = -P'(x).
BY_HAND = {
    "least-squares": (scalar("least_squares", 2, 3), 1.5, 0.0),
    "least-squares-at-zero": (scalar("least_squares", 2, -3), 0.0, -6.0),
    "least-squares-at-upper": (scalar("least_squares", 2, 3, -1.0, 1.0), 1.0, 2.0),
    "least-squares-upper-only": (scalar("least_squares", 2, -3, -INF, 1.0), -1.5, 0.0),
    "least-squares-free": (scalar("least_squares", 2, -3, -INF, INF), -1.5, 0.0),
    "least-squares-fixed": (scalar("least_squares", 2, 3, 0.5, 0.5), 0.5, 4.0),
    "least-squares-shifted": (scalar("least_squares", 1, 0.25, 0.5), 0.5, -0.25),
    "weights": (scalar("least_squares", [1, 1], [1, 4], sample_weight=[1, 2]), 3.0, 0.0),
    "weight-zero": (scalar("least_squares", [1, 1], [1, 4], sample_weight=[1, 0]), 1.0, 0.0),
    "linear": (scalar("least_squares", 1, 3, linear=1.0), 2.0, 0.0),
    "ridge": (scalar("least_squares", 1, 3, ridge=2.0), 1.0, 0.0),
    "tikhonov": (scalar("least_squares", 1, 3, ridge=np.array([[1.0], [1.0]])), 1.0, 0.0),
    "huber": (scalar("huber", 1, 10, delta=1.0, ridge=0.5), 2.0, 0.0),
    "huber-at-upper": (scalar("huber", 3, 10, upper=2.0, delta=0.5), 2.0, 1.5),
    "logistic": (scalar("logistic", 1, 1, linear=0.25), math.log(3.0), 0.0),
    "logistic-overlap": (scalar("logistic", [1, 1, 1], [1, 1, -1]), math.log(2.0), 0.0),
    "squared-hinge": (scalar("squared_hinge", 1, 1, linear=0.5), 0.5, 0.0),
    "squared-hinge-at-zero": (scalar("squared_hinge", 2, -1), 0.0, -2.0),
    "log-cosh": (scalar("log_cosh", 1, 1, scale=1.0, linear=0.5), 1.0 - math.atanh(0.5), 0.0),
    "log-cosh-wide": (
        scalar("log_cosh", 1, 3, scale=2.0, linear=1.0),
        3 - 2 * math.atanh(0.5),
        0.0,
    ),
    "kl": (scalar("kullback_leibler", 2, 3, background=1.0), 1.0, 0.0),
    "kl-linear": (scalar("kullback_leibler", 2, 3, background=1.0, linear=1.0), 0.5, 0.0),
    "kl-zero-count": (scalar("kullback_leibler", 2, 0, background=0.0), 0.0, -2.0),
    "kl-at-zero": (scalar("kullback_leibler", 2, 1, background=2.0), 0.0, -1.0),
    "kl-at-upper": (scalar("kullback_leibler", 1, 3, upper=1.0, background=0.0), 1.0, 2.0),
    "beta": (scalar("beta_divergence", 1, 2, beta=1.5), 2.0, 0.0),
    "beta-linear": (scalar("beta_divergence", 1, 2, beta=1.5, linear=1.0), 1.0, 0.0),
    "beta-background": (scalar("beta_divergence", 1, 2, beta=1.5, background=0.5), 1.5, 0.0),
    "beta-zero-target": (scalar("beta_divergence", 2, 0, 1.0, beta=1.5), 1.0, -2 * math.sqrt(2)),
    "beta-zero-at-edge": (scalar("beta_divergence", 2, 0, beta=1.5), 0.0, 0.0),
    "beta-shifted": (scalar("beta_divergence", 1, 2, 4.0, beta=1.5), 4.0, -1.0),
}


@pytest.mark.parametrize("case", BY_HAND.values(), ids=BY_HAND.keys())
def test_matches_hand_computation(case: tuple[LossProblem, float, float]) -> None:
    problem, x, w = case
    (solution,) = reference_solutions([problem])
    assert solution.accurate
    assert abs(solution.x[0] - x) <= 2e-16 * abs(x) + solution.x_error[0]
    assert abs(solution.w[0] - w) <= 2e-16 * abs(w) + solution.w_error[0]


def _huber(p: Any, y: Any, delta: Any) -> Any:
    r = abs(p - y)
    return r**2 / 2 if r <= delta else delta * (r - delta / 2)


def _beta(q: Any, y: Any, b: Any) -> Any:
    return (y**b + (b - 1) * q**b - b * y * q ** (b - 1)) / (b * (b - 1))


# f(p; y) in mpmath.
HIGH_PRECISION: dict[str, Callable[[Any, Any, dict[str, Any]], Any]] = {
    "least_squares": lambda p, y, g: (p - y) ** 2 / 2,
    "huber": lambda p, y, g: _huber(p, y, g["delta"]),
    "logistic": lambda p, y, g: mpmath.log(1 + mpmath.exp(-y * p)),
    "squared_hinge": lambda p, y, g: max(1 - y * p, 0) ** 2 / 2,
    "log_cosh": lambda p, y, g: g["scale"] ** 2 * mpmath.log(mpmath.cosh((p - y) / g["scale"])),
    "kullback_leibler": lambda p, y, g: (
        p + g["background"] - y + (y * mpmath.log(y / (p + g["background"])) if y else 0)
    ),
    "beta_divergence": lambda p, y, g: _beta(p + g["background"], y, g["beta"]),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_jets_match_high_precision(loss: str) -> None:
    """Value, derivative and second derivative, in float64 and longdouble."""
    rng = np.random.default_rng(3)
    points = rng.uniform(0.1, 3.0, 12) * (1.0 if loss in POSITIVE else rng.choice([-1, 1], 12))
    targets = rng.choice([-1.0, 1.0], 12) if loss in LABELS else rng.uniform(0.1, 3.0, 12)
    if loss in POSITIVE:
        targets[:3] = 0.0
    given = {"delta": 0.5, "background": 0.25, "beta": 1.5, "scale": 0.75}
    for kind in (np.float64, np.longdouble):
        eps = float(np.finfo(kind).eps)
        arrays = {k: np.full(12, v, dtype=kind) for k, v in given.items()}
        got = jet(loss, points.astype(kind), targets.astype(kind), arrays)
        with mpmath.workdps(60):
            for k, (p, y) in enumerate(zip(points, targets, strict=True)):
                exact = {key: mpmath.mpf(v) for key, v in given.items()}
                f = partial(HIGH_PRECISION[loss], y=mpmath.mpf(float(y)), g=exact)
                taylor = mpmath.taylor(f, mpmath.mpf(float(p)), 2)
                for order, part in enumerate(got[:3]):
                    want = taylor[order] * mpmath.factorial(order)
                    have = mpmath.mpf(int(part[k] * 2.0**70)) / 2**70
                    assert abs(have - want) <= 64 * eps * (abs(want) + 8), (p, y, order)


@cells
def test_optimality_conditions(loss: str, kind: str) -> None:
    """Feasible exactly; w = 0 inside and of the right sign at bounds; most problems accurately."""
    problems = [loss_problem(loss, kind, seed) for seed in range(200)]
    solutions = reference_solutions(problems)
    for problem, solution in zip(problems, solutions, strict=True):
        x, w, error = solution.x, solution.w, solution.w_error
        assert np.all((problem.lower <= x) & (x <= problem.upper))
        if solution.accurate:
            assert np.all((w <= error) | (x == problem.upper))
            assert np.all((w >= -error) | (x == problem.lower))
    assert sum(solution.accurate for solution in solutions) >= 190


@cells
def test_lbfgsb_finds_nothing_better(loss: str, kind: str) -> None:
    """Whatever L-BFGS-B finds is no better, and mostly about as good."""
    problems = [loss_problem(loss, kind, seed) for seed in range(10)]
    near = 0
    for problem, solution in zip(problems, reference_solutions(problems), strict=True):
        batch = Batch.stack([problem]).astype(np.float64)
        with np.errstate(all="ignore"):  # it tries points outside the domain
            found = minimize(
                lambda x, batch=batch: [part[0] for part in batch.slopes(x[None])[:2]],
                inside(batch.lower, batch.upper)[0],
                method="L-BFGS-B",
                jac=True,
                bounds=list(zip(batch.lower[0], batch.upper[0], strict=True)),
                options={"maxfun": 10**4, "maxiter": 10**4, "ftol": 1e-15, "gtol": 1e-12},
            )
        value, error, size = exact_values([problem], [found.x / batch.unit[0]])[0]
        if solution.accurate and np.isfinite(value):
            assert solution.objective <= value + error + 1e-18
            near += value - solution.objective <= 1e-6 * size
    assert near >= 7


@extended_precision
@pytest.mark.parametrize("kind", ["nonneg", "box", "shifted"])
def test_matches_rational_least_squares(kind: str) -> None:
    """w within its error estimate of the exact one, the objective as well."""
    problems = [loss_problem("least_squares", kind, seed, "plain") for seed in range(40)]
    for problem, solution in zip(problems, reference_solutions(problems), strict=True):
        exact = exact_solution(*problem.data)
        if solution.accurate:
            apart = np.array([float(a) for a in exact.w]) - solution.w
            limit = solution.w_error + 2e-16 * np.abs(solution.w)
            assert np.all(np.abs(apart) <= limit)
            assert abs(solution.objective - exact.objective_float) <= (
                solution.objective_error + 2e-16 * exact.objective_float
            )


@pytest.mark.parametrize("loss", LOSSES)
def test_matches_high_precision_newton(loss: str) -> None:
    """Errors are within the estimates: 40 digits on the same active set, where that is regular."""
    compared = 0
    for seed in range(12):
        problem = loss_problem(loss, "nonneg", seed, "ridge", shape=(6, 4))
        (solution,) = reference_solutions([problem])
        free = np.flatnonzero(solution.x > 0.0)
        if not solution.accurate or not len(free):
            continue
        x, w = _newton(problem, solution, free)
        assert np.all(np.abs(x - solution.x) <= solution.x_error + 1e-30)
        assert np.all(np.abs(w - solution.w) <= solution.w_error)
        compared += 1
    assert compared >= 6


def _newton(problem: LossProblem, known: LossSolution, free: np.ndarray) -> tuple[Any, Any]:
    """Newton's method in mpmath for the free coordinates; (x, w) rounded to longdouble."""
    with mpmath.workdps(40):
        exact = {k: mpmath.mpf(float(np.ravel(v)[0])) for k, v in problem.parameters.items()}
        background = np.broadcast_to(problem.parameters.get("background", 0.0), len(problem.y))
        A, mu = mpmath.matrix(problem.A.tolist()), mpmath.mpf(problem.ridge)
        x = mpmath.matrix([mpmath.mpf(int(v * 2.0**62)) / mpmath.mpf(2) ** 62 for v in known.x])
        for _ in range(4):
            slopes, bends = [], []
            for i, y in enumerate(problem.y):
                p = sum(A[i, j] * x[j] for j in range(len(x)))
                given = {**exact, "background": mpmath.mpf(float(background[i]))}
                jets = DERIVATIVES[problem.loss](p, mpmath.mpf(float(y)), given)
                slopes.append(jets[0])
                bends.append(jets[1])
            rows = range(len(slopes))
            gradient = [sum(A[i, j] * slopes[i] for i in rows) + mu * x[j] for j in range(len(x))]
            hessian = mpmath.matrix(
                [
                    [
                        sum(A[i, int(j)] * bends[i] * A[i, int(k)] for i in rows) + mu * (j == k)
                        for k in free
                    ]
                    for j in free
                ]
            )
            step = mpmath.lu_solve(hessian, mpmath.matrix([gradient[j] for j in free]))
            for k, j in enumerate(free):
                x[int(j)] -= step[k]
        return np.array([_wide(v) for v in x]), np.array([_wide(-g) for g in gradient])


def _logistic_slopes(p: Any, y: Any) -> tuple[Any, Any]:
    rise = 1 / (1 + mpmath.exp(y * p))
    return -y * rise, rise * (1 - rise)


def _log_cosh_slopes(r: Any, scale: Any) -> tuple[Any, Any]:
    return scale * mpmath.tanh(r / scale), mpmath.sech(r / scale) ** 2


def _beta_slopes(q: Any, y: Any, b: Any) -> tuple[Any, Any]:
    if q == 0:  # y = 0, and no free coordinate reaches the row
        return mpmath.mpf(0), mpmath.mpf(0)
    return (q - y) * q ** (b - 2), (b - 1) * q ** (b - 2) + (2 - b) * y * q ** (b - 3)


# f' and f'' in closed form.
DERIVATIVES: dict[str, Callable[[Any, Any, dict[str, Any]], tuple[Any, Any]]] = {
    "least_squares": lambda p, y, g: (p - y, 1),
    "huber": lambda p, y, g: (
        max(min(p - y, g["delta"]), -g["delta"]),
        int(abs(p - y) <= g["delta"]),
    ),
    "logistic": lambda p, y, g: _logistic_slopes(p, y),
    "squared_hinge": lambda p, y, g: (-y * max(1 - y * p, 0), int(y * p < 1)),
    "log_cosh": lambda p, y, g: _log_cosh_slopes(p - y, g["scale"]),
    "kullback_leibler": lambda p, y, g: (
        (1 - y / (p + g["background"]), y / (p + g["background"]) ** 2) if y else (1, 0)
    ),
    "beta_divergence": lambda p, y, g: _beta_slopes(p + g["background"], y, g["beta"]),
}


def _wide(value: Any) -> np.longdouble:
    """An mpmath number in longdouble, by two float64 parts."""
    high = float(value)
    return np.longdouble(high) + np.longdouble(float(value - mpmath.mpf(high)))


UNATTAINED = [
    *(separable(seed, intercept=bool(seed % 2)) for seed in range(10)),
    *(level(seed, loss) for loss in ("logistic", "log_cosh") for seed in range(5)),
    *(unbounded(seed, loss) for loss in UNBOUNDED_LOSSES for seed in range(6)),
]


@pytest.mark.parametrize("case", UNATTAINED, ids=lambda case: case.problem.name)
def test_unattained_problems_are(case: Unattained) -> None:
    """The objective falls along the direction, which the bounds never stop, towards the infimum."""
    recedes = np.where(np.isfinite(case.problem.lower), case.direction >= 0.0, True)
    assert np.all(recedes)
    assert np.all(np.isinf(case.problem.upper))
    points = [case.start + t * case.direction for t in (0.0, 1.0, 4.0, 16.0, 64.0, 256.0, 4096.0)]
    values = [exact_values([case.problem], [x])[0][0] for x in points]
    assert values[1] < values[0]
    assert values[2] < values[1]
    if math.isinf(case.infimum):
        assert values[-1] < values[0] - 10.0
    else:
        assert abs(values[-1] - case.infimum) < 1e-6


@pytest.mark.parametrize("case", UNATTAINED, ids=lambda case: case.problem.name)
def test_the_reference_says_where_it_fails(case: Unattained) -> None:
    (solution,) = reference_solutions([case.problem])
    assert not solution.accurate


def test_problems_are_deterministic_and_varied() -> None:
    seen = set()
    for seed in range(60):
        first, second = (loss_problem("huber", "mixed", seed) for _ in range(2))
        assert np.array_equal(first.A, second.A)
        assert np.array_equal(first.y, second.y)
        assert first.terms.keys() == second.terms.keys()
        seen.add(tuple(first.terms))
        seen.add(first.A.shape)
    assert len(seen) >= 9


@pytest.mark.parametrize("option", OPTIONS)
def test_options_are_what_they_say(option: str) -> None:
    terms = loss_problem("logistic", "nonneg", 1, option).terms
    assert ("sample_weight" in terms) == (option in ("sample_weight", "everything"))
    assert ("linear" in terms) == (option in ("linear", "everything"))
    assert ("ridge" in terms) == (option in ("ridge", "tikhonov", "everything"))
