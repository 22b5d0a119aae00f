"""What a primal solver must offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from ..arrays import Index
from ..duality import DualPoint
from ..point import Point
from ..reduced import ReducedProblem


@dataclass
class SolverState:
    """What every solver's state holds; solvers add their own fields."""

    point: Point
    finished: bool = False
    """The solver can do no more: its point satisfies its own optimality test."""
    left: int = 0
    """Iterations that were asked for in the last call and not made."""


S = TypeVar("S", bound=SolverState)


def fits(solver: Any, problem: Any) -> bool:
    """Whether a solver, or a class of them, has all that it needs of a problem's design and loss."""
    design, loss = problem.design, problem.loss
    columns = design.has_columns or not solver.needs_columns
    columns = columns and (design.has_epochs or not solver.needs_epochs)
    able = loss.quadratic or not solver.needs_quadratic
    able = able and (loss.inverts_derivative or not solver.needs_inverse)
    if solver.needs_scalar_derivative:
        able = able and problem.smoothness.known and loss.scalar_derivative() is not None
    return bool(columns and able)


def renumber(index: Index, kept: Index) -> Index:
    """Positions among `kept` (sorted) of the columns in `index`; -1 for those that left."""
    if not len(kept):
        return np.full(len(index), -1, dtype=np.intp)
    place = np.minimum(np.searchsorted(kept, index), len(kept) - 1)
    return np.where(kept[place] == index, place, -1)


class PrimalSolver(ABC, Generic[S]):
    """An iterative method cut into steps; the driver owns the loop.

    Instances hold parameters only; everything that changes during a run lives in the state, so one
    instance can serve many runs. A solver never sees screening: fixed coordinates have equal bounds.
    """

    name: str

    needs_columns: bool = False
    """Reads single columns of A (operators do not offer them)."""

    needs_epochs: bool = False
    """Goes through them one by one (an A on a GPU does not offer that)."""

    needs_quadratic: bool = False
    """Handles least squares only, weighted or not."""

    needs_scalar_derivative: bool = False
    """Handles losses with a Lipschitz derivative that can be compiled, the same in every row."""

    needs_inverse: bool = False
    """Needs `Loss.inverse_derivatives`."""

    fits_exactly: bool = False
    """Its residuals are those of least-squares fits already: polishing dual points gains nothing."""

    steps_first: bool = False
    """A run without an x0 is first checked after a step: one step gains so much that nothing is known,
    and nothing screened, before it."""

    check_period: int = 10
    """Steps between gap checks at the start of a run."""

    check_growth: float = 0.1
    """Later on, that share of the steps made so far; 0 for a solver whose steps compute all that a
    check needs."""

    usual_steps: int = 100
    """How many steps a run usually takes, for a solver that others hand over to."""

    can_move: bool = False
    """Can go on from any feasible point at the price of a step or two, as first-order methods can."""

    max_iter: int = 100_000
    """Steps allowed when the caller names no limit."""

    @classmethod
    def plain(cls) -> PrimalSolver[S]:
        """The method as the textbooks have it, with no acceleration: what comparisons start from."""
        return cls()

    def checks(self, problem: ReducedProblem) -> tuple[int, float]:
        """`check_period` and `check_growth`, if they do not depend on the problem."""
        return self.check_period, self.check_growth

    def wants_column_major(self, problem: ReducedProblem) -> bool:
        """Whether it will read columns so often that a column-major copy of A pays."""
        return False

    def step_cost(self, problem: ReducedProblem) -> float:
        """What a step costs, in products with one column: two products with A unless a solver knows."""
        return 2.0 * len(problem.lower)

    def likely_cost(self, problem: ReducedProblem) -> float:
        """What a run is likely to cost, in products with one column."""
        return self.usual_steps * self.step_cost(problem)

    @abstractmethod
    def start(self, point: Point) -> S:
        """State at a feasible starting point."""

    @abstractmethod
    def step(self, state: S, count: int) -> S:
        """`count` iterations further, or fewer if the state is finished."""

    def dual_candidate(self, state: S) -> DualPoint | None:
        """A dual point that the method itself keeps, if it does (not necessarily feasible)."""
        return None

    def settled(self, state: S) -> bool:
        """Whether a run may end here once the gap is small enough: not if a few more steps of an exact
        method lead to the precision of the data."""
        return True

    @abstractmethod
    def restrict(self, state: S, point: Point, kept: Index) -> S:
        """The state after screening: `point` is the projected point in the new problem, whose
        columns are those at positions `kept` of the old one."""

    def move(self, state: S, point: Point, dual: DualPoint) -> S:
        """The state at another feasible point of the same problem, where `dual` is the best known."""
        return self.restrict(state, point, np.arange(len(point.x)))
