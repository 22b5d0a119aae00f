"""Maps of materials and of the residual, from the coefficients of an image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..batch.layout import Layout
from .scene import Scene

_PIXELS = 4096
"""Pixels that are taken at a time."""


@dataclass(frozen=True)
class Maps:
    """Sums of the coefficients of each material (materials × height × width), and ‖y - Ax‖ / ‖y‖."""

    names: tuple[str, ...]
    spectra: tuple[int, ...]
    """Columns of the library that are of each material."""
    abundance: Array
    residual: Array

    def strongest(self, count: int) -> list[int]:
        """The materials with the largest means, largest first."""
        return [int(k) for k in np.argsort(-self.means, kind="stable")[:count]]

    @property
    def means(self) -> Array:
        """Of each material, over the pixels that were solved."""
        solved = np.isfinite(self.residual)
        if not solved.any():
            return np.zeros(len(self.names))
        return np.asarray(self.abundance[:, solved].mean(axis=1))


def maps_of(scene: Scene, x: Any) -> Maps:
    """Read coefficients and image together, some pixels at a time; NaN where a pixel was skipped."""
    names = tuple(dict.fromkeys(scene.names))
    member = np.array([names.index(name) for name in scene.names], dtype=np.intp)
    A = scene.matrix
    image = Layout(tuple(scene.image.shape), scene.axis)
    answers = Layout(image.shape_with(A.shape[1]), scene.axis)
    to_material = np.zeros((A.shape[1], len(names)))
    to_material[np.arange(A.shape[1]), member] = 1.0
    sums, residual = np.empty((image.count, len(names))), np.empty(image.count)
    for begin, end in image.chunks(_PIXELS):
        some = slice(begin * image.width, end * image.width)
        y, coefficients = image.read(scene.image, begin, end)[0], answers.read(x, begin, end)[0]
        sums[some] = coefficients @ to_material
        residual[some] = _relative(np.asarray(A @ coefficients.T).T, y)
    shape = image.outer_shape
    return Maps(
        names,
        tuple(int(count) for count in np.bincount(member, minlength=len(names))),
        np.ascontiguousarray(sums.T).reshape(len(names), *shape),
        residual.reshape(shape),
    )


def _relative(fitted: Array, y: Array) -> Array:
    """‖y - fitted‖ / ‖y‖ of each row; 0 where y = 0 is fitted by 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        away, size = np.linalg.norm(y - fitted, axis=1), np.linalg.norm(y, axis=1)
        return np.where((away == 0.0) & (size == 0.0), 0.0, away / size)
