"""Problems without a minimum: the status says so, and no certificate claims otherwise."""

from __future__ import annotations

import numpy as np
import pytest

import boxreg
from boxreg.status import Status
from loss_judging import arguments
from references.loss_problem import LossProblem
from references.loss_reference import exact_values
from references.loss_unattained import (
    UNBOUNDED_LOSSES,
    Unattained,
    level,
    separable,
    unbounded,
)

pytestmark = pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")

NOT_ATTAINED = [
    *(separable(seed, intercept=bool(seed % 2)) for seed in range(12)),
    *(level(seed, loss) for loss in ("logistic", "log_cosh") for seed in range(6)),
]
UNBOUNDED = [unbounded(seed, loss) for loss in UNBOUNDED_LOSSES for seed in range(8)]


def assert_honest(problem: LossProblem, result: boxreg.Result, infimum: float) -> None:
    """x feasible, and P(x) - inf P <= gap wherever that is claimed to be rigorous."""
    assert np.all((problem.lower <= result.x) & (result.x <= problem.upper))
    if result.certificate.rigorous or result.success:
        value, error, _ = exact_values([problem], [result.x])[0]
        assert value - infimum <= result.gap + error


@pytest.mark.parametrize("case", NOT_ATTAINED, ids=lambda case: case.problem.name)
def test_not_attained(case: Unattained) -> None:
    result = boxreg.solve(**arguments(case.problem))
    assert_honest(case.problem, result, case.infimum)
    assert result.status is Status.NOT_ATTAINED
    assert not result.success
    assert result.message


@pytest.mark.parametrize("case", UNBOUNDED, ids=lambda case: case.problem.name)
def test_unbounded(case: Unattained) -> None:
    result = boxreg.solve(**arguments(case.problem))
    assert_honest(case.problem, result, case.infimum)
    assert result.status is Status.UNBOUNDED
    assert not result.success
    assert not np.isfinite(result.gap)


@pytest.mark.parametrize("seed", range(6))
def test_separable_squared_hinge_is_attained(seed: int) -> None:
    """The same data with a loss that reaches 0: success, with objective 0."""
    case = separable(seed, "squared_hinge", intercept=bool(seed % 2))
    result = boxreg.solve(**arguments(case.problem))
    assert result.success
    assert result.objective <= 1e-7 * result.scale
    assert_honest(case.problem, result, 0.0)


@pytest.mark.parametrize("terms", ["ridge", "upper"])
@pytest.mark.parametrize("seed", range(4))
def test_ridge_or_box_makes_it_attained(seed: int, terms: str) -> None:
    """Separable data with a ridge term, or in a box, have a minimum, and it is found."""
    posed = arguments(separable(seed).problem)
    posed |= {"ridge": 0.1} if terms == "ridge" else {"upper": 5.0}
    assert boxreg.solve(**posed).success
