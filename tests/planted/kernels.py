"""Faults in compiled proofs, for CPUs and for GPUs."""

from __future__ import annotations

from .mutant import KERNELS, Mutant

BOX = f"{KERNELS}::test_least_squares"
END_OF_RANGE = f"{KERNELS}::test_a_prediction_that_cancels_at_the_end_of_the_range"
PUSH = f"{KERNELS}::test_a_push_goes_beyond_the_errors_of_slopes"
CARD = f"{KERNELS}::test_least_squares_on_a_card"
NO_COSTS = f"{KERNELS}::test_theta_0_says_nothing_of_costs"
AT_ZERO = f"{KERNELS}::test_theta_0_where_no_direction_is_known"
TERMS = f"{KERNELS}::test_least_squares_with_terms"
BY_HAND = f"{KERNELS}::test_a_ridge_term_with_costs_by_hand"
WEIGHED = f"{KERNELS}::test_free_columns_with_weights"
CANCEL = f"{KERNELS}::test_a_ridge_term_and_a_cost_that_cancel"
SINGLE = "tests/test_many_terms.py::test_against_single_solves"
LEVELS = "tests/test_many_terms.py::test_some_right_hand_sides_without_a_ridge_term"
EACH = "tests/test_many_terms.py::test_a_ridge_term_for_each"
COUNTS = f"{KERNELS}::test_kullback_leibler"
WORST = f"{KERNELS}::test_kullback_leibler_with_predictions_that_are_as_wrong_as_they_may_be"
ON_THEIR_WAY = f"{KERNELS}::test_dual_points_of_counts_on_their_way"

SMOOTH = "tests/properties/test_smooth_fit.py"

MUTANTS = [
    Mutant(
        "other losses, compiled: products with theta are exact",
        "kernels/smooth_certificates.py",
        "        gamma(m + 2) * size_of(theta) * SLACK,\n",
        "        0.0,\n",
        (f"{SMOOTH}::test_gaps_are_those_of_the_certificate",),
    ),
    Mutant(
        "other losses, compiled: signs of slopes are not looked at",
        "kernels/smooth_certificates.py",
        "if (upper[j] == np.inf and rising > 0.0) or (lower[j] == -np.inf and falling > 0.0):",
        "if lower[j] == -np.inf and falling > 0.0:",
        (f"{SMOOTH}::test_nothing_is_proved_of_another_point",),
    ),
    Mutant(
        "other losses, compiled: falling slopes cost nothing",
        "kernels/smooth_certificates.py",
        "total += above * rising + below * falling",
        "total += above * rising",
        (f"{SMOOTH}::test_gaps_are_those_of_the_certificate",),
    ),
    Mutant(
        "other losses, compiled: what is at a bound is screened, whatever its slope",
        "kernels/smooth_certificates.py",
        "if w[j] + distance < 0.0 and x[j] == lower[j]:",
        "if x[j] == lower[j]:",
        (f"{SMOOTH}::test_screening_keeps_to_the_solution",),
    ),
    Mutant(
        "compiled: gamma forgets the number of terms",
        "kernels/box_certificates.py",
        "return terms * UNIT_ROUNDOFF / (1.0 - terms * UNIT_ROUNDOFF)",
        "return 0.1 * UNIT_ROUNDOFF",
        (BOX,),
    ),
    Mutant(
        "compiled: predictions are exact",
        "kernels/box_certificates.py",
        "return max(gamma(count + 2) * total * SLACK, LEAST if some else 0.0), count",
        "return 1e-6 * gamma(count + 2) * total * SLACK, count",
        (BOX,),
    ),
    Mutant(
        "compiled: predictions that cancel next to the end of the range are exact",
        "kernels/box_certificates.py",
        "SLACK, LEAST if some else 0.0), count",
        "SLACK, 0.0), count",
        (END_OF_RANGE,),
    ),
    Mutant(
        "compiled: what their errors cost is 0 where it underflows",
        "kernels/box_certificates.py",
        "* size) * drift + 0.5 * drift * drift + TINY",
        "* size) * drift + 0.5 * drift * drift",
        (END_OF_RANGE,),
    ),
    Mutant(
        "compiled: slopes are taken as computed",
        "kernels/box_certificates.py",
        "charged * norms[j] + AGAIN * box.doubt[j]",
        "AGAIN * box.doubt[j]",
        (BOX,),
    ),
    Mutant(
        "compiled: falling slopes cost nothing",
        "kernels/box_certificates.py",
        "total += box.has_lower[j] * (x[j] - box.low[j]) * down",
        "total += 0.0",
        (BOX,),
    ),
    Mutant(
        "compiled: coordinates without an upper bound need no sign",
        "kernels/box_certificates.py",
        "wrong += one * (open_up * rising + open_down * falling)",
        "wrong += one * open_down * falling",
        (f"{KERNELS}::test_points_that_are_not_feasible_prove_nothing",),
    ),
    Mutant(
        "compiled: points are not pushed far enough",
        "kernels/box_certificates.py",
        "excess = side * w[j] + doubt * norms[j] + MARGIN * box.doubt[j]",
        "excess = side * w[j]",
        (PUSH,),
    ),
    Mutant(
        "compiled: one column is not looked at when points are pushed",
        "kernels/box_certificates.py",
        "for j in range(len(w)):\n        side = box.side[j]",
        "for j in range(len(w) - 1):\n        side = box.side[j]",
        (PUSH,),
    ),
    Mutant(
        "compiled: the feasible point nearby is theta itself",
        "kernels/box_certificates.py",
        "moved = reach_of_free(w, norms, box, way, charged, AGAIN)",
        "moved = 0.0",
        (BOX,),
    ),
    Mutant(
        "compiled: free columns are not off",
        "kernels/box_certificates.py",
        "off = (abs(w[j]) + error * norms[j] + times * box.doubt[j]) / way.scale[k]",
        "off = 0.0 * (abs(w[j]) + error * norms[j] + times * box.doubt[j]) / way.scale[k]",
        (BOX,),
    ),
    Mutant(
        "compiled: a prediction's error costs nothing",
        "kernels/box_certificates.py",
        "bracket += (apart + 2.0 * UNIT_ROUNDOFF * size) * drift + 0.5 * drift * drift",
        "bracket += 0.0",
        (BOX,),
    ),
    Mutant(
        "compiled: half the bracket",
        "kernels/box_certificates.py",
        "bracket = max(0.5 * distance * distance * SLACK, TINY) if distance > 0.0 else 0.0",
        "bracket = max(0.25 * distance * distance * SLACK, TINY) if distance > 0.0 else 0.0",
        (BOX,),
    ),
    Mutant(
        "many: the products' error is not passed on",
        "kernels/many_least_squares.py",
        "error = gamma(m + 3 + terms.scaled) * size * SLACK",
        "error = 0.0",
        (BOX,),
    ),
    Mutant(
        "many: theta = 0 proves half of P(x)",
        "kernels/many_least_squares.py",
        "whole = bracket_of(size,",
        "whole = 0.5 * bracket_of(size,",
        (AT_ZERO,),
    ),
    Mutant(
        "many: theta = 0 is feasible with costs",
        "kernels/many_least_squares.py",
        "if not gap <= answers.targets[p] and len(terms.cost) == 0 and len(model.ridge) == 0:",
        "if not gap <= answers.targets[p]:",
        (NO_COSTS,),
    ),
    Mutant(
        "terms: a ridge term pays for half of what it spares",
        "kernels/box_certificates.py",
        "total += box.soft[j] * (open_up * up * up + open_down * down * down)",
        "total += 0.5 * box.soft[j] * (open_up * up * up + open_down * down * down)",
        (BY_HAND, TERMS),
    ),
    Mutant(
        "terms: slopes that fall out of an open box cost nothing",
        "kernels/box_certificates.py",
        "open_up * up * up + open_down * down * down",
        "open_up * up * up",
        (TERMS,),
    ),
    Mutant(
        "terms: costs are subtracted without rounding",
        "kernels/many_least_squares.py",
        "box.doubt[j] = TERMS * (abs(c) + abs(pull))",
        "box.doubt[j] = 0.0",
        (CANCEL,),
    ),
    Mutant(
        "terms: the ridge term is left out of the slopes",
        "kernels/many_least_squares.py",
        "w[j] -= c + pull",
        "w[j] -= c",
        (BY_HAND, TERMS),
    ),
    Mutant(
        "terms: costs are left out of the slopes",
        "kernels/many_least_squares.py",
        "w[j] -= c + pull",
        "w[j] -= pull",
        (BY_HAND, TERMS),
    ),
    Mutant(
        "terms: a theta near the free columns is as far without weights",
        "batch/shared.py",
        "moved = np.divide(metric.rows, np.sqrt(h), out=np.zeros(m), where=h > 0.0) * SLACK",
        "moved = 1e-3 * metric.rows",
        (WEIGHED,),
    ),
    Mutant(
        "terms: dual points are those of scaled rows",
        "batch/compiled.py",
        "answers.theta[some] *= roots",
        "answers.theta[some] *= 1.0",
        (SINGLE,),
    ),
    Mutant(
        "terms: half of what a ridge term spares",
        "batch/terms.py",
        "np.divide(0.5 * SLACK, self.ridge, out=np.zeros_like(norms), where=used)",
        "np.divide(0.25 * SLACK, self.ridge, out=np.zeros_like(norms), where=used)",
        (BY_HAND, TERMS),
    ),
    Mutant(
        "terms: the least multiple of a ridge term is not looked at",
        "batch/terms.py",
        "least = self.ridge * (1.0 if self.levels is None else self.levels[0])",
        "least = self.ridge * (1.0 if self.levels is None else self.levels[1])",
        (LEVELS,),
    ),
    Mutant(
        "terms: all right-hand sides have the ridge term of the first",
        "kernels/many_least_squares.py",
        "mu = terms.levels[p] * shared.ridge[j]",
        "mu = terms.levels[0] * shared.ridge[j]",
        (EACH,),
    ),
    Mutant(
        "many: the prediction's error is not passed on",
        "kernels/many_least_squares.py",
        "gap = least_squares_gap(x, w, theta, residual, model.norms, box, way, error, drift)",
        "gap = least_squares_gap(x, w, theta, residual, model.norms, box, way, error, 0.0)",
        (BOX,),
    ),
    Mutant(
        "counts, compiled: predictions are exact",
        "kernels/kullback_leibler_certificates.py",
        "e = relative * p[i]",
        "e = 0.0 * p[i]",
        (WORST,),
    ),
    Mutant(
        "counts, compiled: only one end of a prediction is looked at",
        "kernels/kullback_leibler_certificates.py",
        "total += max(high, of_kullback_leibler(max(p[i] - e, 0.0) + background[i], theta[i], y[i]))",
        "total += high",
        (WORST,),
    ),
    Mutant(
        "counts, compiled: a bracket's argument is exact",
        "kernels/entropies.py",
        "return (value + own + d * error + error * error) * (1.0 + ELEMENTARY)",
        "return 0.5 * value",
        (COUNTS,),
    ),
    Mutant(
        "counts, compiled: slopes stay where they were",
        "kernels/kullback_leibler_certificates.py",
        "w[j] = (1.0 - share) * w[j] - share * sums[j]",
        "w[j] = w[j] - sums[j]",
        (ON_THEIR_WAY,),
    ),
    Mutant(
        "counts, compiled: moving theta is exact",
        "kernels/kullback_leibler_certificates.py",
        "return (1.0 - share) * error + share * own + COMBINATION * (size + share * root)",
        "return 0.0 * error",
        (ON_THEIR_WAY,),
    ),
    Mutant(
        "counts, many: products are exact",
        "kernels/many_kullback_leibler.py",
        "error = gamma(m + 2) * size_of(theta) * SLACK",
        "error = 0.0 * size_of(theta)",
        (COUNTS,),
    ),
    Mutant(
        "hidden gradients: distances are those of the columns",
        "hidden_gradients.py",
        "hidden = hidden - q @ (q.T @ hidden)",
        "hidden = hidden + 0.0",
        ("tests/properties/test_hidden_gradients.py",),
    ),
    Mutant(
        "card: slopes are taken as computed",
        "kernels/cuda/certificates.py",
        "doubt, cost = error * norms[j], charged * norms[j]",
        "doubt, cost = error * norms[j], 0.0",
        (CARD,),
    ),
    Mutant(
        "card: predictions are exact",
        "kernels/cuda/certificates.py",
        "return gamma(total(count, room) + 2.0) * total(value, room) * SLACK",
        "return 1e-6 * gamma(total(count, room) + 2.0) * total(value, room) * SLACK",
        (CARD,),
    ),
    Mutant(
        "card: points are not pushed far enough",
        "kernels/cuda/certificates.py",
        "excess = side * w[j] + doubt * norms[j]",
        "excess = side * w[j]",
        (CARD,),
    ),
    Mutant(
        "card: the feasible point nearby is theta itself",
        "kernels/cuda/certificates.py",
        "moved = _reach(w, step, norms, way, charged, room)",
        "moved = 0.0",
        (CARD,),
    ),
    Mutant(
        "card: a prediction's error costs nothing",
        "kernels/cuda/certificates.py",
        "bracket += (apart + 2.0 * UNIT_ROUNDOFF * size) * drift + 0.5 * drift * drift",
        "bracket += 0.0",
        (CARD,),
    ),
    Mutant(
        "card: a thread's share of a sum is lost",
        "kernels/cuda/certificates.py",
        "apart += away * away\n        length",
        "apart = away * away\n        length",
        (CARD,),
    ),
]
