"""The figures of an unmixing, for programs and for the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..batch import BatchResult
from ..version import __version__
from .maps import Maps
from .scene import Scene


def summary_of(scene: Scene, result: BatchResult, maps: Maps, bounds: str) -> dict[str, Any]:
    """What was solved, what was proved, how well it fits, and every material by its mean."""
    done = ~result.unsolved
    residual = maps.residual[np.isfinite(maps.residual)]
    height, width = maps.residual.shape
    return {
        "scene": scene.title,
        "bands": result.shape[0],
        "spectra": result.shape[1],
        "materials": len(maps.names),
        "height": height,
        "width": width,
        "bounds": bounds,
        "pixels": len(result),
        "solved": int(done.sum()),
        "proved": int((result.status == 0).sum()),
        "tol": result.question.tol,
        "worst_relative_gap": _of(np.max, result.relative_gap[done]),
        "spectra_in_a_pixel_median": _of(np.median, result.support[done]),
        "residual_median": _of(np.median, residual),
        "residual_largest": _of(np.max, residual),
        "seconds": result.seconds,
        "method": result.settings.get("method", "unnamed"),
        "largest_means": [_material(maps, k) for k in maps.strongest(len(maps.names))],
        "boxreg": __version__,
    }


def _material(maps: Maps, k: int) -> dict[str, Any]:
    values = maps.abundance[k][np.isfinite(maps.residual)]
    return {
        "name": maps.names[k],
        "spectra": maps.spectra[k],
        "mean": _of(np.mean, values),
        "largest": _of(np.max, values),
        "share_of_pixels": _of(np.mean, values > 0.0),
    }


def _of(what: Any, values: Any) -> float | None:
    return float(what(values)) if values.size else None
