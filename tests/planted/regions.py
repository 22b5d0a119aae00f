"""Faults in safe regions, the screening test and the run that keeps them in step."""

from __future__ import annotations

from .mutant import SCREENING, STEPS, Mutant

REGIONS = "tests/properties/test_regions.py"
EQUALITY = "tests/properties/test_equality_columns.py"
WORST = f"{STEPS}::test_regions_with_predictions_that_are_as_wrong_as_they_may_be"
GENERAL = "tests/properties/test_general_regions.py"

MUTANTS = [
    Mutant(
        "radii a little too small",
        "safe_regions/base.py",
        "return float(np.sqrt(max(square, 0.0))) * SLACK",
        "return float(np.sqrt(max(square, 0.0))) * (1.0 - 1e-7)",
        (STEPS,),
    ),
    Mutant(
        "a ball's centre has no uncertainty",
        "safe_regions/base.py",
        "distance = (radius * reach + uncertainty) * SLACK",
        "distance = radius * reach * SLACK",
        (STEPS, SCREENING),
    ),
    Mutant(
        "the gap sphere's radius over the square root of two",
        "safe_regions/gap_sphere.py",
        "safe_sqrt(2.0 * gap)",
        "safe_sqrt(gap)",
        (STEPS,),
    ),
    Mutant(
        "half of the ball's squared distance instead of a quarter",
        "safe_regions/two_point_ball.py",
        "radius=safe_sqrt(gap - 0.25 * apart * apart),",
        "radius=safe_sqrt(gap - 0.5 * apart * apart),",
        (STEPS,),
    ),
    Mutant(
        "the ball's radius a thousandth too small",
        "safe_regions/two_point_ball.py",
        "radius=safe_sqrt(gap - 0.25 * apart * apart),",
        "radius=0.999 * safe_sqrt(gap - 0.25 * apart * apart),",
        (STEPS,),
    ),
    Mutant(
        "theta and rho are as far apart as computed",
        "safe_regions/two_point_ball.py",
        "apart = max(metric.norm_at_least(dual.theta - rho) - metric.at_most(error), 0.0)",
        "apart = metric.norm_at_least(dual.theta - rho)",
        (WORST,),
    ),
    Mutant(
        "the ball's centre does not know of the residual's error",
        "safe_regions/two_point_ball.py",
        "centre_error = 0.5 * (near.error + point.correlation_error + e) + rounding",
        "centre_error = 0.5 * (near.error + point.correlation_error) + rounding",
        (STEPS,),
    ),
    Mutant(
        "the ball's centre does not know of theta's error",
        "safe_regions/two_point_ball.py",
        "centre_error = 0.5 * (near.error + point.correlation_error + e) + rounding",
        "centre_error = 0.5 * e",
        (STEPS,),
    ),
    Mutant(
        "the ball's centre is theta",
        "safe_regions/two_point_ball.py",
        "correlation=0.5 * (dual.correlation + point.correlation),",
        "correlation=dual.correlation,",
        (STEPS,),
    ),
    Mutant(
        "smoothness of rows is left out of distances",
        "safe_regions/base.py",
        "return norm_at_least(v / np.sqrt(self.smoothness.rows)) / SLACK",
        "return norm_at_least(v) / SLACK",
        (GENERAL,),
    ),
    Mutant(
        "an error in the steepest row instead of the flattest",
        "safe_regions/base.py",
        "float(np.min(rows))",
        "float(np.max(rows))",
        (GENERAL,),
    ),
    Mutant(
        "half the reach of a column",
        "reduced.py",
        "return np.sqrt(squares) * SLACK",
        "return 0.5 * np.sqrt(squares) * SLACK",
        (GENERAL,),
    ),
    Mutant(
        "columns that meet rows without a constant have a finite reach",
        "reduced.py",
        "squares = np.where(meets, np.inf, squares)",
        "squares = np.where(meets, squares, squares)",
        (GENERAL,),
    ),
    Mutant(
        "the dome's half-space in boxes is that of a cone",
        "safe_regions/dome.py",
        "bound = gap if step[~problem.constrained].any() else 0.0",
        "bound = 0.0",
        (REGIONS, STEPS),
    ),
    Mutant(
        "the dome's normal is exact",
        "safe_regions/dome.py",
        "return g, bound + error * farthest * SLACK + (SLACK - 1.0) * abs(bound)",
        "return g, bound",
        (STEPS,),
    ),
    Mutant(
        "the dome is half as wide",
        "safe_regions/dome.py",
        "reach = np.where(cut, along * depth + across * width, radius * length)",
        "reach = np.where(cut, along * depth + 0.5 * across * width, radius * length)",
        (STEPS,),
    ),
    Mutant(
        "the dome's angles are exact",
        "safe_regions/dome.py",
        "sure = np.maximum(np.abs(along) - unsure * norms, 0.0)",
        "sure = np.abs(along)",
        (STEPS,),
    ),
    Mutant(
        "the dome is cut on the wrong side",
        "safe_regions/dome.py",
        "cut = radius * along > depth * length",
        "cut = radius * along < depth * length",
        (STEPS,),
    ),
    Mutant(
        "the dome's centre is exact",
        "safe_regions/dome.py",
        "norm(g) * (gamma(len(g) + 4) * norm(ball.centre) + ball.centre_error) * SLACK",
        "norm(g) * gamma(len(g) + 4) * norm(ball.centre) * SLACK",
        (WORST,),
    ),
    Mutant(
        "the dome's depth counts half",
        "safe_regions/dome.py",
        "depth = (level - dot(g, ball.centre) + rounding) / size",
        "depth = 0.5 * (level - dot(g, ball.centre) + rounding) / size",
        (STEPS, REGIONS),
    ),
    Mutant(
        "a slope of 0 screens",
        "screening.py",
        "at_lower = problem.open & (high < 0.0) & ~problem.no_lower",
        "at_lower = problem.open & (high <= 0.0) & ~problem.no_lower",
        (STEPS,),
    ),
    Mutant(
        "the wrong end of the range screens",
        "screening.py",
        "at_upper = problem.open & (low > 0.0) & ~problem.no_upper",
        "at_upper = problem.open & (high > 0.0) & ~problem.no_upper",
        (STEPS,),
    ),
    Mutant(
        "screening on a gap that rests on an assumption",
        "track.py",
        "if equalities is not None and not equalities.proved:",
        "if False:",
        (EQUALITY, SCREENING),
    ),
    Mutant(
        "screening with a gap from before",
        "track.py",
        "return screen(self.point, self.best, gap, region)",
        "return screen(self.point, self.best, 0.25 * gap, region)",
        (SCREENING,),
    ),
]
