"""Active set: Lawson–Hanson for non-negative, Stark–Parker for bounded variables."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array, Index
from ..point import Point, inward_slopes
from ..reduced import ReducedProblem
from ..settings import current
from ..updated_qr import UpdatedQR
from .base import PrimalSolver, SolverState, renumber
from .shortlist import candidates, pays


@dataclass(kw_only=True)
class ActiveSetState(SolverState):
    """Adds the free set, in the order of the factor's columns, and the factor itself."""

    free: list[int] = field(default_factory=list)
    factor: UpdatedQR
    refined: bool = False
    """The last step found nothing to free and only refitted the free coordinates."""
    listed: Index | None = None
    """Where to look for the next to free before all gradients are computed."""


class ActiveSet(PrimalSolver[ActiveSetState]):
    """One step frees the bound coordinate whose gradient is most wrong and refits the free ones.

    Coordinates at a bound are wrong when a_jᵀρ > 0 at the lower or < 0 at the upper bound, beyond
    rounding and beyond `threshold`; the one with the largest |a_jᵀρ| is freed, as Lawson and Hanson
    do (among several solutions this finds the one that SciPy's nnls finds). The least-squares fit on
    the free set F is found as a correction, d = argmin ||A_F d - ρ|| (with weights ω, of
    ||√ω A_F d - ρ/√ω||), from the fresh residual ρ and updated QR factors, so errors do not pile up.
    Where the full correction leaves the box, it is cut at the first bound met, that coordinate is bound
    again, and the fit repeated (MATLAB's lsqnonneg does the same for l = 0, u = inf). The objective
    falls at every step, and no free set comes back. A candidate that depends on the free columns, or
    whose coefficient would move out of the box through rounding, is passed over.

    Between two checks, which need all gradients, candidates are taken from a shortlist of those that
    were near the front at the last one, where that pays (`partial`): any wrong coordinate will do for
    the objective to fall. All gradients are computed where the list has none.
    """

    name = "active_set"
    needs_columns = True
    needs_quadratic = True
    fits_exactly = True
    check_period = 4
    check_growth = 0.0

    def __init__(self, threshold: float = 0.0, *, partial: bool = True) -> None:
        self.threshold = threshold
        self.partial = partial

    def checks(self, problem: ReducedProblem) -> tuple[int, float]:
        """Seldom where steps do without all gradients, which are what a check costs."""
        if self.partial and pays(problem):
            return current().seldom_checks, current().seldom_growth
        return super().checks(problem)

    @classmethod
    def plain(cls) -> ActiveSet:
        """All gradients at every step, as Lawson and Hanson have it."""
        return cls(partial=False)

    def start(self, point: Point) -> ActiveSetState:
        """Coordinates strictly inside the box start free; a dependent one moves to a bound, if it has
        one. Where the run is over before all are free the point stays as it is."""
        problem = point.problem
        factor = UpdatedQR(len(problem.target))
        state = ActiveSetState(point, factor=factor)
        x = point.x.copy()
        for j in np.flatnonzero(point.inside):
            if problem.work.over:
                return ActiveSetState(point, factor=UpdatedQR(len(problem.target)))
            if not _enter(state, int(j)) and not problem.free[j]:
                below = x[j] - problem.lower[j] <= problem.upper[j] - x[j]
                x[j] = problem.lower[j] if below else problem.upper[j]
        if state.free:
            state.point = _refit(state, Point(problem, x))
        return state

    def step(self, state: ActiveSetState, count: int) -> ActiveSetState:
        """Free up to `count` coordinates, refitting after each."""
        for _ in range(count):
            entered = self._free_one(state)
            if not entered and (state.refined or not state.free):
                state.finished = True
                break
            # With nothing to free, one more fit: screening may have moved bound coordinates, and
            # the fresh residual refines the free ones.
            moved = _refit(state, state.point)
            state.refined = not entered
            state.finished = entered and np.array_equal(moved.x, state.point.x)
            state.point = moved
        return state

    def restrict(self, state: ActiveSetState, point: Point, kept: Index) -> ActiveSetState:
        """Bind the free coordinates that were screened; renumber the others."""
        open_ = point.problem.open
        moved = renumber(np.array(state.free, dtype=np.intp), kept).tolist()
        for position in reversed(range(len(moved))):
            if moved[position] < 0 or not open_[moved[position]]:
                state.factor.remove(position)
                del moved[position]
        return ActiveSetState(point, free=moved, factor=state.factor)

    def _free_one(self, state: ActiveSetState) -> bool:
        """Add the best candidate to the free set; False when there is none."""
        point, listed = state.point, state.listed
        if listed is not None and not point.compared:
            slopes = point.problem.slopes_of(listed, point.residual)
            if self._free_best(state, listed, slopes):
                return True
        if self.partial:
            state.listed = candidates(point, np.array(state.free, dtype=np.intp))
        return self._free_best(state, np.arange(len(point.x)), point.correlation)

    def _free_best(self, state: ActiveSetState, among: Index, slopes: Array) -> bool:
        """Add the best of the coordinates given, with their slopes; False when none will do."""
        point = state.point
        problem, x = point.problem, point.x[among]
        noise = np.maximum(point.gradient_noise[among], self.threshold)
        inward = inward_slopes(x, slopes, problem.lower[among], problem.upper[among])
        score = np.where(inward > noise, inward, 0.0)
        score[np.isin(among, state.free)] = 0.0
        while True:
            k = int(np.argmax(score)) if len(score) else 0
            if not len(score) or score[k] <= 0.0:
                return False
            score[k], j = 0.0, int(among[k])
            if not _enter(state, j):
                if problem.cost is not None and _exchange(state, j):
                    return True
                continue
            change = state.factor.solve(_image(state, _scaled_residual(point)))[-1]
            problem.work.add(len(state.free))
            if change * slopes[k] > 0.0:
                return True
            state.free.pop()
            state.factor.size -= 1


def _enter(state: ActiveSetState, j: int) -> bool:
    """Append column j to the factor; False if it depends on the free columns."""
    problem = state.point.problem
    column = problem.smoothness.root_times(problem.design.columns(np.array([j]))[:, 0])
    problem.work.add(4 * len(state.free))
    if not state.factor.append(column):
        return False
    state.free.append(j)
    return True


def _image(state: ActiveSetState, residual: Array) -> Array:
    """R d for the correction d: Qᵀρ, less R⁻ᵀc_F where coordinates have costs."""
    image = state.factor.project(residual)
    cost = state.point.problem.cost
    return image if cost is None else image - state.factor.solve_transposed(cost.c[state.free])


def _exchange(state: ActiveSetState, j: int) -> bool:
    """Let coordinate j, whose column depends on the free ones, take the place of one of them.

    With a_j = A_F z the step d_j = 1, d_F = -z leaves the prediction as it is, and the costs decide: it
    is taken, in the direction that lowers them, until a coordinate meets a bound.
    """
    point = state.point
    problem = point.problem
    column = problem.smoothness.root_times(problem.design.columns(np.array([j]))[:, 0])
    moving = np.array([*state.free, j])
    d = np.append(-state.factor.solve(state.factor.project(column)), 1.0)
    slope = float(d @ point.correlation[moving])
    d = d if slope > 0.0 else -d
    room = _room(point.x[moving], d, problem.lower[moving], problem.upper[moving])
    step = float(np.min(room))
    if not abs(slope) > float(np.abs(d) @ point.gradient_noise[moving]) or np.isinf(step):
        return False
    x = point.x.copy()
    x[moving] = np.clip(x[moving] + step * d, problem.lower[moving], problem.upper[moving])
    place = int(np.argmin(room))
    hit = moving[place]
    x[hit] = problem.lower[hit] if d[place] < 0 else problem.upper[hit]
    state.point = Point(problem, x)
    if hit != j:
        state.factor.remove(place)
        del state.free[place]
        _enter(state, j)
    return True


def _refit(state: ActiveSetState, point: Point) -> Point:
    """Move to the least-squares fit on the free set, binding coordinates that meet a bound.

    Or towards it, where the run is over: the objective has fallen all the same.
    """
    problem = point.problem
    x = point.x.copy()
    residual = _scaled_residual(point)
    while state.free and not problem.work.over:
        free = np.array(state.free)
        image = _image(state, residual)
        d = state.factor.solve(image)
        problem.work.add(len(free))
        room = _room(x[free], d, problem.lower[free], problem.upper[free])
        cut = float(np.min(room))
        if cut >= 1.0:
            x[free] = np.clip(x[free] + d, problem.lower[free], problem.upper[free])
            break
        x[free] = np.clip(x[free] + cut * d, problem.lower[free], problem.upper[free])
        hit = room <= cut
        x[free[hit]] = np.where(d[hit] < 0, problem.lower[free[hit]], problem.upper[free[hit]])
        residual = residual - cut * (state.factor.q @ image)
        problem.work.add(len(free))
        for position in reversed(np.flatnonzero(hit)):
            problem.work.add(2 * (len(state.free) - position))
            state.factor.remove(int(position))
            del state.free[position]
    return Point(problem, x)


def _scaled_residual(point: Point) -> Array:
    """rho / √ω, ω the weights: the residual of the fit with the columns √ω a_j."""
    return point.problem.smoothness.over_root(point.residual)


def _room(x: Array, d: Array, lower: Array, upper: Array) -> Array:
    """Largest step along d that keeps each coordinate in its box."""
    room = np.full(len(d), np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        down, up = d < 0, d > 0
        room[down] = (lower[down] - x[down]) / d[down]
        room[up] = (upper[up] - x[up]) / d[up]
    return room
