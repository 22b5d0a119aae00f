"""The registry of workloads, in the order of the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from . import data
from .functions import Huber, LogCosh, Logistic, SquaredHinge
from .problem import LossProblem

DELTA = 0.2
"""Huber's threshold on the drawn data: two standard deviations of the noise that is no outlier."""


@dataclass(frozen=True)
class Case:
    """A workload: one problem, or a few of a kind whose median counts."""

    name: str
    problems: Callable[[], list[LossProblem]]
    large: bool = False
    """Left out of a quick race."""


CASES: tuple[Case, ...] = (
    Case("quadratic-table1-n2000", partial(data.table1, 2000)),
    Case("logistic-gaussian", partial(data.gaussian_labels, Logistic())),
    Case("logistic-correlated", partial(data.correlated_labels, Logistic())),
    Case("logistic-box-newsgroups", data.topic, large=True),
    Case("squared-hinge-gaussian", partial(data.gaussian_labels, SquaredHinge())),
    Case("huber-n1000", partial(data.outliers, Huber(DELTA), 1000)),
    Case("huber-n4000", partial(data.outliers, Huber(DELTA), 4000), large=True),
    Case("huber-mri", data.decays),
    Case("log-cosh-n1000", partial(data.outliers, LogCosh(), 1000)),
    Case("kl-nips", data.documents),
    Case("kl-tumours", data.tumours),
    Case("lasso-n4000", partial(data.lasso, 4000, 0.05)),
)
