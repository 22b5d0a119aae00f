"""Faults in certificates and their verdicts, and in the proofs of the ℓ∞-penalised problem."""

from __future__ import annotations

from .mutant import CLAIMS, Mutant

VERIFY = "tests/adversarial/test_verify.py"
ENTRIES = "tests/properties/test_entry_errors.py"
SCALE = "tests/properties/test_scale_of_counts.py"

MUTANTS = [
    Mutant(
        "a claim below the gap is proved",
        "certificate.py",
        "return Verdict.PROVED if self.rigorous and self.gap <= claim else Verdict.NOT_PROVED",
        "return Verdict.PROVED if self.rigorous and self.gap <= 2.0 * claim else Verdict.NOT_PROVED",
        (CLAIMS,),
    ),
    Mutant(
        "a claim is proved if the gap less its rounding is below it",
        "certificate.py",
        "return Verdict.PROVED if self.rigorous and self.gap <= claim else Verdict.NOT_PROVED",
        "return Verdict.PROVED if self.gap - 4.0 * self.rounding <= claim else Verdict.NOT_PROVED",
        (CLAIMS,),
    ),
    Mutant(
        "assumptions do not matter",
        "certificate.py",
        "rigorous = not assumptions and bool(np.isfinite(gap))",
        "rigorous = bool(np.isfinite(gap))",
        ("tests/properties/test_equality_columns.py::test_dependent_free_columns",),
    ),
    Mutant(
        "x may exceed its upper bound",
        "certificate.py",
        "outside = np.flatnonzero(~((x >= problem.lower) & (x <= problem.upper)) | np.isinf(x))",
        "outside = np.flatnonzero(~(x >= problem.lower) | np.isinf(x))",
        (CLAIMS,),
    ),
    Mutant(
        "a gap that another order of summation may not confirm",
        "certificate.py",
        "return (max(duality_gap(wide, moved), tight) + _charge_of_slight(wide, moved)) * SLACK",
        "return tight",
        (f"{VERIFY}::test_a_claim_survives_another_order_of_summation",),
    ),
    Mutant(
        "entry by entry, another order of summation finds the same",
        "certificate.py",
        "entries = np.where(proved, np.inf, AGAIN * entries)",
        "entries = np.where(proved, np.inf, entries)",
        (f"{ENTRIES}::test_a_gap_of_tiny_products_survives_another_order_of_summation",),
    ),
    Mutant(
        "the least gap worth asking for has another unit than P",
        "presolve.py",
        "if smoothness.known:",
        "if not smoothness.known:\n        return point.prediction_error**2\n    if smoothness.known:",
        (SCALE,),
    ),
    Mutant(
        "refuted without any error",
        "refutation.py",
        "found = dot(slopes, step) - error * SLACK",
        "found = dot(slopes, step)",
        (CLAIMS,),
    ),
    Mutant(
        "refuted by the slopes at one end of a quadratic",
        "refutation.py",
        "slopes = 0.5 * (point.correlation + moved.correlation)",
        "slopes = point.correlation",
        (CLAIMS,),
    ),
    Mutant(
        "refuted by the slopes at the wrong end",
        "refutation.py",
        "return _least(moved.correlation, moved.gradient_noise, step, size)",
        "return _least(point.correlation, moved.gradient_noise, step, size)",
        (CLAIMS,),
    ),
    Mutant(
        "refuted by twice the fall",
        "refutation.py",
        "total = (total + gained) / SLACK",
        "total = total + 2.0 * gained",
        (CLAIMS,),
    ),
    Mutant(
        "slopes have no noise",
        "point.py",
        "return problem.uncertainty(self.correlation_error + self.residual_error, problem.cost_drift)",
        "return problem.uncertainty(0.0, problem.cost_drift)",
        (CLAIMS,),
    ),
    Mutant(
        "level: products are exact",
        "linf/proof.py",
        "error = dual.error * float(merged.whole.norms.sum())",
        "error = 0.0",
        (CLAIMS,),
    ),
    Mutant(
        "level: the merged column is left out of the load",
        "linf/proof.py",
        "value = float(np.where(merged.signs == 0, np.abs(w), merged.signs * w).sum()) + own",
        "value = float(np.where(merged.signs == 0, np.abs(w), merged.signs * w).sum())",
        (CLAIMS,),
    ),
    Mutant(
        "level: an infeasible theta is accepted",
        "linf/proof.py",
        "if not value + error <= merged.penalty:",
        "if not value - error <= merged.penalty * 1.01:",
        (CLAIMS,),
    ),
    Mutant(
        "level: what the load leaves of the penalty is exact",
        "linf/proof.py",
        "slack = (merged.penalty - value) + error + 2.0 * UNIT_ROUNDOFF * merged.penalty",
        "slack = (merged.penalty - value) - error",
        (CLAIMS,),
    ),
    Mutant(
        "level: the penalty's part of the gap is halved",
        "linf/proof.py",
        "return (duality_gap(point, dual) + level * slack) * SLACK",
        "return (duality_gap(point, dual) + 0.5 * level * slack) * SLACK",
        (CLAIMS,),
    ),
    Mutant(
        "level: the wrong end of the range squeezes",
        "linf/proof.py",
        "return unknown & (high < 0.0), unknown & (low > 0.0)",
        "return unknown & (low < 0.0), unknown & (low > 0.0)",
        (CLAIMS,),
    ),
    Mutant(
        "level: the merged column is exact",
        "linf/merged.py",
        "error += gamma(len(moved) + 2) * size * SLACK",
        "error += 0.0",
        (CLAIMS,),
    ),
    Mutant(
        "level: one squeezed column is lost",
        "linf/merged.py",
        "signs[moved] = self.signs[moved]",
        "signs[moved[1:]] = self.signs[moved[1:]]",
        (CLAIMS,),
    ),
]
