"""Faults in the brackets, derivatives and constants of losses."""

from __future__ import annotations

from .mutant import CLAIMS, Mutant

LOSSES = "tests/properties/test_losses.py"
LOCAL = "tests/properties/test_local_smoothness.py"
BRACKETS = f"{LOSSES}::test_fenchel_young_terms"
RATIONAL = f"{CLAIMS}::test_brackets"
DERIVATIVES = f"{LOSSES}::test_derivatives"
WEIGHTS = f"{LOSSES}::test_weights"

MUTANTS = [
    Mutant(
        "logarithms are exact",
        "rounding.py",
        "ELEMENTARY: Final = 8.0 * UNIT_ROUNDOFF",
        "ELEMENTARY: Final = 0.0",
        (BRACKETS, LOSSES),
    ),
    Mutant(
        "t - 1 - log t is exact",
        "kernels/entropies.py",
        "return (value + own + d * error + error * error) * (1.0 + ELEMENTARY)",
        "return value",
        (BRACKETS,),
    ),
    Mutant(
        "t - 1 - log t at an argument without error",
        "kernels/entropies.py",
        "return (value + own + d * error + error * error) * (1.0 + ELEMENTARY)",
        "return value + own",
        (BRACKETS,),
    ),
    Mutant(
        "the series of the logarithm ends too early",
        "kernels/entropies.py",
        "for k in range(21, 1, -2):",
        "for k in range(9, 1, -2):",
        (BRACKETS, LOSSES),
    ),
    Mutant(
        "one part of a Bernoulli divergence is left out",
        "kernels/entropies.py",
        "max(first + second, TINY)",
        "max(first, TINY)",
        (BRACKETS,),
    ),
    Mutant(
        "variances at the computed point only",
        "losses/entropy.py",
        "reach = np.minimum(_beyond(s, gap), _beyond(sigma, gap))",
        "reach = s",
        (LOCAL,),
    ),
    Mutant(
        "half of what a gap allows a variance",
        "losses/entropy.py",
        "return np.asarray(sigma + (gap + np.sqrt(gap * (gap + 2.0 * sigma))) * SLACK)",
        "return np.asarray(sigma + 0.5 * (gap + np.sqrt(gap * (gap + 2.0 * sigma))) * SLACK)",
        (LOCAL,),
    ),
    Mutant(
        "counts: the bracket of rows with y = 0 is left out",
        "kernels/brackets.py",
        "return 0.0 if q == 0.0 or slope == 0.0 else max(product * SLACK, TINY)",
        "return 0.0",
        (BRACKETS,),
    ),
    Mutant(
        "counts: ratios are exact",
        "rounding.py",
        "RATIO: Final = 6.0 * UNIT_ROUNDOFF",
        "RATIO: Final = 0.0",
        (BRACKETS,),
    ),
    Mutant(
        "counts: constants of half of what the gap allows",
        "losses/kullback_leibler.py",
        "g = np.maximum(gap, 0.0) / y * SLACK",
        "g = 0.5 * np.maximum(gap, 0.0) / y",
        (LOCAL,),
    ),
    Mutant(
        "counts: constants that leave theta out",
        "losses/kullback_leibler.py",
        "most = np.maximum(np.maximum(most, at_point), 1.0 + theta) * SLACK",
        "most = np.minimum(np.minimum(most, at_point), 1.0 + theta) * SLACK",
        (LOCAL,),
    ),
    Mutant(
        "counts: a background added is exact",
        "losses/kullback_leibler.py",
        "return own + 2.0 * UNIT_ROUNDOFF * target / np.where(q > 0.0, q, np.inf)",
        "return own",
        (DERIVATIVES,),
    ),
    Mutant(
        "derivatives are exact",
        "losses/base.py",
        "return self.roundoff_derivative * UNIT_ROUNDOFF * np.abs(derivatives)",
        "return 0.0 * np.abs(derivatives)",
        (DERIVATIVES,),
    ),
    Mutant(
        "the plain sum of a bracket does not cancel",
        "losses/base.py",
        "bound = np.maximum(np.maximum(bracket, 0.0) + error * size, TINY)",
        "bound = np.maximum(np.maximum(bracket, 0.0), TINY)",
        ("tests/test_contributing.py",),
    ),
    Mutant(
        "Huber: the room up to the threshold has the other sign",
        "kernels/brackets.py",
        "room = delta + (theta if r > 0.0 else -theta)",
        "room = delta - (theta if r > 0.0 else -theta)",
        (RATIONAL,),
    ),
    Mutant(
        "Huber: theta beyond the domain is accepted",
        "kernels/brackets.py",
        "if not abs(theta) <= delta:",
        "if not abs(theta) <= np.inf:",
        (RATIONAL,),
    ),
    Mutant(
        "Huber: the residual does not round",
        "kernels/brackets.py",
        "near = abs(theta + r) + UNIT_ROUNDOFF * (abs(theta) + 2.0 * size)",
        "near = abs(theta + r)",
        (RATIONAL,),
    ),
    Mutant(
        "squared hinge: the linear part is halved",
        "kernels/brackets.py",
        "a * (0.5 * a + abs(m))",
        "a * (0.5 * a + 0.5 * abs(m))",
        (RATIONAL,),
    ),
    Mutant(
        "squared hinge: margins do not round",
        "kernels/brackets.py",
        "near = abs(m - a) + UNIT_ROUNDOFF * (abs(a) + 2.0 * m)",
        "near = abs(m - a)",
        (RATIONAL,),
    ),
    Mutant(
        "powers are exact next to 1",
        "losses/powers.py",
        "near_error = 4.0 * ELEMENTARY * series + 16.0 * UNIT_ROUNDOFF * moved",
        "near_error = 0.0 * moved",
        ("tests/properties/test_powers.py",),
    ),
    Mutant(
        "β-divergence: the root of the conjugate is exact",
        "losses/beta_divergence.py",
        "bracket = np.maximum((value + error + cost) * SLACK, TINY)",
        "bracket = np.maximum(value + error, TINY)",
        (BRACKETS,),
    ),
    Mutant(
        "β-divergence: constants of a fraction of the gap",
        "losses/beta_divergence.py",
        "away = np.sqrt(2.0 * gap / self._curvature(r, target)) * SLACK",
        "away = np.sqrt(0.2 * gap / self._curvature(r, target)) * SLACK",
        (LOCAL,),
    ),
    Mutant(
        "weights: the gap of a row is not divided by its weight",
        "losses/weighted.py",
        "share = gap / self.weights",
        "share = gap * np.minimum(self.weights, 1.0 / self.weights)",
        (WEIGHTS, LOCAL),
    ),
    Mutant(
        "weights: brackets of theta, not of its share",
        "kernels/brackets.py",
        "return weight * _bracket(kind, k, b, p, -v, y) * (1.0 + _ENDS)",
        "return _bracket(kind, k, b, p, -v, y)",
        (WEIGHTS,),
    ),
    Mutant(
        "weights: constants are those without weights",
        "losses/weighted.py",
        "return self.weights * self.loss.smoothness(target)",
        "return self.loss.smoothness(target)",
        (WEIGHTS, "tests/properties/test_general_regions.py"),
    ),
    Mutant(
        "weights: their product does not round",
        "losses/weighted.py",
        "return super().derivative_errors(prediction, derivatives, target) + self.weights * own",
        "return 0.0 * own",
        (f"{CLAIMS}::test_derivatives_with_weights",),
    ),
]
