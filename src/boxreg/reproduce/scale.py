"""How large the experiments are."""

from __future__ import annotations

from dataclasses import dataclass

from ..workloads import FIGURE1_BOXES
from .measure import Policy


@dataclass(frozen=True)
class Scale:
    """Sizes of every experiment; (m, n) are rows and columns of A."""

    name: str
    table1: tuple[tuple[int, int], ...]
    table2: tuple[tuple[int, int], ...]
    figure1: tuple[int, int]
    boxes: tuple[float, ...]
    figure3_nnls: tuple[int, int]
    figure3_bvls: tuple[int, int]
    documents: int
    """How many documents of the NIPS data take their turn as y."""
    pixels: int
    """How many pixels figure 4 takes."""
    tumours: int
    stride: int
    """The abundance map takes every so many rows and columns of the scene."""
    policy: Policy


QUICK = Scale(
    name="quick",
    table1=((500, 250), (500, 500), (500, 1000), (500, 1500)),
    table2=((250, 125), (250, 250), (250, 500), (250, 750)),
    figure1=(1000, 500),
    boxes=FIGURE1_BOXES,
    figure3_nnls=(500, 1000),
    figure3_bvls=(250, 500),
    documents=2,
    pixels=1,
    tumours=2,
    stride=5,
    policy=Policy(cap=2.0, repeats=3, budget=0.5),
)

FULL = Scale(
    name="full",
    table1=((2000, 1000), (2000, 2000), (2000, 4000), (2000, 6000)),
    table2=((1000, 500), (1000, 1000), (1000, 2000), (1000, 3000)),
    figure1=(4000, 2000),
    boxes=FIGURE1_BOXES,
    figure3_nnls=(2000, 4000),
    figure3_bvls=(1000, 2000),
    documents=10,
    pixels=5,
    tumours=20,
    stride=1,
    policy=Policy(cap=300.0, repeats=5, budget=5.0),
)

SCALES = {scale.name: scale for scale in (QUICK, FULL)}
