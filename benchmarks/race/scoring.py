"""Neutral scoring: objective and duality gap of any x, in plain NumPy, with no code of boxreg's.

With ρ = y - A x, θ any dual point, w = Aᵀθ and s_j(w) = max { t w : l <= t <= u },

    P(x) - D(θ) = ½‖ρ - θ‖² + Σ_j (s_j(w_j) - x_j w_j),

a sum of terms that are >= 0 for x in the box, so small gaps do not drown in the size of P. Where u
is infinite θ must satisfy w <= 0. Dual points are built from every contestant's residual and from
the dual points handed in; each x is scored against the best of all of them, so that a good x does
not suffer from a poor dual point. No rounding margin is added: below 1e-14 or so it is noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from .problem import Array, Problem

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Dual:
    """A feasible θ with w = Aᵀθ."""

    theta: Array
    w: Array


@dataclass(frozen=True)
class Score:
    """What an answer is worth."""

    objective: float
    relative_gap: float
    violation: float


class Judge:
    """Scores the answers to one problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.scale = problem.at_zero()
        self._directions = list(_inner_directions(problem)) if problem.upper == np.inf else []
        self._norms = np.sqrt(np.asarray((problem.A * problem.A).sum(axis=0)).ravel())
        self._duals: list[Dual] = []

    def learn(self, points: Iterable[Array]) -> None:
        """Build dual points from the residuals of these primal points."""
        for x in points:
            self.learn_dual(self.residual(x))

    def learn_dual(self, theta: Array) -> None:
        """Build feasible dual points from a vector that need not be one."""
        self._duals.extend(self._feasible(theta))

    def residual(self, x: Array) -> Array:
        inside = self.problem.project(x)
        return np.asarray(self.problem.y - self.problem.A @ inside)

    def score(self, x: Array) -> Score:
        """Score the projection of x on the box against the best dual point known."""
        inside = self.problem.project(x)
        rho = self.residual(x)
        gap = min((self._gap(inside, rho, dual) for dual in self._duals), default=np.inf)
        relative = gap / self.scale if self.scale > 0 else gap
        return Score(0.5 * float(rho @ rho), relative, float(np.max(np.abs(x - inside), initial=0)))

    def _gap(self, x: Array, rho: Array, dual: Dual) -> float:
        rising, falling = np.maximum(dual.w, 0.0), np.minimum(dual.w, 0.0)
        room = (self.problem.lower - x) @ falling
        if self.problem.upper != np.inf:
            room += (self.problem.upper - x) @ rising
        return 0.5 * float(np.sum((rho - dual.theta) ** 2)) + float(room)

    def _feasible(self, theta: Array) -> Iterator[Dual]:
        """θ itself, or θ pushed along each inner direction and, for NNLS, scaled to the best D."""
        w = np.asarray(self.problem.A.T @ theta)
        if self.problem.upper != np.inf:
            yield Dual(theta, w)
            return
        noise = len(theta) * EPS * self._norms * float(np.linalg.norm(theta))
        if np.all(w <= noise):  # feasible as far as float64 can tell
            yield self._scaled(theta, np.minimum(w, 0.0))
        for t, slope in self._directions:
            step = float(np.max(np.maximum(w, 0.0) / -slope))
            yield self._scaled(theta + step * t, np.minimum(w + step * slope, 0.0))

    def _scaled(self, theta: Array, w: Array) -> Dual:
        """The best multiple: D(sθ) = s⟨y, θ⟩ - ½s²‖θ‖² where l = 0."""
        length = float(theta @ theta)
        if self.problem.lower != 0.0 or length == 0.0:
            return Dual(theta, w)
        s = max(float(self.problem.y @ theta) / length, 0.0)
        return Dual(s * theta, s * w)


def _inner_directions(problem: Problem) -> Iterator[tuple[Array, Array]]:
    """(t, Aᵀt) with Aᵀt < 0 throughout, among a few natural t."""
    m, n = problem.A.shape
    for t in (-np.ones(m), -np.asarray(problem.A @ np.full(n, 1.0 / n)), -problem.y):
        slope = np.asarray(problem.A.T @ t)
        if np.all(slope < 0.0):
            yield t, slope
