"""The registry of workloads, in the order of the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np

from boxreg.workloads import Workload, bvls_figure1, bvls_table2, nnls_table1

from . import real_data
from .problem import Problem, make


@dataclass(frozen=True)
class Case:
    """A workload: one problem, or a few of a kind whose median counts.

    Cases of one family grow: a contestant that is over its time in one is not started in the next.
    `patience` gives a contestant more seconds than the run's cap, where a target needs its time.
    """

    name: str
    family: str
    problems: Callable[[], list[Problem]]
    ours: Literal["boxreg.solve", "boxreg.nnls"] = "boxreg.solve"
    quick: bool = False
    large: bool = True
    """Whether a second thread can matter: a quick race with more threads has no other cases."""
    patience: Mapping[str, float] = field(default_factory=dict)


def _drawn(draw: Callable[[], Workload]) -> list[Problem]:
    held = draw()
    return [make(held.A, held.y, held.lower, held.upper)]


def _tiny(m: int, n: int, planted: bool) -> list[Problem]:
    """A and y ~ U(0,1); or A = |N(0,1)|, y = A x̄ + N(0,1), half of x̄ = |N(0,1)| kept. A few draws.

    About a fifth of the solution is positive in the first kind, more than half in the second.
    """
    drawn = []
    for seed in range(real_data.FEW):
        rng = np.random.default_rng([m, n, seed])
        A, y = rng.random((m, n)), rng.random(m)
        if planted:
            A = np.abs(rng.standard_normal((m, n)))
            x = np.abs(rng.standard_normal(n)) * (rng.random(n) < 0.5)
            y = A @ x + rng.standard_normal(m)
        drawn.append(make(A, y))
    return drawn


def _table(
    table: int,
    variant: Literal["coded", "printed"],
    n: int,
    quick: bool = False,
    patience: Mapping[str, float] | None = None,
) -> Case:
    draw = partial(nnls_table1 if table == 1 else bvls_table2, n, variant=variant)
    family = f"table{table}-{variant}"
    return Case(
        f"{family}-n{n}", family, partial(_drawn, draw), quick=quick, patience=patience or {}
    )


def _figure1(box: float, quick: bool = False) -> Case:
    draw, name = partial(bvls_figure1, box), f"figure1-b{box:g}"
    return Case(name, name, partial(_drawn, draw), quick=quick, patience={"scipy.bvls": 200.0})


def _small(m: int, n: int, planted: bool = False) -> Case:
    name = "tiny-planted" if planted else "tiny"
    draw = partial(_tiny, m, n, planted)
    return Case(f"{name}-{m}x{n}", name, draw, ours="boxreg.nnls", quick=True, large=False)


def _real(
    name: str,
    problems: Callable[[], list[Problem]],
    quick: bool = False,
    large: bool = False,
    ours: Literal["boxreg.solve", "boxreg.nnls"] = "boxreg.solve",
) -> Case:
    return Case(name, name, problems, ours=ours, quick=quick, large=large)


CASES: tuple[Case, ...] = (
    _small(10, 5),
    _small(50, 20),
    _small(200, 50),
    _small(500, 200),
    _small(50, 20, planted=True),
    _small(500, 200, planted=True),
    _table(1, "coded", 1000, quick=True),
    _table(1, "coded", 2000),
    _table(1, "coded", 4000),
    _table(1, "coded", 6000, quick=True),
    _table(1, "printed", 2000, quick=True),
    _table(1, "printed", 6000, patience={"scipy.nnls": 100.0}),
    _table(2, "coded", 3000, quick=True),
    _table(2, "printed", 3000),
    _figure1(0.1),
    _figure1(0.5, quick=True),
    _figure1(1.5),
    _real("nips", partial(real_data.documents, "nips_1-17", 100), quick=True, large=True),
    _real("newsgroups", partial(real_data.documents, "newsgroups20", 100), large=True),
    _real("cuprite-nnls", partial(real_data.cuprite, np.inf), quick=True, ours="boxreg.nnls"),
    _real("cuprite-box", partial(real_data.cuprite, 1.0)),
    _real("mri-exp", partial(real_data.relaxometry, "exp"), quick=True, ours="boxreg.nnls"),
    _real("mri-epg", partial(real_data.relaxometry, "epg"), ours="boxreg.nnls"),
    _real("signatures", real_data.tumours, quick=True, ours="boxreg.nnls"),
    _real("mnist", real_data.digits, quick=True, large=True),
)
