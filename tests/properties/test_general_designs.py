"""Weights, rows and stacks of designs against plain arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from boxreg import validate
from boxreg.designs import DenseDesign, Design, OperatorDesign, SparseDesign, StackedDesign
from boxreg.designs.stacked import IdentityDesign, RowDesign
from boxreg.designs.view import ColumnView

RNG = np.random.default_rng(6)
A = np.where(RNG.random((31, 17)) < 0.6, RNG.standard_normal((31, 17)), 0.0)
A[:, 4] = 0.0
A32 = A.astype(np.float32)
GAMMA = RNG.standard_normal((5, 17))
ROW = np.abs(RNG.standard_normal(17))

PLAIN: dict[str, tuple[Design, np.ndarray]] = {
    "dense-c": (validate.design(np.ascontiguousarray(A)), A),
    "dense-f": (validate.design(np.asfortranarray(A)), A),
    "dense-32-c": (validate.design(A32), A32.astype(float)),
    "dense-32-f": (validate.design(np.asfortranarray(A32)), A32.astype(float)),
    "csc": (validate.design(sparse.csc_array(A)), A),
    "csr": (validate.design(sparse.csr_array(A)), A),
}
UNIT = np.eye(17)
STACKED: dict[str, tuple[Design, np.ndarray]] = {
    "row": (RowDesign(ROW), ROW[None]),
    "identity": (IdentityDesign(17, np.arange(17)), UNIT),
    "some of an identity": (IdentityDesign(17, np.arange(17)[::-1]), UNIT[:, ::-1]),
    "dense on identity": (
        StackedDesign(PLAIN["dense-c"][0], IdentityDesign(17, np.arange(17))),
        np.vstack([A, UNIT]),
    ),
    "sparse on identity": (
        StackedDesign(PLAIN["csc"][0], IdentityDesign(17, np.arange(17))),
        np.vstack([A, UNIT]),
    ),
    "dense on dense": (
        StackedDesign(PLAIN["dense-f"][0], DenseDesign(GAMMA)),
        np.vstack([A, GAMMA]),
    ),
    "sparse on dense": (
        StackedDesign(PLAIN["csc"][0], DenseDesign(GAMMA)),
        np.vstack([A, GAMMA]),
    ),
    "dense on a row": (
        StackedDesign(PLAIN["dense-32-f"][0], RowDesign(ROW)),
        np.vstack([A32, ROW]),
    ),
}
ALL = PLAIN | STACKED
SOME, OTHERS = np.array([3, 4, 0, 16, 9]), np.array([9, 1, 3])

every = pytest.mark.parametrize("name", ALL)


@every
def test_products_and_norms(name: str) -> None:
    """A x, Aᵀv, norms, columns, sums of columns."""
    design, explicit = ALL[name]
    x, v = RNG.standard_normal(17), RNG.standard_normal(len(explicit))
    assert design.shape == explicit.shape
    np.testing.assert_allclose(design.matvec(x), explicit @ x, atol=1e-12)
    np.testing.assert_allclose(design.rmatvec(v), explicit.T @ v, atol=1e-12)
    np.testing.assert_allclose(design.column_norms(), np.linalg.norm(explicit, axis=0), rtol=1e-13)
    np.testing.assert_array_equal(design.columns(SOME), explicit[:, SOME])
    weights = RNG.standard_normal(len(SOME))
    found = design.combine(SOME, weights)
    np.testing.assert_allclose(found, explicit[:, SOME] @ weights, atol=1e-12)
    np.testing.assert_allclose(design.correlate_some(SOME, v), explicit[:, SOME].T @ v, atol=1e-12)


@every
def test_columns_left_where_they_are(name: str) -> None:
    """A view of some columns does what a copy of them does."""
    design, explicit = ALL[name]
    view, explicit = ColumnView(design, SOME), explicit[:, SOME]
    x, v, some = RNG.standard_normal(5), RNG.standard_normal(len(explicit)), np.array([4, 0, 2])
    x[1] = 0.0
    assert view.shape == explicit.shape
    assert not view.columns_apart
    np.testing.assert_allclose(view.matvec(x), explicit @ x, atol=1e-12)
    np.testing.assert_allclose(view.rmatvec(v), explicit.T @ v, atol=1e-12)
    np.testing.assert_allclose(view.column_norms(), np.linalg.norm(explicit, axis=0), rtol=1e-13)
    np.testing.assert_array_equal(view.columns(some), explicit[:, some])
    np.testing.assert_array_equal(view.keep(some).columns(np.arange(3)), explicit[:, some])
    found, part = view.correlate_some(some, v), explicit[:, some]
    np.testing.assert_allclose(found, part.T @ v, atol=1e-12)
    np.testing.assert_allclose(view.combine(some, x[:3]), part @ x[:3], atol=1e-12)
    np.testing.assert_allclose(view.gram(some, some), part.T @ part, atol=1e-12)
    weights = RNG.uniform(0.0, 5.0, len(explicit))
    expected = part.T @ (weights[:, None] * explicit)
    np.testing.assert_allclose(view.gram(some, np.arange(5), weights), expected, atol=1e-12)
    np.testing.assert_allclose(view.weighted_squares(weights), weights @ explicit**2, rtol=1e-12)


@every
def test_weighted_squares(name: str) -> None:
    """sum_i ω_i a_ij², rows with weight 0 included."""
    design, explicit = ALL[name]
    weights = RNG.uniform(0.0, 5.0, len(explicit)) * (np.arange(len(explicit)) % 3 > 0)
    weights[0] = 2.0
    found = design.weighted_squares(weights)
    np.testing.assert_allclose(found, weights @ explicit**2, rtol=1e-12)


@pytest.mark.parametrize("at_once", [2, 512])
@every
def test_gram_with_weights(name: str, at_once: int, change: Callable[..., object]) -> None:
    """A_rowsᵀ diag(ω) A_columns, for the same index, an equal one and another; nothing is changed."""
    change(gram_columns=at_once)
    design, explicit = ALL[name]
    before = design.columns(np.arange(17)).copy()
    weights = RNG.uniform(0.0, 5.0, len(explicit))
    for rows, columns in ((SOME, SOME), (SOME, SOME.copy()), (SOME, OTHERS), (OTHERS, SOME)):
        for omega in (None, weights):
            scale = np.ones(len(explicit)) if omega is None else omega
            expected = explicit[:, rows].T @ (scale[:, None] * explicit[:, columns])
            found = design.gram(rows, columns, omega)
            np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(design.columns(np.arange(17)), before)


@every
def test_survey(name: str) -> None:
    """Norms and signs; Aᵀ1 and Aᵀy where they come with them."""
    design, explicit = ALL[name]
    y = RNG.standard_normal(len(explicit))
    seen = design.survey(y)
    np.testing.assert_allclose(seen.norms, np.linalg.norm(explicit, axis=0), rtol=1e-13)
    assert not seen.nonnegative or bool(np.all(explicit >= 0.0))
    if name != "row" and "row" not in name:
        np.testing.assert_allclose(seen.sums, explicit.sum(axis=0), atol=1e-12)
        np.testing.assert_allclose(seen.correlation, explicit.T @ y, atol=1e-12)


def test_stacks_are_nonnegative_where_both_parts_are() -> None:
    """As the survey sees it, and as it is declared."""
    positive = validate.design(np.abs(A))
    below = IdentityDesign(17, np.arange(17))
    y = np.zeros(48)
    assert StackedDesign(positive, below).survey(y).nonnegative
    assert not StackedDesign(PLAIN["csc"][0], below).survey(y).nonnegative
    negative = validate.design(-np.abs(GAMMA))
    assert not StackedDesign(positive, negative).survey(y[:36]).nonnegative


@every
def test_keep_and_column_major(name: str) -> None:
    """Some columns, and all of them in one piece: the same matrix."""
    design, explicit = ALL[name]
    kept = design.keep(SOME)
    np.testing.assert_array_equal(kept.columns(np.arange(5)), explicit[:, SOME])
    v = RNG.standard_normal(len(explicit))
    np.testing.assert_allclose(kept.rmatvec(v), explicit[:, SOME].T @ v, atol=1e-12)
    np.testing.assert_allclose(kept.matvec(np.ones(5)), explicit[:, SOME].sum(axis=1), atol=1e-12)
    squares = kept.weighted_squares(np.ones(len(explicit)))
    np.testing.assert_allclose(squares, (explicit[:, SOME] ** 2).sum(axis=0), rtol=1e-12)
    whole = design.column_major()
    np.testing.assert_array_equal(whole.columns(np.arange(17)), explicit)
    if isinstance(design, StackedDesign):
        assert isinstance(whole, SparseDesign if "sparse" in name else DenseDesign)
        assert whole.nonnegative == design.nonnegative


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("kept", [np.array([2, 5, 30]), np.arange(31), np.zeros(0, dtype=np.intp)])
def test_rows(name: str, kept: np.ndarray) -> None:
    """The chosen rows in order, in the same storage and dtype."""
    design, explicit = PLAIN[name]
    some = design.rows(kept)
    assert type(some) is type(design)
    assert some.shape == (len(kept), 17)
    np.testing.assert_array_equal(some.columns(np.arange(17)), explicit[kept])
    if isinstance(design, DenseDesign):
        assert some.array.dtype == design.array.dtype
        assert some.array.flags.f_contiguous or some.array.flags.c_contiguous
    v = RNG.standard_normal(len(kept))
    np.testing.assert_allclose(some.rmatvec(v), explicit[kept].T @ v, atol=1e-12)


def test_operators_bound_what_they_cannot_see() -> None:
    """Weighted squares from above; some rows are those of all products."""
    norms = np.linalg.norm(A, axis=0)
    operator = OperatorDesign(aslinearoperator(A), norms)
    weights = RNG.uniform(0.0, 3.0, 31)
    assert np.all(operator.weighted_squares(weights) >= weights @ A**2)
    some, v = operator.rows(np.array([4, 0, 9])), np.array([1.0, -2.0, 3.0])
    np.testing.assert_allclose(some.matvec(np.ones(17)), A[[4, 0, 9]] @ np.ones(17))
    np.testing.assert_allclose(some.rmatvec(v), A[[4, 0, 9]].T @ v)
    stacked = StackedDesign(operator, IdentityDesign(17, np.arange(17)))
    assert not stacked.has_columns
    assert not stacked.rounding_known
    both = RNG.uniform(0.0, 3.0, 48)
    assert np.all(stacked.weighted_squares(both) >= both @ np.vstack([A, UNIT]) ** 2)
