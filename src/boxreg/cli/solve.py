"""`boxreg solve`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ..directions import DIRECTIONS
from ..dual_updates import DUAL_UPDATES
from ..files import (
    STACK_FORMATS,
    CertificateFile,
    Held,
    Outputs,
    as_vector,
    put_text,
    read_matrix,
    read_stack,
    write_vector,
)
from ..losses import LOSSES
from ..safe_regions import REGIONS
from ..solvers import SOLVERS
from .describing import bounds_described, described
from .errors import BadInput
from .many import MANY_ONLY, ONE_ONLY, refuse, solve_stack
from .outputs import Wanted
from .problems import make_loss, number_or_vector, parse_loss, read_terms

if TYPE_CHECKING:
    from ..result import Result

_HELP = f"""Minimise ½‖Ax − y‖², or another loss, subject to L <= x <= U.

A and Y are files: {", ".join(STACK_FORMATS)} (.zarr: Y alone). Where a file holds several arrays,
file.npz:name is one of them. Nothing is ever unpickled. Bounds are numbers or files.

Non-negative least squares:

\b
    boxreg solve A.npy y.npy -o x.npy

Counts, with the Kullback–Leibler loss and a background:

\b
    boxreg solve A.npy counts.npy --loss kullback_leibler:background=0.1 -o x.npy

A box, and a proof that anybody can check with boxreg verify:

\b
    boxreg solve A.npy y.npy --upper 1 -o x.csv --certificate cert.json

A sparse matrix, a bound for each variable, a figure and a page about the run:

\b
    boxreg solve data.npz:A data.npz:y --upper upper.csv -o x.npy \\
        --plot fig.png --report report.html

Where Y is a matrix or an image, every column or pixel is a right-hand side; x is .npy, .npz or .zarr:

\b
    boxreg solve library.npy image.npy --upper 1 -o X.npy --certificate all.json

An .npy or .zarr of many x is written a chunk at a time, beside its place. If the run is interrupted,
the same command goes on where it stopped.

Exit codes: 0 the gap asked for was reached, 1 not (the best point is written all the same), 2 bad
input. Outputs appear whole or not at all.
"""


def _names(registry: Iterable[str]) -> str:
    return ", ".join(registry) + "."


@click.command("solve", help=_HELP, short_help="Solve a problem from files.")
@click.argument("a_file", metavar="A")
@click.argument("y_file", metavar="Y")
@click.option(
    "-o",
    "--output",
    required=True,
    type=Path,
    help="File for x: .npy, .npz, .csv, .tsv; of many: .npy, .npz, .zarr.",
)
@click.option("--lower", default="0", show_default=True, metavar="L", help="Number or file.")
@click.option("--upper", default="inf", show_default=True, metavar="U", help="Number or file.")
@click.option(
    "--loss",
    default="least_squares",
    show_default=True,
    metavar="NAME[:KEY=VALUE,…]",
    help=f"{_names(LOSSES)} Parameters follow a colon.",
)
@click.option("--sample-weight", metavar="W", help="Weights of the rows: a file.")
@click.option("--linear", metavar="C", help="Add cᵀx to the objective: number or file.")
@click.option("--ridge", metavar="R", help="Add ½μ‖x‖² or ½‖Γx‖²: number, or file of a matrix.")
@click.option("--solver", default="auto", show_default=True, help=_names(SOLVERS))
@click.option(
    "--dual", default="auto", show_default=True, help=f"Dual update: {_names(DUAL_UPDATES)}"
)
@click.option("--region", default="auto", show_default=True, help=f"Safe region: {_names(REGIONS)}")
@click.option(
    "--direction",
    default="auto",
    show_default=True,
    help=f"Into the dual cone: {_names(DIRECTIONS)}",
)
@click.option("--tol", default=1e-8, show_default=True, help="Gap to prove, relative to P₀.")
@click.option("--atol", default=0.0, show_default=True, help="Gap that is enough in any case.")
@click.option("--max-iter", type=int, help="Steps of the solver at most.")
@click.option("--time-limit", type=float, metavar="S", help="Seconds after which to stop.")
@click.option("--no-screening", is_flag=True, help="Keep all columns to the end.")
@click.option(
    "--axis", type=int, metavar="K", help="Many: axis of Y along the rows of A; 0 by default."
)
@click.option("--jobs", default=1, show_default=True, metavar="N", help="Many: at a time; -1 all.")
@click.option(
    "--nan",
    type=click.Choice(["raise", "skip"]),
    default="raise",
    show_default=True,
    help="Many: what to do about right-hand sides that are not finite.",
)
@click.option("--sparse", is_flag=True, help="Many: write x as a sparse matrix, .npz.")
@click.option("--certificate", type=Path, metavar="FILE", help="Write the proof, as JSON.")
@click.option("--plot", type=Path, metavar="FILE", help="Draw convergence: .png, .svg, .pdf.")
@click.option("--report", type=Path, metavar="FILE", help="Write a page about the run: .html.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
def command(**options: Any) -> int:
    """Read, solve, write."""
    say = (lambda text: None) if options["quiet"] else click.echo
    wanted = Wanted.of(options)
    A = read_matrix(options["a_file"], "A")
    say(described("A", A))
    y = _right_hand_sides(options)
    many = y.array.ndim > 1
    say(described("Y" if many else "y", y))
    wanted.fit(many)
    refuse(ONE_ONLY if many else MANY_ONLY, many)
    wanted.spare(A.path, y.path)
    problem = _problem(options, A.array.shape[-1] if A.array.ndim else 0)
    say(bounds_described(problem["lower"], problem["upper"]))
    if many:
        return solve_stack(A, y, problem, options, wanted)
    result, remarks = _solved(A, y, problem, options)
    with Outputs() as outputs:
        _write(outputs, wanted, result, A, y, problem)
        outputs.commit()
    say(repr(result))
    say("Written: " + " ".join(map(str, wanted.paths)))
    for remark in remarks:
        click.echo(f"boxreg: warning: {remark}", err=True)
    if result.success:
        return 0
    asked = f"gap {result.gap:.3g}, asked for {result.target_gap:.3g}"
    click.echo(f"boxreg: not solved: {result.status.value} ({asked})", err=True)
    return 1


def _right_hand_sides(options: dict[str, Any]) -> Held:
    """Y; a single row or column is one right-hand side, unless --axis says where they are."""
    held = read_stack(options["y_file"], "y", "Y")
    if options["axis"] is None:
        held = as_vector(held)
    if held.array.ndim > 1 and not held.array.size:
        raise BadInput(f"y: {held.place} holds no right-hand sides")
    if held.array.ndim == 1:
        return Held(np.array(held.array), held.path, held.key)
    return held


def _problem(options: dict[str, Any], n: int) -> dict[str, Any]:
    """What `solve` takes beside A and y, the loss still as its name and parameters."""
    problem = {name: number_or_vector(options[name], f"--{name}") for name in ("lower", "upper")}
    problem["loss"] = parse_loss(options["loss"])
    return {**problem, **read_terms(options, n)}


def _solved(
    A: Held, y: Held, problem: dict[str, Any], options: dict[str, Any]
) -> tuple[Result, list[str]]:
    """The result, and warnings other than that it did not converge."""
    from ..api import solve
    from ..warning_types import ConvergenceWarning

    method = {name: options[name] for name in ("solver", "dual", "region", "direction")}
    limits = {name: options[name] for name in ("tol", "atol", "max_iter", "time_limit")}
    arguments = {**problem, "loss": make_loss(problem["loss"]), **method, **limits}
    verbose = 0 if options["quiet"] else 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = solve(
                A.array,
                y.array,
                screening=not options["no_screening"],
                verbose=verbose,
                **arguments,
            )
        except (TypeError, ValueError) as error:
            raise BadInput(str(error)) from error
    said = [str(w.message) for w in caught if not issubclass(w.category, ConvergenceWarning)]
    return result, said


def _write(
    outputs: Outputs, wanted: Wanted, result: Result, A: Held, y: Held, problem: dict[str, Any]
) -> None:
    outputs.write(wanted.output, "--output", lambda part: write_vector(result.x, part))
    if wanted.certificate:
        text = CertificateFile.of(result, A.array, y.array, problem).dumps()
        outputs.write(wanted.certificate, "--certificate", lambda part: put_text(part, text))
    if wanted.plot:
        figure = result.plot()
        outputs.write(wanted.plot, "--plot", lambda part: figure.savefig(part, dpi=150))
    if wanted.report:
        page = result.report()
        outputs.write(wanted.report, "--report", lambda part: put_text(part, page))
