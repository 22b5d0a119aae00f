"""The tables as Markdown, put in their places in a page of the documentation.

`python -m boxreg.reproduce.markdown out/reproduce/full/results.json docs/reproduction.md` replaces what
stands between the lines `<!-- table1 -->` and `<!-- end -->` with the tables of table1, and so on for
every experiment, and for `environment`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .section import MARKS, written
from .store import write

_SIDES = {"text": "---"}
_PLACE = r"(<!-- {name} -->\n).*?(<!-- end -->)"


def markdown(table: Mapping[str, Any]) -> str:
    """One table of results.json."""
    columns = table["columns"]
    head = _line([column["title"] for column in columns])
    sides = _line([_SIDES.get(column["kind"], "---:") for column in columns])
    rows = [
        _line(
            [written(row.get(c["key"]), c["kind"], row[MARKS].get(c["key"], "")) for c in columns]
        )
        for row in table["rows"]
    ]
    return "\n".join([f"**{table['title']}**", "", head, sides, *rows])


def filled(text: str, results: Mapping[str, Any]) -> str:
    """The page with the tables of every experiment that it has a place for."""
    blocks = {
        name: f"### {held['title']}\n\n" + "\n\n".join(map(markdown, held["tables"]))
        for name, held in results["experiments"].items()
    }
    where = results["environment"]
    told = ("date", "cpu", "threads", "boxreg", "python", "numpy", "scipy", "numba")
    blocks["environment"] = ", ".join(f"{name} {where[name]}" for name in told)
    for name, block in blocks.items():
        pieces = re.split(_PLACE.format(name=name), text, maxsplit=1, flags=re.DOTALL)
        if len(pieces) == 4:
            before, opening, ending, after = pieces
            text = f"{before}{opening}{block}\n{ending}{after}"
    return text


def main(argv: Sequence[str]) -> int:
    """Fill a page; 2 if there is not one file of each kind."""
    if len(argv) != 2:
        print("usage: python -m boxreg.reproduce.markdown RESULTS PAGE", file=sys.stderr)
        return 2
    results, page = map(Path, argv)
    write(page, filled(page.read_text(), json.loads(results.read_text())))
    return 0


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
