"""Named problems of moderate size that even slow first-order solvers finish.

Projected gradient with step 1/L on normalised columns brings the duality gap below 1e-10 times
max(1/2 |y|^2, objective) within 20,000 iterations, for most entries within a few hundred.  The
slowest are nnls-wide-nonnegative and nnls-collinear (6,000 to 8,000), then the other non-negative
matrices and bvls-collinear (1,000 to 4,000).  Where the optimal objective is 0 (target in the
cone or the box image, cone-is-everything, single-row-signed, single-entry, some zero targets) a
gap relative to the objective itself cannot be reached.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from references.box_problem import BoxProblem

Array = NDArray[np.float64]
Rng = np.random.Generator

_SHAPES: Final = {"tall": (50, 20), "square": (30, 30), "wide": (30, 45)}


def _matrix(rng: Rng, m: int, n: int, signed: bool) -> Array:
    entries = rng.standard_normal((m, n))
    return entries if signed else np.abs(entries)


def _observed(rng: Rng, A: Array, x: Array, noise: float = 0.5) -> Array:
    """A x plus Gaussian noise of the given size relative to A x (absolute where A x = 0)."""
    signal = A @ x
    scale = np.linalg.norm(signal) / np.sqrt(signal.size) or 1.0
    return signal + noise * scale * rng.standard_normal(signal.size)


def _sparse_truth(rng: Rng, n: int) -> Array:
    """Non-negative, about a third of the entries positive."""
    return np.where(rng.random(n) < 1 / 3, rng.uniform(0.5, 1.5, n), 0.0)


def _nnls(name: str, A: Array, y: Array) -> BoxProblem:
    n = A.shape[1]
    return BoxProblem(name, A, y, np.zeros(n), np.full(n, np.inf))


def _bvls(name: str, A: Array, y: Array, lower: float = 0.0, upper: float = 1.0) -> BoxProblem:
    n = A.shape[1]
    return BoxProblem(name, A, y, np.full(n, lower), np.full(n, upper))


def _plain(kind: Callable[[str, Array, Array], BoxProblem], label: str) -> list[BoxProblem]:
    """Tall, square and wide, each with non-negative and with signed Gaussian entries."""
    problems = []
    for seed, (shape, (m, n)) in enumerate(_SHAPES.items()):
        for signed in (False, True):
            rng = np.random.default_rng([seed, signed])
            A = _matrix(rng, m, n, signed)
            y = _observed(rng, A, _sparse_truth(rng, n))
            sign = "signed" if signed else "nonnegative"
            problems.append(kind(f"{label}-{shape}-{sign}", A, y))
    return problems


def _mixed_bounds() -> list[BoxProblem]:
    problems = []
    for seed, (shape, (m, n)) in enumerate(_SHAPES.items()):
        rng = np.random.default_rng([10, seed])
        A = _matrix(rng, m, n, signed=True)
        lower = rng.uniform(-1.0, 1.0, n)
        upper = np.where(rng.random(n) < 0.5, np.inf, lower + rng.uniform(0.1, 2.0, n))
        y = _observed(rng, A, lower + _sparse_truth(rng, n))
        problems.append(BoxProblem(f"mixed-bounds-{shape}", A, y, lower, upper))
    return problems


def _dependent_columns() -> list[BoxProblem]:
    rng = np.random.default_rng(20)
    base = _matrix(rng, 30, 15, signed=False)
    y = _observed(rng, base, _sparse_truth(rng, 15))
    twice = np.hstack([base, base[:, ::-1]])
    noise = rng.standard_normal(base.shape)
    close, near = (np.hstack([base, base + size * noise]) for size in (0.05, 1e-12))
    holes = base * (np.arange(15) % 3 > 0)
    factors = rng.integers(-3, 4, (30, 6)), rng.integers(-3, 4, (6, 25))
    low_rank = (factors[0] @ factors[1]).astype(np.float64)  # of rank 6 exactly
    y_low_rank = _observed(rng, low_rank, _sparse_truth(rng, 25))
    return [
        _nnls("nnls-duplicate-columns", twice, y),
        _bvls("bvls-duplicate-columns", twice, y, upper=0.4),
        # Hard: a coordinate leaves at a rate proportional to the distance of its near copy.
        _nnls("nnls-collinear", close, y),
        _bvls("bvls-collinear", close, y, upper=0.4),
        # The copies differ by less than the tolerance can tell: easy to solve, hard to identify.
        _nnls("nnls-nearly-collinear", near, y),
        _bvls("bvls-nearly-collinear", near, y, upper=0.4),
        _nnls("nnls-zero-columns", holes, y),
        _bvls("bvls-zero-columns", holes, y, lower=-0.2, upper=1.0),
        _nnls("nnls-rank-deficient", low_rank, y_low_rank),
        _bvls("bvls-rank-deficient", low_rank, y_low_rank, lower=-0.3, upper=0.3),
    ]


def _tiny_shapes() -> list[BoxProblem]:
    rng = np.random.default_rng(30)
    row, column = rng.standard_normal((1, 12)), rng.standard_normal((25, 1))
    y = column[:, 0] + rng.standard_normal(25)
    return [
        _nnls("nnls-single-row-signed", row, np.array([1.5])),
        _nnls("nnls-single-row-nonnegative", np.abs(row), np.array([-1.5])),
        _bvls("bvls-single-row", row, np.array([1.5]), upper=0.1),
        _nnls("nnls-single-column", column, y),
        _nnls("nnls-single-column-at-bound", -column, y),
        _bvls("bvls-single-column", column, y, lower=-2.0, upper=0.25),
        _nnls("nnls-single-entry", np.array([[2.0]]), np.array([3.0])),
    ]


def _special_targets() -> list[BoxProblem]:
    rng = np.random.default_rng(40)
    signed, positive = _matrix(rng, 40, 20, True), _matrix(rng, 40, 20, False)
    zero = np.zeros(40)
    inside = signed @ rng.uniform(0.5, 1.5, 20)
    outside = -positive @ rng.uniform(0.5, 1.5, 20)
    return [
        _nnls("nnls-zero-target", signed, zero),
        _bvls("bvls-zero-target", signed, zero, lower=0.1, upper=1.0),
        _bvls("bvls-zero-target-around-zero", signed, zero, lower=-1.0, upper=1.0),
        _nnls("nnls-target-in-cone", signed, inside),
        _bvls("bvls-target-in-box-image", signed, inside, upper=2.0),
        _nnls("nnls-solution-zero", positive, outside),
        _bvls("bvls-all-at-upper", positive, -outside, upper=0.25),
    ]


def _scales() -> list[BoxProblem]:
    rng = np.random.default_rng(50)
    A = _matrix(rng, 40, 25, signed=True)
    truth = _sparse_truth(rng, 25)
    y = _observed(rng, A, truth)
    norms = 10.0 ** rng.permutation(np.linspace(-8.0, 8.0, 25))
    problems = [
        _nnls("nnls-column-norms-1e-8-to-1e8", A * norms, y),
        BoxProblem("bvls-column-norms-1e-8-to-1e8", A * norms, y, -0.2 / norms, 0.6 / norms),
    ]
    for scale in (1e-20, 1e20):
        problems.append(_nnls(f"nnls-scaled-{scale:.0e}", A * scale, y * scale))
        problems.append(_bvls(f"bvls-scaled-{scale:.0e}", A * scale, y * scale))
    problems.append(_nnls("nnls-matrix-1e20-target-1e-20", A * 1e20, y * 1e-20))
    return problems


def _special_bounds() -> list[BoxProblem]:
    rng = np.random.default_rng(60)
    A = _matrix(rng, 40, 25, signed=True)
    y = _observed(rng, A, _sparse_truth(rng, 25))
    lower = rng.uniform(-0.5, 0.5, 25)
    width = np.where(np.arange(25) % 4 == 0, 0.0, 0.5)
    return [
        BoxProblem("some-fixed", A, y, lower, lower + width),
        BoxProblem("some-fixed-others-unbounded", A, y, lower, lower + np.where(width, np.inf, 0)),
        BoxProblem("all-fixed", A, y, lower, lower),
        # Rounding in w_j times a far bound limits the gap that can be reached at all.
        _bvls("far-bounds", A[:, :10], y, lower=-1e4, upper=1e4),
        _bvls("far-upper-bounds", A[:, :10], y, lower=0.0, upper=1e6),
        _bvls("tight-bounds", A, y, lower=0.2, upper=0.2 + 1e-3),
        _bvls("very-tight-bounds", A, y, lower=0.2, upper=0.2 + 1e-9),
    ]


def _no_strictly_feasible_dual() -> list[BoxProblem]:
    """Non-negative problems for which no t satisfies A^T t < 0."""
    rng = np.random.default_rng(70)
    base = _matrix(rng, 30, 10, signed=True)
    opposite = np.hstack([base, -base[:, :4]])
    y = _observed(rng, base, rng.standard_normal(10))
    everything = _matrix(rng, 10, 40, signed=True)  # the cone is the whole space: residual 0
    return [
        _nnls("nnls-opposite-columns", opposite, y),
        _nnls("nnls-cone-is-everything", everything, rng.standard_normal(10)),
    ]


TABLE: Final[tuple[BoxProblem, ...]] = (
    *_plain(_nnls, "nnls"),
    *_plain(_bvls, "bvls"),
    *_mixed_bounds(),
    *_dependent_columns(),
    *_tiny_shapes(),
    *_special_targets(),
    *_scales(),
    *_special_bounds(),
    *_no_strictly_feasible_dual(),
)
