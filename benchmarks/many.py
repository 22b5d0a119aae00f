"""Many right-hand sides: `solve_many` against loops over SciPy, in one run.

    BOXREG_DATA=... python -m benchmarks.many --out out/many

One core: seconds of processor time a right-hand side, the best of several passes taken in turn, ours
over all right-hand sides, a rival over a spread of them. Two threads: seconds on the clock. Every
answer, a rival's too, is scored by the same code: its relative duality gap.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np
from scipy.optimize import lsq_linear, minimize, nnls

import boxreg
from benchmarks.race.environment import environment

PASSES = 5


@dataclass(frozen=True)
class Case:
    name: str
    data: tuple[str, str, str]
    rival: str
    target: float
    upper: float = np.inf
    loss: str = "least_squares"
    sample: int = 60


CASES = (
    Case("cuprite, x >= 0", ("cuprite_usgs", "A", "Y_int16"), "scipy nnls", 60.0),
    Case("cuprite, [0, 1]", ("cuprite_usgs", "A", "Y_int16"), "scipy bvls", 200.0, 1.0, sample=25),
    Case("mutational signatures", ("mutational_signatures", "A_cosmic_v34", "Y_pcawg"),
         "scipy nnls", 10.0, sample=150),
    Case("mutational signatures, counts", ("mutational_signatures", "A_cosmic_v34", "Y_pcawg"),
         "scipy L-BFGS-B", 30.0, loss="kullback_leibler", sample=25),
    Case("mri_t2_decay", ("mri_t2_decay", "A_exp", "Y"), "scipy nnls", 20.0, sample=300),
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One case: microseconds each, their ratio, what was asked of it, and the worst relative gaps."""

    case: str
    shape: tuple[int, int, int]
    rival: str
    ours_us: float
    rival_us: float
    ratio: float
    target: float
    worst_gap: float
    rival_worst_gap: float
    two_threads: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path, default=Path("out/many"))
    parser.add_argument("--passes", type=int, default=PASSES)
    given = parser.parse_args()
    folder = os.environ.get("BOXREG_DATA")
    if not folder:
        raise SystemExit("set BOXREG_DATA to the folder of real data sets")
    rows = [measure(case, Path(folder), given.passes) for case in CASES]
    given.out.mkdir(parents=True, exist_ok=True)
    record = {"environment": environment(), "rows": [asdict(row) for row in rows]}
    (given.out / "many.json").write_text(json.dumps(record, indent=1, default=str))
    (given.out / "many.md").write_text(markdown(rows))
    print(markdown(rows))


def load(case: Case, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    name, key, target = case.data
    with np.load(folder / f"{name}.npz") as file:
        Y = file[target].astype(float)
        if f"{target.split('_')[0]}_scale" in file.files:
            Y *= float(file[f"{target.split('_')[0]}_scale"])
        return file[key].astype(float), Y


def measure(case: Case, folder: Path, passes: int) -> Row:
    A, Y = load(case, folder)
    some = np.linspace(0, Y.shape[1] - 1, case.sample).astype(int)
    rival = RIVALS[case.rival]

    def ours(jobs: int = 1, columns: slice = slice(None)) -> boxreg.BatchResult:
        return boxreg.solve_many(A, Y[:, columns], 0.0, case.upper, loss=case.loss, n_jobs=jobs)

    def theirs() -> list[np.ndarray]:
        return [rival(A, Y[:, p], case.upper) for p in some]

    ours(columns=slice(0, 200)), theirs()
    times: dict[str, list[float]] = {"ours": [], "theirs": [], "one": [], "two": []}
    for _ in range(passes):
        times["ours"].append(clock(ours, time.process_time) / Y.shape[1])
        times["theirs"].append(clock(theirs, time.process_time) / len(some))
        times["one"].append(clock(ours, time.perf_counter))
        times["two"].append(clock(lambda: ours(2), time.perf_counter))
    best = {name: min(samples) for name, samples in times.items()}
    batch, answers = ours(), theirs()
    if not batch.verify():
        raise SystemExit(f"{case.name}: a certificate does not hold: {batch.verify()}")
    return Row(
        case=case.name,
        shape=(*A.shape, Y.shape[1]),
        rival=case.rival,
        ours_us=1e6 * best["ours"],
        rival_us=1e6 * best["theirs"],
        ratio=best["theirs"] / best["ours"],
        target=case.target,
        worst_gap=float(np.max(batch.relative_gap)),
        rival_worst_gap=worst(case, A, Y[:, some], answers),
        two_threads=best["one"] / best["two"],
    )


def worst(case: Case, A: np.ndarray, Y: np.ndarray, answers: list[np.ndarray]) -> float:
    """The largest relative gap of a rival's answers, with the dual point of an accurate solve."""
    gaps = []
    for y, x in zip(Y.T, answers, strict=True):
        best = boxreg.solve(A, y, 0.0, case.upper, loss=case.loss)
        inside = np.clip(x, 0.0, case.upper)
        proof = boxreg.verify(A, y, inside, best.theta, 0.0, case.upper, loss=case.loss)
        gaps.append(proof.gap / best.scale if best.scale > 0 else 0.0)
    return float(np.max(gaps))


def clock(run: Callable[[], object], now: Callable[[], float]) -> float:
    start = now()
    run()
    return now() - start


def by_nnls(A: np.ndarray, y: np.ndarray, upper: float) -> np.ndarray:
    return nnls(A, y)[0]


def by_bvls(A: np.ndarray, y: np.ndarray, upper: float) -> np.ndarray:
    return lsq_linear(A, y, (0.0, upper), method="bvls").x


def by_lbfgsb(A: np.ndarray, y: np.ndarray, upper: float) -> np.ndarray:
    """Kullback–Leibler by L-BFGS-B, run until it makes no progress."""
    some = y > 0.0
    offset = float(np.sum(y[some] * (np.log(y[some]) - 1.0)))

    def divergence(x: np.ndarray) -> tuple[float, np.ndarray]:
        q = np.maximum(A @ x, 1e-300)
        value = float(np.sum(q) - y[some] @ np.log(q[some])) + offset
        return value, A.T @ (1.0 - y / q)

    start = np.full(A.shape[1], max(float(y.sum()), 1e-12) / float(A.sum()))
    return minimize(
        divergence, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * A.shape[1],
        options={"maxiter": 5000, "maxfun": 10_000, "ftol": 1e-15, "gtol": 1e-9},
    ).x  # fmt: skip


RIVALS = {"scipy nnls": by_nnls, "scipy bvls": by_bvls, "scipy L-BFGS-B": by_lbfgsb}


def markdown(rows: list[Row]) -> str:
    lines = [
        "| case | m × n, right-hand sides | boxreg µs each | rival | µs each | ratio | asked | "
        "worst gap | rival's | two threads |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        m, n, count = row.shape
        lines.append(
            f"| {row.case} | {m} × {n}, {count:,} | {row.ours_us:.1f} | {row.rival} "
            f"| {row.rival_us:,.0f} "
            f"| {row.ratio:.1f}× | {row.target:.0f}× | {row.worst_gap:.0e} | {row.rival_worst_gap:.0e} "
            f"| {row.two_threads:.2f}× |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
