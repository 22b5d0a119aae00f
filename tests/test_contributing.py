"""The worked example of CONTRIBUTING.md: it runs, and the loss it adds keeps every law."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from boxreg.losses.laws import check_laws
from references.losses import MILD, Row

TEXT = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")


def piece(title: str) -> str:
    """The code block under `<!-- title -->`."""
    found = re.search(rf"<!-- {re.escape(title)} -->\n```python\n(.*?)```", TEXT, re.DOTALL)
    assert found, title
    return found.group(1)


@pytest.fixture(scope="module")
def row() -> Row:
    """The three pieces of the section, run one after the other."""
    names: dict[str, Any] = {"__name__": "pseudo_huber"}
    exec(piece("losses/pseudo_huber.py"), names)
    names.update(LOSSES={}, ROWS={}, Row=Row, MILD=MILD, mpmath=mpmath)
    exec(piece("registry"), names)
    exec(piece("row"), names)
    added: Row = names["ROWS"]["pseudo_huber"]
    assert names["LOSSES"] == {added.loss.name: type(added.loss)}
    return added


def test_its_laws_on_a_grid(row: Row) -> None:
    check_laws(row.loss, np.array([-3.0, 0.0, 0.25, 10.0]))


@given(p=MILD, y=MILD, v=st.one_of(st.floats(-1.0, 1.0), st.sampled_from([-1.0, 1.0])))
def test_its_laws_in_high_precision(row: Row, p: float, y: float, v: float) -> None:
    """f, f', f* and the bound on f + f* - p v against mpmath, as for the losses of the library."""
    loss = row.loss
    prediction, target, dual = np.array([p]), np.array([y]), np.array([v])
    with mpmath.workdps(700):
        value = row.value(mpf(p), mpf(y))
        slope = row.derivative(mpf(p), mpf(y))
        conjugate = row.conjugate(mpf(v), mpf(y))
        room, least = mpf(2) ** -49, mpf(10) ** -290  # below it floats have fewer digits
        assert abs(loss.values(prediction, target)[0] - value) <= room * value + least
        computed = loss.derivatives(prediction, target)
        error = loss.derivative_errors(prediction, computed, target)[0]
        assert abs(mpf(computed[0]) - slope) <= error + least
        off = abs(loss.conjugates(dual, target)[0] - conjugate)
        assert off <= room * (abs(conjugate) + abs(v * y)) + least
        bound = loss.fenchel_young_terms(prediction, -dual, target)[0]
        assert mpf(bound) >= value + conjugate - mpf(p) * mpf(v)
        assert bound <= float(value + conjugate - mpf(p) * mpf(v)) + 1e-13 * (1 + abs(p) + abs(y))
    scalar = loss.scalar_derivative()
    assert scalar is not None
    assert scalar(p, y) == pytest.approx(float(slope), rel=1e-14)
