"""Small problems with other losses than least squares: solved and proved by compiled calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import boxreg
from boxreg import validate
from boxreg.certificate import certify
from boxreg.dense_fit import COMPILED
from boxreg.losses import Huber, KullbackLeibler, LogCosh
from boxreg.presolve import reference_scale
from boxreg.settings import using
from boxreg.smooth_fit import SmallProblem

LOSSES: dict[str, Any] = {
    "huber": Huber(0.5),
    "logistic": "logistic",
    "squared_hinge": "squared_hinge",
    "log_cosh": LogCosh(0.7),
    "kullback_leibler": KullbackLeibler(0.1),
}
BOUNDS = ("nonnegative", "box", "signed", "mixed", "equal")
TERMS = ("plain", "weights", "ridge", "cost")


def posed(name: str, bounds: str, terms: str, seed: int) -> dict[str, Any]:
    """The arguments of `solve` for a problem of a few columns."""
    rng = np.random.default_rng([list(LOSSES).index(name), BOUNDS.index(bounds), seed])
    m, n = int(rng.integers(6, 30)), int(rng.integers(2, 9))
    counts = name == "kullback_leibler"
    A = np.abs(rng.standard_normal((m, n))) if counts else rng.standard_normal((m, n))
    x = np.abs(rng.standard_normal(n)) * (rng.random(n) < 0.6)
    y = A @ x + 0.3 * rng.standard_normal(m)
    if name in ("logistic", "squared_hinge"):
        y = np.where(rng.random(m) < 1.0 / (1.0 + np.exp(-y)), 1.0, -1.0)
    if counts:
        y = rng.poisson(3.0 * np.abs(y)).astype(float)
    lower, upper = np.zeros(n), np.full(n, np.inf)
    if bounds in ("box", "equal"):
        upper = np.full(n, 0.6)
    if bounds == "equal":
        lower[0] = upper[0]
    if bounds in ("signed", "mixed") and not counts:
        lower, upper = np.full(n, -0.5), np.full(n, 0.5)
    if bounds == "mixed" and not counts:
        lower[0], upper[0] = -np.inf, np.inf
        lower[1], upper[1] = -np.inf, 0.2
    more: dict[str, Any] = {}
    if terms == "weights":
        more["sample_weight"] = rng.uniform(0.2, 3.0, m)
    if terms == "ridge":
        more["ridge"] = 0.05
    if terms == "cost":
        more["linear"] = 0.1 * rng.random(n)
        more["ridge"] = 0.01
    return {"A": A, "y": y, "lower": lower, "upper": upper, "loss": LOSSES[name], **more}


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("name", LOSSES)
def test_answers_are_those_of_the_general_solver(name: str, bounds: str, terms: str) -> None:
    compiled = 0
    for seed in range(4):
        problem = posed(name, bounds, terms, seed)
        with using(small_entries=0):
            known = boxreg.solve(**problem)
        found = boxreg.solve(**problem)
        compiled += found.settings["solver"] == COMPILED
        assert found.status is known.status
        assert found.objective <= known.objective + known.gap + 1e-13 * found.scale
        assert np.all((problem["lower"] <= found.x) & (found.x <= problem["upper"]))
        rest = {key: problem[key] for key in problem if key not in ("A", "y", "lower", "upper")}
        again = boxreg.verify(
            problem["A"],
            problem["y"],
            found.x,
            found.theta,
            problem["lower"],
            problem["upper"],
            gap=found.gap,
            **rest,
        )
        assert again, again.reasons
    assert compiled >= 3


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("name", LOSSES)
def test_gaps_are_those_of_the_certificate(name: str, bounds: str) -> None:
    """What the kernel proves is what `certify` proves, which sums in another order."""
    compared = 0
    for seed in range(12):
        asked = posed(name, bounds, TERMS[seed % 4], 100 + seed)
        problem = validate.problem(**asked)
        scale, floor = reference_scale(problem)
        target = max(1e-8 * scale, floor)
        small = SmallProblem.of(problem)
        assert small is not None
        fit = small.solve(target)
        assert fit is not None
        assert fit.theta is not None
        found = small.prove(fit, scale, np.inf)
        certificate, _ = certify(problem, fit.x, fit.theta)
        if found is None or not certificate.rigorous:
            continue
        compared += 1
        gap = found.certificate.gap
        assert 0.5 * certificate.gap <= gap <= 20.0 * certificate.gap + 1e-280
        assert found.certificate.rounding <= gap
        assert found.certificate.objective == pytest.approx(certificate.objective, rel=1e-12)
        near = certificate.dual_objective
        assert found.certificate.dual_objective == pytest.approx(near, rel=1e-9, abs=1e-9)
    assert compared >= 8


def test_by_hand() -> None:
    """Residuals x and x - 1 are within the threshold, the third is far beyond: x + (x - 1) - 1 = 0."""
    found = boxreg.solve(np.ones((3, 1)), [0.0, 1.0, 100.0], 0.0, loss=Huber(1.0))
    assert found.settings["solver"] == COMPILED
    assert found.x[0] == pytest.approx(1.0, abs=1e-11)
    assert found.objective == pytest.approx(0.5 + 98.5, rel=1e-14)
    assert found.theta == pytest.approx([-1.0, 0.0, 1.0], abs=1e-11)


def test_counts_by_hand() -> None:
    """Of sum (x - y_i log x) the minimum is at the mean of y."""
    found = boxreg.solve(np.ones((4, 1)), [1.0, 2.0, 3.0, 6.0], loss="kullback_leibler")
    assert found.settings["solver"] == COMPILED
    assert found.x[0] == pytest.approx(3.0, rel=1e-9)


def test_a_minimum_that_is_not_attained() -> None:
    found = boxreg.solve(np.array([[1.0], [-2.0]]), [1.0, -1.0], loss="logistic")
    assert found.status.name == "NOT_ATTAINED"
    assert found.gap <= found.target_gap


def test_screening_keeps_to_the_solution() -> None:
    """What is screened is at its bound with a slope that points out of the box."""
    some = 0
    for seed in range(20):
        problem = posed("huber", "box", "plain", 300 + seed)
        problem["A"][:, 0] = 0.0  # whose slope is 0: every value is a solution
        found = boxreg.solve(**problem)
        residual = np.clip(problem["y"] - problem["A"] @ found.x, -0.5, 0.5)
        w = problem["A"].T @ residual
        assert np.all(w[found.screened == -1] < 0.0)
        assert np.all(w[found.screened == 1] > 0.0)
        assert np.all(found.x[found.screened == -1] == 0.0)
        assert np.all(found.x[found.screened == 1] == 0.6)
        some += int(np.count_nonzero(found.screened))
    assert some >= 20


def odd(kind: str, rng: np.random.Generator) -> dict[str, Any]:
    """A matrix, and bounds, that solvers fail on."""
    A = rng.standard_normal((12, 5))
    lower: Any = 0.0
    upper: Any = np.inf
    if kind == "parallel":
        A[:, 1], A[:, 3] = A[:, 0], -2.0 * A[:, 2]
    if kind == "zero columns":
        A[:, [1, 4]] = 0.0
    if kind == "huge and tiny":
        A = A * 10.0 ** np.array([-9.0, 9.0, 0.0, -4.0, 5.0])
    if kind == "wide":
        A = rng.standard_normal((3, 9))
    if kind == "all fixed":
        lower = upper = 0.25
    if kind == "float32":
        A = A.astype(np.float32)
    if kind == "integers":
        A = np.round(3.0 * A).astype(np.int64)
    if kind == "strided":
        A = np.repeat(A, 2, axis=1)[:, ::2]
    if kind == "read-only":
        A.flags.writeable = False
    return {"A": A, "lower": lower, "upper": upper}


@pytest.mark.parametrize("name", ["huber", "logistic", "squared_hinge", "log_cosh"])
@pytest.mark.parametrize(
    "kind",
    [
        "parallel",
        "zero columns",
        "huge and tiny",
        "wide",
        "all fixed",
        "float32",
        "integers",
        "strided",
        "read-only",
    ],
)
def test_odd_arrays(name: str, kind: str) -> None:
    rng = np.random.default_rng([7, len(name), len(kind)])
    given = odd(kind, rng)
    m = given["A"].shape[0]
    labels = name in ("logistic", "squared_hinge")
    y = rng.choice([-1.0, 1.0], m) if labels else rng.standard_normal(m)
    found = boxreg.solve(y=y, loss=LOSSES[name], ridge=1e-3, **given)
    assert found.status.name == "CONVERGED"
    rest = (given["lower"], given["upper"])
    again = boxreg.verify(
        *(given["A"], y, found.x, found.theta, *rest),
        loss=LOSSES[name],
        ridge=1e-3,
        gap=found.gap,
    )
    assert again, again.reasons


def test_nothing_is_proved_of_another_point() -> None:
    """theta far from feasible, x outside the box, and numbers that are none, prove nothing."""
    problem = validate.problem(**posed("huber", "nonnegative", "plain", 5))
    small = SmallProblem.of(problem)
    assert small is not None
    fit = small.solve(1e-8)
    assert fit is not None
    assert fit.theta is not None
    for theta in (fit.theta + 1.0, 3.0 * fit.theta, np.full_like(fit.theta, np.nan)):
        assert small.prove(fit._replace(theta=theta), 1.0, 1e-6) is None
    assert small.prove(fit._replace(x=np.full_like(fit.x, np.nan)), 1.0, 1e-6) is None
    column = problem.design.by_columns()[0]
    upwards = 0.1 * column / np.max(np.abs(column))  # w_0 > 0, where x_0 has no upper bound
    found = small.prove(fit._replace(theta=upwards), 1.0, 1e12)
    assert found is not None
    assert not found.theta.any()  # theta = 0 is what proves it


def test_few_rounds_leave_the_rest_to_the_general_solver() -> None:
    problem = posed("logistic", "box", "plain", 3)
    with pytest.warns(boxreg.ConvergenceWarning):
        found = boxreg.solve(**problem, max_iter=1, tol=0.0)
    assert found.n_iter <= 1
    assert np.isfinite(found.gap)


@pytest.mark.parametrize("loss", ["squared_hinge", "log_cosh", "huber"])
def test_nearly_perfect_fits_end_as_soon_as_theta_zero_proves_them(loss: str) -> None:
    """Wide problems, with targets of both signs: to the last digit would take several times as long."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((20, 90))
        y = A @ np.maximum(rng.standard_normal(90), 0.0)
        y = np.sign(y) if loss == "squared_hinge" else y
        found = boxreg.solve(A, y, loss=LOSSES[loss])
        assert found.settings["solver"] == COMPILED
        assert found.success
        assert found.n_iter <= 6
        assert not found.theta.any() or found.gap <= 1e-3 * found.target_gap
