"""The record as Markdown."""

from __future__ import annotations

from typing import Any

from benchmarks.race.record import Record
from benchmarks.race.report import environment_text, number, settings_table, time_text

from .summary import Call, calls, figures, grouped, headline, size_class, with_nnls, worst

GROUPS = {
    "function": lambda call: call.function,
    "family": lambda call: call.row["family"],
    "loss": lambda call: call.row["loss"],
    "bounds": lambda call: call.row["bounds"],
    "layout": lambda call: call.row["layout"],
    "size": lambda call: size_class(call.row),
    "terms": lambda call: call.row["terms"] or "none",
    "right-hand sides": lambda call: "one" if call.row["count"] == 1 else "several",
}
"""The tables: `function` is of all calls, the others of one call for each problem."""

HEADER = (
    "calls | failures | over 60 s | proved | at least as fast | under half speed | least | 5 % | 25 % "
    "| median | 75 % | 95 %"
)


def markdown(record: Record) -> str:
    """The whole report."""
    found = calls(record.cases)
    main = headline(found)
    held = record.environment
    parts = [
        "# Problems as scientists bring them",
        environment_text(record),
        f"Commit {held['commit']}; `{held['command']}`; generation {held['generation']}, "
        f"{len(record.cases)} seeds, {held['seeds']}.",
        _in_words(main),
        _table(
            "all problems", {"solve, solve_many": main, "nnls where it applies": with_nnls(found)}
        ),
    ]
    for title, key in GROUPS.items():
        parts += [
            f"## By {title}",
            _table(title, grouped(found if title == "function" else main, key)),
        ]
    parts += ["## The worst twenty", _worst(found)]
    if record.clients is not None:
        parts += ["## Recorded calls of programs", _clients(record.clients)]
    parts += ["## Who was the fastest other", _rivals(main), "## Settings", settings_table(record)]
    return "\n\n".join(parts) + "\n"


def _in_words(main: list[Call]) -> str:
    held = figures(main)
    if not main:
        return "Nothing was raced."
    text = (
        f"{held['calls']} problems, one call each: `solve`, or `solve_many` for several right-hand "
        f"sides. {held['failures']} failures, {held['over']} of them over 60 s; {held['proved']} proved "
        f"to 1e-8; at least as fast as the best other solver with hindsight on "
        f"{_share(held['as_fast'])}, under half its speed on {_share(held['under_half'])}; median "
        f"ratio {_ratio(held['quantiles'][3])}. On {held['alone']} no other reached the minimum."
    )
    if held["false_proofs"]:
        text += f" **{held['false_proofs']} proofs were false: somebody found a better answer.**"
    return text


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _ratio(value: float | None) -> str:
    if value is None or value == float("inf"):
        return "–" if value is None else "∞"
    return number(value)


def _table(title: str, groups: dict[str, list[Call]]) -> str:
    lines = [f"| {title} | {HEADER} |", "|---|" + "---:|" * (HEADER.count("|") + 1)]
    for name, members in groups.items():
        held = figures(members)
        proved = f"{held['proved']}/{held['claims']}" if held["claims"] else "–"
        cells = [str(held["calls"]), str(held["failures"]), str(held["over"]), proved]
        cells += [_share(held["as_fast"]), _share(held["under_half"])]
        cells += [_ratio(value) for value in held["quantiles"]]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _worst(found: list[Call]) -> str:
    lines = [
        "| seed | family | function | m×n | right-hand sides | loss | bounds | layout | terms | "
        "boxreg | proved gap | best other | its time | ratio |",
        "|---:|---|---|---|---:|---|---|---|---|---:|---:|---|---:|---|",
    ]
    for call in worst(found, 20):
        row, entry = call.row, call.entry
        gap = entry.get("gap")
        best = next((held for held in row["entries"] if held["solver"] == call.rival), None)
        cells = [row["seed"], row["family"], call.function.removeprefix("boxreg.")]
        cells += [f"{row['m']}×{row['n']}", row["count"], row["loss"], row["bounds"], row["layout"]]
        cells += [row["terms"], time_text(entry["seconds"]), "–" if gap is None else f"{gap:.0e}"]
        cells += [call.rival or "–", time_text(best["seconds"]) if best else "–"]
        cells += [call.failure.replace("|", "/") or _ratio(call.ratio)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def _rivals(main: list[Call]) -> str:
    lines = ["| fastest other | problems | median ratio |", "|---|---:|---:|"]
    for name, members in grouped(main, lambda call: call.rival or "none reached it").items():
        lines.append(f"| {name} | {len(members)} | {_ratio(figures(members)['quantiles'][3])} |")
    return "\n".join(lines)


def _clients(clients: list[dict[str, Any]]) -> str:
    lines = [
        "SciPy's time over boxreg's, call by call. Worse: boxreg's objective is above SciPy's by more "
        "than 1e-8 of P₀.",
        "",
        "| program | function | calls | timed | least | median | most | worse | failed |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for held in clients:
        if "skipped" in held:
            lines.append(f"| {held['program']} | skipped: {held['skipped']} | | | | | | | |")
            continue
        lines.append(
            f"| {held['program']} | {held['function']} | {held['calls']} | {held['timed']} | "
            f"{number(held['least'])} | {number(held['median'])} | {number(held['most'])} | "
            f"{held['worse']} | {held['failed']} |"
        )
    return "\n".join(lines)
