"""`solve_many` for arrays with named dimensions: those of xarray, with NumPy or dask inside."""

from __future__ import annotations

from typing import Any

import xarray

from .. import validate
from .bundle import KINDS
from .labels import Labels
from .result import BatchResult


def solve_labelled(
    A: Any, Y: Any, lower: Any, upper: Any, *, axis: Any, dim: Any, **options: Any
) -> LabelledResult:
    """The same with names: coordinates of Y are kept, its dimension along the rows of A is replaced."""
    from .many import solve_many

    validate.no_sparse_names(options["sparse"])
    labels = Labels.of(A, Y, axis, dim)
    low, high = labels.bound(lower, "lower"), labels.bound(upper, "upper")
    plain = solve_many(labels.matrix(A), Y.data, low, high, axis=labels.axis, **options)
    return LabelledResult(plain, labels)


class LabelledResult:
    """A `BatchResult`, or a `LazyBatchResult`, whose arrays have names.

    `x`, `gap`, `relative_gap`, `gap_over_objective`, `objective`, `scale`, `target_gap`, `status`,
    `support`, `repaired`, `proved`, `skipped` and `theta` are DataArrays with NumPy or dask inside, as Y
    was; `plain` has them without names. What else the plain result has is had from here too.
    """

    def __init__(self, plain: Any, labels: Labels) -> None:
        self.plain, self.labels = plain, labels

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("plain", "labels"):  # not made yet, or not dask's
            raise AttributeError(name)
        value = getattr(self.plain, name)
        if name in (*KINDS, "relative_gap", "gap_over_objective", "skipped"):
            return self.labels.number(value, name)
        if name == "x":
            return self.labels.x(value)
        if name == "theta" and value is not None:
            return self.labels.dual(value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self.plain)})

    def to_dataset(self) -> Any:
        """x and what each right-hand side has, as variables of one Dataset."""
        names = ["x", *KINDS, *(["theta"] if self.plain.theta is not None else [])]
        return xarray.Dataset({name: getattr(self, name) for name in names})

    def compute(self, **options: Any) -> LabelledResult:
        """With everything in memory."""
        if isinstance(self.plain, BatchResult):
            return self
        return LabelledResult(self.plain.compute(**options), self.labels.loaded())

    def persist(self, **options: Any) -> LabelledResult:
        """With every chunk computed, where it is."""
        if isinstance(self.plain, BatchResult):
            return self
        return LabelledResult(self.plain.persist(**options), self.labels)

    def __dask_graph__(self) -> Any:
        return None if isinstance(self.plain, BatchResult) else self.plain.__dask_graph__()

    def __dask_keys__(self) -> Any:
        return self.plain.__dask_keys__()

    def __dask_layers__(self) -> Any:
        return self.plain.__dask_layers__()

    def __dask_tokenize__(self) -> Any:
        return self.plain.__dask_tokenize__()

    @property
    def __dask_optimize__(self) -> Any:
        return self.plain.__dask_optimize__

    @property
    def __dask_scheduler__(self) -> Any:
        return self.plain.__dask_scheduler__

    def __dask_postcompute__(self) -> Any:
        gather, extra = self.plain.__dask_postcompute__()
        return _then, (gather, extra, self.labels)

    def __dask_postpersist__(self) -> Any:
        rebuild, extra = self.plain.__dask_postpersist__()
        return _rebuilt, (rebuild, extra, self.labels)

    def __len__(self) -> int:
        return len(self.plain)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {size}" for name, size in self.x.sizes.items())
        return f"{self.plain!r}\n  names     {sizes}"


def _then(bundles: Any, gather: Any, extra: Any, labels: Labels) -> LabelledResult:
    return LabelledResult(gather(bundles, *extra), labels.loaded())


def _rebuilt(
    graph: Any, rebuild: Any, extra: Any, labels: Labels, *, rename: Any = None
) -> LabelledResult:
    return LabelledResult(rebuild(graph, *extra, rename=rename), labels)
