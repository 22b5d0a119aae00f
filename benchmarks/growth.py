"""Time against the number of right-hand sides, and against the columns of A: one core, or one GPU.

    BOXREG_DATA=... python -m benchmarks.growth cpu  --out out/growth
    BOXREG_DATA=... python -m benchmarks.growth cuda --out out/growth
    python -m benchmarks.growth plot --out out/growth --figure docs/growth

Right-hand sides are pixels of the Cuprite scene, again and again with 1 % of noise; on a GPU they, and
the answers, live there. Columns are those of random A >= 0 with 188 rows, answers with ten columns.
Seconds on the clock, the best of three, every right-hand side certified to 1e-8.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np

import boxreg
from benchmarks.many import CASES, load

COUNTS = (100, 1_000, 10_000, 100_000, 1_000_000)
COLUMNS = (50, 100, 200, 400, 800, 1_600, 3_200)
PASSES = 3


def arrays_on(device: str) -> Any:
    if device == "cpu":
        return np
    import cupy

    return cupy


def seconds(call: Callable[[], Any], device: str) -> tuple[float, Any]:
    best, result = np.inf, None
    for _ in range(PASSES):
        begin = time.perf_counter()
        result = call()
        if device != "cpu":
            arrays_on(device).cuda.Device().synchronize()
        best = min(best, time.perf_counter() - begin)
    return best, result


def pixels(scene: np.ndarray, count: int, xp: Any) -> Any:
    """Pixels of the scene in turn, each with noise of its own."""
    rng, whole = xp.random.default_rng(11), xp.asarray(scene)
    image = xp.empty((len(scene), count))
    for begin in range(0, count, scene.shape[1]):
        width = min(scene.shape[1], count - begin)
        noise = 1.0 + 0.01 * rng.standard_normal((len(scene), width))
        image[:, begin : begin + width] = whole[:, :width] * noise
    return image


def against_count(folder: Path, device: str) -> list[dict[str, Any]]:
    xp, rows = arrays_on(device), []
    A, scene = load(CASES[0], folder)
    image = pixels(scene, max(COUNTS), xp)
    for upper in (np.inf, 1.0):
        for count in COUNTS:
            Y = xp.ascontiguousarray(image[:, :count])
            took, result = seconds(lambda: boxreg.solve_many(A, Y, upper=upper), device)  # noqa: B023
            rows.append(row("count", count, took, result, upper=upper, n=A.shape[1]))
    if device != "cpu":
        took, result = seconds(lambda: boxreg.solve_many(A, image, precision="float32"), device)
        rows.append(row("float32", max(COUNTS), took, result, upper=np.inf, n=A.shape[1]))
    return rows


def against_columns(device: str) -> list[dict[str, Any]]:
    xp, rows, count = arrays_on(device), [], 2_000 if device == "cpu" else 100_000
    for n in COLUMNS:
        rng = np.random.default_rng([12, n])
        A = np.abs(rng.standard_normal((188, n)))
        x = np.zeros((n, 2_000))
        for p in range(x.shape[1]):
            x[rng.choice(n, 10, replace=False), p] = rng.random(10)
        clean = A @ x
        Y = xp.asarray(np.tile(clean, (1, count // 2_000)))
        Y = Y + 0.05 * xp.asarray(rng.standard_normal(Y.shape))
        took, result = seconds(lambda: boxreg.solve_many(A, Y), device)  # noqa: B023
        rows.append(row("columns", count, took, result, upper=np.inf, n=n))
    return rows


def row(kind: str, count: int, took: float, result: Any, **more: Any) -> dict[str, Any]:
    found = {
        "kind": kind,
        "count": count,
        "seconds": took,
        "microseconds_each": 1e6 * took / count,
        "worst_relative_gap": float(np.nanmax(result.relative_gap)),
        "all_proved": bool(result.success),
        "repaired": int(result.repaired.sum()),
        "mean_support": float(result.support.mean()),
        **more,
    }
    print(json.dumps(found), flush=True)
    return found


def plot(out: Path, figure: Path) -> None:
    import matplotlib.pyplot as plt

    found = {d: json.loads((out / f"{d}.json").read_text()) for d in ("cpu", "cuda")}
    names = {"cpu": "one core", "cuda": "one H200"}
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
    for device, colour in (("cpu", "tab:blue"), ("cuda", "tab:orange")):
        rows = [r for r in found[device] if r["kind"] == "count" and r["upper"] > 1.0]
        counts, took = np.array([(r["count"], r["seconds"]) for r in rows]).T
        left.loglog(counts, took, "o", color=colour, label=f"{names[device]}, measured")
        each = took[-1] / counts[-1]
        fixed = max(took[0] - each * counts[0], 0.0)
        left.loglog(counts, fixed + each * counts, "-", color=colour, lw=1,
                    label=f"{1e3 * fixed:.0f} ms + {1e6 * each:.2g} µs N")  # fmt: skip
        rows = [r for r in found[device] if r["kind"] == "columns"]
        n, each_n = np.array([(r["n"], r["microseconds_each"]) for r in rows]).T
        right.loglog(n, each_n, "o", color=colour, label=f"{names[device]}, measured")
        work = n.astype(float)
        right.loglog(
            n, each_n[3] * work / work[3], "-", color=colour, lw=1, label="proportional to n"
        )
    left.set(xlabel="right-hand sides N", ylabel="seconds", title="Cuprite, 188 × 342, x ≥ 0")
    right.set(xlabel="columns n", ylabel="µs each", title="random A ≥ 0 with 188 rows")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    for ending in ("png", "svg"):
        fig.savefig(figure.with_suffix(f".{ending}"), dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("what", choices=("cpu", "cuda", "plot"))
    parser.add_argument("--out", type=Path, default=Path("out/growth"))
    parser.add_argument("--figure", type=Path, default=Path("docs/growth"))
    given = parser.parse_args()
    if given.what == "plot":
        plot(given.out, given.figure)
        return
    folder = os.environ.get("BOXREG_DATA")
    if not folder:
        raise SystemExit("set BOXREG_DATA to the folder of real data sets")
    given.out.mkdir(parents=True, exist_ok=True)
    rows = against_columns(given.what) + against_count(Path(folder), given.what)
    (given.out / f"{given.what}.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
