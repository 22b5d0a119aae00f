"""Squeezing safety at length: `python tests/fuzz_antisparse.py --problems 20000`.

Every problem is solved in exact rational arithmetic. Fails where a coordinate is squeezed that has
w*_j = 0 or of the other sign, where the gap is below the true P(x) - P*, or where theta is not feasible.
"""

from __future__ import annotations

import argparse
import sys
import warnings

import numpy as np

import boxreg
from judging_antisparse import FAMILIES, draw, judge


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--problems", type=int, default=20_000)
    problems = parser.parse_args().problems
    warnings.simplefilter("ignore", boxreg.ConvergenceWarning)
    squeezed = proved = complaints = 0
    for number in range(problems):
        family, seed = number % len(FAMILIES), number // len(FAMILIES)
        if sys.stderr.isatty() and number % 100 == 0:
            sys.stderr.write(f"\r\x1b[K{number} of {problems}")
        try:
            found, _ = judge(*draw(family, seed))
        except AssertionError as error:
            complaints += 1
            print(f"{FAMILIES[family].__name__}, seed {seed}: {error or 'a claim is false'}")
            continue
        squeezed += int(np.count_nonzero(found.squeezed))
        proved += found.success
    print(
        f"{problems} problems of {len(FAMILIES)} families, {proved} proved to tol, "
        f"{squeezed} coordinates squeezed, {complaints} complaints"
    )
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
