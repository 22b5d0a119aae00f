"""Non-negative least squares where A fits into the first cache: Lawson and Hanson's method, made short.

One column enters at a time, the steepest; then x moves towards the best fit of the free columns, and
those that meet 0 on the way leave.

The steepest is sought in single precision, which takes less than half the time. That only chooses. The
gradient of a column that enters is computed again, and where it does not exceed its rounding error, or
nothing seems steep any more, all are. The answer is judged by these.

Where A is wide and has negative entries there are many solutions as a rule; there the column with the
largest gradient enters, in double precision, which finds the one that other programs find.

Declines where a step does not lower the objective, as nearly dependent columns may have it.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ..rounding import NEGLIGIBLE_GAIN
from ..small import GAVE_UP
from .compiling import compiled, inner, leaf, leaf_sums
from .pricing import REFINEMENTS, judge, rounding_noise, settled
from .tiny_free_set import FreeSet, enter, half_step, move, refine, take_back
from .vectors import correlate_columns, floats, indices, rest, row_product, square

Short = namedtuple("Short", ["columns", "scales", "residual", "barred"])
"""In single precision: A by columns, 1 / ||a_j||, room for the residual, scaled to norm 1, and what is
added to cosines: 0, or _NEVER for columns that are not to enter."""

_NEVER = np.float32(-4.0)
_SMALLEST = 1e-30
"""Norms from here to its inverse do not leave the range of single precision."""


@compiled
def solve(entries, by_columns, n, b, threshold, max_rounds):  # type: ignore[no-untyped-def]  # noqa: PLR0912
    """(x, ||b - A x||, how it ended, rounds, products), as `small_nnls.solve`.

    `entries` are those of A, column after column or row after row.
    """
    m, best, x = len(b), 0.5 * square(b), floats(n)
    free, short, room = _nothing_free(entries, by_columns, m, n)
    columns, norms, chosen, barred = free.columns, free.norms, free.chosen, short.barred
    products, w = room[:n], room[n : 2 * n]
    residual, moved = room[2 * n : 2 * n + m], room[2 * n + m :]
    regular, signed = _first_pass(free, short, b, products)
    if not (regular and best < np.inf):  # NaN, inf, overflow or underflow: not for this path
        return x, 0.0, GAVE_UP, 0, 2 * n
    for i in range(m):
        residual[i] = b[i]
    classic, little = signed and n > m, NEGLIGIBLE_GAIN * best
    count, none = (
        np.int64(0),
        np.int64(-1),
    )  # a literal is a type of its own, compiled for once more
    refined, ended, rounds, made = 0, False, 0, 2 * n
    for _ in range(max_rounds):
        rounds += 1
        made += n + 1
        noise = rounding_noise(free, count, norms, best)
        j = none if classic else _seemingly_steepest(short, residual, best)
        if j < 0 or not row_product(columns, j, residual) > max(noise * norms[j], threshold):
            correlate_columns(columns, residual, w)
            made += n
            j = _steepest(w, norms, barred, classic, noise, threshold)
        if j >= 0:
            barred[j] = _NEVER
            made += count
            if not enter(free, count, j, products[j]):
                continue
            count = move(free, count + 1)
            if count < 0:
                break
        elif refined == REFINEMENTS or (best > little and settled(free, count, w, norms, noise)):
            ended = True
            break
        else:
            refine(free, count, w)
        rest(b, columns, chosen, free.fit, count, moved)
        made += count
        value = 0.5 * square(moved)
        if value > best or (value == best and j >= 0):
            if j < 0:
                take_back(free, count)
                ended = True
            break
        best, refined = value, 0 if j >= 0 else refined + 1
        residual, moved = moved, residual
        _bar(barred, chosen, count)
    if not ended:
        return x, 0.0, GAVE_UP, rounds, made
    for j in range(n):
        x[j] = 0.0
    for i in range(count):
        x[chosen[i]] = free.fit[i]
    noise, gain = rounding_noise(free, count, norms, best), half_step(free, count, w)
    status = judge(x, w, norms, noise, threshold, gain, little, best)
    return x, np.sqrt(2.0 * best), status, rounds, made


@inner
def _nothing_free(entries, by_columns, m, n):  # type: ignore[no-untyped-def]
    """No free columns yet; room for A in single precision, and for 2 n + 2 m numbers more."""
    k = min(m, n)
    room = floats((0 if by_columns else m * n) + 3 * n + 2 * m + 5 * k + 2 * k * k)
    columns = entries.reshape((n, m))
    if not by_columns:
        columns, rows, room = room[: n * m].reshape((n, m)), entries.reshape((m, n)), room[n * m :]
        for i in range(m):
            for j in range(n):
                columns[j, i] = rows[i, j]
    tables, room = room[: 2 * k * k].reshape((2, k, k)), room[2 * k * k :]
    vectors, room = room[: 5 * k].reshape((5, k)), room[5 * k :]
    free = FreeSet(
        columns, room[:n], indices(k), tables[0], tables[1],
        vectors[0], vectors[1], vectors[2], vectors[3], vectors[4],
    )  # fmt: skip
    single = np.empty(n * m + 2 * n + m, dtype=np.float32)
    copy, single = single[: n * m].reshape((n, m)), single[n * m :]
    return free, Short(copy, single[:n], single[2 * n :], single[n : 2 * n]), room[n:]


@leaf_sums
def _first_pass(free, short, b, products):  # type: ignore[no-untyped-def]
    """Norms, Aᵀb, the copy of A; whether all norms are usual, and whether an entry is below 0."""
    norms, below, regular = free.norms, 0.0, True
    for j in range(len(norms)):
        column, copy = free.columns[j], short.columns[j]
        square, product, excess = 0.0, 0.0, 0.0
        for i in range(len(b)):
            a = column[i]
            copy[i] = np.float32(a)
            square += a * a
            product += a * b[i]
            excess += abs(a) - a
        norms[j], products[j] = square, product
        below += excess
    for j in range(len(norms)):
        norms[j] = np.sqrt(norms[j])
        short.scales[j], short.barred[j] = np.float32(1.0 / norms[j]), np.float32(0.0)
    for j in range(len(norms)):
        if norms[j] == 0.0:
            short.scales[j] = np.float32(0.0)
        else:
            regular &= _SMALLEST < norms[j] < 1.0 / _SMALLEST
    return regular, below > 0.0


@leaf
def _bar(barred, chosen, count):  # type: ignore[no-untyped-def]
    """The free columns are barred from entering, no others are."""
    for j in range(len(barred)):
        barred[j] = np.float32(0.0)
    for i in range(count):
        barred[chosen[i]] = _NEVER


@leaf_sums
def _seemingly_steepest(short, residual, objective):  # type: ignore[no-untyped-def]
    """The column with the largest cosine to the residual that may enter, in single precision, or -1.

    Four columns at a time; most fours are passed over by one comparison.
    """
    columns, scales, r, barred = short.columns, short.scales, short.residual, short.barred
    n, m = columns.shape
    found, top = -1, np.float32(0.0)
    scale = 1.0 / np.sqrt(2.0 * objective) if objective > 0.0 else 0.0
    for i in range(m):
        r[i] = np.float32(residual[i] * scale)
    whole = n - n % 4
    for j in range(0, whole, 4):
        first, second, third, fourth = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        s, t, u, v = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
        for i in range(m):
            value = r[i]
            s += first[i] * value
            t += second[i] * value
            u += third[i] * value
            v += fourth[i] * value
        s = s * scales[j] + barred[j]
        t = t * scales[j + 1] + barred[j + 1]
        u = u * scales[j + 2] + barred[j + 2]
        v = v * scales[j + 3] + barred[j + 3]
        highest = max(s, t, u, v)
        if highest > top:
            top = highest
            found = j + (0 if s == top else 1 if t == top else 2 if u == top else 3)
    for j in range(whole, n):
        last, s = columns[j], np.float32(0.0)
        for i in range(m):
            s += last[i] * r[i]
        s = s * scales[j] + barred[j]
        if s > top:
            found, top = j, s
    return found


@leaf
def _steepest(w, norms, barred, classic, noise, threshold):  # type: ignore[no-untyped-def]
    """The column that may enter with the largest w_j / ||a_j||, or w_j if `classic`, or -1."""
    found, top = -1, 0.0
    for j in range(len(w)):
        if barred[j] == 0.0 and w[j] > max(noise * norms[j], threshold):
            score = w[j] if classic else w[j] / norms[j]
            if score > top:
                found, top = j, score
    return found
