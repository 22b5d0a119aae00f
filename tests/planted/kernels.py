"""Faults in compiled proofs, for CPUs and for GPUs."""

from __future__ import annotations

from .mutant import KERNELS, Mutant

BOX = f"{KERNELS}::test_least_squares"
CARD = f"{KERNELS}::test_least_squares_on_a_card"
COUNTS = f"{KERNELS}::test_kullback_leibler"
WORST = f"{KERNELS}::test_kullback_leibler_with_predictions_that_are_as_wrong_as_they_may_be"
ON_THEIR_WAY = f"{KERNELS}::test_dual_points_of_counts_on_their_way"

MUTANTS = [
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
        "return gamma(count + 2) * total * SLACK, count",
        "return 1e-6 * gamma(count + 2) * total * SLACK, count",
        (BOX,),
    ),
    Mutant(
        "compiled: slopes are taken as computed",
        "kernels/box_certificates.py",
        "doubt, cost = error * norms[j], charged * norms[j]",
        "doubt, cost = error * norms[j], 0.0",
        (BOX,),
    ),
    Mutant(
        "compiled: falling slopes cost nothing",
        "kernels/box_certificates.py",
        "total += box.has_lower[j] * (x[j] - box.low[j]) * max(cost - w[j], 0.0)",
        "total += 0.0",
        (BOX,),
    ),
    Mutant(
        "compiled: coordinates without an upper bound need no sign",
        "kernels/box_certificates.py",
        "wrong += one * ((1.0 - box.has_upper[j]) * rising + (1.0 - box.has_lower[j]) * falling)",
        "wrong += one * (1.0 - box.has_lower[j]) * falling",
        (f"{KERNELS}::test_points_that_are_not_feasible_prove_nothing",),
    ),
    Mutant(
        "compiled: points are not pushed far enough",
        "kernels/box_certificates.py",
        "excess = side * w[j] + doubt * norms[j]",
        "excess = side * w[j]",
        (BOX,),
    ),
    Mutant(
        "compiled: one column is not looked at when points are pushed",
        "kernels/box_certificates.py",
        "for j in range(len(w)):\n        side = box.side[j]",
        "for j in range(len(w) - 1):\n        side = box.side[j]",
        (BOX,),
    ),
    Mutant(
        "compiled: the feasible point nearby is theta itself",
        "kernels/box_certificates.py",
        "moved = _reach(w, norms, way, charged)",
        "moved = 0.0",
        (BOX,),
    ),
    Mutant(
        "compiled: free columns are not off",
        "kernels/box_certificates.py",
        "off = (abs(w[j]) + error * norms[j]) / way.scale[k]",
        "off = 0.0 * (abs(w[j]) + error * norms[j]) / way.scale[k]",
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
        "error = gamma(m + 2) * size * SLACK",
        "error = 0.0",
        (BOX,),
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
        "total += max(high, _bracket(max(p[i] - e, 0.0) + background[i], theta[i], y[i]))",
        "total += high",
        (WORST,),
    ),
    Mutant(
        "counts, compiled: a bracket's argument is exact",
        "kernels/kullback_leibler_certificates.py",
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
