"""What the tests of dask and xarray share."""

from __future__ import annotations

from typing import Any

import numpy as np

from boxreg.batch.layout import BLOCK

NUMBERS = ("gap", "objective", "scale", "target_gap", "status", "support", "repaired", "proved")
COUNT = 5 * BLOCK + 40


def generator(*seed: int) -> np.random.Generator:
    return np.random.default_rng([20_261, *seed])


def problem(m: int = 14, n: int = 9, count: int = COUNT) -> tuple[np.ndarray, np.ndarray]:
    rng = generator(1)
    A = np.abs(rng.standard_normal((m, n)))
    return A, A @ np.abs(rng.standard_normal((n, count))) + rng.standard_normal((m, count))


def same(found: Any, wanted: Any) -> bool:
    return all(
        np.array_equal(getattr(found, name), getattr(wanted, name), equal_nan=True)
        for name in ("x", *NUMBERS)
    )


def image(lazy: bool) -> Any:
    import xarray

    rng = generator(6)
    found = xarray.DataArray(
        np.abs(rng.standard_normal((10, 12, 14))),
        dims=("row", "column", "band"),
        coords={
            "row": np.arange(10) * 2.0,
            "band": np.linspace(0.4, 2.5, 14),
            "width": ("band", np.ones(14)),
            "height": (("row", "column"), rng.random((10, 12))),
            "date": 5,
        },
        name="radiance",
    )
    return found.chunk({"row": 5, "band": 7}) if lazy else found
