"""The race as Markdown."""

from __future__ import annotations

from typing import Any

from .record import Record, our_seconds, ratio, rivals, to_limit
from .targets import verdicts

FLOOR = 1e-15
"""Relative gaps below this are rounding noise."""


def markdown(record: Record) -> str:
    """The whole report."""
    parts = [f"# The race ({record.kind})", environment_text(record)]
    if not record.finished:
        parts.append("**This run was not finished.**")
    for threads in record.thread_counts():
        held = [case for case in record.cases if case["threads"] == threads]
        raced = [case for case in held if "entries" in case]
        title = f"## {threads} thread" + ("s" if threads > 1 else "")
        parts += [title, summary(raced), _skipped(held), _details(raced)]
    parts += ["## Targets", _targets(record), "## Settings", settings_table(record)]
    return "\n\n".join(part for part in parts if part) + "\n"


def summary(cases: list[dict[str, Any]]) -> str:
    """One line a case: ours, the limit, and the rivals' ratios with their gaps."""
    names = [held["solver"] for held in rivals(cases[0])] if cases else []
    shown = [name for name in names if any(ratio(case, name) is not None for case in cases)]
    lines = [
        "Times boxreg's time (relative duality gap). “>” was stopped at its cap; “–” did not take part.",
        "",
        "| workload | m×n | free | boxreg | proved gap | × limit | " + " | ".join(shown) + " |",
        "|---|---|---:|---:|---:|---:|" + "---:|" * len(shown),
    ]
    for case in cases:
        cells = [_ratio_cell(case, name) for name in shown]
        lines.append(
            f"| {case['case']} | {case['m']}×{case['n']} | {case['free']} | "
            f"{time_text(our_seconds(case))} | {gap_text(case['certified_gap'])} | "
            f"{number(to_limit(case))} | " + " | ".join(cells) + " |"
        )
    return "\n".join(lines)


def _ratio_cell(case: dict[str, Any], name: str) -> str:
    held = next(held for held in case["entries"] if held["solver"] == name)
    figure = ratio(case, name)
    if figure is None:
        return "failed" if held["status"] == "failed" else "–"
    if held["status"] == "over":
        return f">{number(figure)}"
    return f"{number(figure)} ({gap_text(held['relative_gap'])})"


def _skipped(cases: list[dict[str, Any]]) -> str:
    lines = [f"- {case['case']}: skipped, {case['skipped']}" for case in cases if "skipped" in case]
    return "\n".join(lines)


def _details(cases: list[dict[str, Any]]) -> str:
    """Seconds and gap of everybody, and why somebody did not take part."""
    lines = [
        "| workload | solver | time | samples | × boxreg | relative gap | outside the box | remark |",
        "|---|---|---:|---:|---:|---:|---:|---|",
    ]
    for case in cases:
        limit = case["limit"]
        method = limit["each"][0]["method"]
        lines.append(
            f"| {case['case']} | oracle limit | {time_text(limit['seconds'])} | | | "
            f"{gap_text(limit['each'][0]['relative_gap'])} | | {method} |"
        )
        lines += [_detail(case, held) for held in case["entries"]]
    return "<details><summary>Every figure</summary>\n\n" + "\n".join(lines) + "\n\n</details>"


def _detail(case: dict[str, Any], held: dict[str, Any]) -> str:
    over = ">" if held["status"] == "over" else ""
    remark = (
        held["note"] if held["status"] in ("ok", "over") else f"{held['status']}: {held['note']}"
    )
    outside = "" if not held["violation"] else f"{held['violation']:.0e}"
    return (
        f"| {case['case']} | {held['solver']} | {over}{time_text(held['seconds'])} | "
        f"{held['samples'] or ''} | {over}{number(ratio(case, held['solver']))} | "
        f"{gap_text(held['relative_gap'])} | {outside} | {remark.replace('|', '/')} |"
    )


def _targets(record: Record) -> str:
    found = verdicts(record)
    count = sum(held.reached == "yes" for held in found)
    lines = [
        f"{count} of {len(found)} reached.",
        "",
        "| target | figure | reached |",
        "|---|---:|---|",
    ]
    lines += [f"| {held.target} | {held.figure} | {held.reached} |" for held in found]
    return "\n".join(lines)


def environment_text(record: Record) -> str:
    """When, where and with what."""
    held = record.environment
    return (
        f"{held['date']}, {held['cpu']}, {held['cores']} cores, {held['memory_gb']} GB, "
        f"{held['system']}, Python {held['python']}, NumPy {held['numpy']}, SciPy {held['scipy']}, "
        f"numba {held['numba']}; load at the start {held['load_at_start']}."
    )


def settings_table(record: Record) -> str:
    """Everybody's version and settings."""
    lines = ["| solver | version | settings |", "|---|---|---|"]
    for name, text in record.settings.items():
        package, settings = text.split("|", 1)
        lines.append(f"| {name} | {record.versions.get(package, 'not there')} | {settings} |")
    return "\n".join(lines)


def time_text(seconds: float | None) -> str:
    """Three digits and a unit."""
    if seconds is None:
        return "–"
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if seconds * factor >= 1.0:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def gap_text(gap: float | None) -> str:
    """One digit, or that it is rounding noise."""
    if gap is None:
        return "–"
    return f"<{FLOOR:.0e}" if gap < FLOOR else f"{gap:.0e}"


def number(value: float | None) -> str:
    """Three digits at most."""
    if value is None:
        return "–"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
