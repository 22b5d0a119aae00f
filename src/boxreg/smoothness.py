"""How fast the derivatives of a loss may change, row by row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array
from .losses.base import Loss


@dataclass(frozen=True)
class Smoothness:
    """L_i with |f'(p; y_i) - f'(q; y_i)| <= L_i |p - q|.

    The dual is then 1/L_i-strongly concave in theta_i.
    """

    largest: float
    """max_i L_i; inf where some row has a local constant only."""
    rows: Array | None = None
    """All L_i; None where they are equal."""

    @classmethod
    def of(cls, loss: Loss, target: Array) -> Smoothness:
        """That of a loss at its targets."""
        return cls.made(loss.smoothness(target))

    @classmethod
    def made(cls, rows: Array) -> Smoothness:
        """From all L_i."""
        if not len(rows):
            return cls(1.0)
        largest = float(np.max(rows))
        return cls(largest) if float(np.min(rows)) == largest else cls(largest, rows)

    @property
    def known(self) -> bool:
        """Whether every row has a constant that holds everywhere."""
        return bool(np.isfinite(self.largest))

    def times(self, v: Array) -> Array:
        """L_i v_i."""
        if self.rows is None:
            return v if self.largest == 1.0 else self.largest * v
        return self.rows * v

    def root_times(self, v: Array) -> Array:
        """√L_i v_i."""
        if self.rows is None:
            return v if self.largest == 1.0 else np.sqrt(self.largest) * v
        return np.sqrt(self.rows) * v

    def over_root(self, v: Array) -> Array:
        """v_i / √L_i."""
        if self.rows is None:
            return v if self.largest == 1.0 else v / np.sqrt(self.largest)
        return v / np.sqrt(self.rows)
