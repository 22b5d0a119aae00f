"""The warnings this library raises."""

from __future__ import annotations


class ConvergenceWarning(UserWarning):
    """The budget ran out, or precision did, before the gap that was asked for."""


class PerformanceWarning(UserWarning):
    """The answer is right, but the call could be made much cheaper."""
