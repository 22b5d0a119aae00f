"""Settings reach every decision: nested runs, worker threads and worker processes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, fields
from itertools import pairwise
from typing import Any, ClassVar

import dask.array as da
import numpy as np
import pytest

import boxreg
from boxreg import in_threads, settings
from boxreg.settings import Settings, current, using


def test_they_are_in_force_within_the_block_only() -> None:
    assert current() == Settings()
    with using(small_entries=7):
        with using(first_working_set=3):
            assert (current().small_entries, current().first_working_set) == (7, 3)
        assert current() == Settings(small_entries=7)
    assert current() == Settings()


def test_they_come_back_after_an_error() -> None:
    with pytest.raises(KeyError), using(small_entries=7):
        raise KeyError
    assert current() == Settings()


def test_unknown_names_and_assignments_are_refused() -> None:
    with pytest.raises(TypeError, match="no_such_threshold"), using(no_such_threshold=1):
        pass
    with pytest.raises(FrozenInstanceError):
        current().small_entries = 1  # type: ignore[misc]


def test_every_field_is_documented() -> None:
    """Each has a sentence of its own below it."""
    import ast
    import inspect

    (made,) = (
        n for n in ast.parse(inspect.getsource(settings)).body if isinstance(n, ast.ClassDef)
    )
    body = made.body[1:]
    told = {
        node.target.id
        for node, after in pairwise(body)
        if isinstance(node, ast.AnnAssign) and isinstance(after, ast.Expr)
    }
    assert told == {field.name for field in fields(Settings)}


def test_threads_of_products_have_them() -> None:
    with using(small_entries=7):
        seen = in_threads.in_parts(lambda a, b: current().small_entries, [0, 1, 2, 3])
    assert seen == [7, 7, 7]


class Noting(boxreg.losses.LeastSquares):
    """Notes the settings it is used with."""

    seen: ClassVar[set[int]] = set()

    def objective(self, *given: Any) -> float:
        self.seen.add(current().shortlist_rounds)
        return super().objective(*given)


class Staying(Noting):
    """Cannot be sent to another process."""

    def __getstate__(self) -> object:
        raise TypeError("not to be sent")


def test_worker_threads_of_many_right_hand_sides_have_them() -> None:
    rng = np.random.default_rng(0)
    Noting.seen.clear()
    with using(shortlist_rounds=5):
        boxreg.solve_many(rng.random((6, 4)), rng.random((6, 8)), loss=Staying(), n_jobs=2)
    assert Noting.seen == {5}


def test_worker_processes_have_them() -> None:
    """They are sent with A; a worker puts them in force before its first solve."""
    from boxreg.batch.general import _begin_worker

    with ThreadPoolExecutor(
        1, initializer=_begin_worker, initargs=({"settings": Settings(1)},)
    ) as pool:
        assert pool.submit(current).result() == Settings(1)


def test_tasks_of_dask_have_those_in_force_where_the_plan_was_made() -> None:
    rng = np.random.default_rng(1)
    Noting.seen.clear()
    with using(shortlist_rounds=6):
        lazy = boxreg.solve_many(
            rng.random((6, 4)), da.from_array(rng.random((6, 8))), loss=Noting()
        )
    lazy.compute(scheduler="threads")
    assert Noting.seen == {6}
