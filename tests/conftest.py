"""Deterministic generated examples, and the real data where they are."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "boxreg",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("boxreg")
