"""Ways to solve a judged problem, which together take every path, and a log of the paths taken.

A variant changes settings so that problems of a few columns meet every threshold; see
`boxreg.settings`. A path counts as taken only if its code was seen running.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from types import CodeType, FrameType
from typing import Any

import numpy as np

from boxreg import in_threads
from boxreg.dual_updates import SupportPolish
from boxreg.solvers import CoordinateDescent, ProjectedGradient
from references.judged import Judged

HUGE = 10**9
STEPWISE: dict[str, Any] = {"descent_products": 0.0}
"""A sparse A takes the way of a dense one."""
FLAT: dict[str, Any] = {"small_entries": 0, "well_conditioned": 0.0, "first_working_set": 1}
"""The general solver, whose working sets begin with one coordinate."""

SHORT: dict[str, Any] = {
    **FLAT,
    "shortlist_length": 0.7,
    "shortlist_per_working": 1,
    "shortlist_share": 1.0,
    "shortlist_wanted": 1.0,
    "shortlist_inside": 1.0,
    "candidates_length": 0.7,
    "seldom_checks": 3,
}
SWEPT: dict[str, Any] = {
    **FLAT,
    **STEPWISE,
    "predicting_from": 0.0,
    "prediction_settled": 1e9,
    "sweeps_at_least": 2,
    "sweeps_tried": 0.0,
    "sweeps_steady": 1.0,
}
LINES: dict[str, Any] = {
    "long_columns": 0,
    "long_rows": 0,
    "abreast_above": 0,
    "abreast_share": 0.0,
    "block_elements": 4,
    "gram_columns": 2,
    "gathering_from": 1,
    "few_products": 4,
}
AVOIDING: dict[str, Any] = {**STEPWISE, "gram_avoided_from": 0.0, "crowded_density": 1.0}
LAZY: dict[str, Any] = {
    **STEPWISE,
    "small_entries": 0,
    "hessian_cheap": 0.0,
    "hessian_cheap_beside": 0.0,
    "hessian_rows": 0.0,
    "newton_dual_gain": 1.0,
}
POLISHED: dict[str, Any] = {"polish_share": 1e9, "polish_wait": 0.0, "polish_cost": 1e9}


@dataclass(frozen=True)
class Variant:
    """An entry point, its options, the settings in force, and how A may be stored."""

    name: str
    entry: str = "solve"
    options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    storages: tuple[str, ...] = ("F", "C", "sparse", "float32")
    fits: Callable[[Any], bool] = lambda problem: isinstance(problem, Judged)
    threads: bool = False
    quick: int = 14
    """Problems in a quick run; more where the path is seldom taken."""


def quadratic(problem: Any) -> bool:
    """Least squares, with weights and costs or without."""
    return isinstance(problem, Judged) and problem.loss == "least_squares"


def general(problem: Any) -> bool:
    """Any other loss."""
    return isinstance(problem, Judged) and problem.loss != "least_squares"


def plain(problem: Any) -> bool:
    """Least squares without further terms."""
    return isinstance(problem, Judged) and problem.plain


def nonnegative(problem: Any) -> bool:
    """x >= 0 and nothing else."""
    return plain(problem) and not problem.lower.any() and bool(np.all(np.isposinf(problem.upper)))


def around_zero(problem: Any) -> bool:
    """A finite box that holds 0, which runs begin with sweeps from."""
    if not plain(problem):
        return False
    low, high = problem.lower, problem.upper
    return bool(np.all(np.isfinite(low) & (low <= 0.0) & (high >= 0.0) & np.isfinite(high)))


def some_inside(problem: Any) -> bool:
    """0 is strictly inside some bounds: sweeps come first there too."""
    return quadratic(problem) and bool(np.any((problem.lower < 0.0) & (problem.upper > 0.0)))


def priced(problem: Any) -> bool:
    """Least squares with a linear cost."""
    return quadratic(problem) and "linear" in problem.terms


def weighed(problem: Any) -> bool:
    """Least squares with weights."""
    return quadratic(problem) and "sample_weight" in problem.terms


def counts(problem: Any) -> bool:
    """The Kullback–Leibler divergence without further terms."""
    loss = isinstance(problem, Judged) and problem.loss == "kullback_leibler"
    return loss and not problem.terms


def antisparse(problem: Any) -> bool:
    """An ℓ∞-penalised problem."""
    return not isinstance(problem, Judged)


def in_batches(problem: Any) -> bool:
    """What the compiled kernels for many right-hand sides take."""
    return quadratic(problem) or counts(problem)


VARIANTS: tuple[Variant, ...] = (
    Variant("auto"),
    Variant("defaults", options={"region": "auto", "dual": "auto"}, fits=quadratic, quick=60),
    Variant("auto general", settings=FLAT),
    Variant(
        "compiled call first",
        settings={"small_entries": 0, "well_conditioned": 2.0},
        storages=("F", "C"),
        fits=quadratic,
    ),
    Variant(
        "compiled call given up",
        settings={"small_entries": 0, "well_conditioned": 2.0, "compiled_products": 1.5},
        storages=("F", "C"),
        fits=quadratic,
    ),
    Variant("auto, few steps", options={"max_iter": 3}, settings=FLAT),
    Variant("auto, operator", options={"max_iter": 300}, storages=("operator",)),
    Variant("nnls", "nnls", storages=("F", "C"), fits=nonnegative),
    Variant("nnls working set", "nnls", settings=FLAT, fits=nonnegative),
    Variant("lsq_linear", "lsq_linear", fits=plain),
    Variant("lsq_linear swept", "lsq_linear", settings={**SWEPT, **LINES}, fits=plain),
    Variant("working set", options={"solver": "working_set"}, settings=FLAT, fits=quadratic),
    Variant(
        "shortlists",
        options={"solver": "working_set"},
        settings=SHORT,
        storages=("F", "sparse"),
        fits=quadratic,
    ),
    Variant("sweeps", settings=SWEPT, storages=("F", "sparse"), fits=some_inside, quick=200),
    Variant(
        "sweeps cut short",
        settings={**SWEPT, "sweeps_at_most": 2, "sweep_prediction_error": 1e9},
        storages=("F", "sparse"),
        fits=some_inside,
    ),
    Variant(
        "first sweep", settings={**SWEPT, "long_columns": 0}, storages=("F",), fits=around_zero
    ),
    Variant(
        "first sweep in threads",
        settings={**SWEPT, "long_columns": 0, "thread_entries": 1},
        storages=("F",),
        fits=around_zero,
        threads=True,
        quick=30,
    ),
    Variant("threads", settings={**FLAT, "thread_entries": 1}, threads=True),
    Variant("prediction", settings=SWEPT, storages=("C",), fits=some_inside),
    Variant("from the bounds", settings={**FLAT, "largest_start": 0}, fits=quadratic),
    Variant("bordering", settings={**FLAT, "small_system": 0}),
    Variant("new factors", settings={**FLAT, "small_system": 0, "bordered_changes": 0}),
    Variant(
        "conjugate gradients",
        settings={**FLAT, **STEPWISE, "gradients_from": 1, "gradients_advantage": 0.0},
        fits=quadratic,
    ),
    Variant("orthogonal factors", settings={**FLAT, "pivoting_rounds": 0}),
    Variant("active set", options={"solver": "active_set"}, settings=FLAT, fits=quadratic),
    Variant(
        "active set with costs",
        options={"solver": "active_set"},
        settings=FLAT,
        fits=priced,
        quick=40,
    ),
    Variant(
        "partial pricing",
        options={"solver": "active_set"},
        settings=SHORT,
        storages=("F", "sparse"),
        fits=quadratic,
    ),
    Variant("newton", options={"solver": "newton"}),
    Variant(
        "newton, Gram matrices",
        options={"solver": "newton"},
        settings={**STEPWISE, "small_entries": 0},
    ),
    Variant("sparse descent", settings={"small_entries": 0}, storages=("sparse",), quick=40),
    Variant(
        "sparse descent, given up",
        settings={"small_entries": 0, "descent_products": 5.0, "descent_models": 2},
        storages=("sparse",),
    ),
    Variant("newton, sweeps", settings=AVOIDING, storages=("F", "sparse"), fits=general),
    Variant(
        "newton, L-BFGS-B",
        settings={"quasi_newton_after": 0.0, "call_entries": 0.0},
        fits=general,
    ),
    Variant("newton, kept Hessians", options={"solver": "newton"}, settings=LAZY),
    Variant("newton, first step", options={"max_iter": 1}, settings=LAZY, fits=general),
    Variant("no programs", settings={"program_entries": 0.0, "direction_after": 0}),
    Variant("directions at once", settings={**FLAT, "direction_after": 0}),
    Variant("lines", settings={**FLAT, **LINES}),
    Variant(
        "coordinate descent",
        options={"solver": "coordinate_descent", "max_iter": 400},
        settings=POLISHED,
    ),
    Variant(
        "coordinate descent, plain",
        options={"solver": CoordinateDescent.plain(), "max_iter": 400},
        settings={"direction_after": 0},
    ),
    Variant(
        "projected gradient",
        options={"solver": "projected_gradient", "max_iter": 400},
        settings=POLISHED,
    ),
    Variant(
        "projected gradient, plain",
        options={"solver": ProjectedGradient.plain(), "max_iter": 200},
        storages=("F", "C", "sparse", "operator"),
    ),
    Variant(
        "projected gradient, Anderson",
        options={"solver": ProjectedGradient(acceleration="anderson"), "max_iter": 200},
    ),
    Variant(
        "Chambolle–Pock",
        options={"solver": "chambolle_pock", "max_iter": 400},
        storages=("F", "C", "sparse", "operator"),
    ),
    Variant(
        "Chambolle–Pock, polished",
        options={"solver": "chambolle_pock", "max_iter": 200},
        settings={**POLISHED, "direction_after": 0, "cache_bytes": 0},
    ),
    Variant("interior point", options={"solver": "interior_point"}),
    Variant("handed over", settings={"small_entries": 0, "successor_after": 0.0}),
    Variant("many", "solve_many", fits=in_batches),
    Variant("many without Gram", "solve_many", settings={"batch_gram_columns": 0}, fits=in_batches),
    Variant("many with weights", "solve_many", fits=weighed, quick=40),
    Variant("many in threads", "solve_many", options={"n_jobs": 2}, fits=in_batches),
    Variant("many one by one", "solve_many", settings={"batch_entries": 0.0}),
    Variant(
        "many, a few of a large A",
        "solve_many",
        settings={"small_entries": 0, "batch_gram_rounds": 0},
        fits=in_batches,
    ),
    Variant("antisparse", "antisparse", storages=("F", "C", "sparse"), fits=antisparse),
    Variant(
        "antisparse merged",
        "antisparse",
        settings={"merging_share": 1.0, "small_system": 0, **LINES},
        storages=("F", "C", "sparse"),
        fits=antisparse,
    ),
)

REAL: tuple[Variant, ...] = (
    *(
        Variant(f"real: {name}", options={"solver": name})
        for name in ("auto", "newton", "interior_point")
    ),
    *(
        Variant(f"real: {name}", options={"solver": name}, fits=quadratic)
        for name in ("sparse_descent", "working_set", "active_set")
    ),
    *(
        Variant(f"real: {name}", options={"solver": name, "max_iter": 300})
        for name in ("coordinate_descent", "projected_gradient", "chambolle_pock")
    ),
    Variant("real: operator", options={"max_iter": 300}, storages=("operator",), fits=quadratic),
    Variant("real: nnls", "nnls", fits=nonnegative),
    Variant("real: lsq_linear", "lsq_linear", fits=plain),
    Variant("real: many", "solve_many", fits=in_batches),
    Variant("real: many one by one", "solve_many"),
)
"""Every solver and entry point with the settings as they are, for problems of 100 columns and more."""

CUDA = (
    Variant("many on a GPU", "solve_many", {"device": "cuda"}, storages=("C",), fits=plain),
    Variant(
        "many on a GPU, little room",
        "solve_many",
        {"device": "cuda", "precision": "float32"},
        settings={"device_free": 1},
        storages=("C",),
        fits=plain,
    ),
)
"""Only where there is a GPU, or numba simulates one (NUMBA_ENABLE_CUDASIM=1)."""

REGIONS = ("auto", "gap_sphere", "two_point_ball", "dome")
DUALS: dict[str, Any] = {
    "auto": "auto",
    "polish-own-iterates": SupportPolish(adopt=False),
    "extrapolated": "extrapolated",
    "line_search": "line_search",
    "translation": "translation",
    "residual": "residual",
}
TOLERANCES = (0.0, 1e-12, 1e-8, 1e-4)


@contextmanager
def several_threads() -> Iterator[None]:
    """Products may take several threads, whatever the environment says."""
    before = {name: os.environ.pop(name, None) for name in in_threads._VARIABLES}
    try:
        yield
    finally:
        os.environ.update({name: value for name, value in before.items() if value is not None})


PATHS: dict[str, tuple[str, str, str]] = {
    "compiled active set": ("dense_fit", "fit", ""),
    "solved and proved in one call": ("dense_fit", "_certified", "return CertifiedFit("),
    "a larger one in one call": ("dense_fit", "certified_start", ""),
    "small: ridge term": ("dense_fit", "_ridge_rows", ""),
    "small: sparse": ("dense_fit", "_spread", "inside = "),
    "start from the compiled call": ("dense_fit", "first_fit", "return fit("),
    "other losses by one compiled call": ("smooth_fit", "SmallProblem.solve", ""),
    "other losses proved in one call": ("smooth_fit", "SmallProblem.prove", "return SmoothFit("),
    "working set by pivoting": ("solvers.working_set", "WorkingSet._solve", ""),
    "working set by orthogonal factors": ("solvers.last_resort", "solve_by_active_set", ""),
    "shortlists": ("solvers.working_set", "WorkingSet._rehearsed", "solver = WorkingSet("),
    "partial pricing": ("solvers.active_set", "ActiveSet._free_one", "slopes = "),
    "exchange of dependent columns": ("solvers.active_set", "_exchange", ""),
    "sparse descent": ("solvers.sparse_descent", "SparseDescent._descended", "state.asked = "),
    "models of a sparse A": ("solvers.newton", "Newton._by_descent", "moved, met = "),
    "sweeps": ("solvers.sweeps", "Sweeps._made", ""),
    "over-relaxed sweeps": ("solvers.sweeping", "_all_the_way", ""),
    "sweeps again": ("solvers.sweeping", "swept_to_the_end", "again=True"),
    "first sweep": ("designs.dense", "DenseDesign._swept_survey", ""),
    "first sweep taken up": ("solvers.sweeps", "Sweeps._ahead", ""),
    "first sweep in parts": ("designs.epochs", "together", "k, sizes = "),
    "prediction by gradients": ("solvers.prediction", "predicted", ""),
    "start from the bounds": ("solvers.prediction", "first_point", "rising = "),
    "small systems": ("free_system", "FreeSystem.solve", "least = solve_small"),
    "bordering": ("free_system", "FreeSystem._bordered", ""),
    "new factors": ("free_system", "FreeSystem._rebuild", ""),
    "dependent columns set aside": ("free_system", "FreeSystem._rebuild", "_, order, rank, _ ="),
    "conjugate gradients": ("solvers.without_gram", "round_on", ""),
    "active set": ("solvers.active_set", "ActiveSet.step", ""),
    "orthogonal factors to the end": ("solvers.last_resort", "by_orthogonal_factors", ""),
    "last resort": ("solvers.last_resort", "last_resort", ""),
    "coordinate descent": ("solvers.coordinate_descent", "CoordinateDescent.step", ""),
    "interior point": ("solvers.interior_point", "InteriorPoint._moved", ""),
    "interior point by columns": ("solvers.interior_point", "Equations._by_columns", ""),
    "interior point by rows": ("solvers.interior_point", "Equations._by_rows", ""),
    "handed over to a successor": ("driver", "_Loop.hand_over", ""),
    "projected gradient": ("solvers.projected_gradient", "ProjectedGradient.step", ""),
    "Chambolle–Pock": ("solvers.chambolle_pock", "ChambollePock.step", ""),
    "Newton": ("solvers.newton", "Newton.step", ""),
    "Newton with sweeps": ("solvers.newton", "Newton._swept", "moved, finished = "),
    "Newton with L-BFGS-B": ("solvers.newton", "Newton._descended", "moved = "),
    "Newton with a kept Hessian": ("solvers.newton", "Newton._refresh", "along = "),
    "Newton with an updated Hessian": ("solvers.newton", "Newton._change", "state.system = "),
    "Newton by orthogonal factors": ("solvers.newton", "Newton._minimum", "solve_by_active_set"),
    "Newton's dual point": ("solvers.newton", "Newton._with_no_slopes", "theta = "),
    "gap sphere": ("safe_regions.gap_sphere", "GapSphere.correlation_range", ""),
    "two-point ball": ("safe_regions.two_point_ball", "TwoPointBall.correlation_range", ""),
    "dome": ("safe_regions.dome", "Dome.correlation_range", ""),
    "support polish": ("dual_updates.polish", "_orthogonal_part", ""),
    "local push": ("dual_updates.local_push", "local_push", ""),
    "theta = 0 will do": ("track", "Track.improve", "nothing = DualPoint.zero("),
    "line search": ("dual_updates.line_search", "LineSearch.propose", ""),
    "extrapolated residuals": ("dual_updates.extrapolated", "Extrapolated.propose", ""),
    "direction searched for": ("interior", "InteriorSearch._alternative", ""),
    "implicit columns": ("interior", "InteriorSearch.cone", "implicit = implicit | support"),
    "linear program": ("phase_one", "_solved", ""),
    "equality columns": ("equality_columns", "EqualityColumns.metric", ""),
    "refutation": ("refutation", "least_excess", ""),
    "columns dropped": ("reduced", "ReducedProblem.keep", ""),
    "columns gathered": ("reduced", "ReducedProblem.predict", "return self.design.combine("),
    "products in threads": ("in_threads", "allowed", "told = "),
    "dense by columns": ("designs.dense", "DenseDesign.survey", "survey.by_columns("),
    "dense by rows": ("designs.dense", "DenseDesign.survey", "survey.by_rows("),
    "sparse": ("designs.sparse", "SparseDesign.survey", ""),
    "operator": ("designs.operator", "OperatorDesign.rmatvec", ""),
    "many: compiled": ("batch.compiled", "Compiled.solve", ""),
    "many: Kullback–Leibler": ("batch.compiled", "Compiled._kernel", "extra = (np"),
    "many: weights or rows of a ridge term": ("batch.terms", "Terms.scale", ""),
    "many: a ridge term spares signs": ("batch.terms", "Terms.soft", "least ="),
    "many: with a Gram matrix": ("batch.shared", "share", "gram = np.ascontiguousarray"),
    "many: one by one": ("batch.general", "General.solve", ""),
    "many: repaired": ("batch.general", "repair", "lower, upper = "),
    "many: on a GPU": ("batch.on_device", "OnDevice.solve", ""),
    "many: wide sets on a GPU": ("batch.device_launch", "Launcher._settle_wide", ""),
    "antisparse": ("linf.level_search", "LevelSearch.__init__", ""),
    "antisparse: merged columns": ("linf.merged", "Merged.keep", ""),
    "certificate": ("certificate", "certificate_of", ""),
    "problem without a minimum": ("recession", "recession", ""),
}
"""Name: module, function, and text of the line that shows it; the function's first line if none."""


class PathLog:
    """Which of `PATHS` have run while the log was open."""

    def __init__(self) -> None:
        self.taken: set[str] = set()
        self._functions: dict[CodeType, str] = {}
        self._lines: dict[CodeType, dict[int, str]] = {}
        for name, (module, function, text) in PATHS.items():
            code, line = _place(module, function, text)
            if line is None:
                self._functions[code] = name
            else:
                self._lines.setdefault(code, {})[line] = name

    def __enter__(self) -> PathLog:
        self.taken = set()
        sys.settrace(self._called)
        return self

    def __exit__(self, *given: object) -> None:
        sys.settrace(None)

    def _called(self, frame: FrameType, event: str, argument: object) -> Any:
        name = self._functions.get(frame.f_code)
        if name is not None:
            self.taken.add(name)
        lines = self._lines.get(frame.f_code)
        if lines is None:
            return None

        def local(frame: FrameType, event: str, argument: object) -> Any:
            name = lines.get(frame.f_lineno)
            if name is not None:
                self.taken.add(name)
            return local

        return local


def _place(module: str, function: str, text: str) -> tuple[CodeType, int | None]:
    held: Any = import_module(f"boxreg.{module}")
    for part in function.split("."):
        held = inspect.getattr_static(held, part)
    held = getattr(held, "__func__", getattr(held, "fget", getattr(held, "func", held)))
    held = inspect.unwrap(held)
    if not text:
        return held.__code__, None
    lines, first = inspect.getsourcelines(held)
    found = [first + k for k, line in enumerate(lines) if text in line]
    if not found:
        raise LookupError(f"boxreg.{module}.{function} has no line with {text!r}")
    return held.__code__, found[0]
