"""Describe the problem of a seed: `python -m benchmarks.wild.show SEED`."""

from __future__ import annotations

import argparse

import numpy as np

from .drawing import draw
from .families import FAMILIES
from .problem import WildProblem


def described(problem: WildProblem) -> str:
    """A few lines for a reader."""
    m, n = problem.shape
    lower, upper = problem.lower, problem.upper
    norms = np.sqrt(np.asarray((problem.matrix * problem.matrix).sum(axis=0)).ravel())
    finite = [int(np.sum(np.isfinite(held))) for held in (lower, upper)]
    free = int(np.sum(np.isinf(lower) & np.isinf(upper)))
    terms = [name for name in ("weights", "linear") if getattr(problem, name) is not None]
    terms += [f"ridge {problem.ridge:.3g}"] if problem.ridge else []
    lines = [
        f"seed {problem.seed}: {problem.family}",
        f"  {FAMILIES[problem.family].source}",
        f"  A {m}×{n}, {problem.entries} stored entries, {problem.layout}, {problem.A.dtype}",
        f"  norms of columns {norms.min():.3g} to {norms.max():.3g}",
        f"  {problem.count} right-hand side(s), {problem.Y.dtype}, P₀ {problem.scales()[0]:.4g}",
        f"  loss {problem.function}",
        f"  bounds {problem.bounds}: {finite[0]} finite lower, {finite[1]} finite upper, {free} free",
        f"  terms: {', '.join(terms) or 'none'}",
    ]
    if max(m, n) <= 1000:
        values = np.linalg.svd(
            problem.matrix if not problem.is_sparse else problem.matrix.toarray(), compute_uv=False
        )
        rank = int(np.sum(values > 1e-12 * values[0]))
        lines.append(f"  singular values {values[0]:.3g} to {values[-1]:.3g}, {rank} above 1e-12")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wild.show", description=__doc__)
    parser.add_argument("seeds", type=int, nargs="+", metavar="SEED")
    for seed in parser.parse_args().seeds:
        print(described(draw(seed)))


if __name__ == "__main__":
    main()
