"""Extended-precision solutions of medium box-constrained least-squares problems.

The active-set method of `exact`, run in np.longdouble from a float64 guess.  Signs of w are
trusted only beyond the error estimate that comes with the solution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from references.longdouble import EPS, LongArray, OrthogonalBasis, norm
from references.start import float_start


@dataclass(frozen=True)
class ExtendedSolution:
    """x, theta = y - A x, w = A^T theta, with |w_j - w*_j| <= w_error_j for the optimal w*.

    The objective 1/2 |theta|^2 is within objective_error of the optimum, relative to |y| |theta|
    about longdouble rounding unless free columns are nearly dependent.  Both errors bound
    what they claim if the free columns of a solution include those free here, and beyond them
    only columns that signs() leaves undecided; columns dependent up to longdouble rounding
    count as dependent.
    """

    x: LongArray
    theta: LongArray
    w: LongArray
    w_error: LongArray
    objective: np.longdouble
    objective_error: np.longdouble

    def signs(self) -> NDArray[np.int8]:
        """sign(w*_j) where it is certain, 0 where |w_j| <= w_error_j leaves it undecided."""
        return np.where(np.abs(self.w) > self.w_error, np.sign(self.w), 0).astype(np.int8)


@dataclass
class _Problem:
    A: LongArray
    y: LongArray
    lower: LongArray
    upper: LongArray

    def residual(self, x: LongArray) -> LongArray:
        return self.y - self.A @ x

    def within(self, x: LongArray) -> NDArray[np.bool_]:
        return (self.lower < x) & (x < self.upper)


def extended_solution(
    A: ArrayLike, y: ArrayLike, lower: ArrayLike, upper: ArrayLike
) -> ExtendedSolution:
    """Solve min 1/2 |A x - y|^2 subject to l <= x <= u to longdouble rounding.

    Ends when no w_j has the wrong sign by more than its error estimate; raises ArithmeticError
    should that not happen within 10 (n + 10) pivots.
    """
    problem = _Problem(*(np.asarray(v, dtype=np.longdouble) for v in (A, y, lower, upper)))
    size = norm(problem.A)
    x = float_start(A, y, lower, upper).astype(np.longdouble)
    free = problem.within(x)
    for _ in range(10 * (x.size + 10)):
        basis = _minimise(problem, x, free)
        solution = _with_errors(problem, x, np.flatnonzero(free), basis)
        movable = np.where(solution.w > 0, x < problem.upper, x > problem.lower)
        violated = movable & ~free & (np.abs(solution.w) > solution.w_error)
        if not violated.any():
            return _with_undecided(problem, solution, free)
        slope = np.divide(np.abs(solution.w), size, where=violated, out=np.zeros_like(size))
        free[np.argmax(slope)] = True
    raise ArithmeticError("the active set is not resolved in extended precision")


def _minimise(problem: _Problem, x: LongArray, free: NDArray[np.bool_]) -> OrthogonalBasis:
    """Move x, in place, to the minimiser over its free coordinates, dropping those that block.

    Dependent free columns are sent to their lower bound.  On return `free` marks the coordinates
    strictly inside their bounds, and the basis returned spans their columns.
    """
    while True:
        members = np.flatnonzero(free)
        basis = OrthogonalBasis(problem.A[:, members])
        if basis.rank < members.size:
            dependent = np.delete(members, basis.kept)
            free[dependent], x[dependent] = False, problem.lower[dependent]
            continue

        goal = x.copy()
        goal[members] = 0
        for _ in range(3):  # the second and third solve refine the first
            goal[members] += basis.solve(problem.residual(goal))
        bound = np.clip(goal[members], problem.lower[members], problem.upper[members])
        blocked = bound != goal[members]
        if not blocked.any():
            x[members] = goal[members]
            outside = members[~problem.within(x)[members]]
            free[outside] = False
            return basis if not outside.size else OrthogonalBasis(problem.A[:, free])

        travel = goal[members] - x[members]
        ratios = np.where(blocked, (bound - x[members]) / np.where(blocked, travel, 1), np.inf)
        x[members] += ratios.min() * travel
        stopped = ratios <= ratios.min()
        x[members[stopped]] = bound[stopped]
        np.clip(x, problem.lower, problem.upper, out=x)
        free &= problem.within(x)


def _with_errors(
    problem: _Problem,
    x: LongArray,
    face: NDArray[np.intp],
    basis: OrthogonalBasis,
    face_error: ArrayLike = 0,
) -> ExtendedSolution:
    """Attach theta, w and error estimates to x, whose optimal free columns F lie in `face`.

    `basis` spans A_face.  With rho the rounding in theta and |A_face^T theta| <= e (the computed
    value, its rounding, and `face_error`), theta - theta* is rho plus a vector of range A_F of
    norm at most |R^-T e|.  That vector is orthogonal to theta*, so the objective feels it to
    second order only.
    """
    m, n = problem.A.shape
    gamma = (m + n + 8) * EPS / 2
    magnitude = np.abs(problem.A)

    theta = problem.residual(x)
    length = norm(theta)
    w = problem.A.T @ theta
    w_rounding = gamma * (magnitude.T @ np.abs(theta))
    rho = gamma * norm(np.abs(problem.y) + magnitude @ np.abs(x))
    e = (np.abs(w) + w_rounding + face_error)[face]
    error = rho + basis.amplify(e[basis.kept])
    return ExtendedSolution(
        x=x.copy(),
        theta=theta,
        w=w,
        w_error=norm(problem.A) * error + w_rounding,
        objective=np.longdouble(theta @ theta / 2),
        objective_error=np.longdouble(error**2 + (rho + gamma * length) * length),
    )


def _with_undecided(
    problem: _Problem, solution: ExtendedSolution, free: NDArray[np.bool_]
) -> ExtendedSolution:
    """Widen the errors for columns at a bound whose w_j cannot tell whether they belong there."""
    undecided = np.abs(solution.w) <= solution.w_error
    face = np.flatnonzero(free | (undecided & (problem.lower < problem.upper)))
    if face.size == np.count_nonzero(free):
        return solution
    basis = OrthogonalBasis(problem.A[:, face])
    slack = np.where(free, 0, solution.w_error)
    return _with_errors(problem, solution.x, face, basis, slack)
