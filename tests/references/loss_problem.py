"""The data of one test problem with any loss, any bounds and the additional terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Parameter: TypeAlias = float | Array


@dataclass(frozen=True, eq=False)
class LossProblem:
    """min sum_i ω_i f([A x]_i; y_i) + cᵀx + ½ μ |x|² (or ½ |Γ x|²) subject to lower <= x <= upper.

    `parameters` are those of the loss by name. `ridge` is μ, or the matrix Γ.
    """

    name: str
    loss: str
    A: Array
    y: Array
    lower: Array
    upper: Array
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    sample_weight: Array | None = None
    linear: Array | None = None
    ridge: Parameter = 0.0

    def __repr__(self) -> str:
        m, n = self.A.shape
        terms = [self.loss, *(f"{k}={v}" for k, v in self.parameters.items())]
        terms += [k for k in ("sample_weight", "linear") if getattr(self, k) is not None]
        if np.any(self.ridge):
            terms.append("tikhonov" if np.ndim(self.ridge) else f"ridge={self.ridge:.3g}")
        return f"LossProblem({self.name!r}, {m} x {n}, {', '.join(terms)})"

    @property
    def data(self) -> tuple[Array, Array, Array, Array]:
        """(A, y, lower, upper)."""
        return self.A, self.y, self.lower, self.upper

    @property
    def terms(self) -> dict[str, Any]:
        """The keyword arguments that say all but the loss; those at their default left out."""
        said = {"sample_weight": self.sample_weight, "linear": self.linear}
        ridge = {"ridge": self.ridge} if np.any(self.ridge) else {}
        return {**{k: v for k, v in said.items() if v is not None}, **ridge}
