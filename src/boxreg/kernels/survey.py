"""One pass over A for all that a run wants to know of it first.

Of each column a: ||a||², the sum of its entries and aᵀv; of all entries, sum (|a_ij| - a_ij), whose
terms are never negative: it is 0 exactly where no entry is, and not a number where one is NaN.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled_sums, leaf_sums

_STRIP = 16384
"""Columns of a row-major A summed at a time: their three sums stay in the second cache."""


@compiled_sums
def by_columns(columns, v, long):  # type: ignore[no-untyped-def]
    """Survey of a column-major A; row j of `columns` is a_j.

    Columns longer than `long` are taken four at a time, a quarter of A apart (see `lines`): v does not
    stay in the first cache beside one.
    """
    n, m = columns.shape
    squares, sums, products = np.zeros(n), np.zeros(n), np.zeros(n)
    negative = 0.0
    quarter = n // 4 if m > long else 0
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
def by_rows(rows, v, long):  # type: ignore[no-untyped-def]
    """Survey of a row-major A, a strip of columns and some rows at a time.

    Rows longer than `long` are added eight at a time; of shorter ones so many are slow to start on.
    """
    m, n = rows.shape
    squares, sums, products = np.zeros(n), np.zeros(n), np.zeros(n)
    negative = 0.0
    eighth = m // 8 if n > long else 0
    done, quarter = 8 * eighth, (m - 8 * eighth) // 4
    for start in range(0, n, _STRIP):
        strip = slice(start, min(start + _STRIP, n))
        sums_of = squares[strip], sums[strip], products[strip]
        for i in range(eighth):
            negative += _eight_rows(rows, strip, i, eighth, v, *sums_of)
        for i in range(done, done + quarter):
            negative += _four_rows(rows, strip, i, quarter, v, *sums_of)
        for i in range(done + 4 * quarter, m):
            negative += _one_row(rows[i, strip], v[i], *sums_of)
    return squares, sums, products, negative


@leaf_sums
def _one_row(row, weight, squares, sums, products):  # type: ignore[no-untyped-def]
    """Add a row; returns what is negative in it."""
    below = 0.0
    for j in range(len(row)):
        a = np.float64(row[j])
        squares[j] += a * a
        sums[j] += a
        products[j] += a * weight
        below += abs(a) - a
    return below


@leaf_sums
def _four_rows(rows, strip, i, apart, v, squares, sums, products):  # type: ignore[no-untyped-def]
    """Add row i and three more, each so far from the one before."""
    k, o, t = i + apart, i + 2 * apart, i + 3 * apart
    first, second = rows[i, strip], rows[k, strip]
    third, fourth = rows[o, strip], rows[t, strip]
    p, q, r, s = v[i], v[k], v[o], v[t]
    below = 0.0
    for j in range(len(first)):
        a, b = np.float64(first[j]), np.float64(second[j])
        c, d = np.float64(third[j]), np.float64(fourth[j])
        squares[j] += (a * a + b * b) + (c * c + d * d)
        sums[j] += (a + b) + (c + d)
        products[j] += (a * p + b * q) + (c * r + d * s)
        below += ((abs(a) - a) + (abs(b) - b)) + ((abs(c) - c) + (abs(d) - d))
    return below


@leaf_sums
def _eight_rows(rows, strip, i, apart, v, squares, sums, products):  # type: ignore[no-untyped-def]
    """Add row i and seven more: the sums are read and written half as often as with four."""
    k, o, t = i + apart, i + 2 * apart, i + 3 * apart
    first, second = rows[i, strip], rows[k, strip]
    third, fourth = rows[o, strip], rows[t, strip]
    p, q, r, s = v[i], v[k], v[o], v[t]
    i, k, o, t = t + apart, t + 2 * apart, t + 3 * apart, t + 4 * apart
    fifth, sixth = rows[i, strip], rows[k, strip]
    seventh, eighth = rows[o, strip], rows[t, strip]
    w, x, y, z = v[i], v[k], v[o], v[t]
    below = 0.0
    for j in range(len(first)):
        a, b = np.float64(first[j]), np.float64(second[j])
        c, d = np.float64(third[j]), np.float64(fourth[j])
        e, f = np.float64(fifth[j]), np.float64(sixth[j])
        g, h = np.float64(seventh[j]), np.float64(eighth[j])
        squares[j] += ((a * a + b * b) + (c * c + d * d)) + ((e * e + f * f) + (g * g + h * h))
        sums[j] += ((a + b) + (c + d)) + ((e + f) + (g + h))
        products[j] += ((a * p + b * q) + (c * r + d * s)) + ((e * w + f * x) + (g * y + h * z))
        below += ((abs(a) - a) + (abs(b) - b)) + ((abs(c) - c) + (abs(d) - d))
        below += ((abs(e) - e) + (abs(f) - f)) + ((abs(g) - g) + (abs(h) - h))
    return below


@compiled_sums
def by_entries(data, indices, indptr, v, abreast):  # type: ignore[no-untyped-def]
    """Survey of a sparse A held by columns; four at a time, if `abreast` (see `csc`)."""
    n = indptr.shape[0] - 1
    squares, sums, products = np.zeros(n), np.zeros(n), np.zeros(n)
    negative = 0.0
    apart = n // 4 if abreast else 0
    for j in range(apart):
        four = slice(j, 4 * apart, apart)
        sums_of = squares[four], sums[four], products[four]
        negative += _four_columns(data, indices, indptr, j, apart, v, *sums_of)
    for j in range(4 * apart, n):
        sums_of = squares[j : j + 1], sums[j : j + 1], products[j : j + 1]
        negative += _entries(data, indices, indptr[j], indptr[j + 1], v, *sums_of, 0)
    return squares, sums, products, negative


@leaf_sums
def _entries(data, indices, start, stop, v, squares, sums, products, j):  # type: ignore[no-untyped-def]
    """Add the entries start … stop to sums j; returns what is negative in them."""
    values, rows = data[start:stop], indices[start:stop]
    square, total, product, below = 0.0, 0.0, 0.0, 0.0
    for k in range(len(values)):
        a = values[k]
        square += a * a
        total += a
        product += a * v[np.uintp(rows[k])]
        below += abs(a) - a
    squares[j] += square
    sums[j] += total
    products[j] += product
    return below


@leaf_sums
def _four_columns(data, indices, indptr, j, apart, v, squares, sums, products):  # type: ignore[no-untyped-def]
    """Column j and three more, each so far from the one before; in one loop while all have entries."""
    k, o, p = j + apart, j + 2 * apart, j + 3 * apart
    q, r, s, t = indptr[j], indptr[k], indptr[o], indptr[p]
    size = min(indptr[j + 1] - q, indptr[k + 1] - r, indptr[o + 1] - s, indptr[p + 1] - t)
    first, second = data[q : q + size], data[r : r + size]
    third, fourth = data[s : s + size], data[t : t + size]
    in_first, in_second = indices[q : q + size], indices[r : r + size]
    in_third, in_fourth = indices[s : s + size], indices[t : t + size]
    aa, bb, cc, dd = 0.0, 0.0, 0.0, 0.0
    e, f, g, h = 0.0, 0.0, 0.0, 0.0
    av, bv, cv, dv = 0.0, 0.0, 0.0, 0.0
    below = 0.0
    for i in range(size):
        a, b, c, d = first[i], second[i], third[i], fourth[i]
        aa += a * a
        bb += b * b
        cc += c * c
        dd += d * d
        e += a
        f += b
        g += c
        h += d
        av += a * v[np.uintp(in_first[i])]
        bv += b * v[np.uintp(in_second[i])]
        cv += c * v[np.uintp(in_third[i])]
        dv += d * v[np.uintp(in_fourth[i])]
        below += ((abs(a) - a) + (abs(b) - b)) + ((abs(c) - c) + (abs(d) - d))
    squares[0], squares[1], squares[2], squares[3] = aa, bb, cc, dd
    sums[0], sums[1], sums[2], sums[3] = e, f, g, h
    products[0], products[1], products[2], products[3] = av, bv, cv, dv
    rest = squares, sums, products
    below += _entries(data, indices, q + size, indptr[j + 1], v, *rest, 0)
    below += _entries(data, indices, r + size, indptr[k + 1], v, *rest, 1)
    below += _entries(data, indices, s + size, indptr[o + 1], v, *rest, 2)
    below += _entries(data, indices, t + size, indptr[p + 1], v, *rest, 3)
    return below
