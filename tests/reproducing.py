"""Reproductions small enough for tests, on stand-ins for the real data."""

from __future__ import annotations

from boxreg.datasets import DataNotFound
from boxreg.reproduce import Scale, data
from boxreg.reproduce.measure import Policy

TINY = Scale(
    name="tiny",
    table1=((60, 30), (60, 60), (60, 90), (60, 120)),
    table2=((40, 20), (40, 40), (40, 60), (40, 80)),
    figure1=(60, 30),
    boxes=(0.1, 1.0, 5.0),
    figure3_nnls=(60, 90),
    figure3_bvls=(40, 60),
    documents=1,
    pixels=1,
    tumours=1,
    stride=20,
    policy=Policy(cap=0.5, repeats=1),
)


def without_data(monkeypatch) -> None:
    """No data set is to be had."""

    def absent(name: str):
        raise DataNotFound(name)

    monkeypatch.setattr(data, "dataset", absent)
    forget()


def forget() -> None:
    """Empty the caches of the data."""
    for cached in (data.arrays, data._documents, data.nips, data.scene, data.cuprite):
        cached.cache_clear()
    data.signatures.cache_clear()
