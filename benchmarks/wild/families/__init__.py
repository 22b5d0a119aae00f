"""The families of problems by field; each is one small function, registered under its name."""

from __future__ import annotations

from . import algebra, astronomy, imaging, inversion, omics, spectra, statistics
from .family import FAMILIES, Drawn, Family

__all__ = [
    "FAMILIES",
    "Drawn",
    "Family",
    "algebra",
    "astronomy",
    "imaging",
    "inversion",
    "omics",
    "spectra",
    "statistics",
]
