"""A primal point and what is known at it, computed at most once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .arrays import Array, Index, Mask
from .designs.epochs import FirstSweep
from .equality_columns import EqualityColumns, EqualityMetric
from .reduced import ReducedProblem
from .rounding import SLACK, UNIT_ROUNDOFF, dot, gamma, norm, root

if TYPE_CHECKING:
    from .duality import DualPoint


@dataclass(frozen=True)
class Equalities:
    """The columns on which w_j = 0 is asked of a dual point, and a proof that such a point is near."""

    columns: EqualityColumns
    metric: EqualityMetric | None
    """The way to w_j = 0, in the metric of f''; None where no column is proved independent."""
    dependent: Mask
    """Coordinates of which w_j = 0 is not proved: their columns may depend on the others."""

    @property
    def proved(self) -> bool:
        """Whether w_j = 0 is proved for all of them."""
        return not self.dependent.any()


class Point:
    """x with its prediction p = A_S x + z, residual rho = -∇F(p) and slopes w = A_Sᵀ rho - c = -∇P(x).

    Each is computed when first asked for and kept, so a solver whose step needs the gradient and a
    check that needs it too pay for it once. x must not be changed after construction.
    """

    def __init__(self, problem: ReducedProblem, x: Array) -> None:
        self.problem = problem
        self.x = x
        self.gaps: dict[int, tuple[object, float]] = {}
        """Duality gaps computed here, by identity of the dual point."""
        self.nearby: dict[int, tuple[DualPoint, DualPoint, Array | None]] = {}
        """Dual points as they stand for others nearby, and how far these are."""
        self.boxes: dict[int, tuple[object, float]] = {}
        """The part of them that bounds have."""
        self.brackets: dict[int, tuple[object, float]] = {}
        """F(p) + F*(-theta) + <p, theta>, by identity of theta."""
        self.distances: dict[int, tuple[object, float]] = {}
        """||theta - rho||, likewise."""
        self._wanting: dict[float, Mask] = {}
        self._equalities: dict[tuple[bytes, bool], Equalities] = {}
        self.sweep: FirstSweep | None = None
        """Where a sweep leads from here, if that is known."""

    @property
    def evaluated(self) -> bool:
        """Whether the prediction has been computed already."""
        return "prediction" in self.__dict__

    @property
    def compared(self) -> bool:
        """Whether the slopes have been computed already."""
        return "correlation" in self.__dict__

    @cached_property
    def prediction(self) -> Array:
        """The prediction p = A_S x + z, as computed."""
        return self.problem.predict(self.x)

    @cached_property
    def prediction_error(self) -> float:
        """Bound on ||p computed - p true||."""
        return self.problem.prediction_error(self.x)

    @cached_property
    def prediction_errors(self) -> Array:
        """Bounds on |p_i computed - p_i true|, row by row: relative where A and x are >= 0."""
        problem, p = self.problem, self.prediction
        terms = int(np.count_nonzero(self.x)) + problem.offset_terms + 4
        positive = problem.loss.floors(len(p)) == 0.0
        return np.where(positive, gamma(terms) * SLACK * np.abs(p), self.prediction_error)

    @cached_property
    def prediction_ends(self) -> tuple[Array, Array]:
        """The least and the greatest that each true prediction can be."""
        p, e = self.prediction, self.prediction_errors
        return np.maximum(p - e, self.problem.loss.floors(len(p))), p + e

    @cached_property
    def residual(self) -> Array:
        """The residual rho = -∇F(p), as computed."""
        return self.problem.loss.residual(self.prediction, self.problem.target)

    @cached_property
    def regular(self) -> bool:
        """Whether every row has a derivative: not at the end of a domain, where it is infinite."""
        return not self.problem.loss.needs_nonnegative or bool(np.all(np.isfinite(self.residual)))

    @cached_property
    def residual_norm(self) -> float:
        """||rho||, as computed."""
        return root(self.residual_square, self.residual)

    @cached_property
    def residual_square(self) -> float:
        """rhoᵀrho, as computed."""
        return dot(self.residual, self.residual)

    @cached_property
    def residual_error(self) -> float:
        """Bound on ||rho computed - rho true||: what the error of p does to f', and f's own rounding."""
        problem = self.problem
        loss, p, y = problem.loss, self.prediction, problem.target
        if loss.quadratic:
            own = loss.roundoff_derivative * UNIT_ROUNDOFF * self.residual_norm
        else:
            own = norm(loss.derivative_errors(p, self.residual, y))
        if problem.smoothness.known:
            return self.prediction_error * problem.smoothness.largest + own
        # f' increases: over an interval of predictions it changes most at an end.
        down, up = (loss.derivatives(end, y) for end in self.prediction_ends)
        with np.errstate(invalid="ignore"):  # -inf where a prediction of 0 is not allowed
            change = np.maximum(np.abs(up + self.residual), np.abs(down + self.residual))
        if not np.all(np.isfinite(change)):
            return np.inf
        return norm(change) * SLACK + 3.0 * own

    @cached_property
    def curvature(self) -> Array:
        """f''(p)."""
        return self.problem.loss.curvatures(self.prediction, self.problem.target)

    def equalities(self, theta: Array) -> Equalities | None:
        """What is proved near theta of the columns on which w_j = 0 is asked; None where there are none.

        Rows in which theta is at an end of the domain of f* stay as they are.
        """
        columns = self.problem.equality
        if columns is None:
            return None
        if columns.hold_at_zero and not theta.any():
            return Equalities(columns, None, np.zeros(len(self.x), dtype=bool))
        still = self.problem.at_domain_end(theta)
        nil = still is None or not theta[still].any()
        key = (b"" if still is None else still.tobytes(), nil)
        if key not in self._equalities:
            plain = self.problem.loss.quadratic and self.problem.smoothness.rows is None
            metric = columns.metric(None if plain else self.curvature, still)
            dependent = np.zeros(len(self.x), dtype=bool)
            dependent[columns.doubtful(metric, still, nil)] = True
            dependent &= self.problem.norms > 0.0  # a zero column has w_j = -c_j
            self._equalities[key] = Equalities(columns, metric, dependent)
        return self._equalities[key]

    @cached_property
    def correlation(self) -> Array:
        """w = A_Sᵀ rho - c, as computed."""
        return self.problem.slopes(self.residual)

    @cached_property
    def correlation_error(self) -> float:
        """A number k such that |correlation_j - (a_jᵀ rho computed - c_j)| <= k ||a_j||, but for what
        `ReducedProblem.cost_drift` says of c."""
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
        return inward_slopes(self.x, self.correlation, self.problem.lower, self.problem.upper)

    @cached_property
    def gradient_noise(self) -> Array:
        """What rounding may have added to each gradient: moving for less gains only its square."""
        problem = self.problem
        return problem.uncertainty(self.correlation_error + self.residual_error, problem.cost_drift)

    def wanting(self, threshold: float) -> Mask:
        """Open coordinates whose gradient points inwards beyond rounding and beyond the threshold."""
        known = self._wanting.get(threshold)
        if known is None:
            noise = np.maximum(self.gradient_noise, threshold) if threshold else self.gradient_noise
            known = self._wanting[threshold] = self.problem.open & (self.inward > noise)
        return known

    @cached_property
    def objective(self) -> float:
        """P(x), as computed."""
        problem = self.problem
        if problem.loss.half_square:
            return 0.5 * self.residual_square + problem.linear(self.x)
        return problem.loss.objective(self.prediction, problem.target) + problem.linear(self.x)

    @cached_property
    def room(self) -> tuple[Array, Array]:
        """x - lower and upper - x, with 0 where there is no such bound."""
        problem = self.problem
        above = np.where(problem.no_upper, self.x, problem.upper) - self.x
        return self.x - np.where(problem.no_lower, self.x, problem.lower), above

    def projected(self, problem: ReducedProblem) -> Point:
        """This point in the same problem with some bounds collapsed."""
        x = np.clip(self.x, problem.lower, problem.upper)
        moved = Point(problem, x)
        if np.array_equal(x, self.x):
            self.hand_over(moved)
            if self.compared:
                moved.correlation = self.correlation
        return moved

    def without_farther_bounds(self) -> Point:
        """This point where each coordinate between two bounds has the nearer one only.

        A dual point that is feasible there is feasible in the whole box as well, and the sign of w_j is
        proved: (u_j - x_j) w_j⁺ is 0, where otherwise the rounding error of w_j counts u_j - x_j times.
        """
        problem = self.problem
        both = problem.open & ~problem.no_lower & ~problem.no_upper
        above = both & (self.room[0] <= self.room[1])
        relaxed = replace(
            problem,
            lower=np.where(both & ~above, -np.inf, problem.lower),
            upper=np.where(above, np.inf, problem.upper),
        )
        return self.projected(relaxed)

    def kept(self, problem: ReducedProblem, kept: Index) -> Point:
        """This point in a problem that holds only the columns `kept`."""
        moved = Point(problem, self.x[kept])
        self.hand_over(moved)
        if self.compared:
            moved.correlation = self.correlation[kept]
        return moved

    def hand_over(self, moved: Point) -> None:
        """Give what does not depend on the columns held to the same point in another problem."""
        if self.evaluated:
            moved.prediction = self.prediction
            moved.prediction_error = self.prediction_error
            moved.residual = self.residual
            moved.brackets, moved.distances = self.brackets, self.distances
            if moved.problem is self.problem:
                moved._equalities = self._equalities
            if "residual_square" in vars(self):
                moved.residual_square = self.residual_square


def inward_slopes(x: Array, w: Array, lower: Array, upper: Array) -> Array:
    """|w_j| where x_j can move in the direction that w_j points to, 0 elsewhere."""
    return np.where(np.where(w > 0.0, x < upper, x > lower), np.abs(w), 0.0)
