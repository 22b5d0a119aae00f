"""Arguments of `solve` and `verify` from what the user typed, and back from certificates."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..files import read_matrix, read_vector
from .errors import BadInput

TERMS = ("sample_weight", "linear", "ridge")
"""Terms of the problem beside loss and bounds."""


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


def read_terms(options: Mapping[str, Any], n: int) -> dict[str, Any]:
    """The terms of the problem beside the loss, where they are asked for; a number c is n of it."""
    terms: dict[str, Any] = {}
    if options["sample_weight"] is not None:
        terms["sample_weight"] = read_vector(options["sample_weight"], "--sample-weight").array
    if options["linear"] is not None:
        linear = number_or_vector(options["linear"], "--linear")
        terms["linear"] = np.full(n, linear) if isinstance(linear, float) else linear
    if options["ridge"] is not None:
        terms["ridge"] = number_or_matrix(options["ridge"], "--ridge")
    return terms


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
