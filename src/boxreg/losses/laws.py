"""The laws of a loss, tried on a grid: for losses whose author is not at hand."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..rounding import TINY, UNIT_ROUNDOFF
from .base import Loss

_STEP = 2.0**-12
_SIZES = np.concatenate([np.linspace(0.0, 8.0, 257)[1:], np.geomspace(8.5, 1e3, 32)])
_FRACTIONS = np.concatenate([[0.0, 1e-9, 1e-4], np.linspace(0.02, 0.98, 49), [1 - 1e-4, 1.0]])


def unit_of(loss: Loss, targets: Array) -> float:
    """Size of f around y: what constants inside f may round by, however small f is elsewhere."""
    sizes = []
    for y in targets:
        p = y + np.linspace(-1.0, 1.0, 33)
        p = p[p > 0.0] if loss.needs_nonnegative else p
        sizes.append(np.max(np.abs(loss.values(p, np.full_like(p, y))), initial=0.0))
    finite = [float(size) for size in sizes if np.isfinite(size)]
    return min(finite, default=0.0)


def check_laws(loss: Loss, targets: Array, unit: float = 0.0) -> None:
    """ValueError that names the first law `loss` breaks, with p, y, v and the amount.

    Every comparison allows for the rounding that the loss declares, relative to what is computed and
    to `unit`; none has a truncation error.
    """
    for y in targets:
        p = _predictions(loss, float(y))
        target = np.full_like(p, y)
        for what, numbers in (
            ("value", loss.values(p, target)),
            ("derivative", loss.derivatives(p, target)),
        ):
            _demand(
                loss, f"{what} is finite", np.where(np.isfinite(numbers), 0.0, np.inf), p, target
            )
        _check_derivative(loss, p, target, unit)
        _check_conjugate(loss, p, target, unit)
        _check_lipschitz(loss, p, target, unit)


def _predictions(loss: Loss, y: float) -> Array:
    """Points around 0 and y, positive if they have to be."""
    grid = np.concatenate([-_SIZES, [0.0], _SIZES])
    grid = np.unique(np.concatenate([grid, grid + y]))
    return grid[grid > 0.0] if loss.needs_nonnegative else grid


def _check_derivative(loss: Loss, p: Array, target: Array, unit: float) -> None:
    """h f'(p) <= f(p + h) - f(p) <= h f'(p + h), whatever h > 0: convexity, nothing else."""
    ahead = p + _STEP * np.maximum(np.abs(p), 2.0**-6)
    h = ahead - p  # exact: the two are within a factor of two, or one is 0
    here, there = loss.values(p, target), loss.values(ahead, target)
    slopes = loss.derivatives(p, target), loss.derivatives(ahead, target)
    error = loss.roundoff_value * (np.abs(here) + np.abs(there) + unit)
    error += loss.roundoff_derivative * h * (np.abs(slopes[0]) + np.abs(slopes[1]))
    rise = there - here
    excess = np.maximum(h * slopes[0] - rise, rise - h * slopes[1])
    excess = (excess - 2.0 * UNIT_ROUNDOFF * error - TINY) / h
    law = "derivative agrees with differences of value, f'(p) <= (f(p+h) - f(p)) / h <= f'(p+h)"
    _demand(loss, law, excess, p, target)


def _check_conjugate(loss: Loss, p: Array, target: Array, unit: float) -> None:
    """f(p) + f*(v) >= p v for every v, with equality at v = f'(p)."""
    v = np.clip(loss.derivatives(p, target), *loss.dual_domain(target))
    value = loss.values(p, target)
    duals = np.unique(np.concatenate([v, _duals(loss, float(target[0]), v)]))
    low, high = loss.dual_domain(target[:1])
    inner = duals[(duals > low) & (duals < high)]
    lost = ~np.isfinite(loss.conjugates(inner, np.full_like(inner, target[0])))
    if lost.any():
        law, excess = "conjugate is finite inside domain", np.where(lost, np.inf, 0.0)
        _demand(loss, law, excess, None, np.full_like(inner, target[0]), inner)
    for s in duals:
        at = np.full_like(p, s)
        bracket, error = _bracket(loss, value, p, at, target, unit)
        _demand(loss, "inequality f(p) + f*(v) >= p v", -bracket - error, p, target, at)
    # A derivative that rounding puts outside the domain is as good as its neighbours.
    tries = (v, v * (1.0 - 2.0 * UNIT_ROUNDOFF), v * (1.0 - 8.0 * UNIT_ROUNDOFF))
    inside = [np.clip(t, *loss.dual_domain(target)) for t in tries]
    found = [_bracket(loss, value, p, t, target, unit) for t in inside]
    least = np.min(np.array([bracket - error for bracket, error in found]), axis=0)
    _demand(loss, "equality f(p) + f*(v) = p v at v = f'(p)", least, p, target, v)


def _duals(loss: Loss, y: float, reached: Array) -> Array:
    """Points over the domain of f*, its ends included; twice what the grid reaches if it is open."""
    (low,), (high,) = loss.dual_domain(np.array([y]))
    wide = 2.0 * float(np.max(np.abs(reached))) + 1.0
    low, high = max(float(low), -wide), min(float(high), wide)
    return np.clip(low + (high - low) * _FRACTIONS, low, high)


def _bracket(
    loss: Loss, value: Array, p: Array, v: Array, target: Array, unit: float
) -> tuple[Array, Array]:
    """f(p) + f*(v) - p v and the rounding of its parts."""
    conjugate = loss.conjugates(v, target)
    with np.errstate(invalid="ignore"):
        bracket = value + conjugate - p * v
        size = np.abs(value) + np.abs(conjugate) + np.abs(p * v) + unit
    error = 2.0 * (loss.roundoff_value + loss.roundoff_derivative) * UNIT_ROUNDOFF * size + TINY
    error = np.where(np.isfinite(error), error, 0.0)
    return np.where(np.isnan(conjugate), np.nan, bracket), error


def _check_lipschitz(loss: Loss, p: Array, target: Array, unit: float) -> None:
    """|f'(p) - f'(q)| <= |p - q| / alpha for neighbours p, q; f' does not fall."""
    slopes = loss.derivatives(p, target)
    change, apart = np.diff(slopes), np.diff(p)
    size = np.abs(slopes[1:]) + np.abs(slopes[:-1])
    error = 2.0 * loss.roundoff_derivative * UNIT_ROUNDOFF * (size + unit) + TINY
    error += 4.0 * UNIT_ROUNDOFF * apart / loss.alpha
    law = f"Lipschitz constant |f'(p) - f'(q)| <= |p - q| / alpha with alpha = {loss.alpha:g}"
    _demand(loss, law, np.abs(change) - apart / loss.alpha - error, p[:-1], target[1:])
    _demand(loss, "convexity, f' does not fall", -change - error, p[:-1], target[1:])


def _demand(
    loss: Loss,
    law: str,
    excess: Array,
    p: Array | None,
    target: Array,
    v: Array | None = None,
) -> None:
    """ValueError at the worst place where `excess` is positive (or not a number)."""
    excess = np.where(np.isnan(excess), np.inf, excess)
    worst = int(np.argmax(excess))
    if excess[worst] > 0.0:
        named = {"p": p, "y": target, "v": v}
        where = [f"{key} = {float(a[worst])!r}" for key, a in named.items() if a is not None]
        raise ValueError(
            f"loss {loss.name!r} breaks a law: {law}; fails at {', '.join(where)} "
            f"by {excess[worst]:.3g}"
        )
