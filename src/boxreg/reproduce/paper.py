"""The figures printed in the paper: Dantas, Soubies and Févotte, "Accelerating Non-Negative and
Bounded-Variable Linear Regression Algorithms with Safe Screening", 2023."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Printed:
    """Seconds without and with screening, and the speedup, where the paper gives them."""

    baseline: float | None
    screening: float | None
    speedup: float


def _rows(*rows: tuple[float, float, float]) -> tuple[Printed, ...]:
    return tuple(Printed(*row) for row in rows)


TABLE1_SIZES = (1000, 2000, 4000, 6000)
TABLE2_SIZES = (500, 1000, 2000, 3000)

TABLES: dict[tuple[str, str], tuple[Printed, ...]] = {
    ("table1", "coordinate_descent"): _rows(
        (2.19, 0.71, 3.08), (10.2, 2.09, 4.87), (64.28, 9.52, 6.75), (146.12, 18.63, 7.84)
    ),
    ("table1", "active_set"): _rows(
        (0.11, 0.09, 1.25), (0.16, 0.13, 1.23), (0.33, 0.25, 1.31), (0.36, 0.26, 1.38)
    ),
    ("table2", "projected_gradient"): _rows(
        (9.41, 1.71, 5.49), (27.98, 4.33, 6.47), (127.21, 18.82, 6.76), (347.05, 48.46, 7.16)
    ),
    ("table2", "chambolle_pock"): _rows(
        (0.26, 0.08, 3.41), (0.84, 0.19, 4.52), (2.92, 0.59, 4.97), (5.20, 0.95, 5.48)
    ),
}

SPEEDUPS: dict[tuple[str, str], Printed] = {
    ("oracle", "chambolle_pock"): Printed(None, None, 12.8),
    ("oracle", "coordinate_descent"): Printed(None, None, 27.8),
    ("figure4", "projected_gradient"): Printed(None, None, 2.79),
    ("figure4", "chambolle_pock"): Printed(None, None, 2.30),
    ("figure5", "coordinate_descent"): Printed(None, None, 2.44),
    ("figure5", "active_set"): Printed(None, None, 1.12),
}
