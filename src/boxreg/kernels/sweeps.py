"""One sweep over some columns: each coordinate minimises a quadratic over its interval in turn.

With q(x) = ½ (y - Ax)ᵀ diag(ω) (y - Ax) + cᵀx, r = y - Ax and d_j = sum_i ω_i a_ij²,

    x_j ← clip(x_j + (a_jᵀ diag(ω) r - c_j) / d_j, l_j, u_j),   r ← r - (change of x_j) a_j,

for the coordinates j of `order`; coordinate j is column `chosen[j]`, and ω is 1 where `weights` is None.
Without bounds, from x = 0 and r = 0, this solves (D + L) x = -c, D + L the lower triangle of
Aᵀ diag(ω) A in that order, and leaves r = -A x.

Coordinates that a bound holds back, by a slope of more than `margin` d_j^½ after the step, leave
`order`; the others come first in it. Returned are how many those are, how many coordinates have
come to a bound or left one, and of the d_j^½ |change of x_j| the largest and the square root of the sum
of squares. If `fresh`, the d_j are computed on the way. Of all this r alone feeds a proof: multiples of
columns are taken from it one by one, or four at once.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled_sums, leaf, leaf_sums
from .lines import add_four


@compiled_sums
def dense_sweep(  # type: ignore[no-untyped-def]
    columns, chosen, x, residual, box, squares, cost, weights, order, margin, fresh, long
):
    """The sweep over rows of `columns`.

    Those longer than `long` are taken four at a time. What the four do to each other is known from their
    products, so that the residual, too long for the first cache, is read and written a fourth as often.
    """
    m = residual.shape[0]
    counts, sizes = np.zeros(2, dtype=np.intp), np.zeros(2)
    slopes, products, own = np.empty(4), np.empty(6), np.empty(4)
    whole = len(order) - len(order) % 4 if m > long else 0
    for k in range(0, whole, 4):
        a, b, c, d = order[k], order[k + 1], order[k + 2], order[k + 3]
        first, second = columns[chosen[a]], columns[chosen[b]]
        third, fourth = columns[chosen[c]], columns[chosen[d]]
        if fresh:
            slopes_of_four(first, second, third, fourth, residual, weights, slopes, products, own)
            squares[a], squares[b], squares[c], squares[d] = own[0], own[1], own[2], own[3]
        else:
            slopes_of_four(first, second, third, fourth, residual, weights, slopes, products, None)
        slope = slopes[0] - cost[a]
        s = _settle(a, slope, x, box, squares, margin, order, counts, sizes)
        slope = slopes[1] - cost[b] - s * products[0]
        t = _settle(b, slope, x, box, squares, margin, order, counts, sizes)
        slope = slopes[2] - cost[c] - s * products[1] - t * products[3]
        u = _settle(c, slope, x, box, squares, margin, order, counts, sizes)
        slope = slopes[3] - cost[d] - s * products[2] - t * products[4] - u * products[5]
        v = _settle(d, slope, x, box, squares, margin, order, counts, sizes)
        if s != 0.0 or t != 0.0 or u != 0.0 or v != 0.0:
            add_four(residual, first, second, third, fourth, -s, -t, -u, -v)
    for k in range(whole, len(order)):
        j = order[k]
        column = columns[chosen[j]]
        if fresh:
            squares[j] = _square(column, weights)
        slope = -cost[j]
        if weights is None:
            for i in range(m):
                slope += column[i] * residual[i]
        else:
            for i in range(m):
                slope += weights[i] * column[i] * residual[i]
        step = _settle(j, slope, x, box, squares, margin, order, counts, sizes)
        if step != 0.0:
            for i in range(m):
                residual[i] -= step * column[i]
    return counts[0], counts[1], np.sqrt(sizes[0]), np.sqrt(sizes[1])


@compiled_sums
def csc_sweep(csc, chosen, x, residual, box, squares, cost, weights, order, margin, fresh):  # type: ignore[no-untyped-def]
    """The sweep over stored entries (data, indices, indptr)."""
    data, indices, indptr = csc
    counts, sizes = np.zeros(2, dtype=np.intp), np.zeros(2)
    for k in range(len(order)):
        j = order[k]
        start, stop = indptr[chosen[j]], indptr[chosen[j] + 1]
        values, rows = data[start:stop], indices[start:stop]
        if fresh:
            squares[j] = 0.0
            for e in range(len(values)):
                omega = 1.0 if weights is None else weights[np.uintp(rows[e])]
                squares[j] += omega * values[e] * values[e]
        slope = -cost[j]
        for e in range(len(values)):
            i = np.uintp(rows[e])
            if weights is None:
                slope += values[e] * residual[i]
            else:
                slope += weights[i] * values[e] * residual[i]
        step = _settle(j, slope, x, box, squares, margin, order, counts, sizes)
        if step != 0.0:
            for e in range(len(values)):
                residual[np.uintp(rows[e])] -= step * values[e]
    return counts[0], counts[1], np.sqrt(sizes[0]), np.sqrt(sizes[1])


@leaf
def _settle(j, slope, x, box, squares, margin, order, counts, sizes):  # type: ignore[no-untyped-def]
    """Move coordinate j and note what became of it; returns the change."""
    lower, upper = box
    old = x[j]
    new = min(max(old + slope / squares[j], lower[j]), upper[j])
    step = new - old
    if step != 0.0:
        x[j] = new
        size = step * step * squares[j]
        sizes[0] = max(sizes[0], size)
        sizes[1] += size
        within, now_within = lower[j] < old < upper[j], lower[j] < new < upper[j]
        # From one bound to the other is a change of side too.
        counts[1] += within != now_within or not (within or now_within)
    back = slope - step * squares[j]  # which is 0 inside
    if back * back <= margin * margin * squares[j] or lower[j] < new < upper[j]:
        order[counts[0]] = j
        counts[0] += 1
    return step


@leaf_sums
def _square(column, weights):  # type: ignore[no-untyped-def]
    """The square of a column, rows weighted."""
    total = 0.0
    for i in range(len(column)):
        omega = 1.0
        if weights is not None:
            omega = weights[i]
        a = np.float64(column[i])
        total += omega * a * a
    return total


@leaf_sums
def slopes_of_four(a, b, c, d, residual, weights, slopes, products, squares):  # type: ignore[no-untyped-def]
    """Products of four columns with the residual, with each other and, unless `squares` is None, with
    themselves; rows weighted."""
    p, q, r, s = 0.0, 0.0, 0.0, 0.0
    aa, bb, cc, dd = 0.0, 0.0, 0.0, 0.0
    ab, ac, ad, bc, bd, cd = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(residual)):
        e, f = np.float64(a[i]), np.float64(b[i])
        g, h = np.float64(c[i]), np.float64(d[i])
        omega = 1.0
        if weights is not None:
            omega = weights[i]
        v = residual[i]
        j, k, o, t = omega * e, omega * f, omega * g, omega * h
        p += j * v
        q += k * v
        r += o * v
        s += t * v
        if squares is not None:
            aa += j * e
            bb += k * f
            cc += o * g
            dd += t * h
        ab += j * f
        ac += j * g
        ad += j * h
        bc += k * g
        bd += k * h
        cd += o * h
    slopes[0], slopes[1], slopes[2], slopes[3] = p, q, r, s
    products[0], products[1], products[2] = ab, ac, ad
    products[3], products[4], products[5] = bc, bd, cd
    if squares is not None:
        squares[0], squares[1], squares[2], squares[3] = aa, bb, cc, dd
