"""What tells one run over many right-hand sides from another, in this process or a later one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..files.digest import digest as digest_of_values
from ..losses.base import Loss
from ..losses.custom import CustomLoss
from ..version import __version__
from .question import Question

_AROUND = np.concatenate([-np.logspace(3, -3, 31), [0.0], np.logspace(-3, 3, 31)])
"""Predictions and targets at which a user's own loss is tried."""


def fingerprint(question: Question) -> str:
    """A digest of A, the bounds that all share, the loss, other terms, and the shape of Y.

    Entries of Y, and bounds of single right-hand sides, are compared where answers are done (`journal`).
    """
    digest = hashlib.sha256()
    layout = question.layout
    told = (__version__, layout.shape, layout.axis, question.tol, question.skip)
    digest.update(repr(told).encode())
    for part in (*_parameters(question.loss), *_behaviour(question.loss)):
        digest.update(part)
    for name, value in sorted(question.terms.items()):
        term = value if hasattr(value, "tocsc") else np.atleast_1d(value)
        digest.update(f"{name} {digest_of_values(term)}".encode())
    if question.levels is not None:
        digest.update(f"ridge_scale {digest_of_values(question.levels)}".encode())
    n = question.design.shape[1]
    for j in range(0, n, 512):
        digest.update(question.design.columns(np.arange(j, min(j + 512, n))).tobytes())
    for bounds in (question.lower, question.upper):
        digest.update(b"each" if bounds.each else np.asarray(bounds.value).tobytes())
    return digest.hexdigest()


def _parameters(holder: Any) -> Iterator[bytes]:
    """What an object holds, by value: arrays to their last entry, numbers, names, objects within.

    Never the address of anything: that differs from process to process, and an address may be used
    again. Functions have no value to tell.
    """
    yield type(holder).__qualname__.encode()
    for name, value in sorted(vars(holder).items()):
        if isinstance(value, np.ndarray):
            yield f"{name} {value.dtype} {value.shape}".encode()
            yield value.tobytes()
        elif hasattr(value, "__dict__") and not callable(value):
            yield from _parameters(value)
        elif not callable(value):
            yield f"{name} {value!r}".encode()


def _behaviour(loss: Loss) -> Iterator[bytes]:
    """f and f' on a grid, of a loss made of functions, which has little else to show."""
    if not isinstance(loss, CustomLoss):
        return
    target, prediction = (grid.ravel() for grid in np.meshgrid(_AROUND, _AROUND))
    yield loss.values(prediction, target).tobytes()
    yield loss.derivatives(prediction, target).tobytes()
