"""The thresholds that decide which algorithm, kernel or memory layout a computation takes.

Nothing here changes what is proved: every path ends in the same certificate. The values are those that
were measured to be fast on the workloads of docs/benchmarks.md, on one machine with two cores; where a
field says no more, halving or doubling it was not measured. Tests lower them, so that problems of a few
columns take every path:

    with settings.using(small_entries=0, predicting_from=0.0):
        boxreg.solve(A, y)

Constants that belong to a formula (line searches, rounding margins, cost models) stay beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Settings:
    """Thresholds, grouped by what they decide; the unit and the reason are below each of them."""

    # Small problems.
    small_entries: int = 200_000
    """m n up to which one compiled call on orthogonal factors solves least squares, and proves the
    answer of `solve` with solver='auto' and of `lsq_linear`; m counts the rows of a ridge term. Sparse
    columns are made dense. Above it working sets with Gram matrices are faster on well-conditioned
    columns."""
    small_steps: int = 100
    """Steps of Newton's method that the compiled call for other losses makes at most."""
    well_conditioned: float = 0.05
    """Above that size the call comes first where a column of the first working set has less than this
    share outside the span of the others. Chosen by eye from drawn problems of 2e5 to 1e7 entries, which
    had the call ahead mostly below it and working sets mostly above; other values were not timed."""

    compiled_products: float = 1_500.0
    """Products with A that the call may cost above that size before others go on from where it is. Most
    drawn problems took a few hundred at most; other values were not timed."""
    multiplications: float = 1e9
    """What a machine is taken to make a second where the call has to end by a deadline: a cautious
    guess, not measured."""

    # Working sets.
    first_working_set: int = 32
    """The least number of coordinates that enter the working set in the first step; √n if that is
    more, whose Gram matrix costs about as much as a product with A. Later steps at most double it."""
    pivoting_rounds: int = 100
    """Linear systems that block principal pivoting may solve for one working set before the active set
    with orthogonal factors takes over. With 0 the active set solves every working set."""
    predicting_from: float = 100.0
    """With k coordinates inside their bounds and k² above this many n, sweeps or a few gradient steps
    first predict which of them stay inside, before their Gram matrix is formed."""
    prediction_settled: float = 3.0
    """A prediction ends when a step, or a sweep, changes the side of c coordinates, with k inside, and
    c k is at most this many n: correcting them later then costs less than another step."""
    largest_start: int = 4_000
    """With more coordinates than this inside their bounds, a run starts from the bounds instead."""

    # Shortlists: working sets chosen by products with a few columns only.
    shortlist_length: float = 6.0
    """Length of the shortlist of the working-set solver, in √n."""
    shortlist_per_working: int = 4
    """Length of that shortlist in multiples of the working set, if that is more."""
    candidates_length: float = 2.0
    """Length of the shortlist of the active-set solver (partial pricing), in √n."""
    shortlist_share: float = 0.25
    """No shortlist is made that would hold more than this share of all coordinates. With the lengths
    above, the working-set solver has shortlists from n = 576 on, the active set from n = 64."""
    shortlist_rounds: int = 8
    """Working sets chosen from one shortlist, at most."""
    shortlist_wanted: float = 0.5
    """A shortlist misled if more than this share of it wants to leave its bound: many others then do
    with more right."""
    shortlist_inside: float = 0.35
    """A shortlist misled if more than this share of it lies inside its bounds: the solution has more
    such coordinates than the list has room for."""
    shortlist_failures: int = 2
    """After so many shortlists in a row that misled, no more are made."""
    seldom_checks: int = 10
    """Steps of the active set between two gap checks where it prices partially."""
    seldom_growth: float = 0.1
    """The share of the steps made so far that this period grows to."""

    # Sweeps of coordinate descent.
    long_columns: int = 1_800
    """Rows of a dense A above which four columns are read at a time in surveys and sweeps, and the
    first sweep is made in the same pass as the survey: the residual then no longer stays in the first
    cache beside one column."""
    long_rows: int = 1_000
    """Columns of a row-major A above which a survey adds eight rows at a time."""
    first_sweep_threads: int = 2
    """Threads that share the first sweep, at most: the more of them, the less each knows of the
    others."""
    sweeps_at_most: int = 20
    """Plain sweeps, before it is decided whether over-relaxed sweeps go on to the end."""
    sweeps_at_least: int = 3
    """Plain sweeps before their speed is judged: the first ones gain more than those after them."""
    sweeps_tried: float = 0.1
    """Plain sweeps before over-relaxed ones begin, as a share of those still to come."""
    sweeps_steady: float = 0.05
    """The ratio of two sweeps is trusted when at most this share of the coordinates inside their bounds
    has changed sides."""
    sweeps_again: int = 3
    """How often sweeps are resumed over coordinates that were left out too early."""
    sweep_prediction_error: float = 8.0
    """The prediction that sweeps end with is used as it is if its error bound is at most this many
    times that of a fresh product."""

    # Sparse matrices: sweeps and conjugate gradients in one compiled call.
    descent_precision: float = 1e-10
    """The gap that they aim for at first, as a share of the objective where they begin. Conjugate
    gradients gain the last digits fast: a tenth to a quarter less work for every two digits less."""
    descent_products: float = 400.0
    """Products with A after which they are given up for exact solutions, unless twice the cost of one
    is more; with 0 they are not tried."""
    descent_model_products: float = 60.0
    """The same for models of other losses, as long as steps gain much: the next model is another."""
    descent_models: int = 15
    """Models after which Newton's method goes on with exact solutions."""
    descent_sweeps: int = 3
    """Sweeps in a row, at most, before conjugate gradients take over."""
    descent_fast: float = 0.3
    """A sweep whose steps are down to this share of the last one's is followed by another."""
    descent_settled: float = 0.1
    """So is one that changes the side of more than this share of the coordinates inside."""

    # Conjugate gradients instead of Gram matrices, for least squares.
    gradients_from: int = 500
    """Columns in the working set from which conjugate gradients are considered: a smaller Cholesky
    factor takes no longer than the calls of forty steps."""
    gradients_advantage: float = 3.0
    """Conjugate gradients are used where a cost model says that they are this many times cheaper than
    a Gram matrix and its factor."""
    gradients_at_most: int = 250
    """Steps of conjugate gradients in one round, at most."""

    # Linear systems of free coordinates.
    small_system: int = 128
    """Free coordinates up to which a linear system is factored anew in one compiled call; above, the
    factor at hand is bordered where few coordinates have changed."""
    bordered_changes: int = 8
    """Changes of the free set up to which a factor is bordered,"""
    bordered_share: float = 0.125
    """or as a share of its size, if that is more; otherwise it is made anew."""

    # Newton's method.
    gram_avoided_from: float = 1e8
    """m k², k the coordinates that may move, from which Newton's method tries sweeps and conjugate
    gradients before it forms a Hessian."""
    crowded_density: float = 0.1
    """Not where A >= 0 stores more than this share of its entries: such columns overlap too much."""
    quasi_newton_after: float = 40.0
    """What Newton's steps may cost, in evaluations of P and its gradient, before L-BFGS-B goes on from
    where they are, unless they gain next to nothing any more."""
    quasi_newton_steps: int = 500
    """Evaluations of P and its gradient that L-BFGS-B makes at most."""
    call_entries: float = 1e5
    """What one evaluation of P and its gradient from Python costs beside its two products with A, in
    entries of A read: some 50 µs."""
    hessian_cheap: float = 1e7
    """m k² up to which a Hessian of k columns is computed anew at every step."""
    hessian_cheap_beside: float = 100.0
    """The same for k², in multiples of n: the products with A of a step cost more."""
    hessian_stale: float = 0.3
    """A larger Hessian is kept until the second derivatives have changed by this share along the last
    step; until then a step leaves about that share of the error."""
    hessian_rest: float = 0.1
    """A Hessian is updated row by row while this share is left of every second derivative."""
    newton_dual_gain: float = 1e-4
    """Newton's own dual point is made once a step gains less than this share of the objective."""

    # The interior-point method as the successor of others.
    successor_after: float = 1.0
    """A run hands over to it once it has cost this many times what the interior-point method is likely
    to: both together then take at most twice as long as the better one."""
    successor_cost: float = 10.0
    """Where a solver can do no more without a proof, the interior-point method goes on if it is likely
    to cost at most this many runs so far."""

    # Fallbacks.
    equality_operations: float = 2e10
    """m k² up to which dual points are proved to be exactly orthogonal to k columns: some seconds. With
    more columns a certificate says that it rests on an assumption."""
    factor_operations: float = 1e8
    """m k² up to which orthogonal factors of k columns are tried where gradients are below their
    rounding error."""
    refit_operations: float = 3e6
    """m k³ up to which it is looked at whether rounding may hide a much lower objective at all."""
    program_entries: float = 3e5
    """Entries of the linear program for a strictly feasible dual point, at most."""
    direction_after: int = 50
    """Steps after which a direction into the dual cone is searched for, if a run has managed without."""

    # Dual points.
    polish_share: float = 0.1
    """Share of all work so far that polishing dual points may take."""
    polish_cost: float = 5.0
    """Products with A that one polish may take where only a dual point is wanted of it."""
    polish_wait: float = 4.0
    """The next polish waits until this many times the cost of the last has been spent on other work."""

    # How A is read and copied.
    gathering_from: int = 256
    """Columns from which a product A x reads the columns with x_j ≠ 0 only; with fewer a plain product
    is as fast."""
    gathered_share: float = 0.125
    """Share of the columns up to which that pays where they have to be copied together first."""
    apart_share: float = 0.75
    """The same where columns are read one by one."""
    cache_bytes: int = 1 << 22
    """Size of A up to which surviving columns are copied together when one in ten has left, since
    caches hold it; above, when three in ten have."""
    large_bytes: int = 1 << 29
    """Size of A above which they are copied only when nine in ten have left, and A is not copied by
    columns either: memory counts for more than time."""
    merging_share: float = 0.5
    """`antisparse` merges squeezed columns when no more than this share is left."""
    few_products: int = 128**2
    """Entries of a Gram matrix up to which compiled loops are used, which are up to three times faster
    than BLAS."""
    hessian_rows: float = 3.0
    """A Hessian is updated over some rows of a dense A if they are fewer than one in so many: entries of
    a third of the rows take three quarters of the time of whole columns, of a twentieth a seventh."""
    gathered_columns: float = 3.0
    """Columns of a row-major A are gathered for a product if they are fewer than one in so many."""
    gram_columns: int = 512
    """Columns gathered at a time for a block of a Gram matrix."""
    block_elements: int = 1 << 15
    """Entries of a dense A that are widened to float64 at a time: 256 KiB stay in the second cache."""
    magnitude_elements: int = 1 << 22
    """Entries of A whose magnitudes are held at a time, in columns of which signs are to be proved."""
    operator_columns: int = 64
    """Columns of an operator computed at a time for their norms."""
    device_elements: int = 1 << 24
    """Entries of an A on a GPU that are widened at a time."""
    abreast_above: int = 4_096
    """Rows of a sparse A above which four columns are multiplied at a time: a vector is then too long
    for the first cache."""
    abreast_up_to: int = 131_072
    """Rows up to which that holds: a longer vector does not stay in the second cache either."""
    abreast_share: float = 0.6
    """Share of the entries that must be in the first min(their lengths) of four columns for that."""
    thorough_norm_entries: float = 1e5
    """Entries of A up to which ||A|| is estimated with ten products, since they cost next to nothing;
    above, with three."""

    # Threads.
    most_threads: int = 16
    """Upper limit on the threads of one product; more are untested."""
    thread_entries: int = 2_000_000
    """Entries of A for each thread, at least: reading them takes some times as long as waking it."""

    # Many right-hand sides.
    batch_entries: float = 2e7
    """Entries of A up to which `solve_many` holds it dense, twice, for its compiled kernels."""
    batch_gram_columns: int = 5_000
    """Columns up to which the kernels get a Gram matrix (200 MB). With as many columns as this it
    still saves more than half of the time."""
    batch_gram_rounds: int = 6
    """The Gram matrix is made if n is at most this many times the right-hand sides: about the products
    with A that an active set with few free variables takes without it."""
    batch_gram_free: float = 1.0
    """The same, for each variable that may become free, min(m, n) of them: products take as many rounds
    as variables enter, and BLAS makes the Gram matrix some ten times faster. Two right-hand sides of
    2269 × 989, all free, take 0.17 s with a Gram matrix and 2.4 s without, two of 166 × 383, 25 free,
    2.5 and 2.9 ms. Wide problems with few free variables have no use for a larger share."""
    batch_soft_ridge: float = 1e-12
    """A ridge term's μ_j makes every sign of w_j feasible; the kernels make use of that where μ_j is at
    least this share of ||a_j||². What rounding leaves of a wrong sign costs w_j² / (2 μ_j): below this
    share that may exceed the gap asked for, and a direction into the dual cone serves better."""
    batch_ones_margin: float = 0.1
    """Where A >= 0 and every column has at least this cosine with 1, the direction -1 into the dual cone
    is taken without looking for a better one."""
    batch_calls: int = 10
    """Kernel calls for each thread and chunk: a call needs the interpreter, and blocks take different
    times."""
    chunk_kept_bytes: int = 1 << 25
    """Bytes up to which a thread keeps its memory for the next chunk of a dask array."""
    device_run: int = 32
    """Right-hand sides that a block of GPU threads takes one after the other, at most."""
    device_free: int = 40
    """Free variables for which shared memory of a GPU has room; right-hand sides with more of them are
    solved again in global memory. More room leaves room for fewer blocks."""
    device_bytes: float = 2e9
    """Bytes of global memory for those."""


_active: ContextVar[Settings] = ContextVar("boxreg_settings", default=Settings())  # noqa: B039

current = _active.get
"""The settings in force here: `current().small_entries`."""

adopt = _active.set
"""Put settings in force for the rest of this thread: what a worker does first with those it was sent."""


@contextmanager
def within(settings: Settings) -> Iterator[Settings]:
    """Put settings in force within a `with` block, in this thread and in the workers it starts."""
    token = _active.set(settings)
    try:
        yield settings
    finally:
        _active.reset(token)


def using(**changes: Any) -> AbstractContextManager[Settings]:
    """The same for the present settings with some of them changed."""
    return within(replace(current(), **changes))
