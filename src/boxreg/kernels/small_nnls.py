"""Non-negative least squares in one compiled call, for problems where overhead rules.

An active-set method on the columns F with x_j > 0, which `free_set` keeps side by side with their
Gram matrix and its Cholesky factor. Columns enter in batches, the steepest first, as long as they are
not nearly dependent on those already there; what turns out negative leaves at once, all together.
That is fast, and can fail to lower the objective. Then the set is put back, and one column enters by
the rule of Lawson and Hanson, which always lowers it: no set comes back.

Most batches are chosen from a shortlist, the steepest columns of the last full product Aᵀρ: their
gradients cost a fraction of it. Ends when no gradient of the whole A exceeds its rounding error, after
steps of refinement with fresh residuals.

Where most of the first batch depends on the rest of it, and A is so small that a product with it costs
no more than a step, columns enter one by one from the start, each after a fresh product: batches from
shortlists would mostly be taken back.

Where A is wide and has negative entries there are many solutions as a rule; there every step is one
of Lawson and Hanson's, which finds the one that other programs find.
"""

from __future__ import annotations

import numpy as np

from ..rounding import NEGLIGIBLE_GAIN
from ..small import GAVE_UP
from .compiling import branch, compiled
from .free_set import (
    INDEPENDENT,
    NEW_IN_A_BATCH,
    append,
    decrement,
    factor,
    move,
    new_choice,
    new_set,
    refine,
    remember,
)
from .pricing import (
    REFINEMENTS,
    first_pass,
    judge,
    new_ranking,
    rounding_noise,
    settled,
    steepest,
    steepest_listed,
)
from .vectors import correlate_columns, flags, floats, rest, square

_BATCH = 4
"""The least that a batch is asked to be; it doubles where most of it stays, and halves where not."""
_SHORTLIST = 4
"""The shortlist holds this many batches."""
_ENOUGH = 2
"""One part in so many of a batch must be found in it: a few cost more than a product with A."""
_CHEAP = 16_384
"""Entries of A of which a product costs no more than the rest of a step."""
_CAUTION = 6
"""Single steps after a batch that failed; twice as many after the next."""


@compiled
def solve(columns, b, threshold, max_rounds, tables):  # type: ignore[no-untyped-def]  # noqa: PLR0912, PLR0915
    """(x, ||b - A x||, how it ended, rounds, products of length m); row j of `columns` is a_j.

    SOLVED; GAVE_UP, which says nothing about x; or UNSURE: solved as far as gradients can be seen, but
    rounding hides some. `tables` are memory to be written to: k × m, k × k and k × k, k = min(m, n).
    """
    # Long, and in one piece: what a function calls is compiled once more with it, level by level.
    n, m = columns.shape
    best = 0.5 * square(b)
    x, norms, products, regular, signed = first_pass(columns, b)
    if not (regular and best < np.inf):  # NaN, inf, overflow or underflow: not for this path
        return x, 0.0, GAVE_UP, 0, 2 * n
    classic, little = signed and n > m, NEGLIGIBLE_GAIN * best
    rank = min(m, n)
    free, kept, barred = new_set(tables), new_choice(rank), flags(n)
    residual, moved, w, fresh = b.copy(), floats(m), products.copy(), True
    front, top = new_ranking(n), new_ranking(n)
    listed = front.found[:0]
    count, batch, refined, penance = np.int64(0), max(_BATCH, n // 16), 0, _CAUTION
    caution, alone = max_rounds if classic else 0, classic
    rounds, made = 0, 2 * n
    for _ in range(max_rounds):
        rounds += 1
        noise, wanted = rounding_noise(free, count, norms, best), 1 if caution else batch
        if fresh:
            most = 1 if alone else _SHORTLIST * batch
            size = steepest(w, norms, classic, noise, threshold, barred, front, most)
            listed = front.found[:size]
            entering = listed[: min(size, wanted)]
        else:
            size = steepest_listed(
                columns, residual, listed, norms, noise, threshold, barred, top, wanted
            )
            entering = top.found[:size]
            made += len(listed)
            if _ENOUGH * size < wanted:
                correlate_columns(columns, residual, w)
                made += n
                fresh = True
                continue
        tried, before = len(entering), count
        accurate = best > little and settled(free, count, w, norms, noise)
        if not tried and (accurate or refined == REFINEMENTS):
            break
        remember(free, count, kept)
        size = append(free, count, columns, entering, norms, products)
        made += size * (count + size)
        count = factor(free, count, size, INDEPENDENT, NEW_IN_A_BATCH)
        if tried and count == before:
            barred[entering[0]] = True
            continue
        if before == 0 and 2 * count < tried and m * n <= _CHEAP:
            caution, alone = max_rounds, True
        if not tried:
            refine(free, count, w)
        leaving = tried > 0
        while leaving and count > 0:
            first, stay = move(free, count, caution > 0)
            leaving = stay < count
            count = factor(free, first, stay - first, 0.0, 0.0)
        rest(b, columns, free.chosen, free.fit, count, moved)
        made += count
        value = 0.5 * square(moved)
        if value < best or (value == best and not tried):
            _take_over(x, barred, kept, before, free, count)
            residual, moved = moved, residual
            best, refined = value, 0 if tried else refined + 1
            batch = batch if caution else _next_batch(batch, count - before, tried)
            caution = max(caution - 1, 0)
            fresh = alone or not tried
            if fresh:
                correlate_columns(columns, residual, w)
                made += n
        elif not tried:
            break
        else:
            barred[entering[0]] = caution > 0
            none = before - before  # a literal 0 would be a type of its own
            append(free, none, columns, kept.chosen[:before], norms, products)
            made += before * before
            factor(free, none, before, 0.0, 0.0)
            for i in range(before):
                free.fit[i] = kept.fit[i]
            count = before
            caution, penance = (caution, penance) if caution else (penance, 2 * penance)
    if not fresh:
        return x, 0.0, GAVE_UP, rounds, made
    noise, gain = rounding_noise(free, count, norms, best), decrement(free, count, w)
    status = judge(x, w, norms, noise, threshold, gain, little, best)
    return x, np.sqrt(2.0 * best), status, rounds, made


@branch
def _next_batch(batch, gained, tried):  # type: ignore[no-untyped-def]
    """How many columns to try next, given how many more there are after trying some."""
    if 2 * gained > tried:
        return 2 * batch
    return max(batch // 2, _BATCH) if 4 * gained < tried else batch


@branch
def _take_over(x, barred, kept, before, free, count):  # type: ignore[no-untyped-def]
    """Write the coefficients to x; the columns of F are barred from entering, no others are."""
    for i in range(before):
        x[kept.chosen[i]] = 0.0
    for j in range(len(barred)):
        barred[j] = False
    for i in range(count):
        x[free.chosen[i]] = free.fit[i]
        barred[free.chosen[i]] = True
