"""`boxreg verify`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from scipy import sparse

from ..files import (
    BatchCertificateFile,
    CertificateFile,
    CorruptCertificate,
    FileProblem,
    Held,
    digest,
    one_line,
    read_matrix,
    read_stack,
    read_vector,
)
from .describing import bounds_described, described
from .errors import BadInput
from .problems import TERMS, make_loss, number_or_vector, parse_loss, read_terms
from .verdicts import conclude
from .verify_many import verify_stack

if TYPE_CHECKING:
    from ..certificate import Certificate

_HELP = """Check an answer from the data alone.

\b
    boxreg solve A.npy y.npy -o x.npy --certificate cert.json
    boxreg verify A.npy y.npy cert.json

Everything is recomputed from A and y. Of the certificate, x and theta are taken, and whatever is not
given here: bounds, the loss, weights and other terms. It is said which these are; none of its claims is
believed.

\b
    boxreg verify A.npy y.npy cert.json --lower 0 --upper 1 --loss least_squares

PROVED: x and theta are feasible, the duality gap, rounding errors included, is at most the one
claimed, and A and y are the data it was made for. REFUTED: x is outside its bounds, or P(x) exceeds the
minimum by more than is claimed. NOT PROVED: neither could be shown, or the gap rests on an assumption,
which is named.

Of many right-hand sides, x is read from the file that the certificate names, and every one is checked.

Exit codes: 0 PROVED, 1 NOT PROVED, 2 bad input, 4 REFUTED.
"""


@click.command("verify", help=_HELP, short_help="Check a certificate from the data.")
@click.argument("a_file", metavar="A")
@click.argument("y_file", metavar="Y")
@click.argument("certificate", metavar="CERT", type=Path)
@click.option("--lower", metavar="L", help="Lower bounds to check it for: number or file.")
@click.option("--upper", metavar="U", help="Upper bounds to check it for: number or file.")
@click.option("--loss", metavar="NAME[:KEY=VALUE,…]", help="The loss to check it for.")
@click.option("--sample-weight", metavar="W", help="Weights of the rows: a file.")
@click.option("--linear", metavar="C", help="The cost in cᵀx: number or file.")
@click.option("--ridge", metavar="R", help="μ or Γ: number, or file of a matrix.")
def command(a_file: str, y_file: str, certificate: Path, **options: Any) -> int:
    """Read, recompute, give the verdict."""
    held = read_certificate(certificate)
    many = isinstance(held, BatchCertificateFile)
    A = read_matrix(a_file, "A")
    y = read_stack(y_file, "y", "Y") if many else read_vector(y_file, "y")
    for name, array in (("A", A), ("Y" if many else "y", y)):
        click.echo(described(name, array))
    given = _given(options, A.array.shape[-1] if A.array.ndim else 0)
    remarks = _remarks(held.problem, given)
    held = replace(held, problem={**held.problem, **given})
    _describe(held.problem, given)
    _refuse_unknown(held.problem)
    if isinstance(held, BatchCertificateFile):
        return verify_stack(held, A, y, _folder(certificate), remarks)
    proof = _checked(held, A, y)
    matches = held.matches(A.array, y.array)
    return _verdict(held, proof, matches, remarks)


def _given(options: dict[str, Any], n: int) -> dict[str, Any]:
    """The parts of the problem that were typed, by the names that certificates have for them."""
    given = {
        name: number_or_vector(options[name], f"--{name}")
        for name in ("lower", "upper")
        if options[name] is not None
    }
    if options["loss"] is not None:
        given["loss"] = parse_loss(options["loss"])
    return {**given, **read_terms(options, n)}


def _remarks(problem: dict[str, Any], given: dict[str, Any]) -> list[str]:
    """What the reader should know of where the problem comes from."""
    taken = [name for name in ("lower", "upper") if name not in given]
    remarks = []
    if taken:
        kind = "the bounds come" if len(taken) == 2 else f"the {taken[0]} bounds come"
        options = " and ".join(f"--{name}" for name in taken)
        check = "check" if len(taken) == 2 else "checks"
        remarks.append(
            f"{kind} from the certificate itself: {options} {check} it for bounds of your own"
        )
    other = [name for name, value in given.items() if not _same(problem.get(name), value)]
    if other:
        remarks.append(f"checked for another problem than the certificate's: {', '.join(other)}")
    return remarks


def _same(one: Any, other: Any) -> bool:
    """Whether two descriptions of a loss, a bound or a term are of the same values."""
    if isinstance(one, dict) and isinstance(other, dict):
        names = {*one, *other}
        return all(_same(one.get(name, {}), other.get(name, {})) for name in names)
    if isinstance(one, (dict, str)) or isinstance(other, (dict, str)) or one is None:
        return bool(one == other)
    if bool(sparse.issparse(one)) or bool(sparse.issparse(other)):
        return np.shape(one) == np.shape(other) and digest(one) == digest(other)
    try:
        return bool(np.all(np.equal(one, other)))
    except ValueError:  # shapes that do not fit
        return False


def _describe(problem: dict[str, Any], given: dict[str, Any]) -> None:
    """Bounds, loss and terms, and where each comes from."""
    low, high = (_origin(name, given) for name in ("lower", "upper"))
    origin = low if low == high else f"lower {low}, upper {high}"
    click.echo(f"{bounds_described(problem['lower'], problem['upper'])} ({origin})")
    click.echo(f"{'loss':<6}  {_loss(problem['loss'])} ({_origin('loss', given)})")
    terms = [f"{name} ({_origin(name, given)})" for name in TERMS if name in problem]
    if terms:
        click.echo(f"{'terms':<6}  {', '.join(terms)}")


def _origin(name: str, given: dict[str, Any]) -> str:
    return "given" if name in given else "from the certificate"


def read_certificate(path: Path) -> CertificateFile | BatchCertificateFile:
    """The certificate in a file, of one right-hand side or of many; BadInput if there is none."""
    try:
        text = path.read_text(encoding="utf-8")
        if BatchCertificateFile.recognises(text):
            return BatchCertificateFile.load(text, _folder(path))
        return CertificateFile.loads(text)
    except CorruptCertificate as error:
        raise BadInput(f"certificate: {path} is corrupted: {error}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"certificate: {path} is corrupted: not text") from error
    except FileNotFoundError as error:
        raise FileProblem(f"certificate: there is no file {path}") from error
    except OSError as error:
        raise FileProblem(f"certificate: {path} cannot be read ({one_line(error)})") from error


def _folder(path: Path) -> Path:
    """The folder that names inside a certificate are relative to."""
    return (path.resolve() if path.is_symlink() else path).parent


def _checked(held: CertificateFile, A: Held, y: Held) -> Certificate:
    from ..api import verify

    problem = {**held.problem, "loss": make_loss(held.problem["loss"])}
    if tuple(A.array.shape) != held.shape:
        shape = " × ".join(map(str, A.array.shape))
        raise BadInput(
            f"A: the certificate is for {held.shape[0]} × {held.shape[1]} data, got {shape}"
        )
    try:
        return verify(A.array, y.array, held.x, held.theta, gap=held.gap, **problem)
    except (TypeError, ValueError) as error:
        raise BadInput(str(error)) from error


def _refuse_unknown(problem: dict[str, Any]) -> None:
    for name in problem:
        if name not in {"lower", "upper", "loss", *TERMS}:
            raise BadInput(f"certificate: it has a term {name!r}, which this version does not know")


def _loss(described: dict[str, Any]) -> str:
    parameters = described.get("parameters") or {}
    said = ", ".join(
        f"{name} = {value:g}" if isinstance(value, float) else f"{name} given"
        for name, value in parameters.items()
    )
    return f"{described['name']} ({said})" if said else str(described["name"])


def _verdict(
    held: CertificateFile, proof: Certificate, matches: dict[str, bool], remarks: list[str]
) -> int:
    """Figures, found beside claimed; then the verdict."""
    figures = (
        ("P(x)", proof.objective, held.objective),
        ("D(theta)", proof.dual_objective, held.dual_objective),
        ("gap", proof.gap, held.gap),
    )
    for name, found, claimed in figures:
        click.echo(f"{name:<8}  {found:.17g}  claimed {claimed:.17g}")
    click.echo(f"gap of P(x): {proof.gap_over_objective:.2e}")
    if proof.least_excess > 0.0:
        click.echo(f"P(x) exceeds the minimum by at least {proof.least_excess:.6g}")
    click.echo(f"x within its bounds: {_yes(proof.primal_feasible)}")
    click.echo(f"theta feasible: {_yes(proof.dual_feasible)}")
    click.echo(f"data are those of the certificate: {_yes(all(matches.values()))}")
    click.echo(f"rounding errors included, no assumptions: {_yes(proof.rigorous)}")
    said = f"P(x) exceeds the minimum by at most {held.gap:.6g}"
    return conclude(proof.verdict, said, matches, list(proof.reasons), remarks)


def _yes(true: bool) -> str:
    return "yes" if true else "no"
