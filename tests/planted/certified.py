"""Faults in the call that solves and proves small least squares."""

from __future__ import annotations

from .mutant import KERNELS, Mutant

FILE = "kernels/certified_fit.py"
PROVES = f"{KERNELS}::test_what_the_certified_call_proves"
BOUNDARY = f"{KERNELS}::test_the_certified_call_at_the_boundary_of_its_region"

MUTANTS = [
    Mutant(
        "one call: slopes are taken as computed",
        FILE,
        "error = gamma(m + 2) * size * SLACK\n    for i",
        "error = 0.0\n    for i",
        (PROVES,),
    ),
    Mutant(
        "one call: predictions are exact",
        FILE,
        "drift, _ = prediction_error(x, norms)\n    independent",
        "drift = 0.0\n    independent",
        (PROVES,),
    ),
    Mutant(
        "one call: moving theta adds no error",
        FILE,
        "gap = least_squares_gap(x, slopes, theta, residual, norms, box, way, pushed, drift)\n"
        "    if not",
        "gap = least_squares_gap(x, slopes, theta, residual, norms, box, way, 0.0, drift)\n    if not",
        (PROVES,),
    ),
    Mutant(
        "one call: theta = 0 is the residual still",
        FILE,
        "theta[i] = 0.0\n        for j in range(n):",
        "theta[i] *= 1.0\n        for j in range(n):",
        (PROVES,),
    ),
    Mutant(
        "one call: the rows of a basis are a tenth as long",
        FILE,
        "rows[i] = np.sqrt(row) + drift * np.sqrt(length)",
        "rows[i] = 0.1 * np.sqrt(row)",
        (PROVES,),
    ),
    Mutant(
        "one call: free columns are scaled a thousand times too large",
        FILE,
        "scale[i] = task.norms[factor.chosen[i]] / (np.sqrt(row) * SLACK)",
        "scale[i] = 1e3 * task.norms[factor.chosen[i]] / (np.sqrt(row) * SLACK)",
        (PROVES,),
    ),
    Mutant(
        "one call: the ball has half its radius",
        FILE,
        "radius = np.sqrt(max(gap - 0.25 * apart * apart, 0.0)) * SLACK",
        "radius = 0.5 * np.sqrt(max(gap - 0.25 * apart * apart, 0.0))",
        (BOUNDARY,),
    ),
    Mutant(
        "one call: the distance of the two points counts in full",
        FILE,
        "radius = np.sqrt(max(gap - 0.25 * apart * apart, 0.0)) * SLACK",
        "radius = np.sqrt(max(gap - apart * apart, 0.0)) * SLACK",
        (PROVES,),
    ),
    Mutant(
        "one call: the ball's reach is that of a shorter column",
        FILE,
        "reach = (radius + centre_error) * task.norms[j] * SLACK",
        "reach = (radius + centre_error) * 0.9 * task.norms[j]",
        (BOUNDARY,),
    ),
    Mutant(
        "one call: signs at the upper bound are turned",
        FILE,
        "elif centre - reach > 0.0 and x[j] == task.upper[j]:",
        "elif centre - reach < 0.0 and x[j] == task.upper[j]:",
        (BOUNDARY,),
    ),
    Mutant(
        "one call: one column is left out of the residual",
        "kernels/orthogonal_active_set.py",
        "for j in range(len(where.x)):\n        value, column = where.x[j], task.columns[j]",
        "for j in range(1, len(where.x)):\n        value, column = where.x[j], task.columns[j]",
        (PROVES,),
    ),
]
