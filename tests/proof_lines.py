"""The share of lines that feed a screening test, a gap or a certificate that judged problems execute.

python tests/proof_lines.py                 the share of each file, and the lines left
python tests/proof_lines.py --least 0.9     exit code 1 below that share of all lines

Judged problems are those whose every claim is compared with rational arithmetic, or with 60 digits where
there are logarithms (`JUDGED`). They run under coverage.py, kernels as plain Python and those for GPUs
in numba's simulator. What feeds a proof is listed in `PROOFS`: every statement inside the functions of a
file, or inside those that are named. Imports and definitions are not counted.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "boxreg"

JUDGED: tuple[tuple[str, ...], ...] = (
    ("-m", "pytest", "tests/properties/test_proof_steps.py"),
    ("-m", "pytest", "tests/kernel_proofs.py"),
    ("-m", "pytest", "tests/properties/test_entry_errors.py"),
    ("-m", "pytest", "tests/properties/test_equality_columns.py"),
    ("-m", "pytest", "tests/properties/test_proved_claims.py"),
    ("-m", "pytest", "tests/properties/test_exact_dependence.py"),
    ("-m", "pytest", "tests/properties/test_losses.py"),
    ("-m", "pytest", "tests/properties/test_local_smoothness.py"),
    ("-m", "pytest", "tests/properties/test_general_regions.py"),
    ("tests/proof_lines.py", "--judge", "variants"),
    ("tests/proof_lines.py", "--judge", "losses"),
)
"""Commands, as Python takes them."""


@dataclass(frozen=True)
class Part:
    """A file, and which of its functions feed a proof: all, some, or all but some."""

    file: str
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


NOT_OF_A_PROOF = (
    "accept", "check_rows", "curvature_bounds", "minimisers", "prox_conjugate", "rows",
    "scalar_derivative", "secants", "row_weights",
)  # fmt: skip
"""What a loss says to solvers and to validation, and not to a proof."""

PRODUCTS = (
    "combine", "columns", "correlate_some", "keep", "matvec", "rmatvec", "terms", "weighted_squares",
)  # fmt: skip
"""What a design computes for predictions, slopes and reaches."""

PROOFS = (
    Part("rounding.py"),
    Part("duality.py"),
    Part("dual_cone.py"),
    Part("equality_columns.py"),
    Part("exact_dependence.py"),
    Part("point.py"),
    Part("reduced.py", without=("hessian", "hessian_change", "budget")),
    Part("smoothness.py", without=("root_times", "over_root")),
    Part("linear_cost.py"),
    Part("screening.py"),
    Part("certificate.py", without=("__str__", "label")),
    Part("refutation.py"),
    Part("safe_regions/base.py"),
    Part("safe_regions/gap_sphere.py"),
    Part("safe_regions/two_point_ball.py"),
    Part("safe_regions/dome.py"),
    Part("track.py"),
    Part("presolve.py"),
    Part("posing.py"),
    Part("row_map.py"),
    Part("losses/base.py", without=NOT_OF_A_PROOF),
    Part("losses/entropy.py"),
    Part("losses/powers.py"),
    Part("losses/least_squares.py", without=NOT_OF_A_PROOF),
    Part("losses/huber.py", without=(*NOT_OF_A_PROOF, "_clipped")),
    Part("losses/logistic.py", without=(*NOT_OF_A_PROOF, "_derivative")),
    Part("losses/squared_hinge.py", without=(*NOT_OF_A_PROOF, "_derivative")),
    Part("losses/log_cosh.py", without=(*NOT_OF_A_PROOF, "_tanh")),
    Part("losses/kullback_leibler.py", without=NOT_OF_A_PROOF),
    Part("losses/beta_divergence.py", without=NOT_OF_A_PROOF),
    Part("losses/weighted.py", without=NOT_OF_A_PROOF),
    Part("losses/stacked.py", without=NOT_OF_A_PROOF),
    Part("designs/base.py", only=PRODUCTS),
    Part("designs/dense.py", only=PRODUCTS),
    Part("designs/sparse.py", only=PRODUCTS),
    Part("designs/stacked.py", only=PRODUCTS),
    Part("designs/view.py", only=PRODUCTS),
    Part("designs/projected.py", only=PRODUCTS),
    Part("shrinking.py"),
    Part("hidden_gradients.py"),
    Part("kernels/certified_fit.py"),
    Part("kernels/orthogonal_active_set.py", only=("usual", "residual_of")),
    Part("kernels/box_certificates.py"),
    Part("kernels/kullback_leibler_certificates.py"),
    Part("kernels/smooth_certificates.py"),
    Part("kernels/brackets.py"),
    Part("kernels/entropies.py"),
    Part("smooth_fit.py", only=("prove", "_constants")),
    Part(
        "kernels/many_least_squares.py",
        only=(
            "_judge",
            "_fresh_slopes",
            "_begin",
            "_record",
            "_copy",
            "_subtract",
            "_done",
            "_optimal",
            "_charge",
            "_value_of_terms",
            "_frame",
        ),
    ),
    Part("kernels/many_kullback_leibler.py", only=("_proved", "_evaluate", "_scale")),
    Part("kernels/cuda/certificates.py"),
    Part("kernels/cuda/reductions.py"),
    Part("batch/device_solver.py", only=("_certified", "_residuals", "_goal")),
    Part("batch/shared.py", only=("way_for", "_way", "_posed", "infinities")),
    Part("batch/terms.py", only=("scale", "stacked", "soft", "unscaled")),
    Part("batch/verification.py", without=("__str__",)),
    Part("linf/proof.py"),
    Part("linf/merged.py"),
)


@dataclass(frozen=True)
class Share:
    """Lines of a part: how many there are, and which no judged problem executed."""

    file: str
    lines: int
    left: tuple[int, ...]


def functions(part: Part) -> Iterator[ast.FunctionDef]:
    """The functions and methods of a part, outermost ones."""
    waiting: list[ast.AST] = [ast.parse((SOURCE / part.file).read_text(encoding="utf-8"))]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if isinstance(node, ast.FunctionDef):
                if (not part.only or node.name in part.only) and node.name not in part.without:
                    yield node
            elif isinstance(node, ast.ClassDef):
                waiting.append(node)


def body(function: ast.FunctionDef) -> set[int]:
    """The lines of a function after its signature and docstring."""
    first = function.body[1:] if ast.get_docstring(function) is not None else function.body
    lines = {line for node in first for line in range(node.lineno, (node.end_lineno or 0) + 1)}
    inner = (node for node in ast.walk(function) if isinstance(node, ast.FunctionDef))
    return lines - {node.lineno for node in inner if node is not function}


def _environment() -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(SOURCE.parent),
        "NUMBA_DISABLE_JIT": "1",
        "NUMBA_ENABLE_CUDASIM": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }


def _run(command: tuple[str, ...], folder: str) -> str:
    """Run a command under coverage; what it said if it failed."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "coverage",
            "run",
            "--parallel-mode",
            "--concurrency=thread",
            f"--source={SOURCE}",
            f"--data-file={folder}/lines",
            *command,
        ],
        cwd=ROOT,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if done.returncode == 0 else f"{' '.join(command)}:\n{done.stdout}{done.stderr}"


def shares(processes: int) -> list[Share]:
    """Run every judged problem, and count the lines of each part that were executed."""
    import coverage

    with tempfile.TemporaryDirectory() as folder:
        with ThreadPoolExecutor(processes) as pool:
            failed = [said for said in pool.map(lambda c: _run(c, folder), JUDGED) if said]
        if failed:
            raise RuntimeError("\n".join(failed))
        seen = coverage.Coverage(data_file=f"{folder}/lines")
        seen.combine([folder])
        found = []
        for part in PROOFS:
            _, statements, _, missing, _ = seen.analysis2(str(SOURCE / part.file))
            lines = {line for function in functions(part) for line in body(function)}
            counted = lines.intersection(statements)
            left = tuple(sorted(counted.intersection(missing)))
            found.append(Share(part.file, len(counted), left))
    return found


def _ranges(lines: tuple[int, ...]) -> str:
    """1-3, 7."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and line == runs[-1][-1] + 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


def judge(which: str) -> list[str]:
    """Judge a few problems of every variant, or of every loss with every kind of bounds; complaints.

    In this process, and without the log of paths that `fuzz.py` keeps: it would take coverage's place.
    """
    sys.path.insert(0, str(Path(__file__).parent))
    from fuzz import CELLS, CUDA, FAMILIES, VARIANTS, check_cell, fitting, judged, make

    found: list[str] = []
    if which == "losses":
        for loss, bounds in CELLS:
            found += check_cell(loss, bounds, range(12))[2]
        return found
    wanted = {variant.name: 2 if variant in CUDA else 8 for variant in (*VARIANTS, *CUDA)}
    for seed in range(6):
        for family in FAMILIES:
            problem = make(family, seed)
            for variant in fitting(problem, (*VARIANTS, *CUDA)):
                if wanted[variant.name]:
                    wanted[variant.name] -= 1
                    found += judged(problem, variant).complaints
    return found


def part_of(found: list[Share]) -> float:
    """The share of all lines that were executed."""
    total = sum(share.lines for share in found)
    return (total - sum(len(share.left) for share in found)) / total


def table(found: list[Share]) -> str:
    """Every file's share, in Markdown."""
    total = sum(share.lines for share in found)
    rows = [
        f"{100.0 * part_of(found):.1f} % of {total} lines that feed a proof are executed by judged "
        f"problems ({date.today().isoformat()}).",
        "",
        "| file | lines | executed | left |",
        "|---|---:|---:|---|",
    ]
    for share in found:
        done = share.lines - len(share.left)
        rows.append(f"| `{share.file}` | {share.lines} | {done} | {_ranges(share.left)} |")
    return "\n".join(rows)


def filled(page: str, report: str) -> str:
    """A page with the table between its two marks."""
    before, rest = page.split("<!-- lines -->\n")
    after = rest.partition("<!-- end -->")[2]
    return f"{before}<!-- lines -->\n{report}\n<!-- end -->{after}"


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--least", type=float, default=0.0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--page", type=Path, help="write the table between the marks of this page")
    parser.add_argument("--judge", choices=["variants", "losses"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.judge:
        complaints = judge(options.judge)
        print(*complaints, sep="\n")
        return 1 if complaints else 0
    found = shares(options.processes)
    report = table(found)
    print(report)
    if options.page is not None:
        page = options.page.read_text(encoding="utf-8")
        options.page.write_text(filled(page, report), encoding="utf-8")
    return 0 if part_of(found) >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
