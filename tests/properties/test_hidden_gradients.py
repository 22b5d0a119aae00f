"""What rounding may hide: by hand."""

from __future__ import annotations

import numpy as np
import pytest

from boxreg.hidden_gradients import hidden_gain

FREE = np.array([[2.0], [0.0], [0.0]])


@pytest.mark.parametrize("off", [1.0, 1e-6, 1e-12])
def test_a_gain_is_the_square_of_slope_over_distance(off: float) -> None:
    """Columns off the span of the free ones by `off` and by twice that; the larger gain counts."""
    hidden = np.array([[1.0, 1.0], [off, 0.0], [0.0, 2.0 * off]])
    gain = hidden_gain(FREE, hidden, np.array([1e-3, 3e-3]))
    assert gain == pytest.approx(0.5 * (3e-3 / (2.0 * off)) ** 2, rel=1e-3)


def test_copies_and_combinations_have_nothing_to_gain() -> None:
    rng = np.random.default_rng(1)
    free = rng.standard_normal((30, 4))
    hidden = np.column_stack([free[:, 0], -3.0 * free[:, 1], free @ rng.standard_normal(4)])
    assert hidden_gain(free, hidden, np.ones(3)) == 0.0


def test_the_span_of_ill_conditioned_columns_is_not_known_so_well() -> None:
    """Two that differ by 1e-3: what is off by 1e-13 may be in their span."""
    free = np.array([[2.0, 2.0], [0.0, 2e-3], [0.0, 0.0]])
    hidden = np.array([[1.0], [0.0], [1e-13]])
    assert hidden_gain(FREE, hidden, np.ones(1)) > 0.0
    assert hidden_gain(free, hidden, np.ones(1)) == 0.0


def test_columns_that_depend_exactly_have_no_span_to_be_off() -> None:
    """Their condition is infinite, which no division may be needed to tell."""
    free = np.array([[31.875, 2.65625, 680.0], [217.5, 18.125, 4640.0]])
    assert hidden_gain(free, np.array([[0.0415], [0.2832]]), np.array([2.3e-12])) == 0.0


def test_without_free_columns_distances_are_norms() -> None:
    assert hidden_gain(np.zeros((3, 0)), FREE, np.ones(1)) == pytest.approx(0.125)
    assert hidden_gain(FREE, np.zeros((3, 0)), np.ones(0)) == 0.0
