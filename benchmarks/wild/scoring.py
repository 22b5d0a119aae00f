"""Neutral scoring: how far each answer is above the best that anybody found.

An answer x is projected on the box; its excess is P(x) - best - ROUNDING · |best| over P₀, the worst of
all right-hand sides, and it has *reached* the minimum if that is at most REACHED. No code of boxreg's is
used, no dual point, and nobody's claim.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from benchmarks.race.problem import Array
from benchmarks.race.scoring import Score

from .problem import WildProblem

REACHED = 1e-8
"""Largest excess, relative to P₀, of an answer that counts."""

ROUNDING = 1e-12
"""Of the best objective: differences below this are rounding."""


class Judge:
    """Scores the answers to one problem; the best of all answers shown is what counts."""

    def __init__(self, problem: WildProblem) -> None:
        self.problem = problem
        self.scales = problem.scales()
        self.best = np.full(problem.count, np.inf)

    def learn(self, points: Iterable[Array]) -> None:
        """Remember the objectives of these answers, where they are better."""
        for x in points:
            self.score(x)

    def score(self, x: Array) -> Score:
        """The worst column counts."""
        x = np.asarray(x, dtype=float).reshape(self.problem.shape[1], self.problem.count)
        inside = self.problem.project(x)
        found = self.problem.objectives(inside)
        found = np.where(np.isfinite(found), found, np.inf)
        self.best = np.minimum(self.best, found)
        with np.errstate(invalid="ignore", divide="ignore"):
            excess = found - self.best - ROUNDING * np.abs(self.best)
            relative = np.where(excess <= 0.0, 0.0, excess / self.scales)
        worst = float(np.max(np.where(np.isnan(relative), np.inf, relative)))
        outside = float(np.max(np.abs(x - inside), initial=0.0))
        return Score(float(np.sum(found)), worst, outside)
