"""Tables: .csv, .tsv and .parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .containers import choose, numeric_columns
from .problem import FileProblem


def read_text(path: Path, delimiter: str) -> Any:
    """Numbers, one row a line; a first line of words is a header."""
    with path.open(encoding="utf-8-sig") as lines:
        first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    if not first:
        raise FileProblem(f"{path} is empty")
    header = not any(_is_number(cell) for cell in first.split(delimiter))
    with path.open(encoding="utf-8-sig") as lines:
        if header:
            while (line := next(lines)) != first and line:
                pass
        table = np.loadtxt(lines, delimiter=delimiter, ndmin=2, quotechar='"')
    if not table.size:
        raise FileProblem(f"{path} has a header and no rows")
    return table


def _is_number(cell: str) -> bool:
    try:
        float(cell.strip().strip('"'))
    except ValueError:
        return False
    return True


def read_parquet(path: Path, key: str | None) -> tuple[Any, str | None]:
    """All columns side by side, or the one asked for."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise FileProblem(
            f"{path}: Parquet files need pyarrow: pip install 'boxreg[parquet]'"
        ) from None
    table = parquet.read_table(path)
    names = list(table.column_names)
    wanted = names if key is None else [choose(names, key, (key,), path)]
    if not wanted:
        raise FileProblem(f"{path} has no columns")
    columns = {label: table.column(label).to_numpy() for label in wanted}
    return numeric_columns(columns, path), key
