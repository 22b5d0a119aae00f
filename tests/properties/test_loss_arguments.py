"""Parameters and targets of losses: what is taken, how, and what is refused; values by hand."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from boxreg.losses import (
    LOSSES,
    BetaDivergence,
    Huber,
    KullbackLeibler,
    LogCosh,
    Loss,
    Weighted,
)

# name: (p, y, f, f', v, f*(v)), worked out by hand
BY_HAND = {
    "least_squares": (3.0, 1.0, 2.0, 2.0, 2.0, 4.0),
    "huber": (3.0, 1.0, 1.5, 1.0, -0.5, -0.375),
    "logistic": (0.0, -1.0, log(2.0), 0.5, 0.5, -log(2.0)),
    "squared_hinge": (-1.0, 1.0, 2.0, -2.0, -2.0, 0.0),
    "log_cosh": (log(2.0), 0.0, log(1.25), 0.6, 1.0, log(2.0)),
    "kullback_leibler": (2.0, 1.0, 1.0 - log(2.0), 0.5, 0.5, log(2.0)),
    "beta_divergence": (4.0, 1.0, 8.0 / 3.0, 1.5, 1.5, 10.0 / 3.0),
}


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_by_hand(name: str) -> None:
    p, y, value, slope, v, conjugate = (np.array([t]) for t in BY_HAND[name])
    loss = LOSSES[name]()
    np.testing.assert_allclose(loss.values(p, y), value, rtol=1e-14)
    np.testing.assert_allclose(loss.derivatives(p, y), slope, rtol=1e-14)
    np.testing.assert_allclose(loss.conjugates(v, y), conjugate, rtol=1e-14, atol=1e-15)
    np.testing.assert_array_equal(loss.accept(y), y)
    loss.check_rows(7)


@pytest.mark.parametrize("name", ["logistic", "squared_hinge"])
def test_labels(name: str) -> None:
    loss = LOSSES[name]()
    np.testing.assert_array_equal(loss.accept(np.array([0.0, 1.0, 1.0])), [-1.0, 1.0, 1.0])
    np.testing.assert_array_equal(loss.accept(np.array([-1.0, 1.0])), [-1.0, 1.0])
    np.testing.assert_array_equal(loss.accept(np.array([0.0, 0.0])), [-1.0, -1.0])
    for bad in ([0.0, 2.0], [-1.0, 0.0], [np.nan], [0.5, 1.0]):
        with pytest.raises(ValueError, match="y: expected labels -1 and 1, or 0 and 1; got"):
            loss.accept(np.array(bad))


@pytest.mark.parametrize("name", ["kullback_leibler", "beta_divergence"])
def test_counts(name: str) -> None:
    loss = LOSSES[name]()
    assert loss.needs_nonnegative
    for bad in ([1.0, -1e-9], [np.nan], [np.inf]):
        with pytest.raises(ValueError, match=r"y: expected entries >= 0; got .* at position"):
            loss.accept(np.array(bad))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Huber(0.0), "delta: expected a finite number > 0, got 0.0"),
        (lambda: Huber(np.inf), "delta: expected a finite number > 0, got inf"),
        (lambda: LogCosh(-1.0), "scale: expected a finite number > 0, got -1.0"),
        (lambda: BetaDivergence(2.0), "beta: expected a number between 1 and 2.*least_squares"),
        (lambda: BetaDivergence(1.0), "beta: expected a number between 1 and 2.*kullback_leibler"),
        (lambda: BetaDivergence(1.5, -1.0), "background: expected finite entries >= 0"),
        (lambda: KullbackLeibler(-1.0), "background: expected finite entries >= 0"),
        (lambda: KullbackLeibler([1.0, np.nan]), "background: expected finite entries >= 0"),
        (lambda: KullbackLeibler([[1.0]]), "background: expected a number or a vector, got 2"),
    ],
)
def test_bad_parameters(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("kind", [KullbackLeibler, BetaDivergence])
def test_background_of_rows(kind: type[Loss]) -> None:
    """A vector of backgrounds is one for each row, and follows the rows that are kept."""
    b = np.array([0.0, 0.5, 2.0])
    loss = kind(background=b)  # type: ignore[call-arg]
    p, y, theta = np.array([1.0, 2.0, 3.0]), np.array([2.0, 0.0, 1.0]), np.array([0.1, -1.0, -0.2])
    kept = np.array([2, 0])
    weighted = Weighted(loss, np.array([1.0, 2.0, 4.0]))
    for whole in (loss, weighted):
        part = whole.rows(kept)
        for name in ("values", "derivatives", "conjugates", "curvatures"):
            full = getattr(whole, name)(p, y)[kept] if name != "conjugates" else None
            full = whole.conjugates(-theta, y)[kept] if full is None else full
            arguments = (-theta[kept] if name == "conjugates" else p[kept], y[kept])
            np.testing.assert_array_equal(getattr(part, name)(*arguments), full)
        np.testing.assert_array_equal(
            part.fenchel_young_terms(p[kept], theta[kept], y[kept]),
            whole.fenchel_young_terms(p, theta, y)[kept],
        )
        whole.check_rows(3)
        with pytest.raises(ValueError, match="one entry for each of the 4 rows of A, got 3"):
            whole.check_rows(4)
    b[0] = 7.0  # a copy was taken
    assert loss.background[0] == 0.0  # type: ignore[attr-defined]


def test_linear_rows() -> None:
    """Kullback–Leibler is linear where y = 0, with slope 1 and f* = -b v up to v = 1."""
    loss, y = KullbackLeibler(0.5), np.array([0.0, 3.0])
    np.testing.assert_array_equal(loss.linear_rows(y), [True, False])
    assert loss.linear_rows(np.array([1.0])) is None
    assert Weighted(loss, np.ones(2)).linear_rows(y) is not None
    np.testing.assert_array_equal(loss.derivatives(np.zeros(2), y), [1.0, -5.0])
    np.testing.assert_array_equal(loss.conjugates(np.ones(2), y), [-0.5, np.inf])
    np.testing.assert_array_equal(
        loss.fenchel_young_terms(np.ones(2), -np.ones(2), y), [0.0, np.inf]
    )


def test_weights_of_the_wrong_length() -> None:
    with pytest.raises(
        ValueError, match="sample_weight: expected one entry for each of the 3 rows"
    ):
        Weighted(LOSSES["huber"](), np.ones(2)).check_rows(3)
