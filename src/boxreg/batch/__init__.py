"""Many right-hand sides that share A."""

from .many import solve_many
from .result import BatchResult, RhsStatus

__all__ = ["BatchResult", "RhsStatus", "solve_many"]
