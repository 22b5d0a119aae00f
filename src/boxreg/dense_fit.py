"""Least squares by one compiled call: an active set on orthogonal factors."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from . import validate
from .arrays import Array, plain
from .certificate import Certificate
from .losses import LeastSquares
from .problem import Problem
from .settings import current

if TYPE_CHECKING:
    from .kernels.certified_fit import Proof


class Fit(NamedTuple):
    """What the compiled call did."""

    x: Array
    norm: float
    """||b - A x||."""
    rounds: int
    products: int
    """Products of length m with columns of A."""
    solved: bool
    """Whether no slope points into the box by more than rounding."""
    theta: Array | None = None
    """A dual point that belongs to x, if one was made."""


class CertifiedFit(NamedTuple):
    """What the compiled call solved, and what it proved of it."""

    x: Array
    theta: Array
    screened: npt.NDArray[np.int8]
    lower: Array
    upper: Array
    shape: tuple[int, int]
    """That of A."""
    columns: Array
    b: Array
    proof: Proof

    @property
    def proved(self) -> bool:
        """Whether the gap asked for is."""
        return bool(self.proof.gap <= self.proof.target < np.inf)

    @property
    def solved(self) -> bool:
        """Whether no slope points into the box by more than rounding."""
        return bool(self.proof.ended)

    @property
    def rounds(self) -> int:
        """Those of the active set."""
        return int(self.proof.rounds)

    @property
    def products(self) -> int:
        """Products of length m with columns of A."""
        return int(self.proof.products)


Begun = Fit | CertifiedFit
"""What a run may start from."""

_NOTHING, _NO_ROWS = np.empty(0), np.empty((0, 0))

COMPILED = "compiled_active_set"
"""Its name among those of the solvers."""


def fit(
    columns: Array,
    b: Array,
    lower: Array,
    upper: Array,
    *,
    x: Array | None = None,
    cost: Array | None = None,
    threshold: float = 0.0,
    classic: bool = False,
    rounds: int | None = None,
    products: float = np.inf,
) -> Fit:
    """The minimum of ½ ||b - A x||² + cᵀx over the box; row j of `columns` is a_j.

    It is sought from the point of the box nearest to x, or to 0. Arrays are float64, contiguous and
    writeable. No call makes more than `rounds` rounds, or 3 n + 30, nor many more than so many products
    of length m. `classic`: the largest slope is followed, as by SciPy, where others take the steepest.
    """
    most = 3 * len(columns) + 30
    most = most if rounds is None else min(rounds, most)
    x = np.zeros(len(columns)) if x is None else x.copy()
    cost = np.zeros(len(columns)) if cost is None else cost
    norm, *how = _kernel()(columns, b, cost, lower, upper, x, threshold, classic, most, products)
    return Fit(x, norm, *how)


def certified_fit(
    A: Any,
    y: Any,
    lower: Any,
    upper: Any,
    tol: float,
    atol: float,
    rounds: int | None,
    *,
    sample_weight: Any = None,
    linear: Any = None,
    ridge: Any = None,
) -> CertifiedFit | None:
    """The answer of least squares with few entries, with what is proved of it.

    None where an argument is something else, or not valid, which the general way explains. That goes on
    from here, too, where the gap asked for is not proved.
    """
    columns, target = _columns(A, "A"), validate.in_memory(y, "y")
    if columns is None or target is None or target.shape != columns.shape[1:]:
        return None
    n, m = columns.shape
    weights, cost = (
        _given(sample_weight, "sample_weight", m),
        _given(linear, "linear", n, number=True),
    )
    below, share = (_NO_ROWS, 0.0) if ridge is None else _ridge_rows(ridge, n)
    low, high = _bound(lower, "lower", n), _bound(upper, "upper", n)
    if weights is None or cost is None or below is None or low is None or high is None:
        return None
    rows_in_all = m + (n if share else below.shape[1])
    if n * rows_in_all > current().small_entries or (len(weights) and not weights.any()):
        return None
    parts = (plain(columns), plain(target), weights, cost, below, share, low, high)
    return _certified(parts, (m, n), rows_in_all, (tol, atol), (rounds, np.inf))


def certified_start(
    problem: Problem, products: float, tol: float, atol: float, rounds: int | None = None
) -> CertifiedFit | None:
    """The same for a larger dense problem without terms (`is_plain`), in so many products."""
    columns, b, (m, n) = problem.design.by_columns(), problem.target, problem.design.shape
    parts = (plain(columns), plain(b), _NOTHING, _NOTHING, _NO_ROWS, 0.0)
    bounds = problem.lower, problem.upper
    return _certified((*parts, *bounds), (m, n), m, (tol, atol), (rounds, products))


def is_plain(problem: Problem) -> bool:
    """Whether it is least squares without weights or further terms."""
    terms = (problem.cost, problem.first_own_row, problem.row_map)
    return type(problem.loss) is LeastSquares and all(term is None for term in terms)


def _certified(
    parts: tuple[Any, ...],
    shape: tuple[int, int],
    rows: int,
    tolerances: tuple[float, float],
    limits: tuple[int | None, float],
) -> CertifiedFit | None:
    """What the compiled call makes of its arguments; None where squares are not finite."""
    n, (most, products) = shape[1], limits
    x, theta, screened = np.empty(n), np.empty(rows), np.empty(n, np.int8)
    most = 3 * n + 30 if most is None else min(most, 3 * n + 30)
    proof = _certified_kernel()(*parts, x, theta, screened, *tolerances, (most, products))
    if np.isnan(proof.gap):
        return None
    columns, b, low, high = parts[0], parts[1], parts[-2], parts[-1]
    return CertifiedFit(x, theta, screened, low, high, shape, columns, b, proof)


def certificate_of(proof: Proof) -> Certificate:
    """What the compiled call proves, as `boxreg.certificate` says it."""
    return Certificate.proved(proof.objective, proof.dual_objective, proof.gap, proof.rounding)


def _given(values: Any, name: str, length: int, *, number: bool = False) -> Array | None:
    """Weights or costs, an empty vector where there are none; None for another length.

    A `number` may stand for as many equal ones.
    """
    if values is None:
        return _NOTHING
    array = validate.in_memory(values, name)
    if number and array is not None and array.ndim == 0:
        return _filled(length, float(array))
    return plain(array) if array is not None and array.shape == (length,) else None


def _ridge_rows(ridge: Any, n: int) -> tuple[Array | None, float]:
    """A ridge term as the columns of Γ, or as its μ > 0; no columns where it is neither."""
    if not sparse.issparse(ridge):
        array = validate.in_memory(ridge, "ridge")
        if array is not None and array.ndim == 0:
            return (_NO_ROWS, float(array)) if array > 0.0 else (None, 0.0)
    columns = _columns(ridge, "ridge")
    return plain(columns) if columns is not None and len(columns) == n else None, 0.0


def _columns(A: Any, name: str) -> Array | None:
    """The columns of a matrix with few entries, as rows; None for operators and larger ones."""
    if type(A) is not np.ndarray and sparse.issparse(A):
        return _spread(A, name)
    dense = validate.in_memory(A, name)
    if dense is None or dense.ndim != 2 or not 0 < dense.size <= current().small_entries:
        return None
    return dense.T


def _spread(A: Any, name: str) -> Array | None:
    """The same for a sparse one; None where its arrays are broken, which `validate` explains."""
    if A.ndim != 2 or not 0 < A.shape[0] * A.shape[1] <= current().small_entries:
        return None
    if A.format not in ("csc", "csr"):
        return validate.design(A, name).by_columns()
    parts = [np.asarray(part) for part in (A.data, A.indices, A.indptr)]
    kinds = zip(parts, ("fiub", "iu", "iu"), strict=True)
    if not all(part.ndim == 1 and part.dtype.kind in kind for part, kind in kinds):
        return None
    columns, indices, starts = np.zeros(A.shape[::-1]), parts[1].astype(int), parts[2].astype(int)
    inside = _spreading_kernel()(plain(parts[0]), indices, starts, A.format == "csr", columns)
    return columns if inside else None


def _bound(value: Any, name: str, n: int) -> Array | None:
    """Bounds as a vector of their own; None for another length."""
    if type(value) is not float:
        array = validate.in_memory(value, name)
        if array is None or array.shape not in ((), (n,)):
            return None
        if array.ndim:
            return plain(array.copy())
        value = float(array)
    return _filled(n, value)


def nonnegative_fit(A: Any, b: Array, threshold: float, rounds: int | None) -> Fit | None:
    """The non-negative fit of an A with few entries; None where A is another matrix.

    Where A is wide and has negative entries there are many solutions as a rule: then SciPy's is found,
    unless the largest slopes lead nowhere in as many rounds as SciPy makes. Any array will do, in any
    order and of any kind of real numbers, and sparse matrices. Shapes that do not match and what is not
    finite are left to `validate`, which explains.
    """
    transposed = _columns(A, "A")
    if transposed is None or b.shape != transposed.shape[1:]:
        return None
    columns, b = plain(transposed), plain(b)
    n, m = columns.shape
    none, above = np.zeros(n), _filled(n, np.inf)
    most = 3 * n + 30 if rounds is None else min(rounds, 3 * n + 30)

    def found(classic: bool) -> Fit:
        x = np.zeros(n)
        how = _kernel()(columns, b, none, none, above, x, threshold, classic, most, np.inf)
        return Fit(x, *how)

    classic = n > m and bool((columns < 0.0).any())
    answer = found(classic)
    if classic and not answer.solved and rounds is None:
        answer = found(False)
    return answer if answer.norm < np.inf else None


def first_fit(problem: Problem, products: float, rounds: int | None = None) -> Fit:
    """What so many products lead to, for a run of dense least squares to start from.

    Weights, ridge terms and costs are part of it; sparse columns are made dense. A caller's limit on
    steps is one on rounds.
    """
    m = problem.design.shape[0]
    root = problem.smoothness.root_times(np.ones(m))
    columns, b = problem.design.by_columns(), problem.target
    if not np.all(root == 1.0):
        columns, b = columns * root, b * root
    cost = None if problem.cost is None else problem.cost.c
    lower, upper = problem.lower, problem.upper
    return fit(
        *(plain(columns), plain(b), lower, upper), cost=cost, rounds=rounds, products=products
    )


def _filled(n: int, value: float) -> Array:
    """A vector of n equal numbers."""
    vector = np.empty(n)
    vector.fill(value)
    return vector


@cache
def _certified_kernel() -> Any:
    from .kernels.certified_fit import solve

    return solve


@cache
def _spreading_kernel() -> Any:
    from .kernels.csc import spread

    return spread


@cache
def _kernel() -> Any:
    from .kernels.orthogonal_active_set import solve

    return solve
