"""Many right-hand sides on a CUDA device, real or simulated: what `test_device.py` runs.

python tests/on_a_card.py simulated     numba's simulator, small problems
python tests/on_a_card.py real          the GPU of this machine, larger ones, CuPy and PyTorch
"""

from __future__ import annotations

import os
import sys
from typing import Any

if __name__ == "__main__" and "simulated" in sys.argv:
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

import numpy as np
import pytest

import boxreg

INF = np.inf
SIMULATED = {"rows": 9, "columns": 6, "count": 3, "wide": (5, 8)}
REAL = {"rows": 60, "columns": 40, "count": 700, "wide": (30, 90)}


def data(seed: int, m: int, n: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([61, seed])
    A = np.abs(rng.standard_normal((m, n)))
    x = np.maximum(rng.standard_normal((n, count)), 0.0)
    return A, A @ x + 0.1 * rng.standard_normal((m, count))


def boxes(n: int, count: int) -> dict[str, tuple[Any, Any]]:
    rng = np.random.default_rng(62)
    third = np.arange(n) % 3 == 0
    return {
        "nonnegative": (0.0, INF),
        "unit": (0.0, 1.0),
        "signed": (-0.3, 0.4),
        "above_zero": (0.2, INF),
        "upper_only": (-INF, 0.5),
        "mixed": (np.where(third, -INF, 0.0), np.where(third, 0.7, INF)),
        "fixed": (np.where(third, 0.25, 0.0), np.where(third, 0.25, INF)),
        "free": (np.where(np.arange(n) == 1, -INF, 0.0), INF),
        "each": (0.0, 0.1 + rng.random((n, count))),
    }


def agree(A: np.ndarray, Y: np.ndarray, lower: Any, upper: Any, **options: Any) -> None:
    """The same objectives as on the CPU, every one certified, and the certificates hold."""
    there = boxreg.solve_many(A, Y, lower, upper, device="cuda", return_dual=True, **options)
    here = boxreg.solve_many(A, Y, lower, upper)
    assert there.success, there
    assert not there.repaired.any(), there
    assert np.all(there.x >= lower if np.ndim(lower) != 1 else there.x >= lower[:, None])
    values = [0.5 * ((Y - A @ r.x) ** 2).sum(axis=0) for r in (there, here)]
    assert np.all(np.abs(values[0] - values[1]) <= there.gap + here.gap + 1e-13 * here.scale)
    assert np.all(there.relative_gap <= 1e-10)
    assert there.proved.all()
    np.testing.assert_allclose(there.objective, values[0], rtol=1e-9, atol=1e-13)
    assert there.verify()


def every_box(sizes: dict[str, Any], some: str) -> None:
    m, n, count = sizes["rows"], sizes["columns"], sizes["count"]
    A, Y = data(1, m, n, count)
    for name, (lower, upper) in boxes(n, count).items():
        if some in ("all", name):
            agree(A, Y, lower, upper)


def more_columns_than_rows(sizes: dict[str, Any]) -> None:
    A, Y = data(2, *sizes["wide"], sizes["count"])
    agree(A, Y, 0.0, INF)
    agree(A, Y, 0.0, 1.0, precision="float32")


def little_room(sizes: dict[str, Any]) -> None:
    """Free variables that shared memory has no room for are dealt with in the card's own."""
    from boxreg.settings import using

    with using(device_free=2):
        A, Y = data(3, sizes["rows"], sizes["columns"], sizes["count"])
        agree(A, Y, 0.0, INF)
        agree(A, Y, 0.0, INF, warm_start=False)


def twins_and_zeros(sizes: dict[str, Any]) -> None:
    """Columns that depend on others, and columns of zeros."""
    A, Y = data(4, sizes["rows"], sizes["columns"], sizes["count"])
    A = np.hstack([A[:, :3], A[:, :2], np.zeros((len(A), 1))])
    agree(A, Y, 0.0, INF)


def skipped(sizes: dict[str, Any]) -> None:
    A, Y = data(5, sizes["rows"], sizes["columns"], sizes["count"])
    Y[2, 1] = np.nan
    result = boxreg.solve_many(A, Y, device="cuda", nan="skip")
    assert np.isnan(result.x[:, 1]).all()
    assert np.isnan(result.gap[1])
    assert result.skipped.sum() == 1
    assert result.success
    assert result.verify()


def no_direction(sizes: dict[str, Any]) -> None:
    """Where kernels prove nothing, the general solver does."""
    m, n = sizes["wide"]
    A, Y = data(8, m, n, 2)
    A[:, 0] = -A[:, 1]
    result = boxreg.solve_many(A, Y, device="cuda")
    assert result.repaired.all()
    assert result.verify()


def unproved(sizes: dict[str, Any]) -> None:
    """Where nobody can prove the gap asked for, answers have a status, a support and a gap."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((sizes["rows"], sizes["columns"]))
    Y = rng.standard_normal((sizes["rows"], 4))
    result = boxreg.solve_many(A, Y, 0.0, 2.0**40, device="cuda")
    assert not result.skipped.any()
    assert np.array_equal(result.support, np.count_nonzero(result.x, axis=0))
    assert np.isfinite(result.gap).all()
    assert result.verify().checked.sum() == 4


def refused(sizes: dict[str, Any]) -> None:
    """What kernels do not solve is told, and what does."""
    A, Y = data(10, sizes["rows"], sizes["columns"], sizes["count"])
    each = np.where(np.arange(sizes["count"]) == 0, -INF, 0.0) * np.ones((sizes["columns"], 1))
    cases = {
        "not loss 'huber'": {"loss": "huber"},
        "without ridge": {"ridge": 1.0},
        "same kinds of bounds": {"lower": each},
    }
    for words, options in cases.items():
        with pytest.raises(ValueError, match=f"{words}.*use device='cpu'"):
            boxreg.solve_many(A, Y, device="cuda", **options)


def arrays_that_live_there(sizes: dict[str, Any]) -> None:
    """CuPy and PyTorch in, the same out; an image; a card's own memory as target."""
    import cupy
    import torch

    m, n, count = sizes["rows"], sizes["columns"], sizes["count"]
    A, Y = data(6, m, n, count)
    here = boxreg.solve_many(A, Y)
    on_card = boxreg.solve_many(cupy.asarray(A), cupy.asarray(Y), return_dual=True)
    assert isinstance(on_card.x, cupy.ndarray)
    assert isinstance(on_card.theta, cupy.ndarray)
    np.testing.assert_allclose(on_card.x.get(), here.x, atol=1e-9)
    assert on_card.verify()
    torched = boxreg.solve_many(A, torch.asarray(Y, device="cuda"))
    assert isinstance(torched.x, torch.Tensor)
    assert torched.x.is_cuda
    np.testing.assert_allclose(torched.x.cpu().numpy(), here.x, atol=1e-9)
    image = cupy.asarray(Y.T.reshape(10, count // 10, m))
    result = boxreg.solve_many(A, image, axis=-1, out=(out := cupy.empty((10, count // 10, n))))
    assert result.x is out
    np.testing.assert_allclose(out.get().reshape(count, n).T, here.x, atol=1e-9)
    Y[0, 3] = np.inf
    masked = boxreg.solve_many(A, cupy.asarray(Y), nan="skip")
    assert cupy.isnan(masked.x[:, 3]).all()
    assert masked.skipped.sum() == 1


def arrays_of_jax(sizes: dict[str, Any]) -> None:
    """In double precision, which JAX has to be told."""
    import jax

    jax.config.update("jax_enable_x64", True)
    A, Y = data(9, sizes["rows"], sizes["columns"], sizes["count"])
    result = boxreg.solve_many(A, jax.numpy.asarray(Y))
    assert isinstance(result.x, jax.Array)
    np.testing.assert_allclose(np.asarray(result.x), boxreg.solve_many(A, Y).x, atol=1e-9)


def one_large_matrix() -> None:
    """`solve` with A on the card: first-order solvers, the default, and losses."""
    import cupy
    import torch

    A, y = data(7, 800, 1500, 1)
    for array in (cupy.asarray(A), torch.asarray(A, device="cuda"), cupy.asarray(A, dtype="f4")):
        wide = np.asarray(boxreg.devices.host(array), dtype=float)
        for solver in ("projected_gradient", "chambolle_pock", "auto"):
            result = boxreg.solve(array, cupy.asarray(y[:, 0]), solver=solver)
            assert result.success
            assert boxreg.verify(wide, y[:, 0], result.x, result.theta, gap=result.gap)
    assert boxreg.solve(cupy.asarray(A), y[:, 0], loss="huber").success


CHECKS = {
    check.__name__: check
    for check in (
        more_columns_than_rows,
        little_room,
        twins_and_zeros,
        skipped,
        no_direction,
        unproved,
        refused,
    )
}

if __name__ == "__main__":
    kind, chosen = sys.argv[1], sys.argv[2:]
    sizes = SIMULATED if kind == "simulated" else REAL
    for name in chosen or ["all", *CHECKS]:
        if name in CHECKS:
            CHECKS[name](sizes)
        else:
            every_box(sizes, name)
        print(name, "holds")
    if kind == "real":
        arrays_that_live_there(sizes)
        arrays_of_jax(sizes)
        one_large_matrix()
        print("arrays on the card hold")
