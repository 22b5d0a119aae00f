"""Tables, folds and figures of report pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Names and what is said of them."""
    body = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(said)}</td></tr>" for name, said in rows
    )
    return f'<div class="scroll"><table>{body}</table></div>\n'


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], words: int = 0) -> str:
    """Columns of numbers, the last `words` of them of words."""
    kinds = [' class="number"'] * (len(head) - words) + [""] * words
    top = "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, head, strict=True))
    body = "".join(
        "<tr>"
        + "".join(f"<td{kind}>{escape(str(c))}</td>" for kind, c in zip(kinds, row, strict=True))
        + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><tr>{top}</tr>{body}</table></div>'


def details(summary: str, inner: str) -> str:
    """Something to unfold."""
    return f"<details><summary>{escape(summary)}</summary>{inner}</details>\n"


def figure(drawn: str, caption: str) -> str:
    """A drawing and its caption, which is HTML."""
    return f"<figure>{drawn}<figcaption>{caption}</figcaption></figure>"


def plain(number: float) -> str:
    """All digits of a number; -0 is 0."""
    return repr(float(number) + 0.0)
