"""One pass over A for all that a run wants to know of it first.

Of each column a: ||a||², the sum of its entries and aᵀv; of all entries, sum (|a_ij| - a_ij), whose
terms are never negative: it is 0 exactly where no entry is, and not a number where one is NaN.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled_sums, leaf_sums

_LONG = 1800
"""Columns longer than this are taken four at a time, a quarter of A apart (see `lines`): v does not stay
in the first cache beside one."""

_STRIP = 2048
"""Columns of a row-major A summed at a time: their three sums stay in the first caches."""


@compiled_sums
def by_columns(columns, v):  # type: ignore[no-untyped-def]
    """Survey of a column-major A; row j of `columns` is a_j."""
    n, m = columns.shape
    squares, sums, products = np.zeros(n), np.zeros(n), np.zeros(n)
    negative = 0.0
    quarter = n // 4 if m > _LONG else 0
    for j in range(quarter):
        k, o, p = j + quarter, j + 2 * quarter, j + 3 * quarter
        four = slice(j, 4 * quarter, quarter)
        sums_of = squares[four], sums[four], products[four]
        negative += survey_four(columns[j], columns[k], columns[o], columns[p], v, *sums_of)
    one = np.empty(3)
    for j in range(4 * quarter, n):
        negative += survey_one(columns[j], v, one)
        squares[j], sums[j], products[j] = one[0], one[1], one[2]
    return squares, sums, products, negative


@leaf_sums
def survey_one(column, v, out):  # type: ignore[no-untyped-def]
    """Survey of a column; returns what is negative in it."""
    square, total, product, below = 0.0, 0.0, 0.0, 0.0
    for i in range(len(v)):
        a = np.float64(column[i])
        square += a * a
        total += a
        product += a * v[i]
        below += abs(a) - a
    out[0], out[1], out[2] = square, total, product
    return below


@leaf_sums
def survey_four(first, second, third, fourth, v, squares, sums, products):  # type: ignore[no-untyped-def]
    """Survey of four columns; returns what is negative in them."""
    s, t, u, w = 0.0, 0.0, 0.0, 0.0
    e, f, g, h = 0.0, 0.0, 0.0, 0.0
    k, o, p, q = 0.0, 0.0, 0.0, 0.0
    below = 0.0
    for i in range(len(v)):
        a, b = np.float64(first[i]), np.float64(second[i])
        c, d = np.float64(third[i]), np.float64(fourth[i])
        y = v[i]
        s += a * a
        t += b * b
        u += c * c
        w += d * d
        e += a
        f += b
        g += c
        h += d
        k += a * y
        o += b * y
        p += c * y
        q += d * y
        below += ((abs(a) - a) + (abs(b) - b)) + ((abs(c) - c) + (abs(d) - d))
    squares[0], squares[1], squares[2], squares[3] = s, t, u, w
    sums[0], sums[1], sums[2], sums[3] = e, f, g, h
    products[0], products[1], products[2], products[3] = k, o, p, q
    return below


@compiled_sums
def by_rows(rows, v):  # type: ignore[no-untyped-def]
    """Survey of a row-major A, a strip of columns and four rows at a time."""
    m, n = rows.shape
    squares, sums, products = np.zeros(n), np.zeros(n), np.zeros(n)
    negative = 0.0
    quarter = m // 4
    for start in range(0, n, _STRIP):
        stop = min(start + _STRIP, n)
        square, total, product = squares[start:stop], sums[start:stop], products[start:stop]
        for i in range(quarter):
            k, o, t = i + quarter, i + 2 * quarter, i + 3 * quarter
            first, second = rows[i, start:stop], rows[k, start:stop]
            third, fourth = rows[o, start:stop], rows[t, start:stop]
            p, q, r, s = v[i], v[k], v[o], v[t]
            below = 0.0
            for j in range(stop - start):
                a, b = np.float64(first[j]), np.float64(second[j])
                c, d = np.float64(third[j]), np.float64(fourth[j])
                square[j] += (a * a + b * b) + (c * c + d * d)
                total[j] += (a + b) + (c + d)
                product[j] += (a * p + b * q) + (c * r + d * s)
                below += ((abs(a) - a) + (abs(b) - b)) + ((abs(c) - c) + (abs(d) - d))
            negative += below
        for i in range(4 * quarter, m):
            row, weight = rows[i, start:stop], v[i]
            for j in range(stop - start):
                a = np.float64(row[j])
                square[j] += a * a
                total[j] += a
                product[j] += a * weight
                negative += abs(a) - a
    return squares, sums, products, negative


@compiled_sums
def by_entries(data, indices, indptr, v):  # type: ignore[no-untyped-def]
    """Survey of a sparse A held by columns. Two loops a column: only one of them jumps about."""
    n = indptr.shape[0] - 1
    squares, sums, products = np.zeros(n), np.zeros(n), np.zeros(n)
    negative = 0.0
    for j in range(n):
        values, rows = data[indptr[j] : indptr[j + 1]], indices[indptr[j] : indptr[j + 1]]
        square, total, product, below = 0.0, 0.0, 0.0, 0.0
        for k in range(len(values)):
            a = values[k]
            square += a * a
            total += a
            below += abs(a) - a
        for k in range(len(values)):
            product += values[k] * v[np.uintp(rows[k])]
        squares[j], sums[j], products[j] = square, total, product
        negative += below
    return squares, sums, products, negative
