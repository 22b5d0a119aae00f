"""What the defaults should reach, and whether a race shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .record import Record, entry, ratio, rivals, to_limit

CERTIFIED = 1e-9


@dataclass(frozen=True)
class Verdict:
    """One line of the table."""

    target: str
    figure: str
    reached: str
    """yes, no, or not measured."""


FASTER: tuple[tuple[str, str, float], ...] = (
    ("table1-coded-n1000", "scipy.nnls", 10.0),
    ("table1-coded-n1000", "skglm", 3.0),
    ("table1-coded-n6000", "scipy.nnls", 20.0),
    ("table1-coded-n6000", "skglm", 4.0),
    ("table1-printed-n2000", "scipy.nnls", 30.0),
    ("table1-printed-n2000", "skglm", 50.0),
    ("table1-printed-n2000", "skglm.fixed", 50.0),
    ("table1-printed-n6000", "scipy.nnls", 30.0),
    ("table2-coded-n3000", "adelie", 25.0),
    ("table2-coded-n3000", "scipy.bvls", 150.0),
    ("figure1-b0.1", "adelie", 3.0),
    ("figure1-b0.1", "scipy.bvls", 100.0),
    ("figure1-b0.5", "adelie", 3.0),
    ("figure1-b0.5", "scipy.bvls", 100.0),
    ("figure1-b1.5", "adelie", 3.0),
    ("figure1-b1.5", "scipy.bvls", 100.0),
    ("nips", "skglm", 2.0),
    ("cuprite-nnls", "scipy.nnls", 10.0),
    ("mri-exp", "scipy.nnls", 10.0),
    ("mri-epg", "scipy.nnls", 10.0),
    ("mnist", "everybody", 1.0),
    ("tiny-10x5", "scipy.nnls", 1.0 / 1.3),
    ("tiny-50x20", "scipy.nnls", 1.0),
    ("tiny-200x50", "scipy.nnls", 3.0),
    ("tiny-500x200", "scipy.nnls", 20.0),
)
"""(case, contestant, how many times faster): ours certified at a relative gap of 1e-9 or better."""

NEAR_LIMIT: tuple[tuple[str, float], ...] = (
    ("table1-coded-n6000", 4.0),
    ("table1-printed-n2000", 8.0),
    ("table1-printed-n6000", 8.0),
)
"""(case, times the oracle limit at most)."""

SCREENING: tuple[tuple[str, str, float], ...] = (
    ("nnls-table1-coded-n6000", "coordinate_descent", 27.8),
    ("bvls-table2-coded-n3000", "projected_gradient", 12.8),
    ("bvls-table2-coded-n3000", "chambolle_pock", 12.8),
)
"""(workload, solver, time of the plain algorithm over that of the same with screening): the paper's
oracle bounds."""

IMPORT, WARM_CALL, COLD_CALL = 0.1, 0.5, 10.0
UNKNOWN = "not measured"


def verdicts(record: Record) -> list[Verdict]:
    """Every target, with every thread count that was raced."""
    found = []
    for threads in record.thread_counts():
        found += [_faster(record, threads, *target) for target in FASTER]
        found += [_near_limit(record, threads, *target) for target in NEAR_LIMIT]
    found += [_screening(record, *target) for target in SCREENING]
    return found + _startup(record)


def _faster(record: Record, threads: int, name: str, solver: str, least: float) -> Verdict:
    target = f"{name}, {_threads(threads)}: {least:.3g}× {solver}"
    case = record.case(name, threads)
    if case is None:
        return Verdict(target, "–", UNKNOWN)
    if solver == "everybody":
        return _ahead_of_all(target, case, least)
    figure = ratio(case, solver)
    if figure is None:
        return Verdict(target, entry(case, solver)["note"], UNKNOWN)
    over = entry(case, solver)["status"] == "over"
    if over and figure < least:
        return Verdict(target, f"over {figure:.3g}×", UNKNOWN)
    return _judged(target, f"{'over ' if over else ''}{figure:.3g}×", figure >= least, case)


def _ahead_of_all(target: str, case: dict[str, Any], least: float) -> Verdict:
    ratios = {held["solver"]: ratio(case, held["solver"]) for held in rivals(case)}
    known = {name: figure for name, figure in ratios.items() if figure is not None}
    if not known:
        return Verdict(target, "nobody else finished", UNKNOWN)
    nearest = min(known, key=lambda name: known[name])
    figure = known[nearest]
    return _judged(target, f"{figure:.3g}× (nearest: {nearest})", figure >= least, case)


def _near_limit(record: Record, threads: int, name: str, most: float) -> Verdict:
    target = f"{name}, {_threads(threads)}: within {most:g}× of the oracle limit"
    case = record.case(name, threads)
    figure = None if case is None else to_limit(case)
    if case is None or figure is None:
        return Verdict(target, "–", UNKNOWN)
    return _judged(target, f"{figure:.3g}×", figure <= most, case)


def _judged(target: str, figure: str, met: bool, case: dict[str, Any]) -> Verdict:
    """A speed counts only for an answer with a proof."""
    proof = case["certified_gap"]
    if proof > CERTIFIED:
        return Verdict(target, f"{figure}, but certified gap {proof:.1e}", "no")
    return Verdict(target, figure, "yes" if met else "no")


def _screening(record: Record, workload: str, solver: str, least: float) -> Verdict:
    target = f"{workload}, {solver}: screening saves more than {least}×"
    for row in record.screening or ():
        if (row["workload"], row["solver"]) == (workload, solver):
            figure = row["seconds_plain"] / row["seconds_screened"]
            faster = row["seconds_plain"] / row["seconds_default"]
            met = figure > least and row["verified"]
            words = f"{figure:.3g}× ({faster:.3g}× with accelerations)"
            return Verdict(target, words, "yes" if met else "no")
    return Verdict(target, "–", UNKNOWN)


def _startup(record: Record) -> list[Verdict]:
    held = record.startup
    if held is None:
        return [Verdict("start-up", "–", UNKNOWN)]
    warm = max(call["warm_seconds"] for call in held["first_call"])
    cold = max(call["cold_seconds"] for call in held["first_call"])
    rows = (
        ("import boxreg, over scipy.optimize", held["import_seconds"], IMPORT),
        ("first nnls call in a new process, cache warm", warm, WARM_CALL),
        ("first nnls call in a new process, cache cold", cold, COLD_CALL),
    )
    return [
        Verdict(f"{name}: under {most:g} s", f"{seconds:.3f} s", "yes" if seconds < most else "no")
        for name, seconds, most in rows
    ]


def _threads(count: int) -> str:
    return f"{count} thread" if count == 1 else f"{count} threads"
