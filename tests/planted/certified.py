"""Faults in the call that solves and proves small least squares."""

from __future__ import annotations

from .mutant import KERNELS, Mutant

FILE = "kernels/certified_fit.py"
PROVES = f"{KERNELS}::test_what_the_certified_call_proves"
SCREENS = f"{KERNELS}::test_what_the_certified_call_screens"
TERMS = "tests/properties/test_small_terms.py"
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
        "drift, _ = prediction_error(x, posed.task.norms)\n    independent",
        "drift = 0.0\n    independent",
        (PROVES,),
    ),
    Mutant(
        "one call: moving theta adds no error",
        FILE,
        "gap = _gap(posed, x, slopes, theta, rho, box, way, pushed, drift)\n    # Without",
        "gap = _gap(posed, x, slopes, theta, rho, box, way, 0.0, drift)\n    # Without",
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
        (SCREENS,),
    ),
    Mutant(
        "one call: the ball's reach is that of a shorter column",
        FILE,
        "reach = (radius * task.norms[j] + centre_error * posed.lengths[j]) * SLACK",
        "reach = (radius * task.norms[j] + centre_error * posed.lengths[j]) * 0.9",
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
        "one call: the ball's reach forgets weights",
        FILE,
        "reach = (radius * task.norms[j] + ",
        "reach = (radius * posed.task.norms[j] + ",
        (BOUNDARY,),
    ),
    Mutant(
        "one call: the residual forgets weights",
        FILE,
        "rho[i] *= posed.weights[i]",
        "rho[i] *= 1.0",
        (PROVES,),
    ),
    Mutant(
        "one call: theta and the residual are compared with weights, not their inverses",
        FILE,
        "away /= posed.roots[i]\n        weighted",
        "away *= posed.roots[i]\n        weighted",
        (PROVES,),
    ),
    Mutant(
        "one call: errors of predictions cost the same whatever the weights",
        FILE,
        "0.5 * posed.largest * drift * drift",
        "0.5 * drift * drift",
        (PROVES,),
    ),
    Mutant(
        "one call: slopes forget costs",
        FILE,
        "w[j] -= cost[j]",
        "w[j] -= 0.0",
        (PROVES,),
    ),
    Mutant(
        "one call: theta = 0 forgets costs",
        FILE,
        "slopes[j] = -cost[j]",
        "slopes[j] = 0.0",
        (PROVES,),
    ),
    Mutant(
        "one call: free columns of zeros may have costs",
        FILE,
        "if task.norms[j] == 0.0 and task.cost[j] != 0.0:",
        "if task.norms[j] < 0.0 and task.cost[j] != 0.0:",
        (f"{KERNELS}::test_a_free_column_of_zeros_with_a_cost_has_no_dual_point",),
    ),
    Mutant(
        "one call: the rows of a basis forget weights",
        FILE,
        "rows[i] *= roots[i] * SLACK / (1.0 - off)",
        "rows[i] *= SLACK / (1.0 - off)",
        (PROVES,),
    ),
    Mutant(
        "one call: a faint residual is a dual point like any other",
        FILE,
        "if independent and (sizeable or size == 0.0):",
        "if independent:",
        (f"{KERNELS}::test_a_faint_residual_is_no_dual_point",),
    ),
    Mutant(
        "one call: the rows of a ridge term weigh 1",
        FILE,
        "value = ridge if ridge > 0.0 else 1.0",
        "value = 1.0",
        (f"{TERMS}::test_by_hand",),
    ),
    Mutant(
        "one call: theta moves up where rows have no weight",
        FILE,
        "out[kept[k]] = values[k]",
        "out[k] = values[k]",
        (f"{TERMS}::test_rows_without_a_weight_have_no_say",),
    ),
    Mutant(
        "one call: one column is left out of the residual",
        "kernels/orthogonal_active_set.py",
        "for j in range(len(where.x)):\n        value, column = where.x[j], task.columns[j]",
        "for j in range(1, len(where.x)):\n        value, column = where.x[j], task.columns[j]",
        (PROVES,),
    ),
]
