"""boxreg: box-constrained linear regression with safe screening and a proof with every answer."""

from .api import nnls, operator, solve, verify
from .batch import BatchResult, RhsStatus, solve_many
from .certificate import Certificate
from .history import History, Snapshot
from .losses.custom import custom_loss
from .result import Result
from .status import Status
from .version import __version__
from .warning_types import ConvergenceWarning, PerformanceWarning

__all__ = [
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
    "custom_loss",
    "nnls",
    "operator",
    "solve",
    "solve_many",
    "verify",
]
