"""Errors of products entry by entry, dual points made feasible row by row: in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

import boxreg
from boxreg import validate
from boxreg.certificate import certify
from boxreg.duality import DualPoint, feasible_nearby
from boxreg.point import Point
from boxreg.presolve import unreduced
from boxreg.reduced import ReducedProblem
from boxreg.shrinking import shrunk
from boxreg.work import WorkMeter
from rational import exact, slopes

SEEDS = range(30)
quiet = pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")


def reduced(A: object, y: np.ndarray, lower: object, loss: str, **terms: object) -> ReducedProblem:
    """The problem over x >= lower with every column held."""
    posed = validate.problem(A, y, lower, np.inf, loss, **terms)
    return unreduced(posed, WorkMeter(posed.design.shape[1]))


def ranging(seed: int, m: int = 12, n: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """A and theta of entries from 1e-330 to 1, theta next to orthogonal to some columns."""
    rng = np.random.default_rng([seed, 101])
    A = rng.standard_normal((m, n)) * 10.0 ** -rng.choice([0.0, 8.0, 150.0, 300.0], (m, n))
    theta = rng.standard_normal(m) * 10.0 ** -rng.choice([0.0, 3.0, 20.0, 170.0], m)
    A[: m // 2, 0], A[-1, 0] = 0.0, 1.0
    theta[m // 2 :] *= seed % 3 > 0  # the first column then has no part in theta at all
    A[0, 1:], theta[0] = 1.0, 1.0
    A[0, 1] -= A[:, 1] @ theta
    return A, theta


@pytest.mark.parametrize("storage", ["rows", "columns", "sparse", "stacked"])
@pytest.mark.parametrize("cost", [False, True])
def test_products_entry_by_entry(storage: str, cost: bool) -> None:
    """Each error is within its bound, to the end of float64's range, and 0 where nothing is added."""
    for seed in SEEDS:
        A, theta = ranging(seed)
        m, n = A.shape
        c = np.random.default_rng(seed).standard_normal(n) * 1e-12 if cost else None
        held = {"rows": A, "columns": np.asfortranarray(A), "sparse": sparse.csc_array(A)}.get(
            storage, A
        )
        ridge = 1.0 if storage == "stacked" else 0.0
        problem = reduced(held, np.ones(m), 0.0, "least_squares", linear=c, ridge=ridge)
        if ridge:
            A, theta = np.vstack([A, np.eye(n)]), np.append(theta, 1e-250 * np.ones(n))
        dual = DualPoint.at(theta, problem).entry_by_entry(np.arange(n), problem)
        assert dual.entries is not None
        for found, true, bound in zip(
            exact(dual.correlation), slopes(A, theta, c), exact(dual.entries), strict=True
        ):
            assert abs(found - true) <= bound
        if not cost and seed % 3 == 0 and not ridge:
            assert dual.entries[0] == 0.0 == dual.correlation[0]
        some = dual.kept(np.array([1, 3]))
        assert some.entries is not None
        np.testing.assert_array_equal(some.entries, dual.entries[[1, 3]])


def test_sums_of_equal_terms() -> None:
    """Many equal terms, whose rounding errors add up, are within their bound, and near it."""
    for seed in SEEDS:
        rng = np.random.default_rng([seed, 102])
        a, theta = np.full(500, rng.uniform(1.0, 2.0)), np.full(500, rng.uniform(1.0, 2.0))
        problem = reduced(a[:, None], np.ones(500), 0.0, "least_squares")
        dual = DualPoint.at(theta, problem).entry_by_entry(np.arange(1), problem)
        assert dual.entries is not None
        off = abs(Fraction(dual.correlation[0]) - slopes(a[:, None], theta)[0])
        assert off <= Fraction(dual.entries[0])


def test_products_at_the_end_of_the_range() -> None:
    """Sums of products that round to multiples of 2^-1074, or to nothing."""
    for seed in SEEDS:
        rng = np.random.default_rng([seed, 107])
        A = np.vstack([np.ones((1, 6)), 1e-130 * rng.uniform(0.5, 1.5, (9, 6))])
        theta = np.append(0.0, 10.0 ** -rng.uniform(192.0, 195.0) * rng.random(9))
        problem = reduced(A, np.ones(10), 0.0, "least_squares")
        dual = DualPoint.at(theta, problem).entry_by_entry(np.arange(6), problem)
        assert dual.entries is not None
        for found, true, bound in zip(
            exact(dual.correlation), slopes(A, theta), exact(dual.entries), strict=True
        ):
            assert abs(found - true) <= bound


def test_points_made_by_linearity() -> None:
    """Their products have errors of another size: the chosen ones are computed anew."""
    for seed in SEEDS:
        A, theta = ranging(seed)
        problem = reduced(A, np.ones(len(A)), 0.0, "least_squares")
        far = DualPoint.at(theta * 1e6, problem)
        made = DualPoint.at(theta, problem).plus(1.0, far).plus(-1.0, far)
        dual = made.entry_by_entry(np.arange(8), problem)
        bounds = dual.uncertainty(problem)
        for found, true, bound in zip(
            exact(dual.correlation), slopes(A, made.theta), exact(bounds), strict=True
        ):
            assert abs(found - true) <= bound


def test_operators_have_no_entries() -> None:
    """What an operator's products are made with is not known: nothing is claimed entry by entry."""
    A, theta = ranging(1)
    design = boxreg.operator(aslinearoperator(A), column_norms=np.linalg.norm(A, axis=0))
    problem = reduced(design, np.ones(len(A)), 0.0, "least_squares")
    assert DualPoint.at(theta, problem).entry_by_entry(np.arange(8), problem).entries is None


def test_beside_equality_columns() -> None:
    """theta' with w_j = 0 on a free column is a way off: bounds for theta itself do not hold for it."""
    for seed in SEEDS:
        rng = np.random.default_rng([seed, 103])
        A = np.abs(rng.standard_normal((6, 3)))
        lower = np.array([-np.inf, 0.0, 0.0])
        problem = reduced(A, rng.standard_normal(6), lower, "least_squares")
        theta = rng.standard_normal(6)
        dual = DualPoint.at(theta, problem).entry_by_entry(np.arange(3), problem)
        near, _ = feasible_nearby(Point(problem, np.zeros(3)), dual)
        fractions = [exact(row) for row in A]
        share = slopes(A, theta)[0] / sum(row[0] ** 2 for row in fractions)
        moved = [t - share * row[0] for t, row in zip(exact(theta), fractions, strict=True)]
        true = slopes(A, moved)
        for j in (1, 2):
            bound = Fraction(near.uncertainty(problem)[j])
            assert abs(Fraction(near.correlation[j]) - true[j]) <= bound


def labelled(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Decays of all lengths, and labels: some columns are 1e-20 and less in all rows of one."""
    rng = np.random.default_rng([seed, 104])
    t = np.linspace(0.0, 1.0, 60)
    A = np.exp(-t[:, None] / 10.0 ** rng.uniform(-2.3, 0.5, 20))
    y = np.where(rng.random(60) < 0.5, 1.0, -1.0)
    y[: int(rng.integers(1, 8))] = 1.0
    return A, y


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "huber", "kullback_leibler"])
def test_feasible_row_by_row(loss: str) -> None:
    """a_jᵀtheta <= 0 exactly, -theta in the domain, no entry larger than before or of another sign."""
    found = 0
    for seed in SEEDS:
        A, y = labelled(seed)
        y = np.abs(y) + 0.5 * (y > 0.0) if loss == "kullback_leibler" else y
        problem = reduced(A, y, 0.0, loss)
        rng = np.random.default_rng(seed)
        x = rng.exponential(1.0, A.shape[1]) * (rng.random(A.shape[1]) < 0.2) + 1e-3
        dual = DualPoint.residual(Point(problem, x))
        made = shrunk(dual, Point(problem, x))
        if made is None:
            continue
        found += 1
        assert max(slopes(A, made.theta)) <= 0
        low, high = problem.loss.dual_domain(problem.target)
        assert np.all((low <= -made.theta) & (-made.theta <= high))
        assert np.all(np.abs(made.theta) <= np.abs(dual.theta))
        assert np.all(made.theta * dual.theta >= 0.0)
    assert found >= 25


def test_slopes_within_their_error_are_brought_down() -> None:
    """w_j > 0 by less than its rounding error is brought to where a sign is proved."""
    for seed in SEEDS:
        rng = np.random.default_rng([seed, 108])
        m = 30
        A = np.abs(rng.standard_normal((m, 1)))
        y = np.where(np.arange(m) % 2, 1.0, -1.0)
        theta = y * rng.random(m)
        problem = reduced(A, y, 0.0, "squared_hinge")
        size = 2.0**-53 * float(A[:, 0] @ np.abs(theta))
        for _ in range(3):
            theta[1] -= (float(slopes(A, theta)[0]) - 3.0 * size) / A[1, 0]
        theta[1] = max(theta[1], 0.0)
        made = shrunk(DualPoint.at(theta, problem), Point(problem, np.zeros(1)))
        assert made is not None
        assert max(slopes(A, made.theta)) <= 0


def hinge_gap(A: np.ndarray, y: np.ndarray, x: np.ndarray, theta: np.ndarray) -> Fraction | None:
    """P(x) - D(theta) of the squared hinge over x >= 0; None where theta is not feasible."""
    if max(slopes(A, theta)) > 0:
        return None
    total = Fraction(0)
    for p, label, t in zip(slopes(A.T, x), exact(y), exact(theta), strict=True):
        if label * t < 0:
            return None
        total += max(1 - label * p, Fraction(0)) ** 2 / 2 + (label * t) ** 2 / 2 - label * t
    return total


@quiet
def test_squared_hinges_on_decays() -> None:
    """Most are proved to 1e-8 of P₀, where norms of columns prove next to nothing; all claims hold."""
    proved = 0
    for seed in range(12):
        A, y = labelled(seed)
        result = boxreg.solve(A, y, loss="squared_hinge")
        true = hinge_gap(A, y, result.x, result.theta)
        assert true is not None
        assert true <= Fraction(result.gap)
        assert result.relative_gap <= 0.01
        proved += result.success
    assert proved >= 8


@quiet
@pytest.mark.parametrize("labels", ["sign", "half", "centred"])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_peaks_with_labels_in_runs(loss: str, labels: str) -> None:
    """Gaussian peaks whose tails are 1e-20 in rows of one label: what theta = 0 proves is all of P."""
    rng = np.random.default_rng([7, 105])
    t = np.linspace(0.0, 1.0, 300)
    A = np.exp(-((t[:, None] - rng.random(80)) ** 2) / (2.0 * 10.0 ** rng.uniform(-5.0, -2.0, 80)))
    z = A @ np.where(rng.random(80) < 0.1, rng.exponential(3.0, 80), 0.0)
    chance = 1.0 / (1.0 + np.exp(np.median(z) - z))
    y = {
        "sign": np.where(z > np.median(z), 1.0, -1.0),
        "half": np.where(t < 0.5, 1.0, -1.0) * np.where(rng.random(300) < 0.02, -1.0, 1.0),
        "centred": np.where(rng.random(300) < chance, 1.0, -1.0),
    }[labels]
    result = boxreg.solve(A, y, loss=loss)
    assert result.certificate.rigorous
    assert result.gap <= 0.15 * result.objective
    assert max(slopes(A, result.theta)) <= 0


def test_a_gap_of_tiny_products_survives_another_order_of_summation() -> None:
    """A gap that is x_j times what entries of 1e-8 leave of a_jᵀtheta: rows in any order confirm it."""
    seen = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 106])
        m = 40
        a = np.append(1.0, 1e-8 * rng.uniform(0.5, 1.5, m - 1))
        theta = np.append(0.0, rng.standard_normal(m - 1))
        size = float(np.abs(a) @ np.abs(theta))
        wanted = -3.6 * (m + 2) * 2.0**-53 * size
        for _ in range(3):
            theta[-1] -= (float(slopes(a[:, None], theta)[0]) - wanted) / a[-1]
        x = np.array([1e-3])
        y = theta + a * x[0]
        theta = y - a * x[0]
        first, _ = certify(validate.problem(a[:, None], y, 0.0, np.inf, "least_squares"), x, theta)
        assert first.rigorous
        for _ in range(40):
            order = rng.permutation(m)
            posed = validate.problem(a[order, None], y[order], 0.0, np.inf, "least_squares")
            again, _ = certify(posed, x, theta[order], claimed_gap=first.gap)
            assert again.rigorous
            assert again.gap <= first.gap
            seen += 1
    assert seen == 800
