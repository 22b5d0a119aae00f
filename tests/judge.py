"""Solve a problem with a known solution in a given way, and say what is wrong with the answer."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any
from zlib import crc32

import numpy as np
from numba import config
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

import boxreg
from boxreg.certificate import Verdict
from boxreg.settings import using
from judging_antisparse import FAMILIES as ANTISPARSE
from judging_antisparse import draw
from judging_antisparse import judge as judge_antisparse
from paths import DUALS, REGIONS, TOLERANCES, VARIANTS, PathLog, Variant, several_threads
from references.hostile import SMALL_FAMILIES, hostile
from references.judged import Judged
from references.planted import BOUNDS, LARGE, LARGEST, LOSSES, SMALL, TALL, WIDE, planted
from references.with_terms import with_terms

_ROUNDINGS = 16
"""`nnls` has no certificate: slopes are judged with this many times their usual rounding error,"""

_LITTLE = Fraction(1, 10**12)
"""where the objective could be lower by this share of P(0)."""

PLANTED = {f"planted-{loss}-{kind}": (loss, kind) for loss in LOSSES for kind in BOUNDS}
FAMILIES = (
    *SMALL_FAMILIES,
    *PLANTED,
    *(f"terms-{kind}" for kind in BOUNDS),
    *(f"antisparse-{f.__name__}" for f in ANTISPARSE),
)
"""Of problems with a few columns; each has as many seeds as one likes."""

SIZES = {"large": LARGE, "largest": LARGEST, "wide": WIDE, "tall": TALL}
SQUARES = tuple(name for name in PLANTED if "least_squares" in name)
LARGE_FAMILIES = (
    *(f"large-{name}" for name in PLANTED),
    *(f"{size}-{name}" for size in ("wide", "tall") for name in SQUARES),
)
LARGEST_FAMILIES = tuple(f"largest-{name}" for name in PLANTED)
"""Of problems with 100 to 1200 and with 400 to 3000 columns, solved with the settings as they are."""


@dataclass(frozen=True)
class Penalised:
    """An ℓ∞-penalised problem; the exact reference is made when it is judged."""

    family: str
    seed: int
    A: Any
    y: Any
    penalty: float

    def __repr__(self) -> str:
        return f"{self.family} {self.seed}"


@dataclass
class Record:
    """What became of one judged problem."""

    family: str
    variant: str
    complaints: list[str]
    screened: int = 0
    seconds: float = 0.0
    work: float = 0.0
    status: str = ""
    paths: frozenset[str] = frozenset()


def make(family: str, seed: int) -> Judged | Penalised:
    """Problem number `seed` of a family."""
    if family.startswith("antisparse-"):
        number = [f.__name__ for f in ANTISPARSE].index(family.partition("-")[2])
        return Penalised(family, seed, *draw(number, seed))
    size, _, name = family.partition("-")
    if size == "terms":
        return with_terms(name, seed)
    if name in PLANTED:
        return replace(planted(*PLANTED[name], seed, SIZES[size]), family=family)
    if family in PLANTED:
        return planted(*PLANTED[family], seed, SMALL)
    return hostile(family, seed)


def fitting(problem: Judged | Penalised, variants: Iterable[Variant] = VARIANTS) -> list[Variant]:
    """The variants that take the problem."""
    return [variant for variant in variants if variant.fits(problem)]


def judge(problem: Judged | Penalised, variant: Variant) -> list[str]:
    """Everything that is wrong with the answer; each complaint names the problem and the variant."""
    return judged(problem, variant).complaints


def judged(problem: Judged | Penalised, variant: Variant, log: PathLog | None = None) -> Record:
    """The same, with figures, and the paths taken if they are to be logged."""
    record = Record(problem.family, variant.name, [])
    threads = several_threads() if variant.threads else nullcontext()
    try:
        with warnings.catch_warnings(), using(**variant.settings), threads:
            warnings.simplefilter("ignore", boxreg.ConvergenceWarning)
            warnings.simplefilter("ignore", boxreg.PerformanceWarning)
            # Kernels divide by 0 as they mean to; where they are not compiled, NumPy warns of it.
            warnings.simplefilter("ignore" if config.DISABLE_JIT else "error", RuntimeWarning)
            with log if log is not None else nullcontext():
                found = list(_ENTRIES[variant.entry](problem, variant, record))
    except Exception as error:  # every complaint is collected, none ends a campaign
        found = [f"{type(error).__name__}: {error}"]
    record.complaints = [f"{problem!r} [{variant.name}]: {complaint}" for complaint in found]
    record.paths = frozenset() if log is None else frozenset(log.taken)
    return record


def way(problem: Judged, variant: Variant) -> dict[str, Any]:
    """Region, dual update, tolerance and storage, chosen by the name of the problem."""
    rng = np.random.default_rng([crc32(repr(problem).encode()), crc32(variant.name.encode())])
    names = list(DUALS)
    return {
        "region": REGIONS[rng.integers(len(REGIONS))],
        "dual": DUALS[names[rng.integers(len(names))]] if rng.random() < 0.5 else "auto",
        "tol": TOLERANCES[rng.integers(len(TOLERANCES))],
        "storage": variant.storages[rng.integers(len(variant.storages))],
    }


def stored(A: Any, storage: str) -> Any:
    """A in the form asked for; float32 only where that rounds nothing."""
    if storage == "float32":
        narrow = np.asarray(A, dtype=np.float32)
        return narrow if np.array_equal(narrow.astype(float), A) else np.asarray(A, dtype=float)
    return {
        "F": lambda: np.asfortranarray(A),
        "C": lambda: np.ascontiguousarray(A),
        "sparse": lambda: sparse.csc_array(A),
        "operator": lambda: aslinearoperator(np.asarray(A, dtype=float)),
    }[storage]()


def _solve(problem: Judged, variant: Variant, record: Record) -> Iterable[str]:
    chosen = way(problem, variant)
    A = stored(problem.A, chosen.pop("storage"))
    if problem.loss == "kullback_leibler" and not hasattr(A, "toarray"):
        A = np.asarray(problem.A) if not isinstance(A, np.ndarray) else A
    options = {**chosen, **variant.options}
    clock = time.perf_counter()
    try:
        result = boxreg.solve(**{**problem.posed, "A": A}, **options)
    except ValueError as error:
        if not str(error).startswith(("region", "solver", "dual", "loss")):
            raise
        clock = time.perf_counter()
        kept = {k: v for k, v in options.items() if k in ("tol", "max_iter")}
        result = boxreg.solve(**problem.posed, **kept)
    record.seconds, record.work = time.perf_counter() - clock, result.work
    record.status = result.status.name
    moves = problem.lower < problem.upper
    record.screened = int(np.count_nonzero(result.screened[moves]))
    yield from _outside(problem, result.x)
    yield from _false_screenings(problem, result)
    yield from _not_a_bound(problem, result.x, result.gap, result.certificate)
    if result.status in (boxreg.Status.UNBOUNDED, boxreg.Status.NOT_ATTAINED):
        yield f"{result.status.name}, though there is a minimum"
    if result.success and not result.gap <= result.target_gap:
        yield f"success with a gap of {result.gap:.6g}, above {result.target_gap:.6g}"
    if np.isfinite(result.gap):
        again = boxreg.verify(**problem.posed, x=result.x, theta=result.theta, gap=result.gap)
        if claims(result.certificate) and not again:
            yield f"not verified: {again}"
        if again and claims(again):
            yield from _not_a_bound(problem, result.x, result.gap, again, "verify: ")


def claims(certificate: Any) -> bool:
    """Whether a certificate says that its gap is proved."""
    return certificate.verdict is Verdict.PROVED


def _outside(problem: Judged, x: Any) -> Iterable[str]:
    """l <= x <= u exactly."""
    out = np.flatnonzero(~((problem.lower <= x) & (x <= problem.upper)))
    if len(out):
        yield f"x is outside its bounds at {out.tolist()}"


def _false_screenings(problem: Judged, result: Any) -> Iterable[str]:
    """Screened coordinates are at their bound, and the exact w* proves them to be."""
    at_lower, at_upper = result.screened == -1, result.screened == 1
    if np.any(result.x[at_lower] != problem.lower[at_lower]):
        yield "x is not at the lower bound where screened"
    if np.any(result.x[at_upper] != problem.upper[at_upper]):
        yield "x is not at the upper bound where screened"
    moves = problem.lower < problem.upper
    wrong = moves & ((at_lower & (problem.signs >= 0)) | (at_upper & (problem.signs <= 0)))
    for j in np.flatnonzero(wrong):
        yield (
            f"false screening of {j} to {result.screened[j]:+d}: w* has sign {problem.signs[j]}, "
            f"x* = {float(problem.x[j]):.6g}"
        )


def _not_a_bound(
    problem: Judged, x: Any, gap: float, certificate: Any, who: str = ""
) -> Iterable[str]:
    """0 <= P(x) - P* <= gap exactly, where that is what the certificate says."""
    if not np.all(np.isfinite(x)):
        yield f"{who}x is not finite"
        return
    excess = problem.excess(x)
    if excess < 0 and not _outside_any(problem, x):
        yield f"the reference is wrong: P(x) - P* = {float(excess):.6g}"
    if claims(certificate) and (np.isnan(gap) or (np.isfinite(gap) and excess > Fraction(gap))):
        yield f"{who}P(x) - P* = {float(excess):.6g} exceeds the gap {gap:.6g}"


def _outside_any(problem: Judged, x: Any) -> bool:
    return any(_outside(problem, x))


def _nnls(problem: Judged, variant: Variant, record: Record) -> Iterable[str]:
    A = stored(problem.A, way(problem, variant)["storage"])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", boxreg.ConvergenceWarning)
        clock = time.perf_counter()
        x, norm = boxreg.nnls(A, problem.y)
        record.seconds = time.perf_counter() - clock
    yield from _outside(problem, x)
    if not np.all(np.isfinite(x)):
        yield "x is not finite"
        return
    told = any(issubclass(one.category, boxreg.ConvergenceWarning) for one in seen)
    norms = np.linalg.norm(np.asarray(problem.A, dtype=float), axis=0)
    spread = float(norms @ np.abs(x)) + float(np.linalg.norm(problem.y))
    if not told:
        allowed = _ROUNDINGS * sum(problem.A.shape) * 2.0**-53 * spread * norms
        slopes = np.array([float(v) for v in problem.slopes(x)])
        wrong = np.flatnonzero(np.where(x > 0.0, np.abs(slopes), slopes) > allowed)
        if len(wrong) and problem.excess(x) > _LITTLE * problem.objective([0] * len(x)):
            j = wrong[0]
            yield f"no minimum: x[{j}] = {x[j]:.6g} has slope {slopes[j]:.3g} > {allowed[j]:.3g}"
    true = float(2 * problem.objective(x)) ** 0.5
    if not abs(norm - true) <= 1e-12 * true + 1e-14 * len(x) * spread:
        yield f"the norm {norm!r} is not that of the residual, {true!r}"


def _lsq_linear(problem: Judged, variant: Variant, record: Record) -> Iterable[str]:
    A = stored(problem.A, way(problem, variant)["storage"])
    clock = time.perf_counter()
    found = boxreg.lsq_linear(A, problem.y, (problem.lower, problem.upper), tol=1e-10)
    record.seconds, record.status = time.perf_counter() - clock, str(found.status)
    yield from _outside(problem, found.x)
    yield from _not_a_bound(problem, found.x, found.gap, found.certificate)


def _solve_many(problem: Judged, variant: Variant, record: Record) -> Iterable[str]:
    chosen = way(problem, variant)
    A = stored(problem.A, chosen["storage"])
    rows = [(problem.y, problem.x), *problem.more]
    rows += rows[:1]  # once more, now from the active set of the one before
    posed = {k: v for k, v in problem.posed.items() if k not in ("A", "y")}
    Y = np.column_stack([y for y, _ in rows])
    clock = time.perf_counter()
    options = {"tol": chosen["tol"], "return_dual": True, **variant.options}
    found = boxreg.solve_many(A, Y, **posed, **options)
    record.seconds = time.perf_counter() - clock
    record.status = " ".join(sorted({str(code) for code in found.status.tolist()}))
    again = found.verify()
    for k, (y, x) in enumerate(rows):
        answer = found.x[:, k]
        yield from _outside(problem, answer)
        if not np.all(np.isfinite(answer)):
            yield f"x of right-hand side {k} is not finite"
            continue
        excess = problem.objective(answer, y) - problem.objective(x, y)
        if excess < 0:
            yield f"the reference is wrong: P(x) - P* = {float(excess):.6g}"
        if not np.isfinite(found.gap[k]):  # nothing is claimed
            if found.proved[k]:
                yield f"a gap of {found.gap[k]} is called proved, for {k}"
            continue
        if found.proved[k] and excess > Fraction(float(found.gap[k])):
            yield f"P(x) - P* = {float(excess):.6g} exceeds the gap {found.gap[k]:.6g} of {k}"
        if found.proved[k] and not again.proved[k] and not problem.terms:  # else theta is not kept
            yield f"right-hand side {k} is not verified: {again}"
        if again.proved[k] and excess > Fraction(float(found.gap[k])):
            yield f"verify: P(x) - P* = {float(excess):.6g} exceeds the gap of {k}"


def _antisparse(problem: Penalised, variant: Variant, record: Record) -> Iterable[str]:
    rng = np.random.default_rng(problem.seed)
    A = stored(problem.A, variant.storages[rng.integers(len(variant.storages))])
    clock = time.perf_counter()
    try:
        found, _ = judge_antisparse(problem.A, problem.y, problem.penalty, A)
    except AssertionError as error:
        yield str(error) or "a claim is false"
        return
    record.seconds, record.status = time.perf_counter() - clock, found.status.name
    record.screened = int(np.count_nonzero(found.squeezed))


_ENTRIES = {
    "solve": _solve,
    "nnls": _nnls,
    "lsq_linear": _lsq_linear,
    "solve_many": _solve_many,
    "antisparse": _antisparse,
}
