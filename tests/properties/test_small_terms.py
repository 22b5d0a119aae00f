"""One compiled call for small least squares with weights, ridge terms, costs and sparse columns."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

import boxreg
from boxreg.compiled_result import CompiledResult
from boxreg.settings import using

INF = np.inf


def in_one_call(*problem: Any, **options: Any) -> CompiledResult:
    """The result, which no general run has made, and which `verify` confirms."""
    result = boxreg.solve(*problem, **options)
    assert isinstance(result, CompiledResult)
    posed = {k: v for k, v in options.items() if k not in ("tol", "atol")}
    A, y, *bounds = problem
    certificate = boxreg.verify(A, y, result.x, result.theta, *bounds, gap=result.gap, **posed)
    assert certificate.verdict.name == "PROVED", certificate
    return result


def test_by_hand() -> None:
    """ω = (4, 1, 2), c = (4, 0, 6), μ = 2: x_j = (ω_j y_j - c_j) / (ω_j + μ), cut off at 0 and at 1.

    ω y - c = (8, 10, -4), over 6, 3 and 4: x = (4/3 → 1, 10/3 → 1, 0).
    """
    A, y = np.eye(3), np.array([3.0, 10.0, 1.0])
    terms = {"sample_weight": [4, 1, 2], "linear": [4.0, 0.0, 6.0], "ridge": 2}
    result = in_one_call(A, y, 0.0, 1.0, **terms)
    np.testing.assert_array_equal(result.x, [1.0, 1.0, 0.0])
    np.testing.assert_array_equal(result.theta, [8.0, 9.0, 2.0, -2.0, -2.0, 0.0])
    np.testing.assert_array_equal(result.screened, [1, 1, -1])
    assert result.objective == 0.5 * (4 * 4 + 81 + 2) + 4.0 + 0.5 * 2.0 * 2.0
    assert result.scale == 0.5 * (4 * 9 + 100 + 2)
    assert result.settings["terms"] == "sample_weight, linear, ridge"
    free = in_one_call(A, y, **terms)
    np.testing.assert_allclose(free.x, [8.0 / 6.0, 10.0 / 3.0, 0.0], rtol=1e-15)


def test_rows_without_a_weight_have_no_say() -> None:
    """theta is 0 there, before the components of the ridge term."""
    A, y = np.array([[1.0], [1.0], [1.0]]), np.array([1e9, 2.0, 4.0])
    result = in_one_call(A, y, sample_weight=[0.0, 1.0, 1.0], ridge=np.array([[2.0]]))
    np.testing.assert_allclose(result.x, [1.0], rtol=1e-15)  # 6 / (1 + 1 + 4)
    np.testing.assert_allclose(result.theta, [0.0, 1.0, 3.0, -2.0], rtol=1e-14)
    assert result.shape == (3, 1)


@pytest.mark.filterwarnings(
    "ignore::boxreg.PerformanceWarning", "ignore::boxreg.ConvergenceWarning"
)
def test_rows_of_operators_without_a_weight() -> None:
    """As for a matrix: 1e9 is not there."""
    A, y = np.array([[1.0, 2.0], [1.0, 0.0], [0.0, 1.0]]), np.array([1e9, 2.0, 4.0])
    result = boxreg.solve(aslinearoperator(A), y, sample_weight=[0.0, 1.0, 3.0], tol=1e-14)
    np.testing.assert_allclose(result.x, [2.0, 4.0], rtol=1e-6)
    assert result.theta[0] == 0.0


TERMS = st.fixed_dictionaries(
    {},
    optional={
        "sample_weight": st.sampled_from(["near", "far", "some 0"]),
        "linear": st.sampled_from(["positive", "signed"]),
        "ridge": st.sampled_from([1.0, 1e-8, 30, "matrix", "sparse"]),
    },
)


def drawn(terms: dict[str, Any], m: int, n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Numbers for the terms named."""
    made = dict(terms)
    if "sample_weight" in terms:
        spread = {"near": 0.5, "far": 8.0, "some 0": 1.0}[terms["sample_weight"]]
        weights = 10.0 ** rng.uniform(-spread, spread, m)
        if terms["sample_weight"] == "some 0":
            weights[1:] *= rng.random(m - 1) < 0.6
        made["sample_weight"] = weights
    if "linear" in terms:
        made["linear"] = rng.random(n) if terms["linear"] == "positive" else rng.standard_normal(n)
    if terms.get("ridge") in ("matrix", "sparse"):
        rows = rng.standard_normal((int(rng.integers(1, n + 3)), n))
        made["ridge"] = rows if terms["ridge"] == "matrix" else sparse.coo_array(rows)
    return made


@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    terms=TERMS,
    bounds=st.sampled_from([(0.0, INF), (-0.2, 0.3), (-INF, 0.1), (-INF, INF), (0.1, 0.1)]),
    kind=st.sampled_from(["positive", "signed", "csr", "float32", "integer", "twice"]),
    seed=st.integers(0, 10**6),
)
def test_as_the_general_way(
    terms: dict[str, Any], bounds: tuple[float, float], kind: str, seed: int
) -> None:
    """The same objective to the gap, a dual point of the same shape, and nothing else screened."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 30)), int(rng.integers(1, 20))
    A: Any = rng.random((m, n)) if kind == "positive" else rng.standard_normal((m, n))
    A = np.repeat(A, 2, axis=1)[:, :n] if kind == "twice" else A
    if kind in ("float32", "integer"):
        A = (4.0 * A).astype(np.float32 if kind == "float32" else int)
    if kind == "csr":
        A = sparse.csr_array(np.where(rng.random((m, n)) < 0.3, A, 0.0))
    y, made = rng.standard_normal(m), drawn(terms, m, n, rng)
    posed = (A, y, *bounds)
    with using(small_entries=0):
        general = boxreg.solve(*posed, **made)
    if not general.success:
        return
    result = boxreg.solve(*posed, **made)
    certificate = boxreg.verify(A, y, result.x, result.theta, *bounds, gap=result.gap, **made)
    assert certificate.verdict.name == "PROVED"
    assert np.all((bounds[0] <= result.x) & (result.x <= bounds[1]))
    assert (
        abs(result.objective - general.objective) <= general.gap + result.gap + 1e-12 * result.scale
    )
    assert result.theta.shape == general.theta.shape
    assert not np.any(result.screened * general.screened < 0)
    assert result.scale == pytest.approx(general.scale, rel=1e-12)


@pytest.mark.parametrize("terms", ["none", "weights", "costs", "ridge", "all"])
@pytest.mark.parametrize("bounds", [(0.0, INF), (-0.1, 0.1), (-INF, 0.05), (-INF, INF)])
def test_ordinary_problems_are_proved_in_one_call(bounds: tuple[float, float], terms: str) -> None:
    """With each of the terms, and for dense and sparse columns of either sign."""
    rng = np.random.default_rng(4)
    for draw in (rng.random, rng.standard_normal):
        A = draw((50, 20))
        y, w = rng.random(50), 10.0 ** rng.uniform(-3.0, 3.0, 50)
        every = {"sample_weight": w, "linear": rng.standard_normal(20), "ridge": 0.1}
        names = {"none": (), "weights": ("sample_weight",), "costs": ("linear",), "all": every}
        chosen = {name: every[name] for name in names.get(terms, (terms,))}
        for held in (A, sparse.csr_array(np.where(rng.random(A.shape) < 0.5, A, 0.0))):
            result = in_one_call(held, y, *bounds, **chosen)
            assert result.gap <= 1e-10 * result.scale


@pytest.mark.parametrize("scale", [1e-100, 1e-30, 1.0, 1e30, 1e60])
def test_weights_of_any_size(scale: float) -> None:
    """Weights, costs and μ times a number: the same x, and theta times it."""
    rng = np.random.default_rng(5)
    A, y, w = rng.random((20, 6)), rng.random(20), rng.random(20)
    cost = rng.standard_normal(6)
    once = in_one_call(A, y, sample_weight=w, linear=cost, ridge=0.25)
    again = in_one_call(A, y, sample_weight=scale * w, linear=scale * cost, ridge=scale * 0.25)
    np.testing.assert_allclose(again.x, once.x, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(again.theta, scale * once.theta, rtol=1e-9, atol=1e-10 * scale)


def test_columns_of_zeros_follow_their_costs() -> None:
    """At the bound that the cost prefers, or without end: neither is left for one call to claim."""
    A, y = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([1.0, 2.0])
    result = boxreg.solve(A, y, 0.0, [5.0, 3.0], linear=[0.0, -1.0])
    np.testing.assert_allclose(result.x, [1.0, 3.0])
    assert result.certificate
    held = in_one_call(A, y, 0.0, INF, linear=[0.0, 1.0])
    np.testing.assert_array_equal(held.x, [1.0, 0.0])
    endless = boxreg.solve(A, y, -INF, INF, linear=[0.0, -1.0])
    assert endless.status is boxreg.Status.UNBOUNDED
    assert not endless.certificate


FORMATS = ("csc", "csr", "coo", "lil", "dok", "dia", "bsr")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int16, np.bool_])
def test_sparse_columns(form: str, kind: type) -> None:
    """Every format and kind of numbers: what the dense matrix gives, for all three functions."""
    rng = np.random.default_rng(6)
    dense = (rng.integers(0, 2, (18, 8)) * (rng.random((18, 8)) < 0.4)).astype(kind)
    A, b = sparse.coo_array(dense).asformat(form), rng.random(18)
    np.testing.assert_array_equal(in_one_call(A, b).x, in_one_call(dense, b).x)
    np.testing.assert_array_equal(boxreg.nnls(A, b)[0], boxreg.nnls(dense, b)[0])
    ours, theirs = (f(dense, b, (0, 0.2)) for f in (boxreg.lsq_linear, scipy.optimize.lsq_linear))
    found = boxreg.lsq_linear(A, b, (0, 0.2))
    np.testing.assert_array_equal(found.x, ours.x)
    np.testing.assert_allclose(found.fun, dense @ found.x - b, atol=1e-14)
    assert found.cost <= theirs.cost * (1.0 + 1e-9)
    assert found.status > 0


def test_entries_that_stand_twice_are_added() -> None:
    """As SciPy reads them; indices need not be in order, and 64 bits of them are fine."""
    data, rows = np.array([1.0, 2.0, 5.0, 1.0]), np.array([1, 1, 0, 0])
    A = sparse.csc_array((data, rows, np.array([0, 3, 4])), shape=(2, 2))
    assert not A.has_canonical_format
    wide = A.copy()
    wide.indices, wide.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    b = np.array([6.0, 3.0])
    for held in (A, wide, A.tocsr()):
        np.testing.assert_allclose(boxreg.solve(held, b).x, [1.0, 1.0])
    np.testing.assert_array_equal(A.data, data)


@pytest.mark.parametrize("form", ["csc", "csr"])
@pytest.mark.parametrize(
    "fault", ["index", "negative", "starts", "start", "short", "float", "deep"]
)
def test_broken_sparse_arrays_are_refused(form: str, fault: str) -> None:
    """No index is read that is outside; the message is that of the general way."""
    A = sparse.eye_array(4).asformat(form)
    if fault in ("index", "negative"):
        A.indices[2] = 9 if fault == "index" else -1
    elif fault in ("starts", "start"):
        A.indptr[1 if fault == "starts" else 0] = 4
    elif fault == "short":
        A.data = A.data[:2]
    elif fault == "float":
        A.indices = A.indices.astype(float)
    else:
        A.data = A.data[None]
    for call in (boxreg.solve, boxreg.nnls, boxreg.lsq_linear):
        with pytest.raises(ValueError, match="A: is a broken sparse"):
            call(A, np.ones(4))


@pytest.mark.parametrize(
    ("terms", "match"),
    [
        ({"sample_weight": np.zeros(4)}, "sample_weight: expected numbers >= 0, not all"),
        ({"sample_weight": np.zeros(4), "ridge": 1.0}, "sample_weight: expected numbers >= 0"),
        ({"sample_weight": [1.0, 1.0, -1.0, 1.0]}, "sample_weight: expected numbers >= 0"),
        ({"sample_weight": [1.0, 1.0, np.nan, 1.0]}, "sample_weight: contains NaN"),
        ({"sample_weight": np.ones(3)}, "sample_weight: expected a vector with 4 entries"),
        ({"sample_weight": np.full(4, 1e200)}, "sample_weight: expected 0 or numbers from"),
        ({"linear": np.ones(3)}, "linear: expected a vector with 2 entries"),
        ({"linear": [np.inf, 0.0]}, "linear: contains inf"),
        ({"linear": [1e200, 0.0]}, "linear: has an entry of size 1e[+]200"),
        ({"ridge": -1.0}, "ridge: expected a finite number >= 0"),
        ({"ridge": np.nan}, "ridge: expected a finite number >= 0"),
        (
            {"ridge": np.ones((2, 3))},
            "ridge: expected a number, a vector with 2 entries or a matrix with 2 columns",
        ),
        ({"ridge": np.full((2, 2), np.nan)}, "A: contains NaN|ridge: contains NaN"),
    ],
)
def test_terms_that_are_refused(terms: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        boxreg.solve(np.ones((4, 2)), np.ones(4), **terms)


def test_arrays_are_left_as_they_are() -> None:
    """Read-only, strided and integer terms; the result's arrays are its own."""
    rng = np.random.default_rng(7)
    A, y, lower = rng.random((10, 4)), rng.random(10), np.zeros(4)
    weights = np.repeat(np.arange(1, 11), 2)[::2]
    cost = np.full(4, 0.1)
    for array in (A, y, lower, weights, cost):
        array.flags.writeable = False
    result = in_one_call(A, y, lower, np.full(4, 2), sample_weight=weights, linear=cost, ridge=1)
    assert result.lower is not lower
    result.lower[0] = -1.0
    assert lower[0] == 0.0


def test_what_is_made_later_is_as_in_every_result() -> None:
    """The fields of a result of a run, and their kinds; copies, pickles and changed copies have them."""
    rng = np.random.default_rng(8)
    A, y = rng.random((12, 5)), rng.random(12)
    with using(small_entries=0):
        general = boxreg.solve(A, y, ridge=0.1)
    result = in_one_call(A, y, ridge=0.1)
    for made in (
        result,
        copy.copy(result),
        copy.deepcopy(result),
        pickle.loads(pickle.dumps(result)),
    ):
        for field in fields(boxreg.Result):
            assert type(getattr(made, field.name)) is type(getattr(general, field.name)), field.name
            assert field.name in dir(made)
        assert made.history.gap[-1] == made.gap
        assert repr(made) == repr(result)
    assert replace(result, n_iter=3).n_iter == 3
    assert result.history is result.history
    with pytest.raises(AttributeError):
        _ = result.nothing_of_the_kind  # type: ignore[attr-defined]
