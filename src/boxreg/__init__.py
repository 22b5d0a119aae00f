"""boxreg: box-constrained linear regression with safe screening and a proof with every answer."""

from .api import nnls, operator, solve, verify
from .certificate import Certificate
from .history import History, Snapshot
from .linf import AntisparseResult, antisparse
from .losses.custom import custom_loss
from .result import Result
from .status import Status
from .version import __version__
from .warning_types import ConvergenceWarning, PerformanceWarning

__all__ = [
    "AntisparseResult",
    "Certificate",
    "ConvergenceWarning",
    "History",
    "PerformanceWarning",
    "Result",
    "Snapshot",
    "Status",
    "__version__",
    "antisparse",
    "custom_loss",
    "nnls",
    "operator",
    "solve",
    "verify",
]
