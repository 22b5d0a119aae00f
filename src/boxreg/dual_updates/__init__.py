"""Dual updates: one file each, and the registry of their names."""

from .base import DualUpdate
from .extrapolated import Extrapolated
from .line_search import LineSearch
from .oracle import Oracle
from .polish import SupportPolish
from .residual import Residual
from .translation import Translation

DUAL_UPDATES: dict[str, type[DualUpdate]] = {
    "extrapolated": Extrapolated,
    "line_search": LineSearch,
    "residual": Residual,
    "support_polish": SupportPolish,
    "translation": Translation,
}

__all__ = [
    "DUAL_UPDATES",
    "DualUpdate",
    "Extrapolated",
    "LineSearch",
    "Oracle",
    "Residual",
    "SupportPolish",
    "Translation",
]
