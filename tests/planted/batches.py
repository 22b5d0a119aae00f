"""Faults in the proofs of many right-hand sides, and of the ℓ∞-penalised problem."""

from __future__ import annotations

from .mutant import Mutant

ANTISPARSE = "tests/test_antisparse.py"

MUTANTS: list[Mutant] = []
