"""Numbers, switches and names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from ..arguments import number as _number
from ..arguments import shown, switch

__all__ = [
    "choice",
    "claim",
    "function",
    "iterations",
    "one_of",
    "positive",
    "switch",
    "tolerance",
    "unknown",
    "verbosity",
]

T = TypeVar("T")

_ORDINARY = (str, int, type(None))

_MOST = 2**62
"""Whole numbers above this mean the same: compiled loops count in 64 bits."""


def tolerance(value: Any, name: str) -> float:
    """A number >= 0."""
    number = _number(value, name)
    if not 0.0 <= number < np.inf:
        raise ValueError(f"{name}: expected a finite number >= 0, got {value!r}")
    return number


def positive(value: Any, name: str) -> float:
    """A finite number > 0."""
    number = _number(value, name)
    if not 0.0 < number < np.inf:
        raise ValueError(f"{name}: expected a finite number > 0, got {value!r}")
    return number


def claim(value: Any, name: str) -> float:
    """A number >= 0, or inf: a gap that somebody says was proved."""
    number = _number(value, name)
    if not number >= 0.0:
        raise ValueError(f"{name}: expected a number >= 0, got {value!r}")
    return number


def iterations(value: Any, name: str, *, least: int = 0) -> int | None:
    """None, or a whole number not below `least`."""
    if value is None:
        return None
    number = _number(value, name)
    if not (number >= least and number == np.floor(number) and np.isfinite(number)):
        raise ValueError(f"{name}: expected None or a whole number >= {least}, got {value!r}")
    return min(int(number), _MOST)


def verbosity(value: Any) -> int:
    """How much to show: a whole number >= 0, or True or False."""
    if type(value) is int and value >= 0:
        return value
    number = _number(value, "verbose")
    if not (0 <= number < np.inf and number == np.floor(number)):
        raise ValueError(f"verbose: expected a whole number >= 0, got {value!r}")
    return int(number)


def seconds(value: Any, name: str) -> float | None:
    """None, or a number of seconds >= 0; inf is no limit either."""
    if value is None:
        return None
    number = _number(value, name)
    if not number >= 0.0:
        raise ValueError(f"{name}: expected None or a number of seconds >= 0, got {value!r}")
    return None if number == np.inf else number


def function(value: Any, name: str) -> Any:
    """None, or what can be called."""
    if value is not None and not callable(value):
        raise TypeError(f"{name}: expected a function, got {type(value).__name__}")
    return value


def one_of(value: Any, name: str, accepted: tuple[Any, ...]) -> None:
    """Refuse what is not among a few values."""
    if type(value) in _ORDINARY and value in accepted:
        return
    plain = value is None or isinstance(value, (str, int, float, np.integer, np.floating))
    if not (plain and any(value is known or value == known for known in accepted)):
        said = ", ".join(map(repr, accepted))
        raise ValueError(f"{name}: expected one of {said}, got {shown(value)}")


def choice(
    value: Any,
    name: str,
    registry: Mapping[str, type[T]],
    base: type[Any],
    extra: tuple[str, ...] = (),
) -> T:
    """A registered name, or an instance (a class is not one)."""
    if isinstance(value, base):
        return value  # type: ignore[no-any-return]
    if isinstance(value, str):
        if value not in registry:
            raise ValueError(unknown(name, value, [*extra, *registry]))
        return registry[value]()
    raise TypeError(
        f"{name}: expected one of {', '.join(sorted({*extra, *registry}))}, or an instance of "
        f"{base.__name__}, got {type(value).__name__}"
    )


def unknown(name: str, value: str, accepted: list[str]) -> str:
    """What to say of a name that is not known."""
    return f"{name}: unknown name {value!r}; accepted: {', '.join(sorted(accepted))}"
