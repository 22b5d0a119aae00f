"""`boxreg verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..files import (
    BatchCertificateFile,
    CertificateFile,
    CorruptCertificate,
    FileProblem,
    Held,
    one_line,
    read_matrix,
    read_stack,
    read_vector,
)
from .describing import bounds_described, described
from .errors import BadInput
from .problems import TERMS, make_loss
from .verify_many import verify_stack

if TYPE_CHECKING:
    from ..certificate import Certificate

_HELP = """Check an answer from the data alone.

\b
    boxreg solve A.npy y.npy -o x.npy --certificate cert.json
    boxreg verify A.npy y.npy cert.json

Everything is recomputed from A and y; of the certificate, x, theta, the bounds and the loss are
taken, and none of its claims is believed. The answer is yes if x and theta are feasible, the duality
gap is at most the one claimed, and A and y are the data it was made for.

Of many right-hand sides, x is read from the file that the certificate names, and every one is checked.

Exit codes: 0 yes, 1 no, 2 bad input.
"""


@click.command("verify", help=_HELP, short_help="Check a certificate from the data.")
@click.argument("a_file", metavar="A")
@click.argument("y_file", metavar="Y")
@click.argument("certificate", metavar="CERT", type=Path)
def command(a_file: str, y_file: str, certificate: Path) -> int:
    """Read, recompute, say yes or no."""
    held = read_certificate(certificate)
    many = isinstance(held, BatchCertificateFile)
    A = read_matrix(a_file, "A")
    y = read_stack(y_file, "y", "Y") if many else read_vector(y_file, "y")
    for name, array in (("A", A), ("Y" if many else "y", y)):
        click.echo(described(name, array))
    click.echo(bounds_described(held.problem["lower"], held.problem["upper"]))
    click.echo(f"{'loss':<6}  {_loss(held.problem['loss'])}")
    terms = [name for name in TERMS if name in held.problem]
    if terms:
        click.echo(f"{'terms':<6}  {', '.join(terms)}")
    _refuse_unknown(held.problem)
    if isinstance(held, BatchCertificateFile):
        return verify_stack(held, A, y, _folder(certificate))
    proof = _checked(held, A, y)
    matches = held.matches(A.array, y.array)
    return _verdict(held, proof, matches)


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


def _verdict(held: CertificateFile, proof: Certificate, matches: dict[str, bool]) -> int:
    """Figures, found beside claimed; then yes or no."""
    remarks = [
        *(
            f"{name} is not what the certificate was made for"
            for name in matches
            if not matches[name]
        ),
        *proof.remarks,
    ]
    figures = (
        ("P(x)", proof.objective, held.objective),
        ("D(theta)", proof.dual_objective, held.dual_objective),
        ("gap", proof.gap, held.gap),
    )
    for name, found, claimed in figures:
        click.echo(f"{name:<8}  {found:.17g}  claimed {claimed:.17g}")
    click.echo(f"x within its bounds: {_yes(proof.primal_feasible)}")
    click.echo(f"theta feasible: {_yes(proof.dual_feasible)}")
    click.echo(f"data are those of the certificate: {_yes(all(matches.values()))}")
    click.echo(f"rounding errors included: {_yes(proof.rigorous)}")
    for remark in remarks:
        click.echo(f"  {remark}")
    good = proof.valid and all(matches.values())
    if good:
        click.echo(f"yes: P(x) exceeds the minimum by at most {max(proof.gap, held.gap):.6g}")
    else:
        click.echo(f"no: {remarks[0] if remarks else 'the gap is not finite'}")
    return 0 if good else 1


def _yes(true: bool) -> str:
    return "yes" if true else "no"
