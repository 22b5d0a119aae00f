"""Linear dependence in rational arithmetic, against cases that can be checked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from boxreg.exact_dependence import _combines, in_span

BASIS = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]])


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([1.0, 2.0, 0.0], True),
        ([-3.0, -6.0, 0.0], True),
        ([1.0, 3.0, 3.0], True),  # the sum
        ([0.5, 1.25, 0.75], True),  # ½ and ¼
        ([0.0, 0.0, 0.0], True),
        ([1.0, 3.0, np.nextafter(3.0, 4.0)], False),
        ([1.0 / 3.0, 2.0 / 3.0, 0.0], True),  # the doubles next to ⅓ and ⅔ are 1 : 2
        ([0.1, 0.2, 0.0], True),
        ([0.3, 0.6, 0.0], True),
        ([0.1, 0.1 + 0.2, 0.0], False),  # 0.1 + 0.2 is not 0.3, nor three times 0.1
        ([0.0, 0.0, 1.0], False),
        ([1e-200, 2e-200, 0.0], False),  # the double next to 2e-200 is not twice that of 1e-200 …
        ([2.0**-600, 2.0**-599, 0.0], True),  # … but this one is
    ],
)
def test_by_hand(column: list[float], expected: bool) -> None:
    given = np.array(column)[:, None]
    if column[0] == 1e-200:
        expected = bool(given[1, 0] == 2.0 * given[0, 0])
    assert in_span(BASIS, given) is expected


def test_all_columns_must_combine() -> None:
    """One that does not is enough; none at all is none too many."""
    good, bad = np.array([1.0, 3.0, 3.0]), np.array([0.0, 0.0, 1.0])
    assert in_span(BASIS, np.column_stack([good, 2.0 * good]))
    assert not in_span(BASIS, np.column_stack([good, bad]))
    assert in_span(BASIS, np.zeros((3, 0)))
    assert in_span(np.zeros((3, 0)), np.zeros((3, 1)))
    assert not in_span(np.zeros((3, 0)), bad[:, None])


@pytest.mark.parametrize("seed", range(20))
def test_integer_combinations(seed: int) -> None:
    """Rational coefficients, of integer columns of any scale, are found; a changed entry is seen."""
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(4, 12)), int(rng.integers(1, 4))
    basis = rng.integers(-9, 10, (m, k)) * 2.0 ** rng.integers(-10, 10, k)
    if np.linalg.matrix_rank(basis / np.maximum(np.abs(basis).max(axis=0), 1e-300)) < k:
        pytest.skip("drawn dependent")
    column = basis[:, :1] * 3.0 / 4.0 - basis[:, -1:] * 2.0
    assert in_span(basis, column)
    column[0] = np.nextafter(column[0], np.inf)
    assert not in_span(basis, column) or m == k


def test_what_would_take_too_long_is_not_proved() -> None:
    """A budget for the number of rows and columns, not an error."""
    rng = np.random.default_rng(0)
    basis = rng.integers(-9, 10, (60, 50)).astype(float)
    assert not in_span(basis, basis.sum(axis=1)[:, None])
    assert in_span(basis, basis[:, :3].sum(axis=1)[:, None])


def test_a_basis_of_all_rows_has_every_column_in_its_span() -> None:
    """Forty columns of doubles: their determinant is not 0 modulo a prime, so it is not 0."""
    rng = np.random.default_rng(0)
    basis, others = rng.standard_normal((40, 40)), rng.standard_normal((40, 200))
    assert in_span(basis, others)
    basis[:, 7] = 0.5 * basis[:, 3]
    assert not in_span(basis, others)


@pytest.mark.parametrize("seed", range(10))
def test_residues_deny_nothing_that_is_true(seed: int) -> None:
    """Combinations with whole coefficients, of integers and their halves, whatever the scale."""
    rng = np.random.default_rng(seed)
    basis = rng.integers(-9, 10, size=(12, 5)) * 2.0 ** rng.integers(-40, 40, size=5)
    near = basis * 2.0 ** -np.floor(np.log2(np.abs(basis).max(axis=0)))  # sums of it are exact
    others = (near @ rng.integers(-3, 4, size=(5, 4))) * 2.0 ** rng.integers(-40, 40, size=4)
    assert in_span(basis, others)
    others[rng.integers(12), 2] += 2.0**-3 * np.abs(others[:, 2]).max() + 2.0**-60
    assert not in_span(basis, others)


def test_one_combination_is_checked_on_all_rows() -> None:
    """It fits on the rows that it was solved on, and not on the last: no residue is asked before."""
    basis = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert _combines(basis, np.array([2.0, 3.0, 5.0]))
    for off in (2.0**-40, 1.0, -5.0):
        assert not _combines(basis, np.array([2.0, 3.0, 5.0 + off]))
        assert not _combines(basis, np.array([2.0, 3.0 + off, 5.0]))
        assert not _combines(basis, np.array([2.0 + off, 3.0, 5.0]))
