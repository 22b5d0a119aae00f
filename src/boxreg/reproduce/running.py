"""Measure what is missing, then write the figures, the data and the page."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from scipy import sparse

from ..workloads import bvls_table2, nnls_table1
from .case import Case
from .environment import environment, fingerprint
from .experiments import EXPERIMENTS
from .measure import Policy, measured
from .page import page
from .progress import Bar
from .scale import Scale
from .section import Section
from .store import Cell, Store, encoded, write
from .theme import LIGHT, THEMES, rendered
from .ways import four

_SECONDS_WARM_UP = 10.0


@dataclass
class Outcome:
    """What came of a run."""

    page: Path
    measured: int = 0
    recalled: int = 0
    missing: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    unverified: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def code(self) -> int:
        """Exit code: 130 if interrupted, 1 if something failed or an answer did not pass."""
        if self.interrupted:
            return 130
        return 1 if self.failures or self.unverified else 0


def run(names: Sequence[str], scale: Scale, out: Path, *, fresh: bool = False) -> Outcome:
    """Measure the experiments named, as far as they are not in the folder yet, and report."""
    place = out / scale.name
    store = Store(place / "cells", fingerprint())
    wanted = {name: EXPERIMENTS[name].cells(scale) for name in names}
    cells = [cell for group in wanted.values() for cell in group]
    left = [cell for cell in cells if fresh or not store.recall(cell)]
    outcome = Outcome(page=place / "index.html", recalled=len(cells) - len(left))
    try:
        _measure(left, store, outcome)
    except KeyboardInterrupt:
        outcome.interrupted = True
    outcome.missing = sum(cell.key not in store for cell in cells)
    outcome.unverified = [
        cell.key for cell in cells if store.get(cell.key, {}).get("verified") is False
    ]
    shown = [name for name in EXPERIMENTS if name in wanted or _complete(name, scale, store)]
    _report(shown, scale, store, place, outcome)
    return outcome


def _measure(left: Sequence[Cell], store: Store, outcome: Outcome) -> None:
    """Take the measurements in turn; one that fails does not keep the others from being taken."""
    if not left:
        return
    bar = Bar(_SECONDS_WARM_UP + sum(cell.expected for cell in left))
    try:
        bar.show("compiling")
        _warm_up()
        bar.advance(_SECONDS_WARM_UP)
        for cell in left:
            bar.show(cell.key)
            try:
                store.keep(cell, cell.measure())
                outcome.measured += 1
            except Exception as error:  # whatever it was, it is told and the run goes on
                outcome.failures[cell.key] = f"{type(error).__name__}: {error}"
            bar.advance(cell.expected)
    finally:
        bar.clear()


def _warm_up() -> None:
    """Compile everything before anything is timed."""
    dense, boxed = Case.of(nnls_table1(30, m=40)), Case.of(bvls_table2(30, m=40))
    thin = replace(dense, A=sparse.csc_array(dense.A))
    cases = {
        "coordinate_descent": (dense, thin),
        "active_set": (dense, thin),
        "projected_gradient": (boxed,),
        "chambolle_pock": (boxed,),
    }
    for solver, held in cases.items():
        for case in held:
            for way in four(solver):
                measured(case, way, Policy(cap=10.0, repeats=1))


def _complete(name: str, scale: Scale, store: Store) -> bool:
    """Whether an experiment that was not asked for has been measured in full before."""
    if not any(store.folder.glob(f"{name}-*.json")):
        return False
    cells = EXPERIMENTS[name].cells(scale)
    return bool(cells) and all(store.recall(cell) for cell in cells)


def _report(
    names: Sequence[str], scale: Scale, store: Store, place: Path, outcome: Outcome
) -> None:
    """Write results.json, the figures, and the page."""
    sections = [EXPERIMENTS[name].section(scale, store) for name in names]
    where = environment()
    results = {
        "environment": where,
        "scale": scale.name,
        "missing": outcome.missing,
        "failures": outcome.failures,
        "experiments": {
            name: {
                "title": section.title,
                "text": section.text,
                "tables": [table.plain() for table in section.tables],
                "cells": _cells(name, scale, store),
            }
            for name, section in zip(names, sections, strict=True)
        },
    }
    write(place / "results.json", encoded(results))
    images = _images(sections, place / "figures")
    write(outcome.page, page(sections, images, where, scale.name, outcome.missing))


def _cells(name: str, scale: Scale, store: Store) -> dict[str, Any]:
    """What was measured, with what decided it."""
    return {
        cell.key: {"settings": json.loads(encoded(cell.settings)), "measured": store[cell.key]}
        for cell in EXPERIMENTS[name].cells(scale)
        if cell.key in store
    }


def _images(sections: Sequence[Section], folder: Path) -> dict[str, dict[str, bytes]]:
    """Write every figure as PNG and SVG; SVG in both themes for the page."""
    images: dict[str, dict[str, bytes]] = {}
    for section in sections:
        for drawing in section.drawings:
            try:
                images[drawing.name] = {
                    theme.name: rendered(drawing.draw, theme, "svg") for theme in THEMES
                }
                write(folder / f"{drawing.name}.png", rendered(drawing.draw, LIGHT, "png"))
            except ImportError as error:
                print(f"No figures: {error}", file=sys.stderr)
                return images
            write(folder / f"{drawing.name}.svg", images[drawing.name]["light"])
    return images
