"""Every way to hold A gives the same products."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import array_api_strict
import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from boxreg import PerformanceWarning, validate
from boxreg.designs import (
    ArrayDesign,
    DenseDesign,
    Design,
    OperatorDesign,
    SparseDesign,
    StackedDesign,
)
from boxreg.designs.projected import ProjectedDesign
from boxreg.designs.stacked import RowDesign
from boxreg.designs.view import ColumnView, chosen
from boxreg.kernels.csc import has_duplicates
from boxreg.rounding import gamma

RNG = np.random.default_rng(3)
A = np.where(RNG.random((37, 23)) < 0.5, RNG.standard_normal((37, 23)), 0.0)
A[:, 5] = 0.0
NORMS = np.linalg.norm(A, axis=0)

DESIGNS: dict[str, Design] = {
    "dense-c": validate.design(np.ascontiguousarray(A)),
    "dense-f": validate.design(np.asfortranarray(A)),
    "dense-strided": validate.design(np.repeat(A, 2, axis=0)[::2]),
    "csc": validate.design(sparse.csc_matrix(A)),
    "csr": validate.design(sparse.csr_array(A)),
    "coo": validate.design(sparse.coo_array(A)),
    "device": ArrayDesign(array_api_strict.asarray(A)),
    "operator": OperatorDesign(aslinearoperator(A), NORMS),
    "operator-subset": OperatorDesign(aslinearoperator(A), NORMS).keep(np.arange(23)),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_products(name: str) -> None:
    """A x, Aᵀ v, norms and columns."""
    design = DESIGNS[name]
    x, v = RNG.standard_normal(23), RNG.standard_normal(37)
    assert design.shape == A.shape
    np.testing.assert_allclose(design.matvec(x), A @ x, atol=1e-13)
    np.testing.assert_allclose(design.rmatvec(v), A.T @ v, atol=1e-13)
    np.testing.assert_allclose(design.column_norms(), NORMS, rtol=1e-14)
    some = np.array([2, 7, 19])
    np.testing.assert_array_equal(design.columns(some), A[:, some])
    np.testing.assert_allclose(design.correlate_some(some, v), A[:, some].T @ v, atol=1e-13)
    found = design.weighted_squares_some(some, v**2)
    np.testing.assert_allclose(found, design.keep(some).weighted_squares(v**2), rtol=1e-12)
    part = chosen(design, some)
    assert isinstance(part, ColumnView) == design.columns_apart
    np.testing.assert_allclose(part.rmatvec(v), A[:, some].T @ v, atol=1e-13)


@pytest.mark.parametrize("name", DESIGNS)
def test_keep(name: str) -> None:
    """A design of some columns, and of some of those."""
    kept = DESIGNS[name].keep(np.array([1, 4, 9, 22])).keep(np.array([0, 2]))
    assert kept.shape == (37, 2)
    np.testing.assert_array_equal(kept.columns(np.arange(2)), A[:, [1, 9]])
    np.testing.assert_allclose(kept.rmatvec(np.ones(37)), A[:, [1, 9]].sum(axis=0), atol=1e-13)
    np.testing.assert_allclose(kept.column_norms(), NORMS[[1, 9]], rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_chosen_columns_are_copied_once(order: str, dtype: type) -> None:
    """In any order, some of them twice; the peak of memory is that of the copy."""
    matrix = np.asarray(RNG.standard_normal((803, 400)), dtype=dtype, order=order)
    design, some = validate.design(matrix), RNG.integers(0, 400, size=150)
    for copy in (design.keep, design.columns):
        copy(some[:2])
        tracemalloc.start()
        copied = copy(some)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        held = copied if isinstance(copied, np.ndarray) else copied.entries
        assert held is not None
        np.testing.assert_array_equal(held, matrix[:, some])
        assert peak < 1.1 * held.nbytes
    assert design.columns(some[:0]).shape == (803, 0)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(37, 23), (300, 2000), (2000, 300), (40000, 3)])
def test_float32_is_held_narrow_and_summed_wide(order: str, shape: tuple[int, int]) -> None:
    """The entries stay float32, products have float64 accuracy."""
    narrow = np.asarray(RNG.standard_normal(shape), dtype=np.float32, order=order)
    design = validate.design(narrow)
    assert isinstance(design, DenseDesign)
    assert design.array is narrow
    wide = narrow.astype(np.float64)
    v, x = RNG.standard_normal(shape[0]), RNG.standard_normal(shape[1])
    bound = gamma(max(shape)) * np.linalg.norm(wide, axis=0) * np.linalg.norm(v)
    assert np.all(np.abs(design.rmatvec(v) - wide.T @ v) <= 2 * bound)
    np.testing.assert_allclose(design.matvec(x), wide @ x, rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(design.column_norms(), np.linalg.norm(wide, axis=0), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "shape", [(1000, 2501), (1700, 1302), (2100, 1003), (4099, 7), (0, 3), (3, 0)]
)
def test_products_line_by_line(shape: tuple[int, int], order: str, dtype: type) -> None:
    """One at a time, four at a time with some left over, in strips; and of nothing."""
    matrix = np.asarray(RNG.standard_normal(shape), dtype=dtype, order=order)
    wide, design = matrix.astype(np.float64), validate.design(matrix)
    v, x = RNG.standard_normal(shape[0]), RNG.standard_normal(shape[1])
    np.testing.assert_allclose(design.matvec(x), wide @ x, atol=1e-10)
    np.testing.assert_allclose(design.rmatvec(v), wide.T @ v, atol=1e-10)


@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_arrays_are_not_copied(order: str) -> None:
    """C and F order are held as they come; only strided views are copied."""
    array = np.asarray(A, order=order)
    design = validate.design(array)
    assert isinstance(design, DenseDesign)
    assert design.array is array
    assert validate.design(array.T[::1]).shape == (23, 37)


def test_nonnegativity_is_seen() -> None:
    """Known for dense and sparse designs, never claimed for operators."""
    y = np.ones(len(A))
    slightly = np.abs(A)
    slightly[3, 3] = -1e-300
    for matrix, expected in ((np.abs(A), True), (A, False), (slightly, False)):
        for hold in (np.ascontiguousarray, np.asfortranarray, sparse.csc_array):
            assert validate.design(hold(matrix)).survey(y).nonnegative is expected
    operator = OperatorDesign(aslinearoperator(np.abs(A)), NORMS)
    assert not operator.survey(y).nonnegative


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "shape", [(37, 23), (5, 3000), (13, 40001), (3001, 2), (2500, 9), (2, 1), (0, 3), (3, 0)]
)
def test_survey_agrees_with_plain_sums(shape: tuple[int, int], dtype: type) -> None:
    """Norms, Aᵀ1 and Aᵀv of every layout, strips and left-over rows included."""
    matrix = RNG.standard_normal(shape).astype(dtype)
    v = RNG.standard_normal(shape[0])
    wide = matrix.astype(np.float64)
    for hold in (np.ascontiguousarray, np.asfortranarray, sparse.csc_array):
        seen = validate.design(hold(matrix)).survey(v)
        np.testing.assert_allclose(seen.norms, np.linalg.norm(wide, axis=0), rtol=1e-13)
        np.testing.assert_allclose(seen.sums, wide.sum(axis=0), atol=1e-11)
        np.testing.assert_allclose(seen.correlation, wide.T @ v, atol=1e-11)
        assert validate.design(hold(np.abs(matrix))).survey(v).nonnegative


@pytest.mark.parametrize("columns", [0, 1, 3, 4, 7, 42])
@pytest.mark.parametrize(("lengths", "abreast"), [((90, 130), True), ((1, 200), False)])
def test_sparse_columns_of_like_lengths_are_taken_four_at_a_time(
    columns: int, lengths: tuple[int, int], abreast: bool
) -> None:
    """Products, some columns only, and the survey agree with dense ones, a column left over or not."""
    rng = np.random.default_rng(columns)
    dense = np.zeros((5000, columns))
    for j in range(columns):
        rows = rng.choice(5000, rng.integers(*lengths), replace=False)
        dense[rows, j] = rng.standard_normal(len(rows))
    design = validate.design(sparse.csc_array(dense))
    assert isinstance(design, SparseDesign)
    if columns > 10:
        assert design.abreast == abreast
        assert not validate.design(sparse.csc_array(dense[:4000])).abreast  # type: ignore[attr-defined]
    v, some = rng.standard_normal(5000), rng.permutation(columns)[: columns // 2]
    np.testing.assert_allclose(design.rmatvec(v), dense.T @ v, atol=1e-12)
    np.testing.assert_allclose(design.correlate_some(some, v), dense[:, some].T @ v, atol=1e-12)
    told = design.survey(v)
    np.testing.assert_allclose(told.norms, np.linalg.norm(dense, axis=0), rtol=1e-13)
    np.testing.assert_allclose(told.sums, dense.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(told.correlation, dense.T @ v, atol=1e-12)


@pytest.mark.parametrize("kind", ["any", "ascending", "descending", "ascending, twice"])
def test_duplicates_are_found_in_any_order_of_rows(kind: str) -> None:
    rng = np.random.default_rng(7)
    some = set()
    for _ in range(300):
        m, n = rng.integers(1, 6, 2)
        columns = [rng.integers(0, m, rng.integers(0, 5)) for _ in range(n)]
        if kind != "any":
            columns = [np.sort(c if "twice" in kind else np.unique(c)) for c in columns]
        if kind == "descending":
            columns = [c[::-1] for c in columns]
        starts = np.concatenate([[0], np.cumsum([len(c) for c in columns])])
        twice = any(len(np.unique(c)) < len(c) for c in columns)
        indices = np.concatenate(columns).astype(np.int32)
        assert has_duplicates(indices, starts.astype(np.int32), m) == twice
        some.add(twice)
    assert some == ({False, True} if kind in ("any", "ascending, twice") else {False})


def test_sparse_duplicates_are_summed_in_a_copy() -> None:
    """A matrix with repeated entries means their sum, and is not changed."""
    rows = np.array([0, 0, 2])
    indptr = np.array([0, 2, 2, 3])
    given = sparse.csc_array((np.array([1.0, 2.0, 5.0]), rows, indptr), shape=(3, 3))
    design = validate.design(given)
    assert isinstance(design, SparseDesign)
    np.testing.assert_array_equal(design.columns(np.arange(3))[0], [3.0, 0.0, 0.0])
    assert given.nnz == 3


def test_operator_norms_are_computed_once_with_a_message() -> None:
    """Unknown norms cost n products, and the warning says how to avoid them."""
    design = validate.design(aslinearoperator(A))
    with pytest.warns(PerformanceWarning, match=r"23 products .* column_norms"):
        np.testing.assert_allclose(design.column_norms(), NORMS, rtol=1e-14)
    np.testing.assert_allclose(design.column_norms(), NORMS, rtol=1e-14)


def test_stacked_and_projected() -> None:
    """[A; r] and (I - QQᵀ) A against their explicit forms."""
    row = RNG.standard_normal(23)
    explicit = np.vstack([A, row])
    stacked = StackedDesign(DESIGNS["csc"], RowDesign(row))
    v, x = RNG.standard_normal(38), RNG.standard_normal(23)
    np.testing.assert_allclose(stacked.matvec(x), explicit @ x, atol=1e-13)
    np.testing.assert_allclose(stacked.rmatvec(v), explicit.T @ v, atol=1e-13)
    np.testing.assert_allclose(stacked.column_norms(), np.linalg.norm(explicit, axis=0))
    np.testing.assert_array_equal(
        stacked.keep(np.array([3, 4])).columns(np.arange(2)), explicit[:, [3, 4]]
    )
    q, _ = np.linalg.qr(RNG.standard_normal((37, 4)))
    projected = ProjectedDesign(DESIGNS["dense-f"], q, NORMS)
    explicit = A - q @ (q.T @ A)
    np.testing.assert_allclose(projected.matvec(x), explicit @ x, atol=1e-13)
    np.testing.assert_allclose(projected.rmatvec(v[:37]), explicit.T @ v[:37], atol=1e-13)
    np.testing.assert_allclose(
        projected.keep(np.array([3, 4])).columns(np.arange(2)), explicit[:, [3, 4]], atol=1e-13
    )


@pytest.mark.parametrize("name", ["dense-c", "dense-f", "csc", "csr"])
def test_gram_on_rows(name: str) -> None:
    """Where it pays: weights of any sign, few rows; the whole A is not looked at for many."""
    rows, some = np.array([3, 30, 8]), np.array([2, 7, 19, 5])
    weights = np.array([1.5, -2.0, 0.25])
    found = DESIGNS[name].gram_on_rows(rows, some, weights)
    assert (found is not None) == name.startswith("dense")
    if found is not None:
        part = A[np.ix_(rows, some)]
        np.testing.assert_allclose(found, part.T @ (weights[:, None] * part), atol=1e-13)
    assert DESIGNS[name].gram_on_rows(np.arange(20), some, np.ones(20)) is None
    nothing = DESIGNS[name].gram_on_rows(rows[:0], some, weights[:0])
    assert nothing is None or not nothing.any()


@pytest.mark.parametrize("name", DESIGNS)
def test_gram_and_combinations(name: str, change: Callable[..., object]) -> None:
    """Blocks of the Gram matrix, gathered a few columns at a time, and sums of columns."""
    change(gram_columns=3)
    design = DESIGNS[name]
    rows, columns = np.array([3, 1, 5, 22, 8, 0, 7]), np.array([2, 9, 1])
    np.testing.assert_allclose(design.gram(rows, columns), A[:, rows].T @ A[:, columns], atol=1e-13)
    np.testing.assert_allclose(design.gram(rows, rows), A[:, rows].T @ A[:, rows], atol=1e-13)
    weights = np.array([0.5, -2.0, 3.0])
    np.testing.assert_allclose(
        design.combine(columns, weights), A[:, columns] @ weights, atol=1e-13
    )
