"""The race of the losses as Markdown."""

from __future__ import annotations

from typing import Any

from benchmarks.race.record import Record, entry, our_seconds, ratio, rivals
from benchmarks.race.report import environment_text, gap_text, number, settings_table, time_text

from .targets import verdicts


def markdown(record: Record) -> str:
    """The whole report."""
    raced = [case for case in record.cases if "entries" in case]
    parts = ["# The race of the losses", environment_text(record)]
    if not record.finished:
        parts.append("**This run was not finished.**")
    parts += [_summary(raced), _skipped(record), _many(raced), "## Targets", _targets(record)]
    if record.screening:
        parts += ["## Work with and without screening", _screening(record.screening)]
    parts += ["## Every figure", _details(raced), "## Settings", settings_table(record)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _summary(cases: list[dict[str, Any]]) -> str:
    names = [held["solver"] for held in rivals(cases[0])] if cases else []
    lines = [
        "Times boxreg's time at a relative gap of 1e-9 (the gap reached, where it is larger). “>” was "
        "stopped at its cap; “–” does not have the problem.",
        "",
        "| workload | m×n | inside | boxreg | proved gap | " + " | ".join(names) + " |",
        "|---|---|---:|---:|---:|" + "---:|" * len(names),
    ]
    for case in cases:
        cells = [_cell(case, name) for name in names]
        lines.append(
            f"| {case['case']} | {case['m']}×{case['n']} | {case['free']} | "
            f"{time_text(our_seconds(case))} | {gap_text(case['certified_gap'])} | "
            + " | ".join(cells)
            + " |"
        )
    return "\n".join(lines)


def _cell(case: dict[str, Any], name: str) -> str:
    held, figure = entry(case, name), ratio(case, name)
    if figure is None:
        return "failed" if held["status"] == "failed" else "–"
    if held["status"] == "over":
        return f">{number(figure)}"
    rough = held["relative_gap"] > 1.01e-9
    return number(figure) + (f" ({gap_text(held['relative_gap'])})" if rough else "")


def _skipped(record: Record) -> str:
    return "\n".join(
        f"- {case['case']}: skipped, {case['skipped']}"
        for case in record.cases
        if "skipped" in case
    )


def _many(cases: list[dict[str, Any]]) -> str:
    for case in cases:
        held = case.get("many")
        if held:
            theirs = entry(case, "L-BFGS-B")["seconds"]
            each = held["seconds_each"]
            return (
                f"`solve_many`, all {held['problems']} tumours in one call: {time_text(each)} a tumour; "
                f"L-BFGS-B takes {number(theirs / each)} times as long. Worst relative gap of those "
                f"raced one by one: {gap_text(held['worst_gap'])}."
            )
    return ""


def _targets(record: Record) -> str:
    lines = ["| target | figure | reached |", "|---|---:|---|"]
    lines += [f"| {held.target} | {held.figure} | {held.reached} |" for held in verdicts(record)]
    return "\n".join(lines)


def _screening(rows: list[dict[str, Any]]) -> str:
    lines = [
        "Work in products with A, to a relative gap of 1e-6: the plain algorithm, the same with "
        "screening, and the default with accelerations (the default solvers have no plain form). “>” "
        "was stopped at its limit of steps; its ratio is at least that.",
        "",
        "| workload | solver | plain | screened | times less | default | screened away |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        work, finished = row["work"], row["finished"]
        cells = {way: f"{'' if finished[way] else '>'}{work[way]:,.0f}" for way in work}
        mark = "" if row["verified"] else " NOT VERIFIED"
        ratio_text = f"{work['plain'] / work['screened']:.1f}" if finished["screened"] else "–"
        if ratio_text != "–" and not finished["plain"]:
            ratio_text = ">" + ratio_text
        lines.append(
            f"| {row['workload']} | {row['solver']} | {cells['plain']} | {cells['screened']} | "
            f"{ratio_text} | {cells.get('default', '')} | {100 * row['screened']:.0f} %{mark} |"
        )
    return "\n".join(lines)


def _details(cases: list[dict[str, Any]]) -> str:
    lines = [
        "| workload | solver | time | samples | × boxreg | relative gap | tolerance | remark |",
        "|---|---|---:|---:|---:|---:|---:|---|",
    ]
    for case in cases:
        for held in case["entries"]:
            over = ">" if held["status"] == "over" else ""
            tolerance = "" if held["tolerance"] is None else f"{held['tolerance']:.0e}"
            remark = held["note"].replace("|", "/")
            if held["status"] not in ("ok", "over"):
                remark = f"{held['status']}: {remark}"
            lines.append(
                f"| {case['case']} | {held['solver']} | {over}{time_text(held['seconds'])} | "
                f"{held['samples'] or ''} | {over}{number(ratio(case, held['solver']))} | "
                f"{gap_text(held['relative_gap'])} | {tolerance} | {remark} |"
            )
    return "\n".join(lines)
