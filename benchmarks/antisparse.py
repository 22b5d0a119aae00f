"""What squeezing saves, and how long general QP solvers take, on Gaussian ℓ∞-penalised problems.

    python -m benchmarks.antisparse

A has independent standard normal entries, columns then scaled to norm 1; y is standard normal scaled
to norm 1; the penalty is a share of ||Aᵀy||₁, from which on x = 0. The QP solvers (those that are
installed) get the problem over (x, c) with -c <= x <= c and their default accuracy; every x is scored
by its own objective. One process, one BLAS thread, best of three after a warm-up.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import boxreg

SHAPES = ((100, 150), (150, 100), (1000, 1500), (1500, 1000), (100, 10000))
SHARES = (0.9, 0.7, 0.5, 0.3, 0.1)
RIVALS = ("piqp", "clarabel", "daqp")


def problem(m: int, n: int, share: float) -> tuple[Any, Any, float]:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((m, n))
    A /= np.linalg.norm(A, axis=0)
    y = rng.standard_normal(m)
    y /= np.linalg.norm(y)
    return A, y, share * float(np.abs(A.T @ y).sum())


def objective(A: Any, y: Any, penalty: float, x: Any) -> float:
    return 0.5 * float(np.sum((y - A @ x) ** 2)) + penalty * float(np.abs(x).max())


def best_of(run: Callable[[], Any], times: int) -> tuple[float, Any]:
    seconds, answer = np.inf, None
    for _ in range(times):
        clock = time.perf_counter()
        answer = run()
        seconds = min(seconds, time.perf_counter() - clock)
    return seconds, answer


def by_qp(solver: str, A: Any, y: Any, penalty: float) -> Any:
    """x from a general QP solver; None where it gives up."""
    import qpsolvers

    n = A.shape[1]
    P = np.zeros((n + 1, n + 1))
    P[:n, :n] = A.T @ A
    q = np.append(-A.T @ y, penalty)
    ones = np.ones((n, 1))
    G, h = np.block([[np.eye(n), -ones], [-np.eye(n), -ones]]), np.zeros(2 * n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        z = qpsolvers.solve_qp(P, q, G, h, solver=solver)
    return None if z is None else z[:n]


def rivals() -> list[str]:
    try:
        import qpsolvers
    except ImportError:
        return []
    return [name for name in RIVALS if name in qpsolvers.available_solvers]


def row(m: int, n: int, share: float, names: list[str], largest: int) -> str:
    A, y, penalty = problem(m, n, share)
    seconds, found = best_of(lambda: boxreg.antisparse(A, y, penalty), 3)
    plain_seconds, plain = best_of(lambda: boxreg.antisparse(A, y, penalty, squeezing=False), 3)
    free = int(np.count_nonzero(np.abs(found.x) < found.level))
    cells = [
        f"{m}×{n}",
        f"{share:g}",
        f"{free}",
        f"{100 * found.squeezing_ratio:.1f} %",
        f"{found.levels} / {found.n_iter}",
        f"{plain.work:.1f}",
        f"{found.work:.1f}",
        f"{1e3 * plain_seconds:.2f}",
        f"{1e3 * seconds:.2f}",
        f"{found.relative_gap:.0e}",
    ]
    for name in names:
        if n > largest:
            cells.append("–")
            continue
        theirs, x = best_of(lambda name=name: by_qp(name, A, y, penalty), 1 if n > 200 else 3)
        if x is None:
            cells.append("fails")
            continue
        worse = (objective(A, y, penalty, x) - found.objective) / found.scale
        cells.append(f"{theirs / seconds:.1f} ({worse:.0e})")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--largest-qp", type=int, default=150, help="columns for the QP solvers")
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES, help="of ||Aᵀy||₁")
    options = parser.parse_args()
    names = rivals()
    heads = ["m×n", "λ share", "free", "squeezed", "levels / steps", "work: plain", "squeezed"]
    heads += ["ms: plain", "squeezed", "proved gap", *names]
    boxreg.antisparse(*problem(100, 150, 0.1))
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for done, (m, n) in enumerate(SHAPES):
        for share in options.shares:
            if sys.stderr.isatty():
                sys.stderr.write(f"\r\x1b[K{m}×{n}, {share} ({done + 1} of {len(SHAPES)} sizes)")
            print(row(m, n, share, names, options.largest_qp), flush=True)


if __name__ == "__main__":
    main()
