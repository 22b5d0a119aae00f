"""Projected Newton steps on a working set, for every loss."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

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
from .inexact import inexact_minimum
from .last_resort import solve_by_active_set
from .metric import metric
from .quadratic_model import first_guess, model_at
from .sweeping import swept
from .working_set import WorkingSet, WorkingState

_DAMPING = (1e-8, 1e-4)
"""Shares of its diagonal that are added to a singular Hessian, the first that leads on."""

_SPARE = 8.0
"""Newton's own dual point keeps this many times its rounding error to spare."""

_TRIES, _CORRECTIONS = 4, 4
"""It is sought with so many sets of columns, and so many steps of Newton's method for each, at most."""

_SHARE = 0.03
"""Relative tolerance of an inexact Newton step: the share of the slope that is left."""

_LESS, _LEAST_CAUTION = 0.01, 1e-8
"""What a full step leaves of κ, and the least of it."""

_SHORT, _MORE = 0.1, 1e3
"""A step of less than the first, in full steps, multiplies κ by the second."""

_BEYOND = 1e100
"""Predictions beyond this, or this many times max |y|, are on their way to infinity, along a direction
that others look for."""

_AFTER_SWEEPS = 1e-3
"""κ where sweeps have come close."""


class Newton(WorkingSet):
    """One step minimises the second-order model of P over a working set W, exactly, and goes towards it.

        minimise ½ dᵀA_Wᵀ H A_W d - w_Wᵀd   over   l <= x_W + d <= u,     H = diag(h)

    by block principal pivoting, as the default for least squares does; of x + s d, s = 1, ½, ¼ …, the
    first is taken that lowers P by a share of what its slope promises. h = f'' + κ (s - f''), where s
    are the secants f'(p) / (p - argmin f), which see farther than f'': κ is 1 at first and a hundredth
    of that after each full step, towards Newton's method. h is kept while it changes little: steps then
    cost a product with A and a factor of the free set.

    The model is a weighted least-squares problem. Where its Gram matrix is singular and coordinates have
    costs, the model falls in a straight line along some d with A_W d = 0, and the active-set method with
    orthogonal factors follows it to the next bound: with a little added to the diagonal a step would be
    as short as a cost is small beside that. Without costs nothing changes along such a d: a little is
    added, and orthogonal factors, which take longer, come last. A run starts from the solution of such a
    problem over all coordinates (see `first_guess`), or from sweeps of coordinate descent, where many
    coordinates will move (see `swept`): if these went all the way the first check proves the answer.
    """

    name = "newton"
    needs_quadratic = False
    fits_exactly = True
    max_iter = 1_000

    def step(self, state: WorkingState, count: int) -> WorkingState:
        """`count` Newton steps."""
        for _ in range(count):
            point = state.point
            if point.problem.work.over:
                return state
            if self._optimal(point):
                state.finished = True
                return state
            if not (state.exact or state.begun) and self._sweeps(point):
                state = self._swept(state)
                continue
            if not state.exact:
                moved = self._inexact(state)
                if moved is not None:
                    state.point = moved
                    continue
                state.exact = True
            if not state.begun:
                state = first_guess(self._origin(state))
                state.exact = True
                point = state.point
            self._drop_settled(state)
            self._refresh(state)
            self._take_in(state)
            self._extend(state, self._candidates(state.point, state.working))
            moved = self._by_pivoting(state)
            if moved is None and self._more_cautious(state):
                continue
            if moved is None and point.problem.cost is None:
                moved = self._with_factors(state)
            if moved is None or _beyond(moved):
                state.finished = not point.problem.work.over
                return state
            state.point = along_the_ray(moved)
        return state

    @staticmethod
    def _more_cautious(state: WorkingState) -> bool:
        """Go on with more of the secants where pivoting failed and orthogonal factors would take long.

        Rows without curvature, as in the tails of Huber's loss, make a Hessian singular; secants do not.
        Whether there is any more to add.
        """
        size = len(state.working)
        cheap = len(state.point.problem.target) * size**2 <= current().hessian_cheap
        if cheap or state.least_caution is None or state.point.problem.work.over:
            return False
        if state.caution >= 1.0:
            state.least_caution = None
            return False
        state.caution = state.least_caution = min(_MORE * state.caution, 1.0)
        state.working, state.system = state.working[:0], FreeSystem()
        state.curvature, state.rest = None, 1.0
        return True

    def wants_column_major(self, problem: ReducedProblem) -> bool:
        """Where sweeps will come first, as a rule: half of the coordinates want to leave their bound."""
        able = problem.design.sweeps_as_copy and problem.smoothness.known
        many = _avoids_gram(problem, problem.open_count // 2)
        return able and many and compaction.spares(problem)

    def start(self, point: Point) -> WorkingState:
        """Nothing is done yet; where it begins is remembered."""
        return WorkingState(point, origin=point)

    def settled(self, state: WorkingState) -> bool:
        """A run may end as soon as the gap is small enough."""
        return True

    def dual_candidate(self, state: WorkingState) -> DualPoint | None:
        """theta = -f'(p + A_F z) with w_F = 0 by Newton's method, F the coordinates inside their bounds.

        A little less where they have one bound, so that it is feasible as far as they are concerned;
        columns that are not join F for another try. -f' does not leave the domain of f*, whatever z is.
        Not as long as steps gain much: it would prove little.
        """
        point, h = state.point, state.curvature
        if state.gained > current().newton_dual_gain or h is None or not point.regular:
            return None
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
    def _with_no_slopes(state: WorkingState, used: Index, h: Array) -> DualPoint | None:
        """-f'(p + A_F z) with w_F = 0, or a few rounding errors on its right side; None where AᵀHA is
        singular."""
        point = state.point
        problem, dual, moved = point.problem, DualPoint.residual(point), point.prediction
        order = np.argsort(state.working)
        place = order[np.isin(state.working[order], used)]
        if len(place) == len(used):
            gram = state.system.gram[np.ix_(place, place)]
        else:
            gram = problem.hessian(used, used, h)
        factor, failed = dpotrf(gram, lower=1, clean=0)
        if failed:
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
    def _origin(state: WorkingState) -> Point:
        """Where the run began: inexact steps that were given up leave too many coordinates inside."""
        origin = state.origin
        same = origin is not None and origin.problem is state.point.problem
        return origin if origin is not None and same else state.point

    def _movable(self, point: Point) -> Index | None:
        """Coordinates inside their bounds or about to be, if their Gram matrix had better be avoided."""
        movable = np.flatnonzero(point.inside | point.wanting(self.threshold))
        return movable if _avoids_gram(point.problem, len(movable)) else None

    def _sweeps(self, point: Point) -> bool:
        """Whether a run may begin with sweeps."""
        problem = point.problem
        able = problem.design.has_sweeps and problem.smoothness.known
        return able and self._movable(point) is not None

    @staticmethod
    def _swept(state: WorkingState) -> WorkingState:
        """Where sweeps lead; if they are slow, steps are exact from there, or as if there were none."""
        moved, finished = swept(state.point)
        if not moved.objective < state.point.objective:
            state.exact = True
            return state
        return WorkingState(moved, begun=True, exact=not finished, caution=_AFTER_SWEEPS)

    def _inexact(self, state: WorkingState) -> Point | None:
        """A step by conjugate gradients, where the Gram matrix would take longer and they are fast."""
        point = state.point
        movable = self._movable(point)
        if movable is None:
            return None
        state.curvature = None
        limit = current().newton_products
        model = inexact_minimum(point, self._metric(state), movable, _SHARE, limit)
        return self._towards(state, model)

    def _hessian(self, state: WorkingState, rows: Index, columns: Index) -> Array:
        """In the metric at hand."""
        if state.curvature is None:
            state.curvature = self._metric(state)
        return state.point.problem.hessian(rows, columns, state.curvature)

    @staticmethod
    def _metric(state: WorkingState) -> Array:
        """h at the current point."""
        return metric(state.point.problem, state.point.prediction, state.caution)

    def _refresh(self, state: WorkingState) -> None:
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
    def _change(state: WorkingState, change: Array) -> bool:
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

    def _by_pivoting(self, state: WorkingState) -> Point | None:
        """A step towards the minimum of the model on W, as it is or damped; None if none leads on."""
        moved = self._towards(state, self._solve(state))
        if moved is None and state.point.problem.cost is not None:
            moved = self._with_factors(state)
        for damping in _DAMPING:
            if moved is None:
                moved = self._towards(state, self._solve(state, damping))
        return moved

    def _with_factors(self, state: WorkingState) -> Point | None:
        """A step towards the minimum of the model on W by orthogonal factors; None if none leads on."""
        if state.point.problem.work.over:
            return None
        assert state.curvature is not None
        model = model_at(state.point, state.curvature)
        found = solve_by_active_set(model, state.working)
        return self._towards(state, Point(state.point.problem, found.x))

    @staticmethod
    def _towards(state: WorkingState, model: Point | None) -> Point | None:
        """As far towards the minimum of a model as the objective falls; None if it does not."""
        point = state.point
        ahead = None if model is None else advance(point, model)
        if ahead is None:
            return None
        moved, share = ahead
        if share is not None:
            state.change = moved.prediction - point.prediction
            size = abs(point.objective)  # which costs may make 0
            state.gained = (point.objective - moved.objective) / size if size else np.inf
            if share >= 1.0:
                least = max(state.least_caution or 0.0, _LEAST_CAUTION)
                state.caution = max(_LESS * state.caution, least)
            elif share < _SHORT:
                state.caution = min(_MORE * state.caution, 1.0)
        return moved


def _avoids_gram(problem: ReducedProblem, movable: int) -> bool:
    """Whether a Gram matrix of so many columns had better be avoided."""
    # Columns >= 0 that share rows are far from orthogonal, and few of them are used: not for this.
    crowded = problem.design.nonnegative and problem.design.density > current().crowded_density
    return not crowded and len(problem.target) * movable**2 >= current().gram_avoided_from


def _beyond(point: Point) -> bool:
    """Whether predictions are on their way to infinity, or there already."""
    scale = max(float(np.max(np.abs(point.problem.target), initial=0.0)), 1.0)
    return not np.max(np.abs(point.prediction), initial=0.0) < _BEYOND * scale
