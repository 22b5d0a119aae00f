"""NumPy's floating-point errors, handled the same way whatever the caller has set.

A caller's `np.seterr(all="raise")` would otherwise make exceptions, in the middle of a solve, of what is
meant: underflow, for which error bounds allow, and overflow to inf, which proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def own_errstate(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """`function` under the library's own settings, for every way into the library.

    Division by 0 and 0/0 warn, as they do by default: the few places where they are meant say so
    themselves. Threads that the library starts have NumPy's defaults, which never raise, since NumPy
    keeps these settings for each thread or each context.
    """

    @wraps(function)
    def protected(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        with np.errstate(divide="warn", over="ignore", under="ignore", invalid="warn"):
            return function(*args, **kwargs)

    return protected
