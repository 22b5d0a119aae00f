"""Products of dense matrices, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from boxreg.kernels.mirroring import mirror
from boxreg.matrix_products import combine, correlate, cross, own, subtract, symmetric_times

RNG = np.random.default_rng(12)
SHAPES = [(50, 7), (9, 70), (200, 33), (3, 1), (0, 4), (4, 0)]


def columns(shape: tuple[int, int]) -> np.ndarray:
    return np.asfortranarray(RNG.standard_normal(shape))


@pytest.mark.parametrize("shape", SHAPES)
def test_gram_matrices(shape: tuple[int, int]) -> None:
    """Symmetric to the last bit, and their arguments are left as they are."""
    a = columns(shape)
    before = a.copy()
    gram = own(a)
    np.testing.assert_allclose(gram, a.T @ a, atol=1e-12)
    np.testing.assert_array_equal(gram, gram.T)
    np.testing.assert_array_equal(a, before)
    assert gram.flags.c_contiguous


@pytest.mark.parametrize("shape", SHAPES)
def test_products_of_two(shape: tuple[int, int]) -> None:
    a, b = columns(shape), columns((shape[0], 5))
    np.testing.assert_allclose(cross(a, b), a.T @ b, atol=1e-12)
    out = np.full((shape[1] + 2, 5), np.nan)
    cross(a, b, out[1:-1])
    np.testing.assert_allclose(out[1:-1], a.T @ b, atol=1e-12)
    assert np.isnan(out[0]).all()
    assert np.isnan(out[-1]).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_products_with_a_vector(shape: tuple[int, int]) -> None:
    a, x, v = columns(shape), RNG.standard_normal(shape[1]), RNG.standard_normal(shape[0])
    np.testing.assert_allclose(combine(a, x), a @ x, atol=1e-12)
    np.testing.assert_allclose(correlate(a, v), a.T @ v, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_subtraction_in_place(shape: tuple[int, int]) -> None:
    """Into columns of a larger array, as the factors need it."""
    table, left = columns((shape[0], 8)), columns(shape)
    right, expected = columns((shape[1], 3)), table.copy()
    expected[:, 2:5] -= left @ right
    subtract(table[:, 2:5], left, right)
    np.testing.assert_allclose(table, expected, atol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
def test_symmetric_matrices_in_either_order(order: str) -> None:
    a = columns((40, 30))
    gram = np.asarray(a.T @ a, order=order)
    x = RNG.standard_normal(30)
    np.testing.assert_allclose(symmetric_times(gram, x), gram @ x, atol=1e-12)


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 100])
def test_mirroring(size: int) -> None:
    """Block by block, with some left over."""
    matrix = np.triu(RNG.standard_normal((size, size)))
    mirror(matrix)
    np.testing.assert_array_equal(matrix, matrix.T)
