"""Neutral scoring: any x against the best dual bound, in plain NumPy, with no code of boxreg's.

    P(x) = F(A x) + λ sum x,    D(θ) = -F*(-θ) - sum_j max(w_j, 0) u,    w = Aᵀθ - λ,

where w <= 0 is asked of θ if there is no upper bound u, up to the rounding error of w. D(θ) <= P* for
every such θ; the bound is the best of all dual points handed in, and an answer's relative gap is
(P(x) - bound) / P₀, x projected on the box first.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from benchmarks.race.scoring import EPS, Score

from .functions import Array
from .problem import LossProblem


class Judge:
    """Scores the answers to one problem."""

    def __init__(self, problem: LossProblem) -> None:
        self.problem = problem
        self.scale = problem.scale()
        self.bound = -np.inf
        squares = problem.A * problem.A
        self._norms = np.sqrt(np.asarray(squares.sum(axis=0)).ravel())

    def learn(self, points: Iterable[Array]) -> None:
        """Gradients of these primal points are dual points, where they are feasible."""
        for x in points:
            p = np.asarray(self.problem.A @ self.problem.project(x))
            self.learn_dual(-self.problem.function.value_and_slope(p, self.problem.y)[1])

    def learn_dual(self, theta: Array) -> None:
        """Take D(theta) as the bound if it is higher."""
        self.bound = max(self.bound, self._dual(theta))

    def score(self, x: Array) -> Score:
        inside = self.problem.project(x)
        objective = self.problem.objective(inside)
        outside = float(np.max(np.abs(x - inside), initial=0.0))
        return Score(objective, (objective - self.bound) / self.scale, outside)

    def _dual(self, theta: Array) -> float:
        problem = self.problem
        w = np.asarray(problem.A.T @ theta) - problem.linear
        conjugate = problem.function.conjugate(-theta, problem.y)
        if np.isfinite(problem.upper):
            return -conjugate - problem.upper * float(np.sum(np.maximum(w, 0.0)))
        size = self._norms * float(np.linalg.norm(theta)) + problem.linear
        feasible = bool(np.all(w <= len(theta) * EPS * size))
        return -conjugate if feasible else -np.inf
