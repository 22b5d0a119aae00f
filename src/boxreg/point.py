"""A primal point and what is known at it, computed at most once."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .arrays import Array, Index, Mask
from .reduced import ReducedProblem
from .rounding import UNIT_ROUNDOFF, norm


class Point:
    """x with its prediction p = A_S x + z, residual rho = -∇F(p) and correlation A_Sᵀ rho.

    Each is computed when first asked for and kept, so a solver whose step needs the gradient and a
    check that needs it too pay for it once. x must not be changed after construction.
    """

    def __init__(self, problem: ReducedProblem, x: Array) -> None:
        self.problem = problem
        self.x = x
        self.gaps: dict[int, tuple[object, object, float]] = {}
        """Duality gaps computed here, by identity of the dual point and the implicit columns."""

    @property
    def evaluated(self) -> bool:
        """Whether the prediction has been computed already."""
        return "prediction" in self.__dict__

    @cached_property
    def prediction(self) -> Array:
        """The prediction p = A_S x + z, as computed."""
        return self.problem.predict(self.x)

    @cached_property
    def prediction_error(self) -> float:
        """Bound on ||p computed - p true||."""
        return self.problem.prediction_error(self.x)

    @cached_property
    def residual(self) -> Array:
        """The residual rho = -∇F(p), as computed."""
        return self.problem.loss.residual(self.prediction, self.problem.target)

    @cached_property
    def residual_norm(self) -> float:
        """||rho||, as computed."""
        return norm(self.residual)

    @cached_property
    def residual_error(self) -> float:
        """Bound on ||rho computed - rho true||: Lipschitz in p, plus its own rounding."""
        loss = self.problem.loss
        own = loss.roundoff_derivative * UNIT_ROUNDOFF * self.residual_norm
        return self.prediction_error / loss.alpha + own

    @cached_property
    def correlation(self) -> Array:
        """A_Sᵀ rho, as computed."""
        return self.problem.correlate(self.residual)

    @cached_property
    def correlation_error(self) -> float:
        """A number k such that |correlation_j - a_jᵀ rho computed| <= k ||a_j||."""
        return self.problem.correlation_error(self.residual_norm)

    @cached_property
    def inside(self) -> Mask:
        """Coordinates strictly between their bounds (which fixed ones never are)."""
        return (self.x > self.problem.lower) & (self.x < self.problem.upper)

    @cached_property
    def inward(self) -> Array:
        """How fast the objective falls as each coordinate moves where its box lets it; at least 0.

        |w_j| inside the box, w_j⁺ at the lower and w_j⁻ at the upper bound (w_j up to ||a_j||).
        """
        rising = np.where(self.x < self.problem.upper, self.correlation, 0.0)
        falling = np.where(self.x > self.problem.lower, -self.correlation, 0.0)
        return np.maximum(np.maximum(rising, falling), 0.0)

    @cached_property
    def gradient_noise(self) -> Array:
        """What rounding may have added to each gradient: moving for less gains only its square."""
        return (self.correlation_error + self.residual_error) * self.problem.norms

    @cached_property
    def objective(self) -> float:
        """P(x), as computed."""
        return self.problem.loss.objective(self.prediction, self.problem.target)

    @cached_property
    def room(self) -> tuple[Array, Array]:
        """x - lower, and upper - x with 0 where there is no upper bound."""
        upper = self.problem.upper
        above = np.where(self.problem.unbounded, self.x, upper) - self.x
        return self.x - self.problem.lower, above

    def projected(self, problem: ReducedProblem) -> Point:
        """This point in the same problem with some bounds collapsed."""
        x = np.clip(self.x, problem.lower, problem.upper)
        moved = Point(problem, x)
        if np.array_equal(x, self.x):
            self._hand_over(moved)
            if "correlation" in self.__dict__:
                moved.correlation = self.correlation
        return moved

    def kept(self, problem: ReducedProblem, kept: Index) -> Point:
        """This point in a problem that holds only the columns `kept`."""
        moved = Point(problem, self.x[kept])
        self._hand_over(moved)
        if "correlation" in self.__dict__:
            moved.correlation = self.correlation[kept]
        return moved

    def _hand_over(self, moved: Point) -> None:
        """Give what does not depend on the columns held to the same point in another problem."""
        if self.evaluated:
            moved.prediction = self.prediction
            moved.prediction_error = self.prediction_error
            moved.residual = self.residual
