"""Bounds on the squared norm of A, for step sizes that must never be too long."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .arrays import Array, Index
from .point import Point
from .reduced import ReducedProblem
from .rounding import SLACK, dot
from .settings import current
from .smoothness import Smoothness

_ACCURACY = 1.02
_THOROUGH, _ENOUGH = (10, 0.01), (3, 0.2)
"""Products, at least, and what a Lanczos step may leave of the estimate, for a small A and a large one.
Three products find the norm of a Gaussian A, remainder added, within 2 %; where they fall short of it,
by a tenth on spectra that decay, the first steps tell."""
_MAX_PRODUCTS = 30


@dataclass(frozen=True)
class SquaredNorm:
    """Λ with ||A d||² <= Λ sum_j ||a_j||² d_j²: the squared norm of A with unit columns.

    Both norms are those of √L A where rows have weights L (`smoothness`).

    Where A >= 0 the bound is proved: for any v > 0, max_j (B v)_j / v_j >= λ_max(B), B = D⁻¹AᵀAD⁻¹
    (Collatz–Wielandt), and a few power steps bring it within 2 %. Otherwise it is a Lanczos estimate
    with a margin, never above the number of columns (the squared Frobenius norm, a proved bound), and
    is corrected by every step that contradicts it.
    """

    value: float
    smoothness: Smoothness
    vector: Array
    """Where the estimate was attained: the start of the next one."""
    columns: int = 0
    """How many columns it was made for."""

    @classmethod
    def estimate(
        cls, problem: ReducedProblem, smoothness: Smoothness, start: Array | None = None
    ) -> SquaredNorm:
        """Bound the norm over the open columns."""
        norms = column_norms(problem, smoothness)
        scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=problem.open & (norms > 0))
        if not problem.open.any():
            return cls(1.0, smoothness, np.ones_like(scale), len(scale))
        if problem.design.nonnegative:
            return cls._collatz_wielandt(problem, smoothness, scale, start)
        return cls._lanczos(problem, smoothness, scale, start)

    @classmethod
    def _collatz_wielandt(
        cls,
        problem: ReducedProblem,
        smoothness: Smoothness,
        scale: Array,
        start: Array | None,
    ) -> SquaredNorm:
        used = problem.open
        v = np.where(used, np.ones_like(scale) if start is None else np.abs(start), 0.0)
        v[used] = np.maximum(v[used], 1e-3 * v.max()) if v.max() > 0 else 1.0
        bound = np.inf
        for _ in range(_MAX_PRODUCTS):
            image = _gram(problem, smoothness, scale, v)
            bound = min(bound, float(np.max(image[used] / v[used])))
            rayleigh = float(v @ image / (v @ v))
            if bound <= _ACCURACY * rayleigh:
                break
            v = image / np.max(image)
        value = min(bound, float(np.count_nonzero(used))) * SLACK
        return cls(value, smoothness, v, len(scale))

    @classmethod
    def _lanczos(
        cls,
        problem: ReducedProblem,
        smoothness: Smoothness,
        scale: Array,
        start: Array | None,
    ) -> SquaredNorm:
        used = problem.open
        count = int(np.count_nonzero(used))
        small = len(problem.target) * count <= current().thorough_norm_entries
        least, enough = _THOROUGH if small else _ENOUGH
        # Part of the start is always fresh, so that no old vector can hide the largest direction.
        v = np.random.default_rng(0).standard_normal(len(scale)) * used
        if start is not None and np.any(start * used):
            v = v / np.linalg.norm(v) + 3.0 * used * start / np.linalg.norm(start * used)
        basis: list[Array] = []
        alphas: list[float] = []
        betas: list[float] = []
        v = v / np.linalg.norm(v)
        for _ in range(min(_MAX_PRODUCTS, count)):
            basis.append(v)
            image = _gram(problem, smoothness, scale, v)
            alphas.append(float(v @ image))
            for earlier in basis:
                image = image - (earlier @ image) * earlier
            betas.append(float(np.linalg.norm(image)))
            tridiagonal = np.diag(alphas) + np.diag(betas[:-1], 1) + np.diag(betas[:-1], -1)
            values, vectors = np.linalg.eigh(tridiagonal)
            remainder = betas[-1] * abs(float(vectors[-1, -1]))
            if len(basis) >= least and remainder <= enough * values[-1]:
                break
            if betas[-1] <= 1e-12 * max(alphas):
                break
            v = image / betas[-1]
        ritz = np.column_stack(basis) @ vectors[:, -1]
        estimate = max(_ACCURACY * float(values[-1]) + remainder, 1.0)  # one unit column has norm 1
        return cls(min(estimate, float(count)) * SLACK, smoothness, ritz, len(scale))

    def observe(self, before: Point, after: Point, metric: Array) -> SquaredNorm:
        """Raise the bound if the step between two points contradicts it.

        Uses predictions that the solver needs anyway; differences lost in rounding prove nothing.
        """
        moved = after.x - before.x
        allowed = self.value * dot(metric, moved * moved)
        change = self.smoothness.root_times(after.prediction - before.prediction)
        seen = dot(change, change)
        if seen <= allowed or allowed == 0.0:
            return self
        error = before.prediction_error + after.prediction_error
        error *= float(np.sqrt(self.smoothness.largest))
        seen = max(float(np.sqrt(seen)) - error, 0.0) ** 2
        if seen <= allowed:
            return self
        return replace(self, value=_ACCURACY * self.value * seen / allowed)

    def restrict(self, problem: ReducedProblem, kept: Index) -> SquaredNorm:
        """The bound for the columns `kept`; estimated anew when enough have left to pay for it.

        Where A >= 0 that is always: the norm falls with the number of columns, and a few products
        find it. Elsewhere it falls slowly and takes longer to find: when half have left.
        """
        if len(kept) == len(self.vector):
            return self
        if problem.design.nonnegative or 2 * len(kept) <= self.columns:
            return SquaredNorm.estimate(problem, self.smoothness, self.vector[kept])
        return replace(self, vector=self.vector[kept])


def column_norms(problem: ReducedProblem, smoothness: Smoothness) -> Array:
    """√(sum_i L_i a_ij²), as it is known already where L is that of the loss or 1."""
    if smoothness is problem.smoothness:
        return problem.reach
    return problem.reach_under(smoothness)


def _gram(problem: ReducedProblem, smoothness: Smoothness, scale: Array, v: Array) -> Array:
    """D⁻¹ Aᵀ L A D⁻¹ v."""
    problem.work.add(problem.design.product_cost)
    image = problem.design.matvec(scale * v)
    return scale * problem.correlate(smoothness.times(image))
