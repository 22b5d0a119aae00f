"""One drawn problem: what the caller holds, what its objective is, and its way to another process."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.losses.functions import (
    Array,
    Function,
    Huber,
    KullbackLeibler,
    Logistic,
    Quadratic,
    SquaredHinge,
)
from benchmarks.losses.problem import LossProblem
from benchmarks.losses.problem import make as make_loss_problem
from benchmarks.race.problem import Problem as LeastSquares

FUNCTIONS: dict[str, type[Any]] = {
    held.name: held for held in (Quadratic, Huber, Logistic, SquaredHinge, KullbackLeibler)
}

ARRAYS = ("Y", "lower", "upper", "weights", "linear")
"""The vectors of a problem, by the names of their fields."""


@dataclass(frozen=True)
class WildProblem:
    """min Σ_i ω_i f([A x]_i; y_i) + cᵀx + ½ μ ‖x‖² over lower <= x <= upper, for each column y of Y.

    A and Y are as the caller of boxreg holds them: types and memory layouts are part of the problem.
    """

    seed: int
    family: str
    A: Any
    Y: NDArray[Any]
    function: Function
    lower: Array
    upper: Array
    bounds: str
    """Which kind of bounds: nonneg, box, signed or mixed."""
    layout: str
    """How A lies in memory: C, F, strided, float32, int, CSR or CSC."""
    weights: Array | None = None
    linear: Array | None = None
    ridge: float = 0.0
    bounded_fit: bool = False
    """Whether `lsq_linear` is called too."""

    @property
    def shape(self) -> tuple[int, int]:
        m, n = self.A.shape
        return int(m), int(n)

    @property
    def count(self) -> int:
        """Right-hand sides."""
        return 1 if self.Y.ndim == 1 else int(self.Y.shape[1])

    @property
    def is_sparse(self) -> bool:
        return sparse.issparse(self.A)

    @property
    def entries(self) -> int:
        """Stored entries of A."""
        return int(self.A.nnz if self.is_sparse else self.A.size)

    @property
    def loss(self) -> str:
        return self.function.name

    @property
    def has_terms(self) -> bool:
        """Whether there is anything beside loss and bounds."""
        return self.weights is not None or self.linear is not None or self.ridge > 0.0

    @property
    def is_nnls(self) -> bool:
        """Plain non-negative least squares, what `nnls` is for."""
        plain = self.loss == "least_squares" and not self.has_terms
        return plain and not np.any(self.lower) and bool(np.all(np.isinf(self.upper)))

    @cached_property
    def matrix(self) -> Any:
        """A as an F-ordered float64 array or a csc_array: what is scored, and what rivals get."""
        if self.is_sparse:
            return make_loss_problem(self.A, np.zeros(1), self.function).A
        return np.asfortranarray(self.A, dtype=np.float64)

    @cached_property
    def targets(self) -> Array:
        """Y as an m × count array of float64."""
        return np.asarray(self.Y, dtype=np.float64).reshape(self.shape[0], self.count)

    def project(self, x: Array) -> Array:
        """x in the box; columns are answers."""
        shape = (-1,) + (1,) * (x.ndim - 1)
        inside: Array = np.clip(x, self.lower.reshape(shape), self.upper.reshape(shape))
        return inside

    def value_and_gradient(self, x: Array, column: int = 0) -> tuple[float, Array]:
        """The objective for one right-hand side, and its gradient."""
        w = 1.0 if self.weights is None else self.weights
        p = np.asarray(self.matrix @ x)
        value, slope = self.function.value_and_slope(p, self.targets[:, column], w)
        gradient = np.asarray(self.matrix.T @ slope)
        if self.linear is not None:
            value, gradient = value + float(self.linear @ x), gradient + self.linear
        if self.ridge:
            value, gradient = value + 0.5 * self.ridge * float(x @ x), gradient + self.ridge * x
        return value, gradient

    def objectives(self, x: Array) -> Array:
        """The objective of each right-hand side at its answer, a column of x."""
        x = x.reshape(self.shape[1], self.count)
        w = 1.0 if self.weights is None else self.weights
        P = np.asarray(self.matrix @ x)
        found = []
        for j in range(self.count):
            value = self.function.value_and_slope(P[:, j], self.targets[:, j], w)[0]
            value += 0.0 if self.linear is None else float(self.linear @ x[:, j])
            found.append(value + 0.5 * self.ridge * float(x[:, j] @ x[:, j]))
        return np.array(found)

    def starts(self) -> Array:
        """The projection of 0 on the box, a column for each right-hand side.

        Where the loss is infinite there: equal coordinates that predict the counts in total.
        """
        x = np.zeros((self.shape[1], self.count))
        if not self.function.finite_at_zero:
            rows = np.asarray(self.matrix.sum(axis=1)).ravel()
            counted = (self.targets > 0.0).T @ rows
            x += np.sum(self.targets, axis=0) / np.where(counted > 0.0, counted, 1.0)
        return self.project(x)

    def scales(self) -> Array:
        """P₀ of each right-hand side: the objective at its start."""
        return self.objectives(self.starts())

    def least_squares(self, column: int = 0) -> LeastSquares:
        """The same problem as plain least squares: weights and ridge as factors of rows and as rows."""
        A, y, n = self.matrix, self.targets[:, column], self.shape[1]
        if self.weights is not None:
            root = np.sqrt(self.weights)
            A = (
                sparse.csc_array(sparse.diags_array(root) @ A)
                if self.is_sparse
                else root[:, None] * A
            )
            y = root * y
        if self.ridge:
            rows = np.sqrt(self.ridge) * sparse.eye_array(n)
            below = rows if self.is_sparse else rows.toarray()
            A = sparse.vstack([A, below], "csc") if self.is_sparse else np.vstack([A, below])
            y = np.concatenate([y, np.zeros(n)])
        if not self.is_sparse:
            A = np.asfortranarray(A)
        return LeastSquares(A, np.ascontiguousarray(y), self.lower, self.upper)

    def on_unit_box(self, column: int = 0) -> tuple[LossProblem, Array]:
        """The same with 0 <= z <= u, u one number: (problem in z, widths), x = lower + widths · z.

        For solvers whose boxes are all the same. Only where `uniform_box` holds; weights and ridge only
        of least squares; a linear cost only where it is one number.
        """
        width = np.ones_like(self.lower)
        if np.all(np.isfinite(self.upper)):
            width = self.upper - self.lower
        A, y = self.matrix, self.targets[:, column]
        if self.loss == "least_squares":
            plain = self.least_squares(column)
            A, y = plain.A, plain.y
            y = y - A @ self.lower
        A = A @ sparse.diags_array(width) if self.is_sparse else A * width
        upper = 1.0 if np.isfinite(self.upper[0]) else np.inf
        linear = 0.0 if self.linear is None else float(self.linear[0])
        return make_loss_problem(A, y, self.function, upper, linear), width

    def cannot_be_on_unit_box(self) -> str | None:
        """Why `on_unit_box` is not possible, if it is not."""
        finite = np.isfinite(self.upper)
        if not np.all(np.isfinite(self.lower)) or not (np.all(finite) or not np.any(finite)):
            return "one kind of bounds for all columns only"
        if self.loss != "least_squares" and (
            np.any(self.lower) or self.weights is not None or self.ridge
        ):
            return "no weights, ridge or lower bounds but 0 with this loss"
        if self.linear is not None and (
            np.any(finite)
            or np.any(self.lower)
            or self.loss != "least_squares"
            or np.ptp(self.linear) > 0.0
            or self.linear[0] < 0.0
        ):
            return "one non-negative linear cost with x >= 0 and least squares only"
        return None

    def corner(self, rows: int, columns: int) -> WildProblem:
        """The same kind of problem on the first rows and columns, to compile what it needs."""
        vectors = {
            "Y": self.Y[:rows],
            "lower": self.lower[:columns],
            "upper": self.upper[:columns],
            "weights": None if self.weights is None else self.weights[:rows],
            "linear": None if self.linear is None else self.linear[:columns],
        }
        return replace(self, A=self.A[:rows, :columns], **vectors)


def laid_out(A: Any, layout: str) -> Any:
    """A in the memory layout of that name."""
    if layout in ("CSR", "CSC"):
        return sparse.csr_array(A) if layout == "CSR" else sparse.csc_array(A)
    if layout == "strided":
        wide = np.zeros((A.shape[0], 2 * A.shape[1]))
        wide[:, ::2] = A
        return wide[:, ::2]
    if layout == "float32":
        return np.asarray(A, dtype=np.float32, order="C")
    if layout == "int":
        return np.asarray(A, dtype=np.int64, order="C")
    return np.asarray(A, dtype=np.float64, order="F" if layout == "F" else "C")


def save(problem: WildProblem, folder: Path) -> None:
    """Write the problem for a process that shares nothing but files."""
    if problem.is_sparse:
        kind = sparse.csr_matrix if problem.layout == "CSR" else sparse.csc_matrix
        sparse.save_npz(folder / "A.npz", kind(problem.A), compressed=False)
    else:
        np.save(folder / "A.npy", problem.A)
    held = {name: getattr(problem, name) for name in ARRAYS}
    np.savez(folder / "vectors.npz", **{name: v for name, v in held.items() if v is not None})
    rest = {
        name: getattr(problem, name)
        for name in ("seed", "family", "bounds", "layout", "ridge", "bounded_fit")
    }
    rest["function"] = {"name": problem.loss, **asdict(problem.function)}  # type: ignore[call-overload]
    (folder / "problem.json").write_text(json.dumps(rest))


def load(folder: Path) -> WildProblem:
    """What `save` wrote, in the same types and layouts."""
    rest = json.loads((folder / "problem.json").read_text())
    stored = folder / "A.npz"
    A = sparse.load_npz(stored) if stored.exists() else np.load(folder / "A.npy")
    parameters = rest.pop("function")
    function = FUNCTIONS[parameters.pop("name")](**parameters)
    with np.load(folder / "vectors.npz") as vectors:
        held = {name: vectors[name] for name in vectors.files}
    return WildProblem(A=laid_out(A, rest["layout"]), function=function, **rest, **held)
