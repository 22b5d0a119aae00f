"""Many problems of one loss and shape, stacked: objective, gradient and curvature of all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from references.loss_functions import Jet, jet
from references.loss_problem import LossProblem

Array: TypeAlias = NDArray[Any]


class Slopes(NamedTuple):
    """Objectives, gradients, and the sizes of what was added up to get them."""

    objective: Array
    gradient: Array
    objective_size: Array
    gradient_size: Array


@dataclass(frozen=True, eq=False)
class Batch:
    """Arrays with one problem in each entry of the first axis; columns scaled by powers of two.

    x here is x of the problem times `unit`: all columns have norms in [1, 2).
    """

    loss: str
    A: Array
    y: Array
    weight: Array
    linear: Array
    quadratic: Array
    lower: Array
    upper: Array
    unit: Array
    parameters: dict[str, Array]

    @classmethod
    def stack(cls, problems: Sequence[LossProblem]) -> Batch:
        """Stack problems of the same loss and shape, in longdouble; no datum is rounded but ΓᵀΓ."""
        first = problems[0]
        m, n = first.A.shape
        A = np.stack([np.asarray(p.A, dtype=np.float64) for p in problems])
        norms = np.sqrt(np.sum(A * A, axis=1))
        unit = np.where(
            norms > 0.0, np.exp2(np.floor(np.log2(np.where(norms > 0, norms, 1.0)))), 1.0
        )
        wide = np.longdouble
        one, nothing = np.ones(m), np.zeros(n)
        quadratic = np.stack([_quadratic(p, n) for p in problems])
        return cls(
            loss=first.loss,
            A=(A / unit[:, None, :]).astype(wide),
            y=np.stack([p.y for p in problems]).astype(wide),
            weight=_stacked([p.sample_weight for p in problems], one),
            linear=_stacked([p.linear for p in problems], nothing) / unit,
            quadratic=quadratic / unit[:, :, None] / unit[:, None, :],
            lower=np.stack([p.lower for p in problems]).astype(wide) * unit,
            upper=np.stack([p.upper for p in problems]).astype(wide) * unit,
            unit=unit.astype(wide),
            parameters={
                key: np.stack([np.broadcast_to(p.parameters[key], m) for p in problems]).astype(
                    wide
                )
                for key in first.parameters
            },
        )

    def __len__(self) -> int:
        return len(self.y)

    def astype(self, kind: DTypeLike) -> Batch:
        """All arrays in another precision."""
        return self._each(lambda array: array.astype(kind))

    def take(self, rows: Array) -> Batch:
        """The problems of these numbers."""
        return self._each(lambda array: array[rows])

    def _each(self, change: Any) -> Batch:
        held = {f.name: getattr(self, f.name) for f in fields(self)}
        parameters = {key: change(value) for key, value in held.pop("parameters").items()}
        loss = held.pop("loss")
        return Batch(
            loss=loss, parameters=parameters, **{key: change(value) for key, value in held.items()}
        )

    def rows(self, x: Array) -> Jet:
        """Jets of the loss at A x."""
        return jet(self.loss, _times(self.A, x), self.y, self.parameters)

    def objective(self, x: Array) -> Array:
        """P(x); +inf outside the domain."""
        values = np.where(self.weight > 0, self.weight * self.rows(x).value, 0)
        bent = np.sum(x * _times(self.quadratic, x), axis=1) / 2
        total = np.sum(values, axis=1) + np.sum(self.linear * x, axis=1) + bent
        return np.where(np.isfinite(total), total, np.inf)

    def slopes(self, x: Array) -> Slopes:
        """P and ∇P, and bounds on both that no cancellation has made small."""
        rows = self.rows(x)
        used = self.weight > 0
        value, slope = (np.where(used, self.weight * part, 0) for part in rows[:2])
        bend = _times(self.quadratic, x)
        spread = _times(np.abs(self.quadratic), np.abs(x))
        objective = np.sum(value, axis=1) + np.sum((self.linear + bend / 2) * x, axis=1)
        gradient = _times(self.A.swapaxes(1, 2), slope) + self.linear + bend
        prediction = _times(np.abs(self.A), np.abs(x))
        size = np.sum(np.where(used, self.weight * rows.size, 0), axis=1)
        size += np.sum(np.abs(slope) * (prediction + np.abs(self.y)), axis=1)
        curvature = np.where(used, self.weight * rows.curvature, 0)
        span = prediction + np.abs(self.y)
        reach = np.abs(slope) + np.where(span > 0, curvature * span, 0)
        return Slopes(
            objective,
            gradient,
            size + np.sum((np.abs(self.linear) + spread) * np.abs(x), axis=1),
            _times(np.abs(self.A).swapaxes(1, 2), reach) + np.abs(self.linear) + spread,
        )

    def hessian(self, x: Array) -> Array:
        """∇²P(x), in the precision of the batch."""
        curvature = np.where(self.weight > 0, self.weight * self.rows(x).curvature, 0)
        curvature = np.minimum(curvature, 1e100)  # infinite where a power has its edge
        return (self.A * curvature[:, :, None]).swapaxes(1, 2) @ self.A + self.quadratic


def _times(matrices: Array, vectors: Array) -> Array:
    """One matrix-vector product for each problem."""
    return (matrices @ vectors[:, :, None])[:, :, 0]


def _stacked(given: Sequence[Array | None], default: Array) -> Array:
    rows = [default if entry is None else entry for entry in given]
    return np.stack(rows).astype(np.longdouble)


def _quadratic(problem: LossProblem, n: int) -> Array:
    """μ I or ΓᵀΓ."""
    ridge = np.asarray(problem.ridge, dtype=np.longdouble)
    return ridge * np.eye(n) if ridge.ndim == 0 else ridge.T @ ridge
