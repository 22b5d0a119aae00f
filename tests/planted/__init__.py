"""Faults to plant in the source, one at a time: each must be found by the tests named beside it."""

from .mutant import Mutant

__all__ = ["Mutant", "all_mutants"]


def all_mutants() -> list[Mutant]:
    """Every mutant of the table."""
    from . import batches, certificates, certified, gaps, kernels, losses, regions

    tables = (gaps, certificates, certified, regions, losses, kernels, batches)
    return [mutant for table in tables for mutant in table.MUTANTS]
