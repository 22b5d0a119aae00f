"""Deterministic generated examples, and settings that a test changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from hypothesis import HealthCheck, settings

from boxreg.settings import using

settings.register_profile(
    "boxreg",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("boxreg")


@pytest.fixture
def change() -> Iterator[Callable[..., object]]:
    """`change(small_entries=0)` puts settings in force until the test ends."""
    with ExitStack() as stack:
        yield lambda **changes: stack.enter_context(using(**changes))
