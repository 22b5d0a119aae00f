"""Products with a sparse A, held by columns: (data, indices, indptr).

Row numbers are read as unsigned: numba then leaves out the test for indices counted from the end,
which would keep these loops from being vectorised (a product takes 0.8 instead of 3 ns an entry).
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled, compiled_sums, leaf_sums

_NEXT = np.uintp(1)


@leaf_sums
def product(data, indices, indptr, j, v):  # type: ignore[no-untyped-def]
    """a_jᵀv."""
    return _piece(data, indices, indptr[j], indptr[j + 1], v)


@leaf_sums
def _piece(data, indices, start, stop, v):  # type: ignore[no-untyped-def]
    """The part of it that comes from the entries start … stop."""
    values, rows = data[start:stop], indices[start:stop]
    total = 0.0
    for k in range(len(values)):
        total += values[k] * v[np.uintp(rows[k])]
    return total


@leaf_sums
def four_products(data, indices, indptr, h, i, j, k, v):  # type: ignore[no-untyped-def]
    """a_hᵀv, a_iᵀv, a_jᵀv and a_kᵀv, as far as all four have entries in one loop.

    Where rows are in order and lengths alike, the four are at about the same place of v at a time.
    """
    a, b, c, d = indptr[h], indptr[i], indptr[j], indptr[k]
    size = min(indptr[h + 1] - a, indptr[i + 1] - b, indptr[j + 1] - c, indptr[k + 1] - d)
    p, q, r, s = data[a : a + size], data[b : b + size], data[c : c + size], data[d : d + size]
    at_p, at_q = indices[a : a + size], indices[b : b + size]
    at_r, at_s = indices[c : c + size], indices[d : d + size]
    t, u, w, x = 0.0, 0.0, 0.0, 0.0
    for e in range(size):
        t += p[e] * v[np.uintp(at_p[e])]
        u += q[e] * v[np.uintp(at_q[e])]
        w += r[e] * v[np.uintp(at_r[e])]
        x += s[e] * v[np.uintp(at_s[e])]
    t += _piece(data, indices, a + size, indptr[h + 1], v)
    u += _piece(data, indices, b + size, indptr[i + 1], v)
    w += _piece(data, indices, c + size, indptr[j + 1], v)
    x += _piece(data, indices, d + size, indptr[k + 1], v)
    return t, u, w, x


@compiled_sums
def correlate(data, indices, indptr, v, abreast):  # type: ignore[no-untyped-def]
    """Aᵀ v; four columns a quarter of A apart at a time, if `abreast`."""
    n = indptr.shape[0] - 1
    out = np.empty(n)
    apart = n // 4 if abreast else 0
    for j in range(apart):
        h, i, k = j + apart, j + 2 * apart, j + 3 * apart
        out[j], out[h], out[i], out[k] = four_products(data, indices, indptr, j, h, i, k, v)
    for j in range(4 * apart, n):
        out[j] = product(data, indices, indptr, j, v)
    return out


@compiled_sums
def correlate_some(data, indices, indptr, chosen, v, abreast):  # type: ignore[no-untyped-def]
    """a_jᵀv for the chosen columns, likewise."""
    n = chosen.shape[0]
    out = np.empty(n)
    apart = n // 4 if abreast else 0
    for p in range(apart):
        q, r, s = p + apart, p + 2 * apart, p + 3 * apart
        h, i, j, k = chosen[p], chosen[q], chosen[r], chosen[s]
        out[p], out[q], out[r], out[s] = four_products(data, indices, indptr, h, i, j, k, v)
    for p in range(4 * apart, n):
        out[p] = product(data, indices, indptr, chosen[p], v)
    return out


@compiled
def combine(data, indices, indptr, m, chosen, weights):  # type: ignore[no-untyped-def]
    """The sum of the chosen columns, each times its weight."""
    out = np.zeros(m)
    for p in range(chosen.shape[0]):
        j, weight = chosen[p], weights[p]
        values, rows = data[indptr[j] : indptr[j + 1]], indices[indptr[j] : indptr[j + 1]]
        for k in range(len(values)):
            out[np.uintp(rows[k])] += weight * values[k]
    return out


@compiled
def gram(data, indices, indptr, m, left, right):  # type: ignore[no-untyped-def]
    """a_iᵀa_j, i in `left`, j in `right`, by outer products over the rows that both have entries in.

    With a share d of all entries stored this takes m d² steps a product, where a dot of a stored and
    a spread-out column takes m d.
    """
    starts, values, owners = _by_rows(data, indices, indptr, m, right)
    out = np.zeros((left.shape[0], right.shape[0]))
    for p in range(left.shape[0]):
        j, total = left[p], out[p]
        entries, rows = data[indptr[j] : indptr[j + 1]], indices[indptr[j] : indptr[j + 1]]
        for k in range(len(rows)):
            row, weight = np.uintp(rows[k]), entries[k]
            for t in range(starts[row], starts[row + _NEXT]):
                total[np.uintp(owners[np.uintp(t)])] += weight * values[np.uintp(t)]
    return out


@compiled
def own_gram(data, indices, indptr, m, chosen):  # type: ignore[no-untyped-def]
    """a_iᵀa_j, i and j in `chosen`: half of the outer products, row by row."""
    starts, values, owners = _by_rows(data, indices, indptr, m, chosen)
    count = chosen.shape[0]
    out = np.zeros((count, count))
    for i in range(np.uintp(m)):
        stop = starts[i + _NEXT]
        for s in range(starts[i], stop):
            weight, total = values[np.uintp(s)], out[np.uintp(owners[np.uintp(s)])]
            for t in range(s, stop):
                total[np.uintp(owners[np.uintp(t)])] += weight * values[np.uintp(t)]
    for p in range(count):
        for q in range(p):
            out[p, q] = out[q, p]
    return out


@compiled
def weighted_gram(data, indices, indptr, left, right, row_weights):  # type: ignore[no-untyped-def]
    """a_iᵀdiag(ω)a_j, i in `left`, j in `right`, as in `gram`."""
    starts, values, owners = _by_rows(data, indices, indptr, row_weights.shape[0], right)
    out = np.zeros((left.shape[0], right.shape[0]))
    for p in range(left.shape[0]):
        j, total = left[p], out[p]
        entries, rows = data[indptr[j] : indptr[j + 1]], indices[indptr[j] : indptr[j + 1]]
        for k in range(len(rows)):
            row = np.uintp(rows[k])
            weight = entries[k] * row_weights[row]
            for t in range(starts[row], starts[row + _NEXT]):
                total[np.uintp(owners[np.uintp(t)])] += weight * values[np.uintp(t)]
    return out


@compiled_sums
def weighted_squares(data, indices, indptr, weights):  # type: ignore[no-untyped-def]
    """sum_i ω_i a_ij² for every column."""
    n = indptr.shape[0] - 1
    out = np.empty(n)
    for j in range(n):
        values, rows = data[indptr[j] : indptr[j + 1]], indices[indptr[j] : indptr[j + 1]]
        total = 0.0
        for k in range(len(values)):
            total += values[k] * values[k] * weights[np.uintp(rows[k])]
        out[j] = total
    return out


@compiled
def _by_rows(data, indices, indptr, m, chosen):  # type: ignore[no-untyped-def]
    """The chosen columns by rows: where each row starts, its values, and whose they are, in order."""
    starts = np.zeros(m + 1, dtype=np.uintp)
    for q in range(chosen.shape[0]):
        rows = indices[indptr[chosen[q]] : indptr[chosen[q] + 1]]
        for k in range(len(rows)):
            starts[np.uintp(rows[k])] += _NEXT
    total = np.uintp(0)
    for i in range(np.uintp(m + 1)):
        total += starts[i]
        starts[i] = total
    values = np.empty(total)
    owners = np.empty(total, dtype=np.uint32)
    for q in range(chosen.shape[0] - 1, -1, -1):  # from the ends of the rows to their starts
        j = chosen[q]
        entries, rows = data[indptr[j] : indptr[j + 1]], indices[indptr[j] : indptr[j + 1]]
        for k in range(len(rows)):
            at = starts[np.uintp(rows[k])] - _NEXT
            starts[np.uintp(rows[k])] = at
            values[at], owners[at] = entries[k], q
    return starts, values, owners


@compiled
def has_duplicates(indices, indptr, m):  # type: ignore[no-untyped-def]
    """Whether some column stores two entries for one row."""
    if _one_way(indices, indptr):
        return False
    owner = np.full(m, -1, dtype=np.int64)
    for j in range(indptr.shape[0] - 1):
        rows = indices[indptr[j] : indptr[j + 1]]
        for k in range(len(rows)):
            i = np.uintp(rows[k])
            if owner[i] == j:
                return True
            owner[i] = j
    return False


@leaf_sums
def _one_way(indices, indptr):  # type: ignore[no-untyped-def]
    """Whether rows ascend in all columns, as is usual, or descend in all, as in SciPy's products."""
    pairs, right, n = len(indices) - 1, 0, indptr.shape[0] - 1
    first = 0
    while first < n and indptr[first + 1] - indptr[first] < 2:
        first += 1
    if first == n:
        return True
    ascending = indices[indptr[first]] < indices[indptr[first] + 1]
    if ascending:
        for k in range(pairs):
            right += indices[k] < indices[k + 1]
    else:
        for k in range(pairs):
            right += indices[k] > indices[k + 1]
    for j in range(1, n):
        k = indptr[j]
        if 0 < k < indptr[j + 1]:  # a pair of two columns
            pairs -= 1
            right -= indices[k - 1] != indices[k] and (indices[k - 1] < indices[k]) == ascending
    return right == pairs


@compiled
def spread(data, indices, indptr, by_rows, columns):  # type: ignore[no-untyped-def]
    """Add a sparse A, held by columns or by rows, to an array of zeros whose row j is column j.

    False where an index is outside, or the starts of rows or columns are out of order.
    """
    n, m = columns.shape
    major, minor = (m, n) if by_rows else (n, m)
    if len(indptr) != major + 1 or indptr[0] != 0:
        return False
    for k in range(major):
        if not indptr[k] <= indptr[k + 1] <= min(len(indices), len(data)):
            return False
        for e in range(indptr[k], indptr[k + 1]):
            at = indices[e]
            if not 0 <= at < minor:
                return False
            if by_rows:
                columns[at, k] += data[e]
            else:
                columns[k, at] += data[e]
    return True
