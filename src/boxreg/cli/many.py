"""`boxreg solve` where there are many right-hand sides."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from click.core import ParameterSource
from scipy import sparse

from ..files import BatchCertificateFile, Held, Outputs, Resumable, put_text, write_stack
from .errors import BadInput, Interrupted, OutOfTime
from .outputs import Wanted
from .problems import make_loss

if TYPE_CHECKING:
    from ..batch import BatchResult

ONE_ONLY = (
    "solver",
    "dual",
    "region",
    "direction",
    "atol",
    "max_iter",
    "no_screening",
    "plot",
    "report",
)
MANY_ONLY = ("axis", "jobs", "nan", "sparse")
"""Options of `boxreg solve` that are for one right-hand side, or for many."""


def refuse(names: Iterable[str], many: bool) -> None:
    """Refuse options that were typed and have no meaning here."""
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            kinds = (
                "one right-hand side; Y holds many" if many else "many right-hand sides; y is one"
            )
            raise BadInput(f"--{name.replace('_', '-')}: is for {kinds}")


def solve_stack(
    A: Held, y: Held, problem: dict[str, Any], options: dict[str, Any], wanted: Wanted
) -> int:
    """Solve, write, and say how it went; the exit code."""
    say = (lambda text: None) if options["quiet"] else click.echo
    _check_files(wanted, options["sparse"], A.path, y.path)
    Y = y.array.toarray() if bool(sparse.issparse(y.array)) else y.array
    question = {
        **problem,
        "loss": make_loss(problem["loss"]),
        "tol": options["tol"],
        "axis": options["axis"] or 0,
        "nan": options["nan"],
    }
    how = {"n_jobs": options["jobs"], "progress": not options["quiet"]}
    how["time_limit"] = options["time_limit"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if wanted.output.suffix.lower() == ".npz":
            result = solve_or_refuse(A.array, Y, **question, **how, sparse=options["sparse"])
        else:
            result = solve_to_file(A.array, Y, question, how, wanted.output, say)
    written = [wanted.output, *_write(wanted, result, A, problem)]
    say(repr(result))
    say("Written: " + " ".join(map(str, written)))
    for remark in dict.fromkeys(str(held.message) for held in caught):  # not one a right-hand side
        click.echo(f"boxreg: warning: {remark}", err=True)
    return verdict(result)


def solve_or_refuse(A: Any, Y: Any, **arguments: Any) -> BatchResult:
    """`solve_many`; what it refuses is bad input."""
    from ..batch import solve_many

    try:
        return solve_many(A, Y, **arguments)
    except (TypeError, ValueError) as error:
        raise BadInput(str(error).replace("nan='skip'", "--nan skip")) from error


def solve_to_file(
    A: Any,
    Y: Any,
    question: dict[str, Any],
    how: dict[str, Any],
    output: Path,
    say: Callable[[str], object],
) -> BatchResult:
    """The same to an .npy or .zarr file, where an interrupted run goes on."""
    layout, n = _layout(A, Y, question)
    with Resumable(output, "--output") as target:
        return _solve_to(target, A, Y, question, how, layout, n, say)


def _solve_to(
    target: Resumable,
    A: Any,
    Y: Any,
    question: dict[str, Any],
    how: dict[str, Any],
    layout: Any,
    n: int,
    say: Callable[[str], object],
) -> BatchResult:
    """The same, while no other process writes there."""
    from ..batch import RhsStatus

    out = target.open(layout.shape_with(n), layout.axis)
    done, lines = target.done()
    if done:
        say(f"resumed {done * layout.width:,} of {lines * layout.width:,} were done before")
    try:
        result = solve_or_refuse(A, Y, **question, **how, out=out, journal=target.journal)
    except KeyboardInterrupt:
        done, lines = target.done()
        if not done:
            target.discard()
            raise
        kept = f"{done * layout.width:,} of {lines * layout.width:,} right-hand sides are kept"
        raise Interrupted(
            f"{kept} beside {target.path}; the same command goes on from there"
        ) from None
    except BadInput as error:
        if not str(error).startswith("journal:"):
            target.discard()
        raise
    if np.any(result.status == RhsStatus.NOT_BEGUN):
        done, lines = target.done()
        if not done:
            target.discard()
            raise OutOfTime("no chunk of right-hand sides was complete, and nothing was written")
        kept = f"{done * layout.width:,} of {lines * layout.width:,} right-hand sides are kept"
        raise OutOfTime(f"{kept} beside {target.path}; the same command goes on from there")
    target.commit(out)
    return result


def verdict(result: BatchResult) -> int:
    """0 if every gap asked for was reached; else 1, and a line that says so."""
    if result.success:
        return 0
    from ..batch import RhsStatus

    open_ones = (result.status != RhsStatus.CONVERGED) & ~result.skipped
    said = f"{int(open_ones.sum()):,} of {len(result):,} right-hand sides"
    gaps = result.relative_gap[open_ones & ~result.unsolved]
    asked = f"asked for {result.question.tol:g}"
    worst = f"gap {np.max(gaps):.3g} of P₀, {asked}" if len(gaps) else asked
    click.echo(f"boxreg: not solved: {said} ({worst})", err=True)
    return 1


def _layout(A: Any, Y: Any, question: dict[str, Any]) -> tuple[Any, int]:
    """Where right-hand sides lie, and the columns of A: everything is checked before a file is made."""
    from ..batch.question import asked

    terms = {name: question.get(name) for name in ("sample_weight", "linear", "ridge")}
    named = {name: question[name] for name in ("lower", "upper", "loss", "tol", "axis", "nan")}
    try:
        checked = asked(A, Y, **named, terms=terms)
    except (TypeError, ValueError) as error:
        raise BadInput(str(error)) from error
    return checked.layout, checked.design.shape[1]


def _check_files(wanted: Wanted, as_sparse: bool, *inputs: Path) -> None:
    if as_sparse and wanted.output.suffix.lower() != ".npz":
        raise BadInput(f"--sparse: a sparse x goes to an .npz file, not {wanted.output}")
    if wanted.gaps:
        Outputs.check(wanted.gaps, "--certificate")
        taken = {held.resolve() for held in (*inputs, wanted.output)}
        if wanted.gaps.resolve() in taken:
            raise BadInput(
                f"--certificate: its gaps go to {wanted.gaps}, which is another file here"
            )


def _write(wanted: Wanted, result: BatchResult, A: Held, problem: dict[str, Any]) -> list[Path]:
    """All files but a streamed x, which is complete by now; those of the certificate."""
    with Outputs() as outputs:
        if wanted.output.suffix.lower() == ".npz":
            numbers = {
                name: getattr(result, name)
                for name in ("gap", "objective", "status", "support", "proved")
            }
            outputs.write(
                wanted.output, "--output", lambda part: write_stack(result.x, part, **numbers)
            )
        written = []
        if wanted.certificate and wanted.gaps:
            place = wanted.certificate.resolve().parent
            x = os.path.relpath(wanted.output.resolve(), place)
            held = BatchCertificateFile.of(result, A.array, problem, x)
            text = held.dumps(wanted.gaps.name)
            outputs.write(wanted.gaps, "--certificate", held.write_numbers)
            outputs.write(
                wanted.certificate,
                "--certificate",
                lambda part: put_text(part, text),
            )
            written = [wanted.certificate, wanted.gaps]
        outputs.commit()
    return written
