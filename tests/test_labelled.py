"""Right-hand sides in DataArrays of xarray: names and coordinates are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import boxreg
from boxreg import solve_many
from cluster_problems import NUMBERS, image, problem

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
xarray = pytest.importorskip("xarray")


@pytest.mark.parametrize("lazy", [False, True])
def test_names_and_coordinates(lazy: bool) -> None:
    A, Y = problem()[0], image(lazy)
    result = solve_many(A, Y, axis="band", return_dual=True)
    wanted = solve_many(A, image(False).values, axis=2)
    assert isinstance(result, boxreg.LabelledResult)
    assert result.x.dims == ("row", "column", "component")
    assert set(result.x.coords) == {"row", "height", "date"}
    assert result.gap.dims == ("row", "column")
    assert set(result.gap.coords) == {"row", "height", "date"}
    assert set(result.theta.coords) == set(Y.coords)
    assert result.x.chunks == (((5, 5), (12,), (9,)) if lazy else None)
    assert "row: 10, column: 12, component: 9" in repr(result)
    data = result.to_dataset()
    assert set(data.data_vars) == {"x", *NUMBERS, "theta"}
    found = result.compute()
    assert isinstance(found.x.data, np.ndarray)
    assert np.allclose(found.x, wanted.x, rtol=0.0, atol=1e-12)
    assert np.array_equal(found.x.height, Y.height)
    assert isinstance(found.x.height.data, np.ndarray)
    for name in (*NUMBERS, "relative_gap", "gap_over_objective", "skipped"):
        assert np.allclose(getattr(found, name), getattr(wanted, name), rtol=0.0, atol=1e-12)
        assert getattr(found, name).dims == ("row", "column")
    assert found.verify()
    assert np.array_equal(data.x.compute(), found.x)
    assert found.x.sel(row=4.0).shape == (12, 9)


def test_a_library_with_names() -> None:
    names = [f"mineral {k}" for k in range(9)]
    A, Y = problem()[0], image(True)
    library = xarray.DataArray(
        A.T, dims=("mineral", "band"), coords={"mineral": names, "band": Y.band}
    )
    result = solve_many(library, Y)
    assert result.x.dims == ("row", "column", "mineral")
    assert result.x.mineral.values.tolist() == names
    wanted = solve_many(A, image(False), axis=-1)
    assert np.allclose(result.x, wanted.x, rtol=0.0, atol=1e-12)
    other = solve_many(library, Y, dim="endmember", axis="band")
    assert other.x.endmember.values.tolist() == names
    most = xarray.DataArray(np.full(9, 0.1), dims="mineral")
    each = xarray.DataArray(np.full((9, 10, 12), 0.1), dims=("mineral", "row", "column"))
    assert np.array_equal(
        solve_many(library, Y, 0.0, most).x, solve_many(library, Y, 0.0, each).x.values
    )
    kept = result.persist()
    (computed,) = dask.compute(kept)
    assert np.array_equal(computed.x, result.x.compute())
    assert computed.statistics.shape == (2, 1)
    with pytest.raises(ValueError, match="A: its coordinate 'band' differs from that of Y"):
        solve_many(library.assign_coords(band=np.arange(14)), Y)
    with pytest.raises(
        ValueError, match="A: expected 2 dimensions, 'band' and one for the columns"
    ):
        solve_many(library.rename(band="wavelength"), Y, axis="band")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"axis": "wavelength"}, "axis: expected a dimension of Y, one of .*'band'"),
        ({"axis": 3}, "axis: expected a dimension of Y"),
        ({"axis": "row"}, r"Y: expected 14 entries \(rows of A\) along axis 0"),
        ({"dim": "row"}, "dim: Y has a dimension 'row' already"),
        ({"sparse": True}, "sparse: cannot be combined with a DataArray"),
        ({"upper": xarray.DataArray(np.ones(9), dims="x")}, "upper: expected no dimension"),
    ],
)
def test_bad_names(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        solve_many(**{"A": problem()[0], "Y": image(False), "axis": "band", **given})
