"""boxreg: box-constrained linear regression with safe screening and a proof with every answer."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .api import nnls, operator, solve, verify
from .certificate import Certificate, Verdict
from .history import History, Snapshot
from .losses.custom import custom_loss
from .result import Result
from .status import Status
from .version import __version__
from .warning_types import ConvergenceWarning, PerformanceWarning

if TYPE_CHECKING:
    from .batch import BatchResult, RhsStatus, solve_many
    from .batch.labelled import LabelledResult as LabelledResult
    from .batch.lazy_result import LazyBatchResult as LazyBatchResult
    from .bounded_fit import lsq_linear
    from .linf import AntisparseResult, antisparse
    from .warming import warmup

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
    "Verdict",
    "__version__",
    "antisparse",
    "custom_loss",
    "lsq_linear",
    "nnls",
    "operator",
    "solve",
    "solve_many",
    "verify",
    "warmup",
]


_LATER = {
    "AntisparseResult": ".linf",
    "antisparse": ".linf",
    "BatchResult": ".batch",
    "RhsStatus": ".batch",
    "solve_many": ".batch",
    "lsq_linear": ".bounded_fit",
    "warmup": ".warming",
    "LazyBatchResult": ".batch.lazy_result",
    "LabelledResult": ".batch.labelled",
}
"""What takes a while to import, or brings other packages with it: scipy.optimize, dask, xarray."""


def __getattr__(name: str) -> Any:
    """What is imported when first asked for."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name], __name__), name)
