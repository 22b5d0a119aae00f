"""Calls that programs made of SciPy, replayed: `python -m benchmarks.wild.clients` prints JSON."""

from __future__ import annotations

import json
import os
import re
import statistics
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.race.guard import describe
from benchmarks.race.real_data import Absent, arrays
from benchmarks.race.timing import clock

from .problem import Array, laid_out
from .scoring import REACHED

MOST = 60
"""Calls of one program and function that are timed, evenly spread over all."""
SAMPLES, SAMPLE_SECONDS = 5, 2e-3

Call = Callable[[], Array]


def programs() -> list[str]:
    """The recorded programs, or `Absent`."""
    folder = os.environ.get("BOXREG_DATA")
    found = sorted(Path(folder, "clients").glob("*.npz")) if folder else []
    if not found:
        raise Absent("BOXREG_DATA names no folder with recorded calls (clients/)")
    return [path.stem for path in found]


def replayed(program: str) -> Iterator[dict[str, Any]]:
    """One row for each of the functions that a program called."""
    data = arrays(f"clients/{program}")
    for function in ("nnls", "lsq_linear"):
        pattern = re.compile(rf"{function}_(\d+)_A")
        numbers = sorted(int(held[1]) for key in data if (held := pattern.fullmatch(key)))
        chosen = numbers[:: max(1, -(-len(numbers) // MOST))]
        if numbers:
            yield {
                "program": program,
                "function": function,
                "calls": len(numbers),
                **_timed([_recorded(data, f"{function}_{i}_", function) for i in chosen]),
            }


def _recorded(data: dict[str, Any], key: str, function: str) -> dict[str, Any]:
    """One call: its arguments in the layouts they had."""
    layouts = str(data.get(key + "layout", data[key + "order"])).split("|")
    held = [data[key + "A"], data[key + "b"]]
    for i, layout in enumerate(layouts[:2]):
        if layout.startswith("S") and held[i].ndim == 2:
            held[i] = laid_out(held[i], "strided")
        elif held[i].ndim == 2:
            held[i] = np.asarray(held[i], order="F" if layout.startswith("F") else "C")
        held[i].flags.writeable = not layout.endswith("r")
    options = json.loads(str(data[key + "kw"]))
    if function == "lsq_linear" and key + "lb" in data:
        options["bounds"] = (data[key + "lb"], data[key + "ub"])
    return {"function": function, "A": held[0], "b": held[1], "options": options}


def _timed(recorded: list[dict[str, Any]]) -> dict[str, Any]:
    """SciPy's time over boxreg's for each call, samples of the two in turn; objectives compared."""
    import scipy.optimize

    import boxreg

    ratios, worse, failed = [], 0, 0
    for held in recorded:
        theirs, ours = (_call(module, held) for module in (scipy.optimize, boxreg))
        try:
            x = theirs()
        except Exception:  # recorded from a test of errors: nothing to compare with
            continue
        try:
            worse += _excess(held, ours(), x) > REACHED
        except Exception as error:
            print(f"{held['function']}: {describe(error)}", file=sys.stderr)
            failed += 1
            continue
        best = {ours: np.inf, theirs: np.inf}
        for _ in range(SAMPLES):
            for run, seconds in best.items():
                calls = max(1, int(SAMPLE_SECONDS / min(seconds, 1e-3)))
                best[run] = min(seconds, clock(run, calls))
        ratios.append(best[theirs] / best[ours])
    return {
        "timed": len(ratios),
        "least": min(ratios, default=None),
        "median": statistics.median(ratios) if ratios else None,
        "most": max(ratios, default=None),
        "worse": worse,
        "failed": failed,
    }


def _call(module: Any, held: dict[str, Any]) -> Call:
    A, b, options = held["A"], held["b"], held["options"]
    if held["function"] == "nnls":
        return lambda: module.nnls(A, b, **options)[0]
    return lambda: module.lsq_linear(A, b, **options).x


def _excess(held: dict[str, Any], x: Array, y: Array) -> float:
    """How far the objective at x is above that at y, relative to ½‖b‖²."""
    values = [0.5 * float(np.sum((held["A"] @ z - held["b"]) ** 2)) for z in (x, y)]
    return (values[0] - values[1]) / (0.5 * float(np.sum(np.square(held["b"], dtype=float))) or 1.0)


def main() -> None:
    warnings.simplefilter("ignore")
    try:
        for program in programs():
            for row in replayed(program):
                print(json.dumps(row), flush=True)
    except Absent as error:
        print(json.dumps({"program": "all", "skipped": str(error)}))


if __name__ == "__main__":
    main()
