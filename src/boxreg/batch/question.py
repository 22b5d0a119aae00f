"""What is asked of `solve_many`, checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .. import validate
from ..arrays import Array, Index, Mask
from ..designs import Design
from ..devices import host
from ..losses import LOSSES, Loss
from .layout import Layout


@dataclass(frozen=True)
class Bounds:
    """One bound for all right-hand sides, or one for each."""

    value: Any
    each: bool

    def rows(self, layout: Layout, begin: int, end: int) -> Array:
        """A single row, or one for each right-hand side of some lines."""
        if not self.each:
            return np.asarray(self.value)[None, :]
        like = Layout(layout.shape_with(self.value.shape[layout.axis]), layout.axis)
        return like.read(self.value, begin, end)[0]


@dataclass(frozen=True)
class Question:
    """A, Y and how Y is laid out; bounds; the loss; other terms of the objective."""

    design: Design
    Y: Any
    layout: Layout
    lower: Bounds
    upper: Bounds
    loss: Loss
    tol: float
    skip: bool
    terms: dict[str, Any] = field(default_factory=dict)
    levels: Array | None = None
    """What the ridge term is multiplied by for each right-hand side; None where that is 1."""

    def terms_at(self, level: float) -> dict[str, Any]:
        """The terms of a right-hand side."""
        if level == 1.0 or "ridge" not in self.terms:
            return self.terms
        return {**self.terms, "ridge": level * np.asarray(self.terms["ridge"], dtype=np.float64)}

    @property
    def plain(self) -> bool:
        """Whether the objective is the loss alone."""
        return not self.terms

    @cached_property
    def unreachable(self) -> Index:
        """Rows in which A is 0 and the loss has no background: predictions are 0 there."""
        background = np.broadcast_to(getattr(self.loss, "background", 0.0), (self.layout.rows,))
        dark = background == 0.0
        n = self.design.shape[1]
        for j in range(0, n, 512):
            dark = dark & ~np.any(self.design.columns(np.arange(j, min(j + 512, n))), axis=1)
        return np.flatnonzero(dark)

    def solvable(self, rows: Array, masked: Mask) -> Mask:
        """Which right-hand sides, one a row, have an answer: those with finite squares that the loss
        allows."""
        largest = validate.LARGEST  # comparisons with NaN are false
        good = (rows.max(axis=1, initial=0.0) <= largest) & (
            rows.min(axis=1, initial=0.0) >= -largest
        )
        if self.loss.needs_nonnegative:
            good &= ~(rows < 0.0).any(axis=1) & ~(rows[:, self.unreachable] > 0.0).any(axis=1)
        return np.asarray(host(good) & ~masked)


def asked(
    A: Any,
    Y: Any,
    lower: Any,
    upper: Any,
    loss: Any,
    tol: Any,
    axis: Any,
    nan: Any,
    terms: Any,
    ridge_scale: Any = None,
) -> Question:
    """The question, its shapes and choices checked; entries of Y are when they are read."""
    design = validate.design(A)
    m, n = design.shape
    source = validate.sliceable(Y, "Y")
    shape = tuple(int(length) for length in source.shape)
    layout = Layout(shape, validate.spectral_axis(shape, axis, m))
    skip = validate.skips_nan(nan)
    chosen = validate.choice(loss, "loss", LOSSES, Loss)
    chosen.check_rows(m)
    like = layout.shape_with(n)
    low = Bounds(*validate.bound_of_many(lower, "lower", n, like))
    high = Bounds(*validate.bound_of_many(upper, "upper", n, like))
    if not (low.each or high.each):
        validate.bounds(low.value, high.value, n)
    given = {name: value for name, value in terms.items() if not _absent(value)}
    levels = None
    if ridge_scale is not None:
        given.setdefault("ridge", 1.0)
        levels = validate.ridge_scale(ridge_scale, given["ridge"], layout.outer_shape, n)
    return Question(
        design,
        source,
        layout,
        low,
        high,
        chosen,
        validate.tolerance(tol, "tol"),
        skip,
        given,
        levels,
    )


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and value == 0)
