"""Certificates as JSON files: an answer, its dual point, and which problem they belong to.

A file holds everything but A and y, of which it holds digests:

    format, version   "boxreg certificate", 1
    shape             [m, n]
    sha256            {"A": …, "y": …}, see `digest`
    problem           what `verify` takes beside A and y: lower, upper, loss, …
    gap               the gap claimed: an upper bound on P(x) - P*
    objective, dual_objective
    x, theta
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..arrays import Array
from ..version import __version__
from .digest import digest
from .json_values import Misread, listed, number, read, shape, vector, written

if TYPE_CHECKING:
    from ..result import Result

FORMAT, VERSION = "boxreg certificate", 1


class CorruptCertificate(ValueError):
    """A certificate file cannot be understood; the message says where."""


@dataclass(frozen=True)
class CertificateFile:
    """What a certificate file says."""

    shape: tuple[int, int]
    digests: dict[str, str]
    problem: dict[str, Any]
    """Arguments of `verify`: numbers, vectors, and `loss` as {"name": …, "parameters": {…}}."""
    gap: float
    objective: float
    dual_objective: float
    x: Array
    theta: Array

    @classmethod
    def of(cls, result: Result, A: Any, y: Any, problem: Mapping[str, Any]) -> CertificateFile:
        """The certificate of a result for these data."""
        return cls(
            shape=(int(A.shape[0]), int(A.shape[1])),
            digests={"A": digest(A), "y": digest(y)},
            problem=dict(problem),
            gap=result.gap,
            objective=result.objective,
            dual_objective=result.dual_objective,
            x=result.x,
            theta=result.theta,
        )

    def dumps(self) -> str:
        """As JSON, one field a line."""
        fields = {
            "format": FORMAT,
            "version": VERSION,
            "boxreg": __version__,
            "shape": list(self.shape),
            "sha256": self.digests,
            "problem": written(self.problem),
            "gap": written(self.gap),
            "objective": written(self.objective),
            "dual_objective": written(self.dual_objective),
            "x": listed(self.x),
            "theta": listed(self.theta),
        }
        lines = (f'  "{name}": {json.dumps(value)}' for name, value in fields.items())
        return "{\n" + ",\n".join(lines) + "\n}\n"

    @classmethod
    def loads(cls, text: str) -> CertificateFile:
        """From JSON; CorruptCertificate if it is not a certificate."""
        fields = parsed(text, FORMAT, VERSION)
        try:
            m, n = shape(fields["shape"], "shape")
            return cls(
                shape=(m, n),
                digests=read_digests(fields["sha256"]),
                problem=read_problem(fields["problem"]),
                gap=number(fields["gap"], "gap"),
                objective=number(fields["objective"], "objective"),
                dual_objective=number(fields["dual_objective"], "dual_objective"),
                x=vector(fields["x"], "x", n),
                theta=vector(fields["theta"], "theta"),
            )
        except KeyError as error:
            raise CorruptCertificate(f'"{error.args[0]}" is missing') from error
        except Misread as error:
            raise CorruptCertificate(str(error)) from error

    def matches(self, A: Any, y: Any) -> dict[str, bool]:
        """Whether A and y are the data that the certificate was made for."""
        return {"A": digest(A) == self.digests["A"], "y": digest(y) == self.digests["y"]}


def parsed(text: str, kind: str, version: int) -> dict[str, Any]:
    """The fields of a JSON file of this kind and version; CorruptCertificate if it is not one."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorruptCertificate(f"not valid JSON: {error}") from error
    if not isinstance(fields, dict) or fields.get("format") != kind:
        raise CorruptCertificate(f'"format" is not "{kind}"')
    if fields.get("version") != version:
        said = str(fields.get("version"))[:40]
        raise CorruptCertificate(f"version {said} is not known here; accepted: {version}")
    return fields


def read_digests(value: Any) -> dict[str, str]:
    """Those of A and y."""
    if not isinstance(value, dict) or not all(isinstance(value.get(k), str) for k in ("A", "y")):
        raise Misread('"sha256" lacks A or y')
    return {name: value[name] for name in ("A", "y")}


def read_problem(value: Any) -> dict[str, Any]:
    """What `verify` takes beside A and y."""
    if not isinstance(value, dict):
        raise Misread('"problem" is not an object')
    loss = value["loss"]
    named = isinstance(loss, dict) and isinstance(loss.get("name"), str)
    if not named or not isinstance(loss.get("parameters", {}), dict):
        raise Misread('"problem.loss" lacks a name')
    for name in ("lower", "upper"):
        _ = value[name]  # KeyError where it is missing
    return {name: read(held, f"problem.{name}") for name, held in value.items()}
