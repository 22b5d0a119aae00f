"""One page with everything on it, free of requests to anywhere."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from .section import MARKS, Column, Row, Section, Table, written
from .store import finite

Images = Mapping[str, Mapping[str, bytes]]
"""SVG by name of the drawing and of the theme."""

_TITLE = "Safe screening for box-constrained regression: the paper, reproduced"
_PAPER = (
    "C. F. Dantas, E. Soubies and C. Févotte, “Accelerating Non-Negative and Bounded-Variable Linear "
    "Regression Algorithms with Safe Screening”, 2023"
)


def page(
    sections: Sequence[Section],
    images: Images,
    environment: Mapping[str, Any],
    scale: str,
    missing: int,
) -> str:
    """The whole page as HTML."""
    parts = [
        "<header>",
        f"<h1>{escape(_TITLE)}</h1>",
        f"<p>{escape(_PAPER)}. Its figures stand beside those measured here.</p>",
        _summary(environment, scale, missing),
        "</header>",
        _contents(sections),
        "<main>",
        *(_section(section, images) for section in sections),
        "</main>",
        _environment(environment),
    ]
    return _frame("\n".join(parts), sections)


def _frame(body: str, sections: Sequence[Section]) -> str:
    tables = {s.name: [t.plain() for t in s.tables] for s in sections}
    # '<' is written so that nothing in the data can end the script element.
    data = json.dumps(finite(tables), allow_nan=False).replace("<", "\\u003c")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escape(_TITLE)}</title>\n<link rel="icon" href="data:,">\n'
        f"<style>\n{_resource('page.css')}</style>\n</head>\n<body>\n{body}\n"
        f'<script type="application/json" id="figures">{data}</script>\n'
        f"<script>\n{_resource('page.js')}</script>\n</body>\n</html>\n"
    )


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _summary(environment: Mapping[str, Any], scale: str, missing: int) -> str:
    sizes = "the paper's sizes" if scale == "full" else "reduced sizes (a quick run)"
    told = (
        f"{environment['date']}, {sizes}, {environment['cpu']}, threads: {environment['threads']}, "
        f"boxreg {environment['boxreg']}."
    )
    parts = [
        f'<p class="quiet">{escape(told)} <button data-json>Copy all figures as JSON</button></p>'
    ]
    if missing:
        parts.append(
            f'<p class="warning">{missing} measurements are still missing: the run was interrupted, or '
            "they failed. Run the same command again to go on.</p>"
        )
    return "\n".join(parts)


def _contents(sections: Sequence[Section]) -> str:
    entries = "".join(
        f'<li><a href="#{s.name}">{escape(s.title.split(":")[0] if s.name[-1].isdigit() else s.title)}'
        "</a></li>"
        for s in sections
    )
    return f'<nav aria-label="Contents"><ul>{entries}</ul></nav>'


def _section(section: Section, images: Images) -> str:
    parts = [f'<section id="{section.name}">', f"<h2>{escape(section.title)}</h2>"]
    parts += [f"<p>{escape(text)}</p>" for text in section.text]
    for drawing in section.drawings:
        parts.append(_figure(drawing.caption, images.get(drawing.name, {})))
    for i, table in enumerate(section.tables):
        parts.append(_table(table, f"{section.name}-{i}"))
    notes = dict.fromkeys(table.note for table in section.tables if table.note)
    parts += [f'<p class="note">{escape(note)}</p>' for note in notes]
    return "\n".join([*parts, "</section>"])


def _figure(caption: str, themes: Mapping[str, bytes]) -> str:
    if not themes:
        return ""
    light, dark = (
        f"data:image/svg+xml;base64,{b64encode(themes[name]).decode()}"
        for name in ("light", "dark")
    )
    return (
        f'<figure><picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">'
        f'<img src="{light}" alt="{escape(caption, quote=True)}"></picture>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _table(table: Table, identity: str) -> str:
    heads = "".join(
        f'<th scope="col" class="{_side(column)}">{escape(column.title)}</th>'
        for column in table.columns
    )
    body = "\n".join(
        _line(row, table.columns, _starts_block(table, i)) for i, row in enumerate(table.rows)
    )
    return (
        f'<div class="head"><h3>{escape(table.title)}</h3>'
        f'<button data-table="{identity}">Copy table</button></div>'
        f'<div class="scroll" tabindex="0"><table id="{identity}"><thead><tr>{heads}</tr></thead>'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _line(row: Row, columns: Sequence[Column], block: bool) -> str:
    cells = "".join(_cell(row, column) for column in columns)
    return f'<tr class="block">{cells}</tr>' if block else f"<tr>{cells}</tr>"


def _cell(row: Row, column: Column) -> str:
    value = finite(row.get(column.key))
    text = written(value, column.kind, row.get(MARKS, {}).get(column.key, ""))
    classes = [_side(column)]
    if column.key.startswith("paper"):
        classes.append("paper")
    if column.key == "method" and row.get("verified") is False:
        classes.append("fail")
        text += " (NOT verified)"
    exact = "" if value is None else escape(str(value), quote=True)
    return f'<td class="{" ".join(classes)}" data-value="{exact}">{escape(text)}</td>'


def _starts_block(table: Table, i: int) -> bool:
    """Whether a new problem begins: a row of the table's first method."""
    methods = [row.get("method") for row in table.rows]
    return i > 0 and methods[0] is not None and methods[i] == methods[0]


def _side(column: Column) -> str:
    return "text" if column.kind == "text" else "figure"


def _environment(environment: Mapping[str, Any]) -> str:
    entries = "".join(
        f"<dt>{escape(str(name))}</dt><dd>{escape(str(value))}</dd>"
        for name, value in environment.items()
    )
    return f'<footer><h2 id="environment">Environment</h2><dl>{entries}</dl></footer>'
