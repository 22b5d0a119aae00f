"""Products and surveys of dense arrays, four far lines at a time: any number of lines, any length."""

from __future__ import annotations

import numpy as np
import pytest

from boxreg.arrays import Array
from boxreg.designs import DenseDesign
from boxreg.designs.epochs import quarters
from boxreg.settings import Settings

RNG = np.random.default_rng(12)


def arrays(lines: int, length: int) -> list[tuple[str, Array]]:
    """The same lines as columns and as rows, in both precisions."""
    held = RNG.standard_normal((lines, length))
    return [
        (f"{order} {kind.__name__}", np.asarray(array, dtype=kind))
        for kind in (np.float64, np.float32)
        for order, array in (("columns", held.T), ("rows", held))
    ]


@pytest.mark.parametrize("length", [1, 7, 60, 1900])
@pytest.mark.parametrize("lines", [1, 2, 3, 4, 5, 7, 8, 9, 30])
def test_products_of_any_number_of_lines(lines: int, length: int) -> None:
    for name, A in arrays(lines, length):
        design, exact = DenseDesign(A), A.astype(np.float64)
        assert design.array is A, "not copied"
        x, v = RNG.standard_normal(A.shape[1]), RNG.standard_normal(A.shape[0])
        some = np.flatnonzero(RNG.random(A.shape[1]) < 0.7)
        survey = design.survey(v)
        for got, expected in (
            (design.matvec(x), exact @ x),
            (design.rmatvec(v), exact.T @ v),
            (design.combine(some, x[some]), exact[:, some] @ x[some]),
            (design.correlate_some(some, v), exact[:, some].T @ v),
            (survey.norms, np.linalg.norm(exact, axis=0)),
            (survey.sums, exact.sum(axis=0)),
            (survey.correlation, exact.T @ v),
        ):
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-11, err_msg=name)
        assert survey.nonnegative == bool((A >= 0.0).all())


@pytest.mark.parametrize("size", range(14))
def test_quarters(size: int) -> None:
    """Every index once; four in a row are a quarter apart."""
    order = quarters(np.arange(100, 100 + size))
    assert sorted(order) == list(range(100, 100 + size))
    for k in range(0, size - size % 4, 4):
        np.testing.assert_array_equal(np.diff(order[k : k + 4]), size // 4)


def test_who_sweeps_by_quarters() -> None:
    index = np.arange(8)
    long = Settings.long_columns
    for rows, reordered in ((long, False), (long + 1, True)):
        design = DenseDesign(np.asfortranarray(np.ones((rows, 8))))
        assert np.array_equal(design.sweep_order(index), index) != reordered
