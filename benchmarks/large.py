"""One large dense A: `solve` with A on the host or on a GPU, first-order solvers and the default.

    python -m benchmarks.large cuda --rows 20000 --columns 40000

Non-negative A of the paper's first table, larger. Seconds on the clock, the better of two, to a relative
gap of 1e-6; with and without screening.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import boxreg


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("device", choices=("cpu", "cuda"))
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--columns", type=int, default=8_000)
    given = parser.parse_args()
    rng = np.random.default_rng(21)
    A = np.abs(rng.standard_normal((given.rows, given.columns)))
    A /= np.linalg.norm(A, axis=0)
    x = np.zeros(given.columns)
    x[rng.choice(given.columns, given.columns // 20, replace=False)] = np.abs(
        rng.standard_normal(given.columns // 20)
    )
    y = A @ x + 0.1 * rng.standard_normal(given.rows) / np.sqrt(given.rows)
    held = A
    if given.device == "cuda":
        import cupy

        held = cupy.asarray(A)
    for solver in ("projected_gradient", "chambolle_pock", "auto"):
        for screening in (True, False):
            best, result = np.inf, None
            for _ in range(2):
                begin = time.perf_counter()
                result = boxreg.solve(held, y, solver=solver, screening=screening, tol=1e-6)
                best = min(best, time.perf_counter() - begin)
            assert result is not None
            print(
                f"{given.device}  {given.rows} × {given.columns}  {solver:20s} "
                f"screening {screening!s:5}  "
                f"{best:8.3f} s  work {result.work:9.1f}  gap {result.relative_gap:.1e}  "
                f"{result.status.name}  support {np.count_nonzero(result.x)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
