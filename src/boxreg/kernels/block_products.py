"""Products of A with a block of vectors, compiled: no threads of BLAS to share cores with.

Vectors are rows: V (b × m) times A (m × n), A by rows. Four vectors and four rows of A are taken at
a time, so that one load of A serves four multiplications; strips of columns keep the sums in the first
cache.
"""

from __future__ import annotations

from .compiling import branch, branch_sums, leaf_sums

_STRIP = 512


@branch_sums
def _four(rows, t, u, v, w, start, stop, out_t, out_u, out_v, out_w):  # type: ignore[no-untyped-def]
    """out_t = t A and so on over the columns start … stop."""
    m, size = rows.shape[0], stop - start
    p, q, r, s = out_t[start:stop], out_u[start:stop], out_v[start:stop], out_w[start:stop]
    for c in range(size):
        p[c] = 0.0
        q[c] = 0.0
        r[c] = 0.0
        s[c] = 0.0
    whole = m - m % 4
    for i in range(0, whole, 4):
        first, second = rows[i, start:stop], rows[i + 1, start:stop]
        third, fourth = rows[i + 2, start:stop], rows[i + 3, start:stop]
        t0, t1, t2, t3 = t[i], t[i + 1], t[i + 2], t[i + 3]
        u0, u1, u2, u3 = u[i], u[i + 1], u[i + 2], u[i + 3]
        v0, v1, v2, v3 = v[i], v[i + 1], v[i + 2], v[i + 3]
        w0, w1, w2, w3 = w[i], w[i + 1], w[i + 2], w[i + 3]
        for c in range(size):
            a, b, d, e = first[c], second[c], third[c], fourth[c]
            p[c] += (a * t0 + b * t1) + (d * t2 + e * t3)
            q[c] += (a * u0 + b * u1) + (d * u2 + e * u3)
            r[c] += (a * v0 + b * v1) + (d * v2 + e * v3)
            s[c] += (a * w0 + b * w1) + (d * w2 + e * w3)
    for i in range(whole, m):
        row = rows[i, start:stop]
        for c in range(size):
            p[c] += row[c] * t[i]
            q[c] += row[c] * u[i]
            r[c] += row[c] * v[i]
            s[c] += row[c] * w[i]


@branch
def correlate_block(rows, vectors, which, count, out):  # type: ignore[no-untyped-def]
    """out[p] = vectors[p] A for the first `count` p in `which`."""
    n = rows.shape[1]
    for start in range(0, n, _STRIP):
        stop = min(start + _STRIP, n)
        for k in range(0, count - 3, 4):
            a, b, c, d = which[k], which[k + 1], which[k + 2], which[k + 3]
            _four(
                rows, vectors[a], vectors[b], vectors[c], vectors[d], start, stop,
                out[a], out[b], out[c], out[d],
            )  # fmt: skip
        for k in range(count - count % 4, count):
            correlate_one(rows, vectors[which[k]], start, stop, out[which[k]])


@leaf_sums
def correlate_one(rows, v, start, stop, out):  # type: ignore[no-untyped-def]
    """out = v A over the columns start … stop, four rows at a time."""
    m, size = rows.shape[0], stop - start
    p = out[start:stop]
    for c in range(size):
        p[c] = 0.0
    whole = m - m % 4
    for i in range(0, whole, 4):
        first, second = rows[i, start:stop], rows[i + 1, start:stop]
        third, fourth = rows[i + 2, start:stop], rows[i + 3, start:stop]
        s, t, u, w = v[i], v[i + 1], v[i + 2], v[i + 3]
        for c in range(size):
            p[c] += (first[c] * s + second[c] * t) + (third[c] * u + fourth[c] * w)
    for i in range(whole, m):
        row, s = rows[i, start:stop], v[i]
        for c in range(size):
            p[c] += row[c] * s


@leaf_sums
def combine(columns, x, out):  # type: ignore[no-untyped-def]
    """out = A x, reading the columns (rows of `columns`) with x_j ≠ 0 only."""
    for i in range(len(out)):
        out[i] = 0.0
    for j in range(len(x)):
        value = x[j]
        if value != 0.0:
            column = columns[j]
            for i in range(len(out)):
                out[i] += value * column[i]
