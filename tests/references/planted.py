"""Problems of any size built backwards from an integer solution (x*, θ*), exact in float64.

θ* and the columns come first, as integers; w* = Aᵀθ* (less the costs) is then known exactly, and its
sign says where x*_j must be: at its lower bound where w*_j < 0, at its upper bound where w*_j > 0, and
anywhere where w*_j = 0. Bounds are drawn around x*, and y so that -f'(A x*) = θ*.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from references.judged import Judged

Rng = np.random.Generator
Integers = NDArray[np.int64]

LOSSES: Final = ("least_squares", "huber", "squared_hinge", "kullback_leibler", "logistic")
BOUNDS: Final = ("nonnegative", "box", "mixed", "hostile")
"""x >= 0; finite boxes around 0; boxes with infinite ends; free, one-sided and equal bounds besides."""

SMALL: Final = ((4, 6), (3, 5), (6, 4), (5, 8), (2, 3))
LARGE: Final = ((60, 100), (150, 120), (100, 400), (80, 700), (300, 600), (1900, 110))
WIDE: Final = ((100, 600), (150, 900), (200, 1200))
TALL: Final = ((1850, 120), (1900, 250))
LARGEST: Final = ((200, 1500), (400, 3000), (2000, 400), (1000, 1000))

_DELTA = 2
_QUARTERS = 4


@dataclass
class _Draft:
    """A problem in the making: θ* in units of 1/divisor, everything else integers."""

    rng: Rng
    loss: str
    kind: str
    A: Integers
    r: Integers
    theta: Integers
    labels: Integers
    costs: Integers
    x: Integers
    signs: Any

    @property
    def positive(self) -> bool:
        return self.loss == "kullback_leibler"

    @property
    def divisor(self) -> int:
        return {"kullback_leibler": _QUARTERS, "logistic": 2}.get(self.loss, 1)


def planted(loss: str, kind: str, seed: int, shapes: Any = SMALL) -> Judged:
    """Problem number `seed` with this loss and kind of bounds."""
    family = f"planted-{loss}-{kind}"
    rng = np.random.default_rng([zlib.crc32(family.encode()), seed, len(shapes)])
    m, n = shapes[seed % len(shapes)]
    nothing = np.zeros(n, dtype=np.int64)
    sparse = bool(rng.integers(2)) and m * n > 100
    columns = _columns(rng, m, n, loss == "kullback_leibler", sparse)
    draft = _Draft(rng, loss, kind, columns, *_residual(rng, loss, m), nothing, nothing, nothing)
    if loss == "logistic":
        draft.A = _paired(draft.A)
    if loss == "squared_hinge":
        draft.x = rng.integers(0 if kind == "nonnegative" else -2, 3, n) * (rng.random(n) < 0.2)
        margin = 1 - draft.labels * (draft.A @ draft.x)
        draft.theta = draft.labels * np.maximum(0, margin)
    if loss in ("squared_hinge", "logistic") or rng.random() < 0.2:
        _price(draft)
    else:
        _arrange(draft)
    if loss != "squared_hinge":
        draft.x = _solution(rng, n, draft.signs, kind, draft.positive)
    if loss == "logistic":
        draft.x = _balanced(draft.x, kind)
    lower, upper = _bounds(rng, draft.x, draft.signs, kind, draft.positive)
    y, parameters, more = _targets(draft, lower, upper)
    terms = _terms(draft)
    held, exact = draft.A.astype(float), [_fractions(s) for s in (draft.x, *(o for _, o in more))]
    if rng.random() < 0.3:  # powers of two: nothing is rounded
        k = rng.integers(-12, 13, n) if rng.random() < 0.8 else rng.integers(-30, 31, n)
        held, lower, upper = np.ldexp(held, k), np.ldexp(lower, -k), np.ldexp(upper, -k)
        exact = [[v / Fraction(2) ** int(e) for v, e in zip(s, k, strict=True)] for s in exact]
        if "linear" in terms:
            terms["linear"] = np.ldexp(terms["linear"], k)
    rhs = tuple((other, s) for (other, _), s in zip(more, exact[1:], strict=True))
    known = (exact[0], draft.signs, parameters, terms, rhs)
    return Judged(family, seed, loss, held, y, lower, upper, *known)


def _price(draft: _Draft) -> None:
    """Costs c = Aᵀθ* - w* for a w* drawn at random."""
    rng, n = draft.rng, len(draft.x)
    wanted = np.where(rng.random(n) < 0.4, 0, rng.integers(-3, 4, n) * draft.divisor)
    if draft.kind == "nonnegative":
        wanted = np.where(draft.x != 0, 0, -np.abs(wanted))
    draft.costs, draft.signs = draft.A.T @ draft.theta - wanted, np.sign(wanted).astype(np.int8)


def _arrange(draft: _Draft) -> None:
    """Columns with a_jᵀθ* = 0, or of the sign that the bounds ask for, or adding up to 0."""
    rng, A, theta = draft.rng, draft.A, draft.theta
    _settle(rng, A, theta, 0.3 + 0.4 * rng.random(), draft.positive)
    if draft.kind == "nonnegative":
        _turn(A, theta, draft.positive)
    elif draft.kind in ("mixed", "hostile") and not draft.positive:
        _implicit(rng, A, theta)
    draft.signs = np.sign(A.T @ theta).astype(np.int8)


def _targets(draft: _Draft, lower: Any, upper: Any) -> tuple[Any, dict[str, Any], Any]:
    """y with -f'(A x*) = θ*, parameters of the loss, and y for two other points of the same w*."""
    rng, A, x, theta = draft.rng, draft.A, draft.x, draft.theta
    others = [_other(rng, x, lower, upper, draft.signs) for _ in range(2)]
    if draft.loss in ("squared_hinge", "logistic"):
        return draft.labels.astype(float), {}, []
    if draft.positive:
        background = max(int(rng.integers(0, 3)), int(np.any(A @ x == 0)))
        points = [z for z in (x, *others) if np.all(A @ z + background > 0)]
        made = [((A @ z + background) * (_QUARTERS + theta) / _QUARTERS, z) for z in points]
        return made[0][0], {"background": float(background)}, made[1:]
    parameters = {"delta": float(_DELTA)} if draft.loss == "huber" else {}
    made = [((A @ z + draft.r).astype(float), z) for z in (x, *others)]
    return made[0][0], parameters, made[1:]


def _terms(draft: _Draft) -> dict[str, Any]:
    """Costs, and now and then one weight for all rows, a power of four: w* keeps its signs."""
    costs = {"linear": draft.costs / draft.divisor} if draft.costs.any() else {}
    if draft.rng.random() >= 0.15 or (draft.positive and np.any(draft.theta == -_QUARTERS)):
        return costs
    scale = 4.0 ** float(draft.rng.choice([-266, -20, -1, 1, 20]))
    weights = {"sample_weight": np.full(len(draft.theta), scale)}
    return {**weights, **{name: scale * value for name, value in costs.items()}}


def _fractions(values: Any) -> list[Fraction]:
    return [Fraction(int(v)) for v in values]


def _residual(rng: Rng, loss: str, m: int) -> tuple[Integers, Integers, Integers]:
    """y - p, θ* and labels; θ* in units of a quarter for counts, of a half for the logistic loss."""
    labels = rng.choice([-1, 1], m)
    if loss == "huber":
        r = rng.integers(-6, 7, m)
        r[0] = 1
        return r, np.clip(r, -_DELTA, _DELTA), labels
    if loss == "kullback_leibler":
        theta = rng.integers(-3, 9, m)
        theta[rng.random(m) < 0.1] = -_QUARTERS
        theta[0], theta[-1] = 1, -1
        return np.zeros(m, dtype=np.int64), theta, labels
    if loss == "logistic":
        return np.zeros(m, dtype=np.int64), labels, labels
    theta = rng.integers(-3, 4, m)
    theta[rng.integers(m)] = 1
    if rng.random() < 0.1:
        theta[:] = 0  # a perfect fit: w* = 0, nothing may be screened
    return theta, theta, labels


def _columns(rng: Rng, m: int, n: int, positive: bool, sparse: bool) -> Integers:
    """Small integers; some columns are parallel, antiparallel or nearly parallel to others."""
    A = rng.integers(0 if positive else -2, 4 if positive else 3, (m, n))
    if sparse:
        A = A * (rng.random((m, n)) < max(0.05, 3.0 / m))
    empty = np.flatnonzero(~A.any(axis=0))
    A[rng.integers(0, m, len(empty)), empty] = 1
    factors = np.array([1, 2, 3, 5] if positive else [1, 2, -1, -2, 5])
    for j in np.flatnonzero(rng.random(n) < 0.2):
        other = int(rng.integers(n))
        if other == j:
            continue
        A[:, j] = rng.choice(factors) * A[:, other]
        if rng.random() < 0.3 and np.abs(A[:, j]).max() <= 15:
            A[:, j] = int(rng.choice([100, 10_000])) * A[:, other]
            A[rng.integers(m), j] += 1
    return A


def _settle(rng: Rng, A: Integers, theta: Integers, share: float, positive: bool) -> None:
    """Change one entry of some columns so that a_jᵀθ* = 0."""
    plus, minus = np.flatnonzero(theta == 1), np.flatnonzero(theta == -1)
    for j in np.flatnonzero(rng.random(A.shape[1]) < share):
        product = int(A[:, j] @ theta)
        rows = minus if product > 0 else plus
        if positive and not len(rows):
            continue
        if len(rows):
            A[rng.choice(rows), j] += abs(product)
        elif len(plus) or len(minus):
            A[rng.choice(plus if len(plus) else minus), j] -= abs(product)
    if positive:
        blank = ~A.any(axis=1)
        A[blank, 0] += 1


def _turn(A: Integers, theta: Integers, positive: bool) -> None:
    """Make every a_jᵀθ* <= 0, as x >= 0 without upper bounds asks for."""
    w = A.T @ theta
    if not positive:
        A[:, w > 0] *= -1
        return
    (minus,) = np.nonzero(theta == -1)
    A[minus[0], w > 0] += w[w > 0] + 1


def _implicit(rng: Rng, A: Integers, theta: Integers) -> None:
    """Columns with w* = 0 whose sum is 0: where they have no upper bound the cone has no interior."""
    flat = np.flatnonzero(A.T @ theta == 0)
    if len(flat) >= 3 and rng.random() < 0.6:
        a, b, c = rng.choice(flat, 3, replace=False)
        A[:, c] = -(A[:, a] + A[:, b])


def _solution(rng: Rng, n: int, signs: Any, kind: str, positive: bool) -> Integers:
    if positive:
        return rng.integers(0, 4, n)
    if kind == "nonnegative":
        return np.where(signs < 0, 0, rng.integers(0, 4, n))
    x = rng.integers(-4, 5, n)
    return np.where(signs == 0, x, np.abs(x) * signs) if kind == "box" else x


def _paired(A: Integers) -> Integers:
    """Every second column is minus twice the one before it, so that A x = 0 for many x."""
    A = A.copy()
    last = A.shape[1] // 2 * 2
    A[:, 1:last:2] = -2 * A[:, 0:last:2]
    return A


def _balanced(x: Integers, kind: str) -> Integers:
    """x with A x = 0 for columns in such pairs: x_2k = 2 x_2k+1, or 0."""
    x, last = x.copy(), len(x) // 2 * 2
    x[1:last:2] = np.sign(x[1:last:2])
    x[0:last:2] = 2 * x[1:last:2]
    x[last:] = 0
    return np.abs(x) if kind == "nonnegative" else x


def _bounds(rng: Rng, x: Integers, signs: Any, kind: str, positive: bool) -> tuple[Any, Any]:
    """Bounds that hold x*, at one of them where the sign of w* asks for it."""
    n = len(x)
    if kind == "nonnegative" and np.all((x == 0) | ((x > 0) & (signs == 0))):
        return np.zeros(n), np.full(n, np.inf)
    at_lower = (signs < 0) | ((signs == 0) & (rng.random(n) < 0.3))
    at_upper = (signs > 0) | ((signs == 0) & ~at_lower & (rng.random(n) < 0.2))
    if kind == "box":  # 0 is in every box, and inside most: sweeps are made from there
        at_lower &= (x <= 0) | (signs < 0)
        at_upper &= (x >= 0) | (signs > 0)
    below, above = rng.integers(1, 4, n), rng.integers(1, 4, n)
    lower = np.where(at_lower, x, x - below).astype(float)
    upper = np.where(at_upper, x, x + above).astype(float)
    if kind in ("mixed", "hostile"):
        upper = np.where(~at_upper & (rng.random(n) < 0.5), np.inf, upper)
    if kind == "hostile":
        lower = np.where(~at_lower & (rng.random(n) < 0.5), -np.inf, lower)
        equal = rng.random(n) < 0.1
        lower, upper = np.where(equal, x, lower), np.where(equal, x, upper)
    if kind == "box":
        lower = np.where(at_lower, lower, np.minimum(lower, -1.0))
        upper = np.where(at_upper, upper, np.maximum(upper, 1.0))
    if positive:
        lower = np.where(at_lower, x, np.maximum(lower, 0.0))
    return lower.astype(float), upper.astype(float)


def _other(rng: Rng, x: Integers, lower: Any, upper: Any, signs: Any) -> Integers:
    """Another point of the box that has the coordinates with w* ≠ 0 where x* has them."""
    moved = np.clip(x + rng.integers(-1, 2, len(x)), lower, upper).astype(np.int64)
    return np.where(signs == 0, moved, x)
