"""Whatever a caller does about NumPy's floating-point errors, answers are the same to the last bit."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

import boxreg
from boxreg.losses import LOSSES
from boxreg.safe_regions import REGIONS
from boxreg.solvers import SOLVERS

RNG = np.random.default_rng([20, 12])
# Columns and rows so small that products of them underflow, beside ordinary ones.
A = np.abs(RNG.standard_normal((14, 6))) * np.array([1.0, 1e-120, 1.0, 1e-130, 1.0, 1e-60])
A[3] *= 1e-120
Y = np.abs(RNG.standard_normal((14, 9)))
Y[:, 1] *= 1e-130
Y[3] *= 1e-100
SINGLE, NORMS = A.astype(np.float32), np.linalg.norm(A, axis=0)
WEIGHTS = np.logspace(-200, 0, 14)
LABELS = np.where(np.arange(14) % 3 == 0, 1.0, -1.0)


def target(loss: str) -> np.ndarray:
    return LABELS if loss in ("logistic", "squared_hinge") else Y[:, 0]


def pseudo_huber() -> Any:
    return boxreg.custom_loss(
        lambda p, y: (p - y) ** 2 / (1 + (1 + (p - y) ** 2) ** 0.5),
        lambda p, y: (p - y) / (1 + (p - y) ** 2) ** 0.5,
        lambda v, y: v * y + v * v / (1 + ((1 - v) * (1 + v)) ** 0.5),
        1.0,
        domain=(-1.0, 1.0),
    )


def fields(result: Any) -> list[Any]:
    return [result.x, result.theta, result.gap, result.status, result.screened, result.n_iter]


def whole(result: Any) -> list[Any]:
    """A result with all that can be asked of it."""
    if "report" in dir(result):
        result.report()
        result.plot()
        result._repr_html_()
    assert repr(result)
    return fields(result)


def batch(**options: Any) -> list[Any]:
    found = boxreg.solve_many(A, Y, **options)
    proof = found.verify()
    assert repr(found)
    x = found.x.toarray() if options.get("sparse") else found.x
    return [x, found.gap, found.status, found.relative_gap, proof.gap, proof.proved]


def lazily() -> list[Any]:
    da = pytest.importorskip("dask.array")
    found = boxreg.solve_many(A, da.from_array(Y, chunks=(14, 4)))
    parts = [found.x, found.gap, found.relative_gap]
    return [part.compute(scheduler="synchronous") for part in parts]


def fitted(**options: Any) -> list[Any]:
    found = boxreg.lsq_linear(A, Y[:, 1], **options)
    return [found.x, found.gap, found.fun, found.optimality, found.unbounded_sol[0]]


def antisparse() -> list[Any]:
    found = boxreg.antisparse(A, Y[:, 0], 0.1)
    assert repr(found)
    return [found.x, found.gap, found.level, found.squeezed]


def verified() -> list[Any]:
    proof = boxreg.verify(A, Y[:, 1], np.full(6, 1e-200), -np.full(14, 1e-170), gap=1.0)
    assert str(proof)
    return [proof.gap, proof.objective, proof.verdict]


def operator() -> list[Any]:
    held = boxreg.operator(aslinearoperator(A), NORMS)
    return whole(boxreg.solve(held, Y[:, 0], tol=1e-4))


CALLS: dict[str, Callable[[], list[Any]]] = {
    **{f"loss {k}": lambda k=k: whole(boxreg.solve(A, target(k), 0.0, 9.0, loss=k)) for k in LOSSES},
    **{
        f"solver {k}": lambda k=k: fields(boxreg.solve(A, Y[:, 0], solver=k, tol=1e-4))
        for k in SOLVERS
    },
    **{
        f"region {k}": lambda k=k: fields(
            boxreg.solve(A, Y[:, 1], 0.0, 1.0, region=k, solver="coordinate_descent", tol=1e-4)
        )
        for k in REGIONS
    },
    **{f"many {k}": lambda k=k: batch(loss=k) for k in ("least_squares", "kullback_leibler")},
    "many huber": lambda: batch(loss="huber", tol=1e-6),
    "many in threads": lambda: batch(n_jobs=2),
    "many sparse": lambda: batch(sparse=True),
    "many lazily": lazily,
    "terms": lambda: fields(
        boxreg.solve(A, Y[:, 0], sample_weight=WEIGHTS, linear=np.full(6, 1e-150),
                     ridge=1e-9, tol=1e-4)
    ),
    "sparse": lambda: fields(boxreg.solve(sparse.csc_array(A), Y[:, 1])),
    "free": lambda: fields(boxreg.solve(A, Y[:, 0], -np.inf, np.inf)),
    "nnls": lambda: list(boxreg.nnls(A, Y[:, 1])),
    "nnls, float32": lambda: list(boxreg.nnls(SINGLE, Y[:, 0])),
    "lsq_linear": fitted,
    "lsq_linear, bounds": lambda: fitted(bounds=(-1e-140, 1.0), method="bvls"),
    "antisparse": antisparse,
    "verify": verified,
    "operator": operator,
    "warmup": lambda: [bool(boxreg.warmup(sparse=False, many=False) >= 0.0)],
    "custom_loss": lambda: fields(boxreg.solve(A, Y[:, 0], loss=pseudo_huber(), tol=1e-6)),
}  # fmt: skip


def bits(parts: list[Any]) -> list[bytes]:
    return [
        part.name.encode() if hasattr(part, "name") else np.asarray(part).tobytes()
        for part in parts
    ]


@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
@pytest.mark.parametrize("name", CALLS)
def test_the_callers_settings_change_nothing(name: str) -> None:
    plain = bits(CALLS[name]())
    before = np.geterr()
    for how in ({"all": "raise"}, {"all": "ignore"}, {"all": "call"}):
        with np.errstate(**how, call=_never), warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", boxreg.ConvergenceWarning)
            assert bits(CALLS[name]()) == plain, how
    assert np.geterr() == before


def _never(kind: str, flag: int) -> None:
    raise AssertionError(f"the caller's own handler was called: {kind}")


def test_every_public_function_is_tried() -> None:
    """A new function has to be added above."""
    public = {name for name in boxreg.__all__ if inspect.isfunction(getattr(boxreg, name))}
    assert public == {
        "antisparse", "custom_loss", "lsq_linear", "nnls", "operator", "solve", "solve_many", "verify",
        "warmup",
    }  # fmt: skip


def test_warnings_point_at_the_caller() -> None:
    """The file and line of a ConvergenceWarning are those of the call."""
    rng = np.random.default_rng(5)
    B, y = rng.standard_normal((30, 40)), rng.standard_normal(30)
    for call in (
        lambda: boxreg.solve(B, y, -1.0, 1.0, max_iter=0),
        lambda: boxreg.nnls(sparse.csc_array(B), y, maxiter=0),
        lambda: boxreg.antisparse(B, y, 0.1, max_iter=0),
    ):
        with pytest.warns(boxreg.ConvergenceWarning) as caught:
            call()
        assert caught[0].filename == __file__
