"""Numbers, switches and names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


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


def switch(value: Any, name: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected True or False, got {value!r}")
    return bool(value)


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
    return int(number)


def seconds(value: Any, name: str) -> float | None:
    """None, or a number of seconds >= 0; inf is no limit either."""
    if value is None:
        return None
    number = _number(value, name)
    if not number >= 0.0:
        raise ValueError(f"{name}: expected None or a number of seconds >= 0, got {value!r}")
    return None if number == np.inf else number


def one_of(value: Any, name: str, accepted: tuple[Any, ...]) -> None:
    """Refuse what is not among a few values."""
    if not any(value is known or value == known for known in accepted):
        said = ", ".join(map(repr, accepted))
        raise ValueError(f"{name}: expected one of {said}, got {value!r}")


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


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: expected a number, got {type(value).__name__}") from error
