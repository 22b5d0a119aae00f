"""Test problems: `TABLE` for solvers, `generated(family, seed)` for fuzzing safety."""

from __future__ import annotations

from references.box_problem import BoxProblem
from references.families import FAMILIES, generated
from references.table import TABLE

__all__ = ["FAMILIES", "TABLE", "BoxProblem", "generated"]
