"""Peak memory of a solve over the size of A, measured from outside: `make memory`.

Each layout runs in two new processes, one that only loads A and one that solves as well; the
difference of their peaks (ru_maxrss) is what the solve needs beside A. Both import and compile
everything on a small problem first. A ~ U(0,1), twice as many columns as rows, 5 % of it kept where
it is sparse; 5 % of x̄ non-zero, noise of a tenth of the signal.

A solve may need a fifth of A beside A, and its working set: the k free columns of the answer as they
are stored (in float64) and a k×k matrix.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

LAYOUTS = ("C order", "F order", "float32, C order", "float32, F order", "sparse")
MOST = 1.2
"""Times the size of A, the working set not counted."""
ROWS_PER_COLUMN = 0.5


def draw(folder: Path, layout: str, gigabytes: float) -> None:
    """Write A and y, so that drawing them leaves no trace in the peaks that are measured."""
    import numpy as np
    from scipy import sparse

    rng = np.random.default_rng(0)
    if layout == "sparse":
        n = int((gigabytes * 1e9 / (12 * 0.05 * ROWS_PER_COLUMN)) ** 0.5)
        m = int(ROWS_PER_COLUMN * n)
        A: Any = sparse.random_array((m, n), density=0.05, format="csc", rng=rng)
        sparse.save_npz(folder / "A.npz", A, compressed=False)
    else:
        kind = np.float32 if layout.startswith("float32") else np.float64
        n = int((gigabytes * 1e9 / (np.dtype(kind).itemsize * ROWS_PER_COLUMN)) ** 0.5)
        m = int(ROWS_PER_COLUMN * n)
        A = rng.random((n, m) if layout.endswith("F order") else (m, n), dtype=kind)
        np.save(folder / "A.npy", A.T if layout.endswith("F order") else A)
        A = A.T if layout.endswith("F order") else A
    support = rng.permutation(n)[: n // 20]
    x = np.zeros(n, dtype=A.dtype)
    x[support] = rng.random(len(support))
    y = A @ x
    np.save(folder / "y.npy", y + 0.1 * np.std(y) * rng.standard_normal(m))


def child(folder: Path, solves: bool) -> dict[str, Any]:
    """Load A, perhaps solve; the peak in bytes and the size of A."""
    import numpy as np
    from scipy import sparse

    import boxreg

    warm = np.random.default_rng(0).random((60, 80))
    for matrix in (warm, np.asfortranarray(warm), warm.astype("f4"), sparse.csc_array(warm)):
        boxreg.solve(matrix, warm.sum(axis=1))
    held = folder / "A.npz"
    A = sparse.load_npz(held) if held.exists() else np.load(folder / "A.npy")
    y = np.load(folder / "y.npy")
    nbytes = A.data.nbytes + A.indices.nbytes + A.indptr.nbytes if held.exists() else A.nbytes
    report: dict[str, Any] = {"bytes": nbytes, "shape": A.shape}
    scale = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
    if solves:
        result = boxreg.solve(A, y)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
        k = int(np.count_nonzero(result.x))
        stored = 12 * A[:, result.x != 0].nnz if held.exists() else 8 * A.shape[0] * k
        report["free"], report["working_set"] = k, stored + 8 * k * k
        report["gap"], report["success"] = result.relative_gap, result.success
        report["seconds"] = result.seconds
    report["peak"] = peak
    return report


def measured(layout: str, gigabytes: float) -> dict[str, Any]:
    """One layout, in new processes."""
    with tempfile.TemporaryDirectory(prefix="boxreg-memory-") as name:
        _call("draw", name, layout, str(gigabytes))
        loaded = json.loads(_call("load", name))
        solved = json.loads(_call("solve", name))
    beside = solved["peak"] - loaded["peak"]
    ratio = 1.0 + (beside - solved["working_set"]) / solved["bytes"]
    return {
        "layout": layout,
        "beside": beside,
        "ratio": ratio,
        "peak_when_loaded": loaded["peak"],
        **solved,
    }


def _call(*arguments: str) -> str:
    command = [sys.executable, "-m", "benchmarks.memory", "--child", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def line(row: dict[str, Any]) -> str:
    m, n = row["shape"]
    return (
        f"| {row['layout']} | {m}×{n} | {row['bytes'] / 1e9:.2f} | {row['free']} | {row['gap']:.0e} | "
        f"{row['seconds']:.1f} | {row['beside'] / 1e6:.0f} | {row['working_set'] / 1e6:.0f} | "
        f"{1 + row['beside'] / row['bytes']:.2f} | {row['ratio']:.2f} | "
        f"{'yes' if row['ratio'] < MOST else 'no'} |"
    )


HEADER = (
    "| A | m×n | GB | free | gap | s | MB beside A | MB working set | peak / A | "
    f"less working set | under {MOST} |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|"
)


def main() -> int:
    """Exit code 1 if a layout needs more than it should."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=1.0, help="size of A")
    parser.add_argument("--layouts", nargs="+", choices=LAYOUTS, default=LAYOUTS)
    parser.add_argument("--out", type=Path, default=Path("out/memory"))
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        task, folder, *rest = options.child
        if task == "draw":
            draw(Path(folder), rest[0], float(rest[1]))
        else:
            print(json.dumps(child(Path(folder), task == "solve")))
        return 0
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    print(HEADER, flush=True)
    rows = []
    for layout in options.layouts:
        if sys.stderr.isatty():
            print(f"{layout} …", end="\r", file=sys.stderr, flush=True)
        rows.append(measured(layout, options.gigabytes))
        print(line(rows[-1]), flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "memory.json").write_text(json.dumps(rows, indent=1))
    return 0 if all(row["ratio"] < MOST for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
