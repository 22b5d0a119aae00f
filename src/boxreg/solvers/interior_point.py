"""A primal-dual interior-point method for every loss whose derivative can be inverted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from ..arrays import Array, Index, Mask
from ..designs import Design
from ..duality import DualPoint
from ..matrix_products import own
from ..point import Point
from ..reduced import ReducedProblem
from ..rounding import dot, norm
from .base import PrimalSolver, SolverState

_TO_THE_WALL = 0.995
"""The share of the way to the first boundary that a step may go."""
_SHORT, _TINY = 0.1, 1e-8
"""A step shorter than the first is tried again with more centring; one shorter than the second gains
nothing."""
_CENTRING = 0.5
"""σ of such a second try."""
_STALLED = 4
"""After so many steps in a row that gain nothing the method can do no more."""
_IDLE, _LOWER = 20, 0.9
"""Nor can it after so many steps in which μ has not fallen below this share of its least value."""
_REGULAR, _MORE, _TRIES = 1e-13, 1e3, 4
"""Added to the diagonal, as a share of what columns of their norm have there at most; multiplied by the
second where the matrix has no Cholesky factor, so many times."""
_REFINEMENTS = 2
_RESIDUAL = 1e-13
"""Linear systems are refined to this share of their right-hand side, if that takes few rounds."""
_DONE = 1e-17
"""Complementarity below this share of the objective leaves nothing to be gained."""
_INSIDE = 0.1
"""How far inside an interval of the dual domain a row begins, as a share of it."""
_FACTOR = 0.05
"""What a step of a Cholesky factor costs, if an entry of A in a product costs 1."""
_LEAST = np.finfo(np.float64).tiny


class Walls(NamedTuple):
    """The distances of variables from their lower and upper ends, 1 where there is no such end."""

    below: Array
    above: Array


@dataclass(kw_only=True)
class InteriorState(SolverState):
    """Adds the dual variables, and what keeps each of them and of x inside."""

    v: Array
    """-theta, row by row, strictly inside the domain of f*."""
    room: Walls
    """x - l and u - x, which do not cancel next to a bound as the differences do."""
    pull: Walls
    """Their multipliers; 0 where there is no bound."""
    slack: Walls
    """v - a and b - v, [a, b] the domain of f*."""
    excess: Walls
    """Their multipliers: how far a prediction is beyond those for which f' is strictly monotone."""
    gram: Array | None = None
    """AᵀHA over all columns, kept where H is the same in every step."""
    stalls: int = 0
    """Steps in a row that led nowhere."""
    least: float = np.inf
    """The least μ so far that was well below the one before,"""
    idle: int = 0
    """and the steps since then."""


class Step(NamedTuple):
    """Changes of all variables."""

    x: Array
    v: Array
    pull: Walls
    excess: Walls


class InteriorPoint(PrimalSolver[InteriorState]):
    """Newton's method on the optimality conditions, with products of distances and multipliers at μ.

        A x + z = f*'(v) - s_a + s_b,     Aᵀv + c = z_l - z_u,
        (x - l) z_l = (u - x) z_u = (v - a) s_a = (b - v) s_b = μ -> 0,

    θ = -v, [a, b] the domain of f*. Predictor and corrector share a factor (Mehrotra, 1992), as in the
    method of Bellavia, Macconi and Morini for bounded least squares; all variables take the same step.
    Eliminating all else leaves

        (Aᵀ E⁻¹ A + D) Δx = r,   E = f*'' + s_a / (v - a) + s_b / (b - v),
                                 D = z_l / (x - l) + z_u / (u - x)

    or as many equations as there are rows, if these are fewer. Rows have variables of their own: E is
    bounded where f'' at the prediction vanishes, as in the tails of a logistic or a Huber loss, which
    stop Newton's method in x alone. The number of steps, 15 to 60, hardly depends on the data; each
    takes a product of A with itself. v becomes feasible for the dual up to rounding.
    """

    name = "interior_point"
    needs_columns = True
    needs_inverse = True
    fits_exactly = steps_first = True
    check_period = 3
    check_growth = 0.0
    max_iter = 300
    usual_steps = 30

    def step_cost(self, problem: ReducedProblem) -> float:
        """A product of A with itself, and a Cholesky factor."""
        m, k = len(problem.target), problem.open_count
        least = min(m, k)
        return _gram_cost(problem) * k * least + least**3 / (3.0 * max(m, 1)) + 8.0 * k

    def likely_cost(self, problem: ReducedProblem) -> float:
        """Where f is quadratic, and columns are no more than rows, one Gram matrix serves all steps."""
        m, k = len(problem.target), problem.open_count
        least, quadratic = min(m, k), problem.loss.quadratic
        grams = 1 if quadratic and k <= m else self.usual_steps
        factor = _FACTOR if quadratic else 1.0
        step = factor * least**3 / (3.0 * max(m, 1)) + 8.0 * k
        return grams * _gram_cost(problem) * k * least + self.usual_steps * step

    def start(self, point: Point) -> InteriorState:
        """Near the point, away from all bounds by what predictions are off, over √m."""
        problem = point.problem
        loss, y = problem.loss, problem.target
        low, high = loss.dual_domain(y)
        v = _inside(-point.residual, low, high)
        inverse = loss.inverse_derivatives(v, y)
        newton = point.residual / _positive(loss.curvatures(inverse, y))
        off = max(norm(point.prediction - inverse), norm(newton))
        off = max(off / np.sqrt(max(len(y), 1)), _LEAST)
        size = np.where(problem.norms > 0.0, problem.norms, 1.0)
        away = np.minimum(off / size, 0.25 * (problem.upper - problem.lower))
        x = np.clip(point.x, problem.lower + away, problem.upper - away)
        bounded = _bounded(problem)
        slope = -problem.slopes(-v)
        steepest = float(np.max(np.abs(slope) / size, initial=0.0))
        pull = max(0.1 * steepest, 1e-8 * norm(v), _LEAST) * size
        ends = np.isfinite(low), np.isfinite(high)
        beyond = 0.1 * off
        return InteriorState(
            Point(problem, x),
            v=v,
            room=_walls(x, problem.lower, problem.upper, bounded, away),
            pull=Walls(
                bounded[0] * (np.maximum(slope, 0.0) + pull),
                bounded[1] * (np.maximum(-slope, 0.0) + pull),
            ),
            slack=_walls(v, low, high, ends, _LEAST),
            excess=Walls(beyond * ends[0], beyond * ends[1]),
        )

    def step(self, state: InteriorState, count: int) -> InteriorState:
        """`count` predictor-corrector steps."""
        for left in range(count, 0, -1):
            state.left = left
            if state.finished or state.point.problem.work.over:
                return state
            # Far bounds, and rows without curvature: what is not finite ends it.
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                state = self._moved(state)
        state.left = 0
        return state

    @staticmethod
    def _moved(state: InteriorState) -> InteriorState:
        """One step further, or finished."""
        equations = Equations(state)
        mu = equations.gap
        fell = mu < _LOWER * state.least
        state.least, state.idle = (mu, 0) if fell else (state.least, state.idle + 1)
        if not equations.solvable or state.idle >= _IDLE:
            state.finished = True
            return state
        predictor = equations.step(0.0)
        length = _length(state, predictor)
        ahead = equations.gap_after(predictor, min(length, 1.0))
        sigma = max(min(ahead / mu, 1.0) ** 3, 1e-6) if mu > 0.0 else 0.0
        step = equations.step(sigma * mu, predictor)
        length = _length(state, step)
        if length < _SHORT:
            centring = equations.step(max(sigma, _CENTRING) * mu)
            other = _length(state, centring)
            if other > length:
                step, length = centring, other
        length = min(_TO_THE_WALL * length, 1.0)
        changes = (step.x, step.v, *step.pull, *step.excess)
        if not all(np.all(np.isfinite(change)) for change in changes):
            state.finished = True
            return state
        stalls = mu * equations.count <= _DONE * abs(state.point.objective) or length < _TINY
        return _advanced(state, step, length, stalls=stalls)

    def dual_candidate(self, state: InteriorState) -> DualPoint:
        """theta = -v."""
        return DualPoint.at(-state.v, state.point.problem)

    def restrict(self, state: InteriorState, point: Point, kept: Index) -> InteriorState:
        """Distances and multipliers of the columns that stay; fixed ones have no bounds any more."""
        problem = point.problem
        bounded = _bounded(problem)
        room, pull = state.room, state.pull
        gram = state.gram
        return replace(
            state,
            point=point,
            gram=gram if gram is None or len(gram) == len(kept) else gram[np.ix_(kept, kept)],
            room=Walls(
                np.where(bounded[0], room.below[kept], 1.0),
                np.where(bounded[1], room.above[kept], 1.0),
            ),
            pull=Walls(bounded[0] * pull.below[kept], bounded[1] * pull.above[kept]),
        )


class Equations:
    """The linear equations of one step, with the factor that predictor and corrector share."""

    def __init__(self, state: InteriorState) -> None:
        problem = state.point.problem
        loss, y = problem.loss, problem.target
        self.state, self.problem = state, problem
        self.open = np.flatnonzero(problem.open)
        self.bounded = _bounded(problem)
        self.count = sum(int(np.count_nonzero(z)) for z in (*state.pull, *state.excess))
        inverse = loss.inverse_derivatives(state.v, y)
        self.off = inverse - state.point.prediction
        bend = _positive(loss.curvatures(inverse, y))
        slack, excess, room, pull = state.slack, state.excess, state.room, state.pull
        self.h = 1.0 / (1.0 / bend + excess.below / slack.below + excess.above / slack.above)
        self.diagonal = pull.below / room.below + pull.above / room.above
        self.slope = -problem.slopes(-state.v)
        self.gap = self.gap_after(None, 0.0)
        self._apply = self._factored()

    @property
    def solvable(self) -> bool:
        """Whether there is a factor."""
        return self._apply is not None and bool(np.all(np.isfinite(self.off)))

    def gap_after(self, step: Step | None, length: float) -> float:
        """μ, the mean product of a distance and its multiplier, after a step of that length."""
        state = self.state
        pairs = zip((*state.room, *state.slack), (*state.pull, *state.excess), strict=True)
        if step is None:
            return sum(dot(d, z) for d, z in pairs) / max(self.count, 1)
        moves = (step.x, -step.x, step.v, -step.v)
        total = 0.0
        for (d, z), move, change in zip(pairs, moves, (*step.pull, *step.excess), strict=True):
            total += dot(d + length * move, z + length * change)
        return total / max(self.count, 1)

    def step(self, mu: float, predictor: Step | None = None) -> Step:
        """Towards products of μ; with the second-order terms of the predictor, if it is given."""
        state = self.state
        room, pull, slack, excess = state.room, state.pull, state.slack, state.excess
        ends = excess.below > 0.0, excess.above > 0.0
        sides = [mu * on for on in (*self.bounded, *ends)]
        if predictor is not None:
            moves = (predictor.x, -predictor.x, predictor.v, -predictor.v)
            for k, change in enumerate((*predictor.pull, *predictor.excess)):
                sides[k] = sides[k] - moves[k] * change
        low, high, left, right = sides
        q = self.off - left / slack.below + right / slack.above
        r = low / room.below - high / room.above - self.slope
        x = self._solved(r, q)
        v = self.h * (self._image(x) - q)
        return Step(
            x,
            v,
            Walls(
                (low - pull.below * x) / room.below - pull.below,
                (high + pull.above * x) / room.above - pull.above,
            ),
            Walls(
                (left - excess.below * v) / slack.below - excess.below,
                (right + excess.above * v) / slack.above - excess.above,
            ),
        )

    def _image(self, x: Array) -> Array:
        """A Δx."""
        self.problem.work.add(self.problem.design.product_cost)
        return self.problem.design.matvec(x)

    def _solved(self, r: Array, q: Array) -> Array:
        """Δx, refined."""
        assert self._apply is not None
        problem, x = self.problem, np.zeros(len(self.slope))
        right = (r + problem.correlate(self.h * q))[self.open]
        rest, size = right, norm(right)
        for k in range(_REFINEMENTS + 1):
            x[self.open] += self._apply(rest)
            if k == _REFINEMENTS:
                break
            back = problem.correlate(self.h * self._image(x)) + self.diagonal * x
            before, rest = norm(rest), right - back[self.open]
            if not _RESIDUAL * size < norm(rest) < before:
                break
        return x

    def _factored(self) -> Callable[[Array], Array] | None:
        """A function that applies the inverse; None where no Cholesky factor can be made."""
        problem, open_ = self.problem, self.open
        m, k = len(problem.target), len(open_)
        if not k:
            return None
        scale = float(np.max(self.h)) * problem.norms[open_] ** 2
        by_rows = m < k
        make = self._by_rows if by_rows else self._by_columns
        regular = _REGULAR
        for _ in range(_TRIES):
            problem.work.charge(min(m, k) ** 3 / (3.0 * max(m, 1)))
            found = make(_positive(self.diagonal[open_] + regular * scale))
            if found is not None:
                return found
            regular *= _MORE
        return None

    def _by_columns(self, diagonal: Array) -> Callable[[Array], Array] | None:
        matrix = self._hessian()
        matrix[np.diag_indices(len(matrix))] += diagonal
        size, factor, failed = _scaled_factor(matrix)
        return None if failed else lambda r: size * dpotrs(factor, size * r, lower=1)[0]

    def _hessian(self) -> Array:
        """AᵀHA over the open coordinates, as a copy; made once where f is quadratic."""
        problem, state, open_ = self.problem, self.state, self.open
        if not problem.loss.quadratic:
            return problem.hessian(open_, open_, self.h)
        if state.gram is None:
            every = np.arange(len(problem.lower))
            state.gram = problem.hessian(every, every, self.h)
        whole = len(open_) == len(state.gram)
        return state.gram.copy() if whole else state.gram[np.ix_(open_, open_)]

    def _by_rows(self, diagonal: Array) -> Callable[[Array], Array] | None:
        """By the identity of Woodbury: as many equations as rows."""
        problem = self.problem
        rows = np.ascontiguousarray(problem.design.columns(self.open)) / np.sqrt(diagonal)
        problem.work.add(len(rows) * len(self.open) * _gram_cost(problem))
        matrix = own(rows.T)
        matrix[np.diag_indices(len(matrix))] += 1.0 / self.h
        size, factor, failed = _scaled_factor(matrix)
        if failed:
            return None
        root = 1.0 / np.sqrt(diagonal)

        def apply(r: Array) -> Array:
            r = r * root
            inner = size * dpotrs(factor, size * (rows @ r), lower=1)[0]
            return np.asarray(root * (r - rows.T @ inner))

        return apply


def _gram_cost(problem: ReducedProblem) -> float:
    """What one entry of a product of A with itself costs, in products with a column.

    Where A has fewer rows than columns it is made dense for that.
    """
    if len(problem.target) < problem.open_count:
        return Design.gram_cost / max(problem.design.density, _LEAST)
    return problem.design.gram_cost


def _scaled_factor(matrix: Array) -> tuple[Array, Array, bool]:
    """s and a Cholesky factor of diag(s) M diag(s), which has a diagonal of ones; M is overwritten."""
    size = 1.0 / np.sqrt(np.diag(matrix))
    matrix *= size
    matrix *= size[:, None]
    factor, failed = dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    return size, factor, failed != 0


def _advanced(state: InteriorState, step: Step, length: float, *, stalls: bool) -> InteriorState:
    """All variables moved by a step of that length; finished after a few in a row that gain nothing."""
    problem = state.point.problem
    bounded = _bounded(problem)
    room = _pushed(state.room, step.x, length, bounded)
    x = state.point.x + length * step.x
    x = np.where(bounded[0] & (room.below <= room.above), problem.lower + room.below, x)
    x = np.where(bounded[1] & (room.above < room.below), problem.upper - room.above, x)
    x = np.where(bounded[0] & ~bounded[1], problem.lower + room.below, x)
    x = np.where(bounded[1] & ~bounded[0], problem.upper - room.above, x)
    ends = state.excess.below > 0.0, state.excess.above > 0.0
    return replace(
        state,
        point=Point(problem, np.clip(x, problem.lower, problem.upper)),
        v=state.v + length * step.v,
        room=room,
        pull=_grown(state.pull, step.pull, length),
        slack=_pushed(state.slack, step.v, length, ends),
        excess=_grown(state.excess, step.excess, length),
        stalls=state.stalls + 1 if stalls else 0,
        finished=stalls and state.stalls + 1 >= _STALLED,
    )


def _pushed(walls: Walls, move: Array, length: float, ends: tuple[Mask, Mask]) -> Walls:
    """Distances after a move; never 0."""
    below, above = walls.below + length * move, walls.above - length * move
    return Walls(
        np.where(ends[0], np.maximum(below, _LEAST), 1.0),
        np.where(ends[1], np.maximum(above, _LEAST), 1.0),
    )


def _grown(walls: Walls, change: Walls, length: float) -> Walls:
    """Multipliers after a change; 0 where there is no end, and nowhere else."""
    return Walls(
        *(
            np.where(z > 0.0, np.maximum(z + length * dz, _LEAST), 0.0)
            for z, dz in zip(walls, change, strict=True)
        )
    )


def _length(state: InteriorState, step: Step) -> float:
    """How far a step may go until the first distance or multiplier is 0; inf where none becomes so."""
    pairs = [
        *zip(state.room, (step.x, -step.x), state.pull, strict=True),
        *zip(state.slack, (step.v, -step.v), state.excess, strict=True),
    ]
    shortest = np.inf
    for distance, move, multiplier in pairs:
        shortest = min(shortest, _until_zero(distance, move, multiplier > 0.0))
    for multiplier, change in zip(
        (*state.pull, *state.excess), (*step.pull, *step.excess), strict=True
    ):
        shortest = min(shortest, _until_zero(multiplier, change, multiplier > 0.0))
    return shortest


def _until_zero(value: Array, change: Array, counts: Mask) -> float:
    falling = counts & (change < 0.0)
    return float(np.min(-value[falling] / change[falling], initial=np.inf))


def _bounded(problem: ReducedProblem) -> tuple[Mask, Mask]:
    """Which open coordinates have a lower, and which an upper bound."""
    return problem.open & ~problem.no_lower, problem.open & ~problem.no_upper


def _walls(
    value: Array, low: Array, high: Array, ends: tuple[Mask, Mask], least: Array | float
) -> Walls:
    """Distances from both ends, at least `least`, which rounding may have made of a difference."""
    below = np.where(ends[0], value - np.where(ends[0], low, 0.0), 1.0)
    above = np.where(ends[1], np.where(ends[1], high, 0.0) - value, 1.0)
    least = np.maximum(least, _LEAST)
    return Walls(np.maximum(below, least), np.maximum(above, least))


def _inside(v: Array, low: Array, high: Array) -> Array:
    """v, moved away from the ends of its domain."""
    size = max(float(np.max(np.abs(v), initial=0.0)), _LEAST)
    away = np.minimum(_INSIDE * (high - low), 0.01 * size)
    return np.clip(v, low + away, high - away)


def _positive(values: Array) -> Array:
    return np.maximum(values, _LEAST)
