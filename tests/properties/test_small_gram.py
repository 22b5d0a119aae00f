"""Gram matrices of a few columns, read where they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from boxreg import validate
from boxreg.designs.base import Design
from boxreg.designs.view import ColumnView
from boxreg.kernels.small_gram import _STRIP

RNG = np.random.default_rng(83)


@pytest.mark.parametrize("rows", [1, 7, _STRIP, _STRIP + 1, 2 * _STRIP + 37])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_of_columns(rows: int, dtype: Any) -> None:
    """Fours and what is left of them, over whole strips and parts of one; in any order, and twice."""
    A = np.asfortranarray(RNG.standard_normal((rows, 30)), dtype=dtype)
    design, exact = validate.design(A), A.astype(np.float64)
    for left in (1, 2, 3, 4, 5, 9):
        chosen = RNG.integers(0, 30, left)
        own = design.gram(chosen, chosen)
        np.testing.assert_allclose(own, exact[:, chosen].T @ exact[:, chosen], atol=1e-10)
        np.testing.assert_array_equal(own, own.T)
        for right in (1, 4, 6):
            others = RNG.integers(0, 30, right)
            expected = exact[:, chosen].T @ exact[:, others]
            np.testing.assert_allclose(design.gram(chosen, others), expected, atol=1e-10)


def test_none_of_them() -> None:
    design = validate.design(np.asfortranarray(RNG.standard_normal((5, 3))))
    nothing, two = np.zeros(0, dtype=np.intp), np.arange(2)
    assert design.gram(nothing, nothing).shape == (0, 0)
    assert design.gram(nothing, two).shape == (0, 2)
    assert design.gram(two, nothing).shape == (2, 0)


def test_who_is_asked(monkeypatch: pytest.MonkeyPatch, change: Callable[..., object]) -> None:
    """A few columns in one piece each, in a view too; not rows, not many, not with weights."""
    asked: list[int] = []
    real = Design.gram

    def noted(self: Design, rows: Any, columns: Any, weights: Any = None) -> Any:
        asked.append(len(rows))
        return real(self, rows, columns, weights)

    monkeypatch.setattr(Design, "gram", noted)
    change(few_products=12)
    A = np.asfortranarray(RNG.standard_normal((20, 9)))
    by_columns, by_rows = validate.design(A), validate.design(np.ascontiguousarray(A))
    three, four = np.arange(3), np.arange(4)
    by_columns.gram(three, four)
    ColumnView(by_columns, np.arange(1, 9)).gram(three, three)
    assert not asked
    by_columns.gram(four, four)
    by_columns.gram(three, three, np.ones(20))
    by_rows.gram(three, three)
    assert asked == [4, 3, 3]
