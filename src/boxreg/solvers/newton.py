"""Projected Newton steps on a working set, for every loss."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.lapack import dgeqrf, dpotrf, dpotrs

from .. import compaction
from ..arrays import Array, Index
from ..dual_cone import excess_over_cone
from ..duality import DualPoint
from ..free_system import FreeSystem
from ..point import Point
from ..reduced import ReducedProblem
from ..rounding import dot
from ..settings import current
from .backtracking import advance, along_the_ray
from .growing_set import GrowingSet, WorkingState
from .last_resort import solve_by_active_set
from .metric import metric
from .quadratic_model import first_guess, model_at
from .quasi_newton import descended
from .sparse_model import minimised, minimised_with_slacks, usable
from .sweeping import swept
from .without_gram import exact_cost

_SPARE = 8.0
"""Newton's own dual point keeps this many times its rounding error to spare."""

_TRIES, _CORRECTIONS = 4, 4
"""It is sought with so many sets of columns, and so many steps of Newton's method for each, at most."""

_LESS, _LEAST_CAUTION = 0.01, 1e-8
"""What a full step leaves of κ, and the least of it."""

_SHORT, _MORE = 0.1, 1e3
"""A step of less than the first, in full steps, multiplies κ by the second."""

_BETWEEN_CHECKS, _LITTLE = 20, 1e-9
"""Steps between two checks of a small problem, at most, and the share of the objective that a step gains
when it is time for a check."""

_BEYOND = 1e100
"""Predictions beyond this, or this many times max |y|, are on their way to infinity, along a direction
that others look for."""

_AFTER_SWEEPS = 1e-3
"""κ where sweeps, or L-BFGS-B, have come close."""

_ROUGHLY = 1e-2
"""Sweeps and conjugate gradients on a model go on to a gap of this share of the last step's gain."""

_ENOUGH, _FINITE = 30.0, 1e100
"""A point is checked once its slopes prove this many times the gap that models were solved to; what an
infinite bound counts as."""

_CALLS = 4.0
"""Calls that a Newton step makes from Python, in evaluations of P and its gradient."""

_PRECISION, _FINER, _AGAIN = 1e-9, 1e-2, 2.0
"""L-BFGS-B ends once a step gains less than the first, as a share of the objective where it began; the
next time at a hundredth of that, once other steps have cost twice as much as it did."""


@dataclass(kw_only=True)
class NewtonState(WorkingState):
    """Adds the model."""

    curvature: Array | None = None
    """h, with which the Gram matrix was made."""
    caution: float = 1.0
    """κ: how much of the secants is in h where they are above f''."""
    optimism: float = 1.0
    """The same where they are below it."""
    change: Array | None = None
    """What the last step changed in the prediction."""
    gained: float = np.inf
    """The share of the objective that the last step gained."""
    steps: int = 0
    """Newton steps made."""
    last: float = 0.0
    """What the last of them cost, in entries of A read."""
    spent: float = 0.0
    """What the run had cost when L-BFGS-B was last done."""
    allowed: float = 0.0
    """What it may cost from there before L-BFGS-B goes on."""
    precision: float = _PRECISION
    """The share of the objective that a step of L-BFGS-B has to gain the next time."""
    rest: float = 1.0
    """The share that is left of each second derivative since all of them were computed, at least."""


class Newton(GrowingSet[NewtonState]):
    """One step minimises the second-order model of P over a working set W and goes towards it.

        minimise ½ dᵀA_Wᵀ H A_W d - w_Wᵀd   over   l <= x_W + d <= u,     H = diag(h)

    Of x + s d, s = 1, ½, ¼ …, the first is taken that lowers P by a share of what its slope promises.
    h = f'' + κ (s - f''), where s are the secants f'(p) / (p - argmin f), which see farther than f'':
    κ is 1 at first and a hundredth of that after each full step, towards Newton's method. Where a model
    leads nowhere, κ grows again.

    The model is a weighted least-squares problem. Small ones, and all from the first on whose Gram
    matrix proves ill-conditioned, are solved by the active set on orthogonal factors, which begins with
    the coordinates inside their bounds; the others by block principal pivoting, with h kept while it
    changes little: steps then cost a product with A and a factor of the free set. Where coordinates
    have costs and columns depend on one another, a model falls in a straight line along some d with
    A_W d = 0; the active set follows it to the next bound.

    A run starts from the solution of such a problem over all coordinates (see `first_guess`), or from
    sweeps of coordinate descent, where many coordinates will move (see `swept`): if these went all the
    way the first check proves the answer.
    """

    name = "newton"
    needs_columns = True
    fits_exactly = steps_first = True
    max_iter = 1_000

    def checks(self, problem: ReducedProblem) -> tuple[int, float]:
        """After every step; where a step takes less time than a check, only when steps gain little."""
        seldom = usable(problem) or _small(problem)
        return (_BETWEEN_CHECKS if seldom else 1), 0.0

    def step(self, state: NewtonState, count: int) -> NewtonState:
        """`count` Newton steps, or as many as gain much."""
        for left in range(count, 0, -1):
            state.left = left
            point = state.point
            if point.problem.work.over:
                return state
            if state.near and not state.gained:  # it moves no more, and yet nothing was proved
                state.exact, state.near, state.gained = True, False, np.inf
            under_way = _descends(state) and state.asked is not None
            if not under_way and self._optimal(point):
                state.finished = True
                return state
            if self._without_models(state):
                state.left = left - 1
                return state
            if not state.begun and not _descends(state):
                state = self._begun(state)
            spent = _spent(state)
            moved = self._towards(state, self._minimum(state))
            state.last = _spent(state) - spent
            if moved is None and self._more_cautious(state):
                continue
            if moved is None or _beyond(moved):
                state.finished = not point.problem.work.over
                return state
            state.point, state.left = along_the_ray(moved), left - 1
            if not state.gained or (self._proves(state) if state.near else state.gained <= _LITTLE):
                return state
        return state

    def _without_models(self, state: NewtonState) -> bool:
        """Go on by other means than a model, where that is better; whether it led on."""
        if not _descends(state):
            return self._swept(state) or self._descended(state)
        first = state.asked is None
        return first and state.point.problem.loss.cuts_slopes and self._with_slacks(state)

    def _minimum(self, state: NewtonState) -> Point | None:
        """The minimum of the model over W; over all coordinates if the problem is small or A sparse."""
        if _descends(state):
            return self._by_descent(state)
        if not self._by_factors(state):
            self._drop_settled(state)
            self._refresh(state)
            self._take_in(state)
            self._extend(state, self._candidates(state.point, state.working))
            model = self._solve(state)
            state.sound = model is not None
            if model is not None:
                return model
        point = state.point
        h = state.curvature = self._metric(state)
        used = np.flatnonzero(point.problem.open)
        if not _small(point.problem):
            inside = np.flatnonzero(point.inside)
            used = np.union1d(inside, self._candidates(point, inside))
        state.working, state.system = used[:0], FreeSystem()
        return Point(point.problem, solve_by_active_set(model_at(point, h), used).x)

    def _by_descent(self, state: NewtonState) -> Point:
        """Near the minimum of the model: the nearer the less the last step gained."""
        point, h = state.point, self._metric(state)
        if state.asked is None:
            state.asked = current().descent_precision * abs(point.objective)
        state.near = state.gained <= current().newton_dual_gain
        gained = min(state.gained, 1.0) * abs(point.objective)
        asked = state.asked if state.near else max(_ROUGHLY * gained, state.asked)
        allowed = None if state.near else current().descent_model_products
        moved, met = minimised(point, asked, h, allowed)
        state.exact = (state.near and not met) or state.steps >= current().descent_models
        return moved

    @staticmethod
    def _with_slacks(state: NewtonState) -> bool:
        """Begin with the least squares that the loss stands for; whether that went all the way."""
        point = state.point
        state.asked = current().descent_precision * abs(point.objective)
        moved, met = minimised_with_slacks(point, state.asked)
        if moved.objective < point.objective:
            state.gained = _share(point.objective - moved.objective, point.objective)
            if met:
                state.gained = min(state.gained, current().newton_dual_gain)
            state.point, state.caution, state.near = moved, _AFTER_SWEEPS, met
        return state.near

    @staticmethod
    def _proves(state: NewtonState) -> bool:
        """Whether the residual, as it is, should prove about the gap asked for: models are inexact where
        rows of the loss still change sides."""
        point = state.point
        w, x = point.correlation, point.x
        below, above = x - point.problem.lower, point.problem.upper - x
        gap = dot(np.maximum(w, 0.0), np.minimum(above, _FINITE))
        gap += dot(np.maximum(-w, 0.0), np.minimum(below, _FINITE))
        return gap <= _ENOUGH * (state.asked or 0.0)

    def _begun(self, state: NewtonState) -> NewtonState:
        """The state at the first guess, from where the run began."""
        guess = first_guess(state.point, self._by_factors(state))
        return replace(
            state,
            point=guess.point,
            begun=True,
            working=guess.working,
            system=guess.system,
            curvature=guess.h,
        )

    @staticmethod
    def _by_factors(state: NewtonState) -> bool:
        """Whether models are solved with orthogonal factors."""
        return not state.sound or _small(state.point.problem)

    @staticmethod
    def _more_cautious(state: NewtonState) -> bool:
        """Go on with more of the secants where a model led nowhere; whether there is any more to add."""
        if state.caution >= 1.0 or state.point.problem.work.over:
            return False
        state.caution = min(_MORE * state.caution, 1.0)
        state.working, state.system = state.working[:0], FreeSystem()
        state.curvature, state.rest = None, 1.0
        return True

    def wants_column_major(self, problem: ReducedProblem) -> bool:
        """Where sweeps will come first, as a rule: half of the coordinates want to leave their bound."""
        able = problem.design.sweeps_as_copy and problem.smoothness.known
        many = _avoids_gram(problem, problem.open_count // 2)
        return able and many and compaction.spares(problem)

    def start(self, point: Point) -> NewtonState:
        """Nothing is done yet."""
        return NewtonState(point)

    def settled(self, state: NewtonState) -> bool:
        """A run may end as soon as the gap is small enough."""
        return True

    def dual_candidate(self, state: NewtonState) -> DualPoint | None:
        """theta = -f'(p + A_F z) with w_F = 0 by Newton's method, F the coordinates inside their bounds.

        A little less where they have one bound, so that it is feasible as far as they are concerned;
        columns that are not join F for another try. -f' does not leave the domain of f*, whatever z is.
        Not as long as steps gain much: it would prove little.
        """
        point, h = state.point, state.curvature
        if state.gained > current().newton_dual_gain or h is None or not point.regular:
            return None  # h is None, too, where slopes are small enough as they are
        problem, dual = point.problem, None
        used = np.flatnonzero(point.inside)
        for _ in range(_TRIES):
            if not 0 < len(used) <= len(problem.target) or problem.work.over:
                break
            found = self._with_no_slopes(state, used, h)
            if found is None:
                break
            dual = found
            beyond = problem.constrained & (excess_over_cone(dual, point) > 0.0)
            beyond[used] = False
            if not beyond.any():
                break
            used = np.union1d(used, np.flatnonzero(beyond))
        return dual

    @staticmethod
    def _with_no_slopes(state: NewtonState, used: Index, h: Array) -> DualPoint | None:
        """-f'(p + A_F z) with w_F = 0, or a few rounding errors on its right side; None where AᵀHA is
        singular."""
        point = state.point
        problem, dual, moved = point.problem, DualPoint.residual(point), point.prediction
        factor = Newton._factor(state, used, h)
        if factor is None:
            return None
        spare = _SPARE * dual.uncertainty(problem)[used] * problem.side[used]
        for _ in range(_CORRECTIONS):
            z, _ = dpotrs(factor, dual.correlation[used] + spare, lower=1)
            moved = moved + problem.design.combine(used, z)
            problem.work.add(len(used))
            theta = problem.loss.residual(moved, problem.target)
            if not np.all(np.isfinite(theta)):  # p + A_F z has left the domain of f
                return None
            dual = DualPoint.at(theta, problem)
            if np.all(np.abs(dual.correlation[used] + spare) <= 0.25 * np.abs(spare)):
                break
        return dual

    @staticmethod
    def _factor(state: NewtonState, used: Index, h: Array) -> Array | None:
        """The lower triangular factor of A_FᵀHA_F; None where that is singular."""
        problem = state.point.problem
        if Newton._by_factors(state):
            columns = problem.design.columns(used) * np.sqrt(h)[:, None]
            problem.work.add(len(used) ** 2)
            upper = dgeqrf(columns)[0][: len(used)]
            pivots = np.abs(np.diagonal(upper))
            return None if not pivots.all() else np.asfortranarray(upper.T)
        order = np.argsort(state.working)
        place = order[np.isin(state.working[order], used)]
        if len(place) == len(used):
            gram = state.system.gram[np.ix_(place, place)]
        else:
            gram = problem.hessian(used, used, h)
        factor, failed = dpotrf(gram, lower=1, clean=0)
        return None if failed else factor

    def _movable(self, point: Point) -> int:
        """How many coordinates are inside their bounds or about to be."""
        return int(np.count_nonzero(point.inside | point.wanting(self.threshold)))

    def _next(self, point: Point) -> int:
        """How many the working set of the next step has."""
        inside = int(np.count_nonzero(point.inside))
        return min(self._movable(point), inside + max(self._batch(point), inside))

    def _swept(self, state: NewtonState) -> bool:
        """Begin with sweeps where a Gram matrix would take longer; whether they led on."""
        point = state.point
        design, known = point.problem.design, point.problem.smoothness.known
        if state.begun or not (design.has_sweeps and known):
            return False
        if not _avoids_gram(point.problem, self._movable(point)):
            return False
        moved, finished = swept(point)
        if not moved.objective < point.objective:
            return False
        state.point, state.begun, state.caution = moved, True, _AFTER_SWEEPS
        if finished:
            state.allowed = np.inf
        return True

    def _descended(self, state: NewtonState) -> bool:
        """Go on with L-BFGS-B where Newton's steps, the next one included, cost more than many of its
        and still gain. Whether that led on. Each time it goes farther, and waits longer for the next.
        """
        problem, settings = state.point.problem, current()
        entries = problem.design.stored * len(problem.lower)
        spent = _spent(state) - state.spent
        if spent + self._ahead(state) <= max(
            settings.quasi_newton_after * (2.0 * entries + settings.call_entries), state.allowed
        ):
            return False
        if state.gained <= settings.newton_dual_gain:
            return False
        begun, point = _spent(state), state.point
        moved = descended(point, state.precision, settings.quasi_newton_steps)
        state.spent = _spent(state)
        state.allowed = _AGAIN * (state.spent - begun)
        state.precision *= _FINER
        if not moved.objective < point.objective:
            return False
        state.gained = _share(point.objective - moved.objective, point.objective)
        state.point, state.begun, state.caution = moved, True, _AFTER_SWEEPS
        state.curvature, state.rest = None, 1.0
        state.working, state.system = state.working[:0], FreeSystem()
        return True

    def _ahead(self, state: NewtonState) -> float:
        """What the next step will cost, in entries of A read: by a model, or where Gram matrices fail as
        the last one did."""
        problem = state.point.problem
        if self._by_factors(state):
            return state.last
        return exact_cost(problem, self._next(state.point)) * problem.design.stored

    def _hessian(self, state: NewtonState, rows: Index, columns: Index) -> Array:
        """In the metric at hand."""
        if state.curvature is None:
            state.curvature = self._metric(state)
        return state.point.problem.hessian(rows, columns, state.curvature)

    @staticmethod
    def _metric(state: NewtonState) -> Array:
        """h at the current point."""
        point = state.point
        return metric(point.problem, point.prediction, state.caution, state.optimism)

    def _refresh(self, state: NewtonState) -> None:
        """Forget the Hessian if h has moved away from what it was."""
        old, new = state.curvature, self._metric(state)
        if old is None:
            return
        size = len(state.working) ** 2
        settings = current()
        cheap = size <= settings.hessian_cheap_beside * len(state.point.x)
        cheap |= len(new) * size <= settings.hessian_cheap
        if not cheap and state.change is not None:
            along = state.change**2
            if dot(np.abs(new - old), along) <= settings.hessian_stale * dot(new, along):
                return
        state.curvature = new
        if self._change(state, new - old):
            return
        working, state.rest = state.working, 1.0
        state.working, state.system = working[:0], FreeSystem()
        self._extend(state, working)

    @staticmethod
    def _change(state: NewtonState, change: Array) -> bool:
        """Add to the Hessian what a change of h in few rows does to it, as in the tails of Huber's loss.

        Not where h changes in many, or where little is left of what there was when it was made: that
        would have the rounding errors of what has gone.
        """
        block = state.point.problem.hessian_change(state.working, change)
        if block is None:
            return False
        before = np.diag(state.system.gram)
        state.rest *= min(float(np.min(1.0 + np.diag(block) / before, initial=1.0)), 1.0)
        if not state.rest >= current().hessian_rest:
            return False
        state.system = FreeSystem(state.system.gram + block)
        return True

    @staticmethod
    def _towards(state: NewtonState, model: Point | None) -> Point | None:
        """As far towards the minimum of a model as the objective falls; None if it does not."""
        point = state.point
        still = model is None or np.array_equal(model.x, point.x)
        ahead = None if model is None or still else advance(point, model)
        nothing_left = ahead is None and state.near and state.gained <= _LITTLE
        if model is not None and (still or nothing_left):
            state.gained = 0.0
            return point
        if ahead is None:
            return None
        moved, share = ahead
        if share is None:
            state.gained = 0.0
        else:
            state.steps += 1
            state.change = moved.prediction - point.prediction
            state.optimism = _LESS * state.optimism if share >= 1.0 else 0.0
            state.gained = _share(point.objective - moved.objective, point.objective)
            if share >= 1.0:
                state.caution = max(_LESS * state.caution, _LEAST_CAUTION)
            elif share < _SHORT:
                state.caution = min(_MORE * state.caution, 1.0)
        return moved


def _descends(state: NewtonState) -> bool:
    """Whether models are minimised by sweeps and conjugate gradients."""
    return usable(state.point.problem) and not state.exact


def _avoids_gram(problem: ReducedProblem, movable: int) -> bool:
    """Whether a Gram matrix of so many columns had better be avoided."""
    # Columns >= 0 that share rows are far from orthogonal, and few of them are used: not for this.
    crowded = problem.design.nonnegative and problem.design.density > current().crowded_density
    return not crowded and len(problem.target) * movable**2 >= current().gram_avoided_from


def _spent(state: NewtonState) -> float:
    """What the run has cost so far, in entries of A read."""
    problem = state.point.problem
    entries = problem.design.stored * len(problem.lower)
    return problem.work.effort * entries + _CALLS * current().call_entries * state.steps


def _share(gain: float, objective: float) -> float:
    """The gain over the size of the objective, which costs may make 0."""
    return gain / abs(objective) if objective else np.inf


def _small(problem: ReducedProblem) -> bool:
    """Whether orthogonal factors take less time than the calls that Gram matrices ask for."""
    entries = len(problem.target) * problem.open_count
    return problem.design.has_columns and entries <= current().small_entries


def _beyond(point: Point) -> bool:
    """Whether predictions are on their way to infinity, or there already."""
    scale = max(float(np.max(np.abs(point.problem.target), initial=0.0)), 1.0)
    return not np.max(np.abs(point.prediction), initial=0.0) < _BEYOND * scale
