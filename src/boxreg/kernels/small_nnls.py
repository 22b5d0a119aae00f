"""Non-negative least squares in one compiled call, for problems where overhead rules.

An active-set method on the columns F with x_j > 0, which `free_set` keeps side by side with their
Gram matrix and its Cholesky factor. Columns enter in batches, the steepest first, as long as they are
not nearly dependent on those already there; what turns out negative leaves at once, all together.
That is fast, and can fail to lower the objective. Then the set is put back, and one column enters by
the rule of Lawson and Hanson, which always lowers it: no set comes back.

Most batches are chosen from a shortlist, the steepest columns of the last full product Aᵀρ, copied
side by side: their gradients cost a fraction of it. Ends when no gradient of the whole A exceeds its
rounding error, after steps of refinement with fresh residuals.

Where A is wide and has negative entries there are many solutions as a rule; there every step is one
of Lawson and Hanson's, which finds the one that other programs find.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled, inner
from .free_set import decrement, enter, move, new_set, refine, remember, rest, restore
from .pricing import (
    first_pass,
    gather,
    optimal,
    rounding_noise,
    settled,
    steepest,
    steepest_listed,
)
from .vectors import correlate, flags, indices, square, table

SOLVED, GAVE_UP = 0, 1

_BATCH = 4
"""The least that a batch is asked to be; it doubles where most of it stays, and halves where not."""
_SHORTLIST = 3
"""The shortlist holds this many batches."""
_CAUTION = 6
"""Single steps after a batch that failed; twice as many after the next."""
_REFINEMENTS = 2
_LEFT_OVER = 1e-15
"""The share of ½||b||² by which a better fit of the free columns may lower the objective: where rounding
leaves more, as nearly dependent columns do, orthogonal factors are called for."""
_SLACK = 4.0
"""An answer may break the optimality conditions by this many times the rounding error."""


@compiled
def solve(A, b, threshold, max_rounds):  # type: ignore[no-untyped-def]
    """(x, ||b - A x||, SOLVED or GAVE_UP) for a contiguous A; a GAVE_UP says nothing about x."""
    m, n = A.shape
    best = 0.5 * square(b)
    x, norms, products, regular, signed = first_pass(A, b)
    if not (regular and best < np.inf):  # NaN, inf, overflow or underflow: not for this path
        return x, 0.0, GAVE_UP
    classic, little = signed and n > m, _LEFT_OVER * best
    free, kept, barred = new_set(m, min(m, n)), new_set(m - m, min(m, n)), flags(n)
    listed, shortlist = indices(n), table(n - n, m)
    residual, w, fresh = b.copy(), products.copy(), True
    count, batch, refined, penance = np.int64(0), max(_BATCH, n // 16), 0, _CAUTION
    caution = max_rounds if classic else 0
    for _ in range(max_rounds):
        noise, wanted = rounding_noise(free, count, norms, best), 1 if caution else batch
        if fresh:
            listed = steepest(
                w, norms, classic, noise, threshold, barred, 1 if classic else _SHORTLIST * batch
            )
            shortlist = gather(A, listed)
            entering = _first(min(len(listed), wanted))
        else:
            entering = steepest_listed(
                shortlist, residual, listed, norms, noise, threshold, barred, wanted
            )
            if len(entering) == 0:
                w, fresh = correlate(A, residual), True
                continue
        tried, before = len(entering), count
        accurate = best > little and settled(free, count, w, norms, noise)
        if not tried and (accurate or refined == _REFINEMENTS):
            break
        remember(free, count, kept)
        count = enter(free, count, listed, shortlist, entering, norms, products)
        if tried and count == before:
            barred[listed[entering[0]]] = True
            continue
        if tried:
            count = move(free, count, caution > 0)
        else:
            refine(free, count, w)
        moved = rest(b, free, count)
        value = 0.5 * square(moved)
        if value < best or (value == best and not tried):
            _take_over(x, barred, kept, before, free, count)
            residual, best, refined = moved, value, 0 if tried else refined + 1
            batch = batch if caution else _next_batch(batch, count - before, tried)
            caution = max(caution - 1, 0)
            fresh = classic or not tried
            w = correlate(A, residual) if fresh else w
        elif not tried:
            break
        else:
            count = restore(free, count, A, kept, before, norms, products)
            barred[listed[entering[0]]] = caution > 0
            caution, penance = (caution, penance) if caution else (penance, 2 * penance)
    solved = fresh and _proved(free, count, x, w, norms, threshold, best, little)
    return x, np.sqrt(2.0 * best), SOLVED if solved else GAVE_UP


@inner
def _proved(free, count, x, w, norms, threshold, best, little):  # type: ignore[no-untyped-def]
    """Whether the gradients w of the whole A show x to be the solution, up to rounding."""
    noise = _SLACK * rounding_noise(free, count, norms, best)
    return (
        optimal(x, w, norms, noise, threshold, best <= little)
        and decrement(free, count, w) <= little
    )


@inner
def _first(size):  # type: ignore[no-untyped-def]
    """0, 1, …, size - 1."""
    positions = indices(size)
    for i in range(size):
        positions[i] = i
    return positions


@inner
def _next_batch(batch, gained, tried):  # type: ignore[no-untyped-def]
    """How many columns to try next, given how many more there are after trying some."""
    if 2 * gained > tried:
        return 2 * batch
    return max(batch // 2, _BATCH) if 4 * gained < tried else batch


@inner
def _take_over(x, barred, kept, before, free, count):  # type: ignore[no-untyped-def]
    """Write the coefficients to x; the columns of F are barred from entering, no others are."""
    for i in range(before):
        x[kept.chosen[i]] = 0.0
    for j in range(len(barred)):
        barred[j] = False
    for i in range(count):
        x[free.chosen[i]] = free.fit[i]
        barred[free.chosen[i]] = True
