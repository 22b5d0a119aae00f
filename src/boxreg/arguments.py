"""Single numbers and switches from callers: what `validate` and the constructors of losses share."""

from __future__ import annotations

from typing import Any

import numpy as np


def number(value: Any, name: str) -> float:
    """A real number as a float, NaN and inf included; an error names the argument."""
    if isinstance(value, (str, bytes, bytearray)) or getattr(value, "ndim", 0) != 0:
        raise TypeError(f"{name}: expected a number, got {type(value).__name__}")
    if getattr(getattr(value, "dtype", None), "kind", "f") not in "fiub":  # complex, dates, objects
        raise TypeError(f"{name}: expected a real number, got dtype {value.dtype}")
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError(f"{name}: is too large for a float64 number") from error
    except Exception as error:  # whatever the object's own conversion raises
        raise TypeError(f"{name}: expected a number, got {type(value).__name__}") from error


def switch(value: Any, name: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected True or False, got {shown(value)}")
    return bool(value)


def shown(value: Any) -> str:
    """The value as messages show it: short, and no matter what its own `repr` does."""
    try:
        said = repr(value)
    except Exception:
        return f"an object of type {type(value).__name__}"
    return (
        said
        if len(said) <= 80 and "\n" not in said
        else f"an object of type {type(value).__name__}"
    )
