"""A journal tells one loss from another by its values, in this process and in later ones."""

from __future__ import annotations

import subprocess
import sys
from math import sqrt
from pathlib import Path

import numpy as np

import boxreg
from boxreg import losses
from boxreg.batch.fingerprint import fingerprint
from boxreg.batch.question import asked
from many_problems import generator

INF = np.inf


def pseudo_huber(delta: float) -> losses.Loss:
    """√(δ² + r²) δ - δ²."""
    return boxreg.custom_loss(
        value=lambda p, y: delta * (p - y) ** 2 / (delta + sqrt(delta**2 + (p - y) ** 2)),
        derivative=lambda p, y: delta * (p - y) / sqrt(delta**2 + (p - y) ** 2),
        conjugate=lambda v, y: v * y + delta * v * v / (delta + sqrt((delta - v) * (delta + v))),
        alpha=1.0,
        domain=(-delta, delta),
    )


def one_entry_more(k: int) -> np.ndarray:
    return np.where(np.arange(3000) == k, 2.0, 1.0)


ALIKE = [
    (
        lambda: losses.KullbackLeibler(one_entry_more(-1)),
        lambda: losses.KullbackLeibler(one_entry_more(1500)),
    ),
    (lambda: losses.KullbackLeibler(1.0), lambda: losses.KullbackLeibler(2.0)),
    (lambda: losses.BetaDivergence(1.5), lambda: losses.BetaDivergence(1.25)),
    (lambda: losses.Huber(1.0), lambda: losses.Huber(2.0)),
    (losses.LeastSquares, losses.SquaredHinge),
    (lambda: pseudo_huber(1.0), lambda: pseudo_huber(2.0)),
]


def told_of(loss: losses.Loss) -> str:
    rng = generator(15)
    A, Y = np.abs(rng.standard_normal((3000, 2))), np.ones((3000, 2))
    return fingerprint(asked(A, Y, 0.0, INF, loss, 1e-8, 0, "raise", {}))


def test_a_journal_knows_losses_by_value() -> None:
    """To the last entry of a background, which NumPy does not print; not by where they lie."""
    for one, other in ALIKE:
        kept = one(), one(), other()
        first, again, second = map(told_of, kept)
        assert first == again
        assert first != second


def test_a_later_process_knows_the_loss_again() -> None:
    code = "from test_fingerprint import ALIKE, told_of; print(*(told_of(a()) for a, _ in ALIKE))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [told_of(one()) for one, _ in ALIKE]
