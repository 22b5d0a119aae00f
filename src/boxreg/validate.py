"""The only place where user input is checked, converted or copied."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from .arrays import Array
from .designs import DenseDesign, Design, OperatorDesign, SparseDesign
from .directions import DIRECTIONS
from .dual_updates import DUAL_UPDATES, DualUpdate, LineSearch, SupportPolish
from .losses import LOSSES, Loss
from .method import Method
from .posing import pose
from .problem import Problem
from .safe_regions import REGIONS, SafeRegion
from .solvers import SOLVERS, PrimalSolver

_SMALLEST, _LARGEST = 1e-140, 1e140
T = TypeVar("T")


def design(A: Any, name: str = "A") -> Design:
    """A as a design; dense arrays are held without a copy wherever their layout allows it."""
    if isinstance(A, Design):
        return A
    if isinstance(A, LinearOperator):
        if np.dtype(A.dtype).kind not in "fiub":
            raise TypeError(f"{name}: expected a real operator, got dtype {A.dtype}")
        return OperatorDesign(A)
    if sparse.issparse(A):
        return _sparse(A, name)
    array = _real_array(A, name)
    if array.ndim != 2:
        raise ValueError(f"{name}: expected a matrix (2 dimensions), got shape {array.shape}")
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        array = np.ascontiguousarray(array)
    return DenseDesign(array)


def _sparse(A: Any, name: str) -> SparseDesign:
    if A.dtype.kind not in "fiub":
        raise TypeError(f"{name}: expected real numbers, got dtype {A.dtype}")
    if A.ndim != 2:
        raise ValueError(f"{name}: expected a matrix (2 dimensions), got shape {A.shape}")
    matrix = sparse.csc_array(A, dtype=np.float64)
    canonical = A.format == "csc" and A.has_canonical_format  # SciPy remembers the answer
    if not canonical and _has_duplicates(matrix):
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return SparseDesign(matrix)


def _has_duplicates(matrix: sparse.csc_array) -> bool:
    from .kernels.csc import has_duplicates

    return bool(has_duplicates(matrix.indices, matrix.indptr, matrix.shape[0]))


def vector(v: Any, name: str, length: int, *, of: str) -> Array:
    """A finite float64 vector of the given length."""
    array = _real_array(v, name).astype(np.float64, copy=False)
    if array.ndim != 1 or len(array) != length:
        raise ValueError(
            f"{name}: expected a vector with {length} entries ({of}), got shape {array.shape}"
        )
    _check_range(array, name)
    return array


def bounds(lower: Any, upper: Any, n: int) -> tuple[Array, Array]:
    """Bounds as vectors of length n; scalars broadcast."""
    low, high = _bound(lower, "lower", n), _bound(upper, "upper", n)
    if np.any(np.isposinf(low)) or np.any(np.isneginf(high)):
        raise ValueError("bounds: lower must be below +inf and upper above -inf")
    crossed = np.flatnonzero(low > high)
    if len(crossed):
        j = int(crossed[0])
        raise ValueError(
            f"bounds: lower must not exceed upper, but lower[{j}] = {low[j]:g} > "
            f"upper[{j}] = {high[j]:g} ({len(crossed)} such coordinates)"
        )
    return low, high


def bound_pair(bounds: Any) -> tuple[Any, Any]:
    """(lower, upper) from a pair or from what has `lb` and `ub`, such as `scipy.optimize.Bounds`."""
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        low, high = bounds.lb, bounds.ub
        # Bounds makes vectors of one entry out of numbers.
        return (low[0], high[0]) if np.shape(low) == np.shape(high) == (1,) else (low, high)
    try:
        low, high = bounds
    except (TypeError, ValueError) as error:
        raise ValueError(
            "bounds: expected a pair (lower, upper) or a scipy.optimize.Bounds"
        ) from error
    return low, high


def at_least_2d(A: Any) -> Any:
    """A, or as SciPy has it a matrix of one row where A is a vector or a number."""
    return A if sparse.issparse(A) or isinstance(A, LinearOperator) else np.atleast_2d(A)


def lsmr_options(
    held: Design, solver: Any, tol: Any, maxiter: Any, default: float
) -> dict[str, Any] | None:
    """The arguments of LSMR that SciPy's `lsq_linear` would use; None where it would factor A."""
    one_of(solver, "lsq_solver", (None, "exact", "lsmr"))
    dense = isinstance(held, DenseDesign)
    if solver == "exact" and not dense:
        raise ValueError("lsq_solver: 'exact' needs a dense A; use 'lsmr' or None")
    automatic = tol is None or (isinstance(tol, str) and tol == "auto")
    if not automatic and not (isinstance(tol, float) and tol > 0.0):
        raise ValueError(f"lsmr_tol: expected None, 'auto' or a float > 0, got {tol!r}")
    limit = iterations(maxiter, "lsmr_maxiter", least=1)
    if solver == "exact" or (solver is None and dense):
        return None
    accuracy = 1e-2 * default if automatic else tol
    return {"atol": accuracy, "btol": accuracy, "maxiter": limit}


def one_of(value: Any, name: str, accepted: tuple[Any, ...]) -> None:
    """Refuse what is not among a few values."""
    if not any(value is known or value == known for known in accepted):
        said = ", ".join(map(repr, accepted))
        raise ValueError(f"{name}: expected one of {said}, got {value!r}")


def _bound(value: Any, name: str, n: int) -> Array:
    array = _real_array(value, name).astype(np.float64, copy=False)
    if array.ndim > 1 or (array.ndim == 1 and len(array) != n):
        raise ValueError(
            f"{name}: expected a number or a vector with {n} entries (columns of A), "
            f"got shape {array.shape}"
        )
    if np.any(np.isnan(array)):
        raise ValueError(f"{name}: contains NaN; expected numbers (lower may hold -inf, upper inf)")
    return np.broadcast_to(array, (n,)).copy()


def problem(
    A: Any,
    y: Any,
    lower: Any,
    upper: Any,
    loss: Any,
    *,
    sample_weight: Any = None,
    linear: Any = None,
    ridge: Any = 0.0,
    target_name: str = "y",
) -> Problem:
    """The problem, its design surveyed."""
    held = design(A)
    m, n = held.shape
    target = vector(y, target_name, m, of="rows of A")
    low, high = bounds(lower, upper, n)
    chosen = choice(loss, "loss", LOSSES, Loss)
    chosen.check_rows(m)
    posed = pose(
        held,
        chosen.accept(target),
        chosen,
        low,
        high,
        weights=None if sample_weight is None else _weights(sample_weight, m),
        cost=None if linear is None else vector(linear, "linear", n, of="columns of A"),
        ridge=_ridge(ridge, n),
    )
    _check_norms(posed.survey.norms, posed.design)
    if chosen.needs_nonnegative:
        _check_nonnegative(posed, held)
    return posed


def _weights(value: Any, m: int) -> Array:
    weights = vector(value, "sample_weight", m, of="rows of A")
    if np.any(weights < 0.0) or not np.any(weights > 0.0):
        raise ValueError("sample_weight: expected numbers >= 0, not all of them 0")
    return weights


def _ridge(value: Any, n: int) -> float | Design:
    """μ >= 0, or a matrix Γ with n columns."""
    if np.ndim(value) == 0 and not isinstance(value, (Design, LinearOperator)):
        return tolerance(value, "ridge")
    held = design(value, "ridge")
    if held.shape[1] != n:
        raise ValueError(
            f"ridge: expected a number or a matrix with {n} columns (those of A), "
            f"got shape {held.shape}"
        )
    return held


def _check_nonnegative(posed: Problem, held: Design) -> None:
    """A >= 0 and lower >= 0, and no row that is positive in y but out of reach."""
    name = posed.loss.name
    if held.entries is None:
        raise ValueError(f"loss: {name!r} needs an A whose entries can be seen to be >= 0")
    if held.entries.size and float(held.entries.min()) < 0.0:
        raise ValueError(f"loss: {name!r} needs A >= 0, but A has negative entries")
    negative = np.flatnonzero(posed.lower < 0.0)
    if len(negative):
        j = int(negative[0])
        raise ValueError(
            f"loss: {name!r} needs lower >= 0, but lower[{j}] = {posed.lower[j]:g} "
            f"({len(negative)} such coordinates)"
        )
    prediction = posed.design.matvec(posed.interior())
    hopeless = np.flatnonzero(~np.isfinite(posed.loss.derivatives(prediction, posed.target)))
    if len(hopeless):
        i = int(hopeless[0] if posed.row_map is None else posed.row_map.kept[hopeless[0]])
        raise ValueError(
            f"y: with the loss {name!r} row {i} asks for a positive prediction, which A cannot make "
            f"({len(hopeless)} such rows); leave such rows out or add a background"
        )


def level_zero(A: Any, y: Any) -> Problem:
    """Least squares over the box |x| <= 0, for solvers that raise the level and read single columns."""
    held = design(A)
    if not held.has_columns:
        raise TypeError(
            f"A: expected an array or a scipy.sparse matrix, got {type(A).__name__}: "
            "single columns of A are needed"
        )
    found = problem(held, y, 0.0, 0.0, "least_squares")
    largest = float(np.max(np.abs(found.target), initial=0.0))
    if largest > _LARGEST:
        raise ValueError(
            f"y: has an entry of size {largest:g}; squares would overflow above {_LARGEST:g}: rescale y"
        )
    return found


def _check_norms(norms: Array, held: Design) -> None:
    """Refuse what is not finite, and what is so large or small that squares would not be."""
    if held.entries is not None and not np.all(np.isfinite(norms)):
        _check_range(held.entries, "A")
    largest = float(norms.max()) if len(norms) else 0.0
    if not largest <= _LARGEST:
        raise ValueError(
            f"A: column {int(np.argmax(norms))} has norm {largest:g}; squares would overflow above "
            f"{_LARGEST:g}: rescale A"
        )
    tiny = np.flatnonzero(norms < _SMALLEST)
    if len(tiny) and held.has_columns and np.any(held.columns(tiny)):
        raise ValueError(
            f"A: a column among {tiny[:5].tolist()} is not zero but its norm is below {_SMALLEST:g}, "
            "where squares underflow: rescale A"
        )


def start(x0: Any, n: int) -> Array | None:
    """The caller's starting point, if there is one; the driver projects it on the box."""
    return None if x0 is None else vector(x0, "x0", n, of="columns of A")


def dual_point(theta: Any, problem: Problem) -> Array:
    """theta over the rows of the problem; NaN, which proves nothing, where it cannot be feasible."""
    rows = problem.row_map
    m = problem.design.shape[0] + (0 if rows is None else len(rows.known) - len(rows.kept))
    whole = vector(theta, "theta", m, of="rows of A, and of the ridge term if there is one")
    if rows is None:
        return whole
    inner = rows.restrict(whole)
    return np.full(problem.design.shape[0], np.nan) if inner is None else inner


def tolerance(value: Any, name: str) -> float:
    """A number >= 0."""
    number = _number(value, name)
    if not 0.0 <= number < np.inf:
        raise ValueError(f"{name}: expected a finite number >= 0, got {value!r}")
    return number


def positive(value: Any, name: str) -> float:
    """A finite number > 0."""
    number = _number(value, name)
    if not 0.0 < number < np.inf:
        raise ValueError(f"{name}: expected a finite number > 0, got {value!r}")
    return number


def switch(value: Any, name: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected True or False, got {value!r}")
    return bool(value)


def claim(value: Any, name: str) -> float:
    """A number >= 0, or inf: a gap that somebody says was proved."""
    number = _number(value, name)
    if not number >= 0.0:
        raise ValueError(f"{name}: expected a number >= 0, got {value!r}")
    return number


def iterations(value: Any, name: str, *, least: int = 0) -> int | None:
    """None, or a whole number not below `least`."""
    if value is None:
        return None
    number = _number(value, name)
    if not (number >= least and number == np.floor(number) and np.isfinite(number)):
        raise ValueError(f"{name}: expected None or a whole number >= {least}, got {value!r}")
    return int(number)


def method(
    problem: Problem, solver: Any, dual: Any, region: Any, direction: Any, screening: Any
) -> Method:
    """The method asked for, checked against the problem."""
    has_columns = problem.design.has_columns
    if isinstance(solver, str) and solver == "auto":
        exact = "working_set" if problem.loss.quadratic else "newton"
        solver = exact if has_columns else "projected_gradient"
    chosen = choice(solver, "solver", SOLVERS, PrimalSolver, extra=("auto",))
    fitting = [name for name, kind in SOLVERS.items() if _fits(kind, problem)]
    if not _fits(chosen, problem):
        kind = type(problem.design).__name__
        raise ValueError(
            f"solver: {chosen.name!r} cannot solve loss {problem.loss.name!r} with a {kind} "
            f"(it needs {_needs(chosen)}); solvers that can: auto, {', '.join(fitting)}"
        )
    screening = switch(screening, "screening")
    if isinstance(dual, str) and dual == "auto":
        # A better dual point is paid for by what it screens; without screening it only stops a run.
        polish = screening and not chosen.fits_exactly
        searched = LineSearch(thorough=not chosen.fits_exactly)
        dual = SupportPolish(adopt=chosen.can_move) if polish else searched
    if isinstance(region, str) and region == "auto":
        # The dome takes a product a check: too much where every step is checked, and where the columns
        # have no direction in common.
        shared = problem.design.nonnegative and chosen.check_growth > 0.0
        shared = shared and problem.smoothness.known
        region = "dome" if shared else "two_point_ball"
    update = choice(dual, "dual", DUAL_UPDATES, DualUpdate, extra=("auto",))
    if update.needs_finite_bounds and not (
        np.all(np.isfinite(problem.upper)) and np.all(np.isfinite(problem.lower))
    ):
        raise ValueError(
            f"dual: {update.name!r} needs every bound to be finite; "
            "use 'translation', 'line_search', 'extrapolated', 'support_polish' or 'auto'"
        )
    return Method(
        solver=chosen,
        dual=update,
        region=choice(region, "region", REGIONS, SafeRegion, extra=("auto",)),
        direction=_direction(direction, problem),
        screening=screening,
    )


def _fits(solver: Any, problem: Problem) -> bool:
    columns = problem.design.has_columns or not solver.needs_columns
    quadratic = problem.loss.quadratic or not solver.needs_quadratic
    if solver.needs_scalar_derivative:
        known = problem.smoothness.known and problem.loss.scalar_derivative() is not None
        return columns and quadratic and known
    return columns and quadratic


def _needs(solver: PrimalSolver[Any]) -> str:
    needs = ["single columns of A"] if solver.needs_columns else []
    if solver.needs_quadratic:
        needs.append("the loss 'least_squares'")
    if solver.needs_scalar_derivative:
        needs.append("a loss whose derivative is Lipschitz everywhere")
    return " and ".join(needs)


def _direction(direction: Any, problem: Problem) -> str | Array:
    if isinstance(direction, str):
        if direction != "auto" and direction not in DIRECTIONS:
            raise ValueError(
                _unknown("direction", direction, ["auto", *DIRECTIONS]) + ", or a vector"
            )
        return direction
    return vector(direction, "direction", problem.design.shape[0], of="rows of A")


def choice(
    value: Any,
    name: str,
    registry: Mapping[str, type[T]],
    base: type[Any],
    extra: tuple[str, ...] = (),
) -> T:
    """A registered name, or an instance (a class is not one)."""
    if isinstance(value, base):
        return value  # type: ignore[no-any-return]
    if isinstance(value, str):
        if value not in registry:
            raise ValueError(_unknown(name, value, [*extra, *registry]))
        return registry[value]()
    raise TypeError(
        f"{name}: expected one of {', '.join(sorted({*extra, *registry}))}, or an instance of "
        f"{base.__name__}, got {type(value).__name__}"
    )


def _unknown(name: str, value: str, accepted: list[str]) -> str:
    return f"{name}: unknown name {value!r}; accepted: {', '.join(sorted(accepted))}"


def _real_array(value: Any, name: str) -> np.ndarray[Any, np.dtype[Any]]:
    """A float64 or float32 array; integers and booleans become float64."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(f"{name}: has masked entries; fill or drop them first")
    if sparse.issparse(value):
        raise TypeError(f"{name}: expected a dense array, got a sparse matrix")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            array = np.asarray(value)
    except (ValueError, DeprecationWarning) as error:
        raise ValueError(f"{name}: cannot be read as an array of numbers ({error})") from error
    if array.dtype.kind == "c":
        raise TypeError(f"{name}: expected real numbers, got complex dtype {array.dtype}")
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name}: expected real numbers, got dtype {array.dtype}")
    if array.dtype in (np.float64, np.float32):
        return np.asarray(array)
    return array.astype(np.float64)


def _check_range(array: np.ndarray[Any, np.dtype[Any]], name: str) -> None:
    """Refuse NaN and inf. No temporary is made."""
    if array.size == 0:
        return
    least, greatest = float(array.min()), float(array.max())
    if not (np.isfinite(least) and np.isfinite(greatest)):
        what = "NaN" if np.isnan(least) or np.isnan(greatest) else "inf"
        raise ValueError(f"{name}: contains {what}; expected finite numbers")


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: expected a number, got {type(value).__name__}") from error


def operator(A: Any, column_norms: Any = None) -> OperatorDesign:
    """A `LinearOperator` with its column norms, if the caller knows them."""
    if not isinstance(A, LinearOperator):
        raise TypeError(f"A: expected a LinearOperator, got {type(A).__name__}")
    norms = None
    if column_norms is not None:
        norms = vector(column_norms, "column_norms", A.shape[1], of="columns of A")
        if np.any(norms < 0):
            raise ValueError("column_norms: expected numbers >= 0")
    held = design(A)
    return OperatorDesign(held.operator, norms)  # type: ignore[attr-defined]
