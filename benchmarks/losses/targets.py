"""How much faster than whom, and whether a race shows it."""

from __future__ import annotations

from benchmarks.race.record import Record, entry, ratio
from benchmarks.race.targets import CERTIFIED, UNKNOWN, Verdict

SKGLM = ("skglm.ProxNewton", "skglm.AndersonCD")

FASTER: tuple[tuple[str, str, float], ...] = (
    ("quadratic-table1-n2000", "L-BFGS-B", 5.0),
    ("quadratic-table1-n2000", "skglm", 3.0),
    ("logistic-gaussian", "L-BFGS-B", 5.0),
    ("logistic-gaussian", "skglm", 3.0),
    ("logistic-correlated", "L-BFGS-B", 5.0),
    ("logistic-correlated", "skglm", 3.0),
    ("huber-n1000", "L-BFGS-B", 5.0),
    ("huber-n1000", "skglm", 3.0),
    ("huber-n4000", "L-BFGS-B", 5.0),
    ("huber-n4000", "skglm", 3.0),
    ("kl-nips", "L-BFGS-B", 5.0),
)
"""(case, contestant, how many times faster); “skglm” is the faster of its two solvers."""

TUMOURS = 20.0
"""Times faster than L-BFGS-B, a tumour, by `solve_many`."""


def verdicts(record: Record) -> list[Verdict]:
    """Every target; a speed counts with a proof, and against an answer as good as asked for."""
    return [_faster(record, *target) for target in FASTER] + [_tumours(record)]


def _faster(record: Record, name: str, rival: str, least: float) -> Verdict:
    target = f"{name}: {least:.3g}× {rival}"
    case = record.case(name, 1)
    if case is None:
        return Verdict(target, "–", UNKNOWN)
    names = SKGLM if rival == "skglm" else (rival,)
    known = {held: ratio(case, held) for held in names}
    figures = {held: figure for held, figure in known.items() if figure is not None}
    if not figures:
        return Verdict(target, entry(case, names[0])["note"], UNKNOWN)
    # One that misses the gap is faster than it would be with it: its figure is a lower bound.
    nearest = min(figures, key=lambda held: (_rough(case, held), figures[held]))
    figure, rough = figures[nearest], _rough(case, nearest)
    words = f"{'over ' if rough else ''}{figure:.3g}×"
    if case["certified_gap"] > CERTIFIED:
        return Verdict(target, f"{words}, but certified gap {case['certified_gap']:.1e}", "no")
    if figure >= least:
        return Verdict(target, words, "yes")
    return Verdict(target, words, UNKNOWN if rough else "no")


def _rough(case: dict[str, object], name: str) -> bool:
    held = entry(case, name)
    return bool(held["status"] == "over" or held["relative_gap"] > 1.01 * CERTIFIED)


def _tumours(record: Record) -> Verdict:
    target = f"kl-tumours, all in one call: {TUMOURS:g}× L-BFGS-B"
    case = record.case("kl-tumours", 1)
    held = None if case is None else case.get("many")
    if case is None or not held:
        return Verdict(target, "no solve_many", UNKNOWN)
    figure = entry(case, "L-BFGS-B")["seconds"] / held["seconds_each"]
    good = held["worst_gap"] <= CERTIFIED
    return Verdict(target, f"{figure:.3g}×", "yes" if figure >= TUMOURS and good else "no")
