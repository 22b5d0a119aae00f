"""Every argument of every public function, given what it does not expect.

Whatever comes, the answer is a result or a ValueError or TypeError that names an argument.
"""

from __future__ import annotations

import inspect
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import boxreg

RNG = np.random.default_rng([20, 11])
A = np.abs(RNG.standard_normal((4, 3))) + 0.1
Y = np.abs(RNG.standard_normal((4, 2)))
WIDE = np.longdouble("1e4000") if np.finfo(np.longdouble).max > 1e308 else np.longdouble(np.inf)


class Stubborn:
    """What cannot be read as an array, a number or a truth value, nor shown."""

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("no array")

    def __bool__(self) -> bool:
        raise RuntimeError("no truth")

    def __float__(self) -> float:
        raise RuntimeError("no number")

    def __repr__(self) -> str:
        raise RuntimeError("no name")


def operator(matvec: Any, rmatvec: Any = None) -> LinearOperator:
    return LinearOperator((4, 3), matvec=matvec, rmatvec=rmatvec, dtype=float)


HOSTILE: dict[str, Any] = {
    **{
        repr(v): v
        for v in (None, True, 0, -1, 2, 1.5, 1e300, -1e300, 1e-300, 5e-324, np.nan, np.inf, -np.inf)
    },
    **{repr(v): v for v in (2**70, 1j, "x", "", "1", b"x", [], [1.0], [[1.0, 2.0], [3.0]], {}, {1})},
    **{repr(v): v for v in ((0,), (1, 0), ("a", "b"), (np.nan, 1), (None, None), Decimal("1.5"))},
    "10**400": 10**400,
    "object": object(),
    "class": int,
    "generator": (k for k in range(3)),
    "stubborn": Stubborn(),
    "0-d": np.array(1.0),
    "0-d NaN": np.array(np.nan),
    **{f"zeros{s}": np.zeros(s) for s in ((0,), (0, 0), (4, 0), (0, 3), (3,), (4,), (4, 3))},
    **{f"{v:g}{s}": np.full(s, v) for s in (3, 4) for v in (1e300, -1e300, 1e-300, 1e160, 1e130, np.inf)},
    **{f"{v:g}{s}": np.full(s, v) for s in ((4, 3), (4, 2), (3, 2)) for v in (1e300, 1e-300, 1e145, np.nan)},
    **{f"{k}({s})": np.ones(s, dtype=k) for s in (3, 4) for k in ("c16", "O", "M8[D]", "U1", "?", "f2", ">f8", "g", "u8")},
    **{f"{k}{s}": np.ones(s, dtype=k) for s in ((4, 3), (4, 2), (3, 2)) for k in ("c16", "O", "U1", ">f4", "g", "i1")},
    **{f"wide{s}": np.full(s, WIDE) for s in ((3,), (4,), (4, 3), (4, 2), (3, 2))},
    **{f"masked({s})": np.ma.masked_array(np.ones(s), np.arange(s) == 1) for s in (3, 4)},
    "masked A": np.ma.masked_array(A, A > 1.0),
    "records": np.zeros(4, dtype=[("a", float)]),
    "subclass": A.view(np.recarray),
    "reversed": A[::-1, ::-1],
    "sparse": sparse.csc_array(A),
    "sparse row": sparse.csr_array(A[:1]),
    "3-d": np.ones((4, 3, 2)),
    "operator": aslinearoperator(A),
    "operator without rows": aslinearoperator(np.zeros((0, 3))),
    "operator without rmatvec": operator(lambda x: A @ x),
    "operator of NaN": operator(lambda x: np.full(4, np.nan), lambda v: np.full(3, np.nan)),
    "short operator": operator(lambda x: np.ones(2), lambda v: np.ones(2)),
    "complex operator": operator(lambda x: 1j * (A @ x), lambda v: 1j * (A.T @ v)),
}  # fmt: skip

FUNCTIONS: dict[str, dict[str, Any]] = {
    "solve": {"A": A, "y": Y[:, 0]},
    "nnls": {"A": A, "b": Y[:, 0]},
    "lsq_linear": {"A": A, "b": Y[:, 0]},
    "solve_many": {"A": A, "Y": Y},
    "antisparse": {"A": A, "y": Y[:, 0], "penalty": 0.1},
    "verify": {"A": A, "y": Y[:, 0], "x": np.zeros(3), "theta": -np.ones(4)},
    "operator": {"A": aslinearoperator(A)},
    "custom_loss": {
        "value": lambda p, y: 0.5 * (p - y) ** 2,
        "derivative": lambda p, y: p - y,
        "conjugate": lambda v, y: v * y + 0.5 * v * v,
        "alpha": 1.0,
    },
}
PAIRS = [
    (name, argument)
    for name in FUNCTIONS
    for argument in inspect.signature(getattr(boxreg, name)).parameters
]
COMPILED = (
    "value",
    "derivative",
    "conjugate",
    "curvature",
    "alpha",
    "domain",
    "targets",
    "roundoff",
)
"""Arguments of `custom_loss` for which something may have to be compiled."""
QUICK = ("None", "True", "nan", "'x'", "10**400", "object", "stubborn", "c16(3)", "O(3)", "[[1.0, 2.0], [3.0]]", "(1, 0)", "inf3", "wide(3,)", "0", "[]", "5e-324")  # fmt: skip
PROCESSES = {"2", "1.5", "1180591620717411303424", "10**400"}
"""Numbers of processes that would be believed."""


@pytest.mark.filterwarnings(
    "ignore::boxreg.ConvergenceWarning", "ignore::boxreg.PerformanceWarning"
)
@pytest.mark.parametrize(("name", "argument"), PAIRS)
def test_only_errors_that_name_an_argument(name: str, argument: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # a journal may be anywhere
    function, usual = getattr(boxreg, name), FUNCTIONS[name]
    names = [
        *inspect.signature(function).parameters,
        "bounds",
        "lower",
        "upper",
        "loss 'custom' breaks a law",
    ]
    begins = re.compile(rf"({'|'.join(names)})(:|$)")
    if argument == "journal":
        usual = {**usual, "out": np.zeros((3, 2))}
    quick = name == "custom_loss" and argument in COMPILED
    for label in QUICK if quick else HOSTILE:
        if argument == "n_jobs" and label in PROCESSES:
            continue
        error = complaint(function, {**usual, argument: HOSTILE[label]})
        assert type(error) in (type(None), TypeError, ValueError), (label, error)
        assert error is None or begins.match(str(error)), (label, error)


def complaint(function: Any, arguments: dict[str, Any]) -> Exception | None:
    try:
        function(**arguments)
    except Exception as error:
        return error
    return None
