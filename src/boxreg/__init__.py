"""boxreg: box-constrained linear regression with safe screening and a proof with every answer."""

from typing import TYPE_CHECKING, Any

from .api import nnls, operator, solve, verify
from .batch import BatchResult, RhsStatus, solve_many
from .certificate import Certificate
from .history import History, Snapshot
from .linf import AntisparseResult, antisparse
from .losses.custom import custom_loss
from .result import Result
from .status import Status
from .version import __version__
from .warning_types import ConvergenceWarning, PerformanceWarning

if TYPE_CHECKING:
    from .bounded_fit import lsq_linear

__all__ = [
    "AntisparseResult",
    "BatchResult",
    "Certificate",
    "ConvergenceWarning",
    "History",
    "PerformanceWarning",
    "Result",
    "RhsStatus",
    "Snapshot",
    "Status",
    "__version__",
    "antisparse",
    "custom_loss",
    "lsq_linear",
    "nnls",
    "operator",
    "solve",
    "solve_many",
    "verify",
]


def __getattr__(name: str) -> Any:
    """`lsq_linear` when first asked for: with it comes scipy.optimize."""
    if name != "lsq_linear":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .bounded_fit import lsq_linear

    return lsq_linear
