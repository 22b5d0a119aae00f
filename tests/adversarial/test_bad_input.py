"""Bad input: each class of it, with the message its user sees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import boxreg
from boxreg.solvers import SOLVERS

A = np.eye(3, 2) + 1.0
Y = np.ones(3)
INF = np.inf


def bad(array: np.ndarray, value: float) -> np.ndarray:
    out = array.copy()
    out.flat[1] = value
    return out


REFUSED: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    # A
    "A vector": ({"A": Y}, ValueError, "A: expected a matrix (2 dimensions), got shape (3,)"),
    "A cube": ({"A": np.ones((2, 2, 2))}, ValueError, "A: expected a matrix (2 dimensions), got shape (2, 2, 2)"),
    "A with NaN": ({"A": bad(A, np.nan)}, ValueError, "A: contains NaN; expected finite numbers"),
    "A with inf": ({"A": bad(A, INF)}, ValueError, "A: contains inf; expected finite numbers"),
    "A with -inf": ({"A": bad(A, -INF)}, ValueError, "A: contains inf; expected finite numbers"),
    "sparse A with NaN": ({"A": sparse.csc_array(bad(A, np.nan))}, ValueError, "A: contains NaN; expected finite numbers"),
    "complex A": ({"A": A * 1j}, TypeError, "A: expected real numbers, got complex dtype complex128"),
    "complex sparse A": ({"A": sparse.csc_array(A * 1j)}, TypeError, "A: expected real numbers, got dtype complex128"),
    "complex operator": ({"A": aslinearoperator(A * 1j)}, TypeError, "A: expected a real operator, got dtype complex128"),
    "A of text": ({"A": np.array([["a", "b"]])}, TypeError, "A: expected real numbers, got dtype <U1"),
    "A of objects": ({"A": np.array([[object()]])}, TypeError, "A: expected real numbers, got dtype object"),
    "ragged A": ({"A": [[1.0], [1.0, 2.0]]}, ValueError, "A: cannot be read as an array of numbers"),
    "masked A": ({"A": np.ma.masked_array(A, mask=np.eye(3, 2))}, ValueError, "A: has masked entries"),
    "huge A": ({"A": A * 1e200}, ValueError, "A: column 0 has norm"),
    "tiny A": ({"A": A * 1e-200}, ValueError, "where squares underflow: rescale A"),
    # y
    "long y": ({"y": np.ones(4)}, ValueError, "y: expected a vector with 3 entries (rows of A), got shape (4,)"),
    "matrix y": ({"y": np.ones((3, 1))}, ValueError, "y: expected a vector with 3 entries (rows of A), got shape (3, 1)"),
    "scalar y": ({"y": 1.0}, ValueError, "y: expected a vector with 3 entries (rows of A), got shape ()"),
    "y with NaN": ({"y": bad(Y, np.nan)}, ValueError, "y: contains NaN; expected finite numbers"),
    "y with inf": ({"y": bad(Y, INF)}, ValueError, "y: contains inf; expected finite numbers"),
    "complex y": ({"y": Y * 1j}, TypeError, "y: expected real numbers, got complex dtype complex128"),
    "sparse y": ({"y": sparse.csc_array(Y[:, None])}, TypeError, "y: expected a dense array, got a sparse matrix"),
    # bounds
    "lower > upper": ({"lower": [0.0, 2.0], "upper": 1.0}, ValueError, "bounds: lower must not exceed upper, but lower[1] = 2 > upper[1] = 1 (1 such coordinates)"),
    "lower +inf": ({"lower": INF}, ValueError, "bounds: lower must be below +inf and upper above -inf"),
    "upper -inf": ({"upper": -INF}, ValueError, "bounds: lower must be below +inf and upper above -inf"),
    "lower NaN": ({"lower": np.nan}, ValueError, "lower: contains NaN; expected numbers (lower may hold -inf, upper inf)"),
    "upper NaN": ({"upper": [1.0, np.nan]}, ValueError, "upper: contains NaN; expected numbers (lower may hold -inf, upper inf)"),
    "long lower": ({"lower": np.zeros(3)}, ValueError, "lower: expected a number or a vector with 2 entries (columns of A), got shape (3,)"),
    "matrix upper": ({"upper": np.ones((2, 1))}, ValueError, "upper: expected a number or a vector with 2 entries (columns of A), got shape (2, 1)"),
    "complex upper": ({"upper": 1j}, TypeError, "upper: expected real numbers, got complex dtype complex128"),
    "text lower": ({"lower": "zero"}, TypeError, "lower: expected real numbers, got dtype <U4"),
    # terms
    "long linear": ({"linear": np.ones(3)}, ValueError, "linear: expected a vector with 2 entries (columns of A), got shape (3,)"),
    "linear with inf": ({"linear": [0.0, INF]}, ValueError, "linear: contains inf; expected finite numbers"),
    "short sample_weight": ({"sample_weight": np.ones(2)}, ValueError, "sample_weight: expected a vector with 3 entries (rows of A), got shape (2,)"),
    "negative sample_weight": ({"sample_weight": [1.0, -1.0, 1.0]}, ValueError, "sample_weight: expected numbers >= 0, not all of them 0"),
    "sample_weight all 0": ({"sample_weight": np.zeros(3)}, ValueError, "sample_weight: expected numbers >= 0, not all of them 0"),
    "negative ridge": ({"ridge": -1.0}, ValueError, "ridge: expected a finite number >= 0, got -1.0"),
    "wide ridge": ({"ridge": np.eye(3)}, ValueError, "ridge: expected a number, a vector with 2 entries or a matrix with 2 columns (those of A), got shape (3, 3)"),
    # names
    "unknown loss": ({"loss": "squared"}, ValueError, "loss: unknown name 'squared'; accepted: beta_divergence, huber, kullback_leibler, least_squares, log_cosh, logistic, squared_hinge"),
    "unknown solver": ({"solver": "simplex"}, ValueError, "solver: unknown name 'simplex'; accepted: active_set, auto, chambolle_pock, coordinate_descent, interior_point, newton, projected_gradient, sparse_descent, working_set"),
    "unknown dual": ({"dual": "best"}, ValueError, "dual: unknown name 'best'; accepted: auto, extrapolated, line_search, residual, support_polish, translation"),
    "unknown region": ({"region": "cube"}, ValueError, "region: unknown name 'cube'; accepted: auto, dome, gap_sphere, two_point_ball"),
    "unknown direction": ({"direction": "up"}, ValueError, "direction: unknown name 'up'; accepted: auto, data, least_correlated"),
    "solver class": ({"solver": boxreg.Result}, TypeError, "solver: expected one of active_set"),
    "region number": ({"region": 3}, TypeError, "region: expected one of auto, dome, gap_sphere, two_point_ball, or an instance of SafeRegion, got int"),
    "short direction": ({"direction": [-1.0]}, ValueError, "direction: expected a vector with 3 entries (rows of A), got shape (1,)"),
    "solver that needs columns": ({"A": boxreg.operator(aslinearoperator(A), np.ones(2)), "solver": "coordinate_descent"}, ValueError, "solver: 'coordinate_descent' cannot solve loss 'least_squares' with a OperatorDesign (it needs single columns of A"),
    # numbers
    "negative tol": ({"tol": -1.0}, ValueError, "tol: expected a finite number >= 0, got -1.0"),
    "NaN tol": ({"tol": np.nan}, ValueError, "tol: expected a finite number >= 0, got nan"),
    "text tol": ({"tol": "small"}, TypeError, "tol: expected a number, got str"),
    "negative atol": ({"atol": -1e-9}, ValueError, "atol: expected a finite number >= 0, got -1e-09"),
    "fractional max_iter": ({"max_iter": 1.5}, ValueError, "max_iter: expected None or a whole number >= 0, got 1.5"),
    "negative max_iter": ({"max_iter": -1}, ValueError, "max_iter: expected None or a whole number >= 0, got -1"),
    "NaN max_iter": ({"max_iter": np.nan}, ValueError, "max_iter: expected None or a whole number >= 0, got nan"),
    "short x0": ({"x0": [1.0]}, ValueError, "x0: expected a vector with 2 entries (columns of A), got shape (1,)"),
    "x0 with NaN": ({"x0": [1.0, np.nan]}, ValueError, "x0: contains NaN; expected finite numbers"),
    "huge x0": ({"x0": [1e300, 0.0]}, ValueError, "x0: an x with entries of size 1e+300, where the objective overflows"),
    "huge lower": ({"lower": 1e300}, ValueError, "bounds: an x with entries of size 1e+300, where the objective overflows"),
    "verbose a word": ({"verbose": "x"}, TypeError, "verbose: expected a number, got str"),
    "negative verbose": ({"verbose": -1}, ValueError, "verbose: expected a whole number >= 0, got -1"),
    "tol a numeral": ({"tol": "1e-8"}, TypeError, "tol: expected a number, got str"),
    "tol of many digits": ({"tol": 10**400}, ValueError, "tol: is too large for a float64 number"),
    "huge linear": ({"linear": [1e300, 0.0]}, ValueError, "linear: has an entry of size 1e+300; squares would overflow above 1e+140"),
    "huge sample_weight": ({"sample_weight": [1e300, 1.0, 1.0]}, ValueError, "sample_weight: expected 0 or numbers from 1e-280 to 1e+140, got 1e+300"),
    "subnormal sample_weight": ({"sample_weight": [5e-324, 1.0, 1.0]}, ValueError, "sample_weight: expected 0 or numbers from 1e-280 to 1e+140, got 4.94066e-324"),
    "sample_weight too large for y": ({"sample_weight": np.full(3, 1e100), "y": Y * 1e60}, ValueError, "sample_weight: its largest entry, 1e+100, is too large beside A and y"),
    "subnormal ridge": ({"ridge": 1e-300}, ValueError, "ridge: expected 0, numbers from 1e-280 to 1e+140 or a matrix, got 1e-300"),
    "ridge with NaN": ({"ridge": bad(A, np.nan)}, ValueError, "ridge: contains NaN; expected finite numbers"),
    "huge direction": ({"direction": -1e300 * Y}, ValueError, "direction: has an entry of size 1e+300"),
    "operator without rmatvec": ({"A": LinearOperator((3, 2), matvec=lambda x: A @ x, dtype=float)}, TypeError, "A: the operator has no rmatvec, which is needed"),
    "operator of the wrong length": ({"A": LinearOperator((3, 2), matvec=lambda x: A @ x, rmatvec=lambda v: v, dtype=float)}, ValueError, "A: rmatvec of a vector with 3 entries fails"),
    "screening a word": ({"screening": "yes"}, TypeError, "screening: expected True or False, got 'yes'"),
    "callback a number": ({"callback": 3}, TypeError, "callback: expected a function, got int"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_solve_refuses(case: str) -> None:
    """The error has the right class and names the argument, the fault and what is accepted."""
    arguments, error, message = REFUSED[case]
    with pytest.raises(error) as caught:
        boxreg.solve(**{"A": A, "y": Y, **arguments})
    assert message in str(caught.value)


@pytest.mark.parametrize("solver", sorted(SOLVERS))
@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        ([-INF, 0.0], INF, [4 / 11, 4 / 11]),
        (-INF, INF, [4 / 11, 4 / 11]),
        (-INF, 0.25, [0.25, 0.25]),
        (-INF, [0.25, INF], [0.25, 2.75 / 6]),
        ([-INF, 1.0], [INF, 2.0], [-1 / 6, 1.0]),
    ],
)
def test_any_bound_may_be_infinite(
    lower: Any, upper: Any, expected: list[float], solver: str
) -> None:
    """By hand: AᵀA = (6, 5; 5, 6), Aᵀy = (4, 4); with x_k held, x_j = (4 - 5 x_k) / 6."""
    result = boxreg.solve(A, Y, lower, upper, solver=solver, tol=1e-12)
    np.testing.assert_allclose(result.x, expected, atol=1e-5)
    assert result.success
    assert result.certificate.rigorous
    assert np.all((lower <= result.x) & (result.x <= upper))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"A": bad(A, np.nan)}, "A: contains NaN"),
        ({"b": np.ones(2)}, "b: expected a vector with 3 entries (rows of A), got shape (2,)"),
        ({"maxiter": -3}, "maxiter: expected None or a whole number >= 0, got -3"),
        ({"atol": -1.0}, "atol: expected a finite number >= 0, got -1.0"),
    ],
)
def test_nnls_refuses(arguments: dict[str, Any], message: str) -> None:
    """The same checks, under SciPy's argument names."""
    with pytest.raises(ValueError, match=r".") as caught:
        boxreg.nnls(**{"A": A, "b": Y, **arguments})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((A, None), TypeError, "A: expected a LinearOperator, got ndarray"),
        (
            (aslinearoperator(A), [1.0]),
            ValueError,
            "column_norms: expected a vector with 2 entries",
        ),
        ((aslinearoperator(A), [1.0, -1.0]), ValueError, "column_norms: expected numbers >= 0"),
    ],
)
def test_operator_refuses(arguments: Any, error: type[Exception], message: str) -> None:
    """Operators and their norms are checked as well."""
    with pytest.raises(error) as caught:
        boxreg.operator(*arguments)
    assert message in str(caught.value)
