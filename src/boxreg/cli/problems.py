"""Arguments of `solve` and `verify` from what the user typed, and back from certificates."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..files import read_matrix, read_vector
from .errors import BadInput


def number_or_vector(text: str, name: str) -> Any:
    """A number, or a vector from a file."""
    try:
        return float(text)
    except ValueError:
        return read_vector(text, name).array


def number_or_matrix(text: str, name: str) -> Any:
    """A number, or a matrix from a file."""
    try:
        return float(text)
    except ValueError:
        return read_matrix(text, name).array


TERMS: dict[str, Callable[[str, str], Any]] = {
    "sample_weight": number_or_vector,
    "linear": number_or_vector,
    "ridge": number_or_matrix,
}
"""Further terms of the problem and how they are read."""


def terms() -> tuple[str, ...]:
    """Those that `solve` takes."""
    from ..api import solve

    return tuple(name for name in TERMS if name in inspect.signature(solve).parameters)


def parse_loss(text: str) -> dict[str, Any]:
    """'huber:delta=0.5' as its name and parameters; a parameter is a number or a vector's file."""
    name, _, rest = text.partition(":")
    parameters = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not (key and equals and value):
            raise BadInput(f"--loss: expected NAME or NAME:PARAMETER=VALUE,…, got {text!r}")
        parameters[key] = number_or_vector(value, f"--loss {key}")
    return {"name": name, "parameters": parameters}


def make_loss(described: dict[str, Any]) -> Any:
    """The loss with these parameters, or just its name where it has none."""
    from ..losses import LOSSES

    name, parameters = described["name"], described.get("parameters") or {}
    if not parameters or name not in LOSSES:
        return name  # `solve` says which names there are
    accepted = [held for held in inspect.signature(LOSSES[name]).parameters if held != "self"]
    for key in parameters:
        if key not in accepted:
            said = ", ".join(accepted) or "none"
            raise BadInput(f"loss: {name!r} has no parameter {key!r}; accepted: {said}")
    try:
        return LOSSES[name](**parameters)
    except (TypeError, ValueError) as error:
        raise BadInput(f"loss: {error}") from error
