"""Gram matrices of a few columns, read where they are.

A strip of rows at a time, so that it stays in the second cache; of that, four columns by four, so that
eight loads serve sixteen multiplications. No threads of BLAS are woken, which stay awake for a while and
hold up those that read A next.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled_sums, leaf_sums
from .mirroring import mirror

_STRIP = 1024


@compiled_sums
def small_gram(columns, left, right, same):  # type: ignore[no-untyped-def]
    """a_iᵀa_j, i in `left`, j in `right`; row j of `columns` is a_j. Half are computed if both are the
    `same`."""
    m, p, q = columns.shape[1], len(left), len(right)
    out, tile = np.zeros((p, q)), np.empty((4, 4))
    for start in range(0, m, _STRIP):
        strip = slice(start, min(start + _STRIP, m))
        for i in range(0, p, 4):
            a, b = columns[left[i], strip], columns[left[min(i + 1, p - 1)], strip]
            c, d = columns[left[min(i + 2, p - 1)], strip], columns[left[min(i + 3, p - 1)], strip]
            for j in range(i if same else 0, q, 4):
                e, f = columns[right[j], strip], columns[right[min(j + 1, q - 1)], strip]
                g = columns[right[min(j + 2, q - 1)], strip]
                h = columns[right[min(j + 3, q - 1)], strip]
                _four_by_four(a, b, c, d, e, f, g, h, tile)
                for k in range(min(4, p - i)):
                    for t in range(min(4, q - j)):
                        out[i + k, j + t] += tile[k, t]
    if same:
        mirror(out)
    return out


@leaf_sums
def _four_by_four(a, b, c, d, e, f, g, h, out):  # type: ignore[no-untyped-def]
    """The products of a, b, c and d with e, f, g and h."""
    ae, af, ag, ah = 0.0, 0.0, 0.0, 0.0
    be, bf, bg, bh = 0.0, 0.0, 0.0, 0.0
    ce, cf, cg, ch = 0.0, 0.0, 0.0, 0.0
    de, df, dg, dh = 0.0, 0.0, 0.0, 0.0
    for i in range(len(a)):
        p, q, r, s = np.float64(a[i]), np.float64(b[i]), np.float64(c[i]), np.float64(d[i])
        t, u, v, w = np.float64(e[i]), np.float64(f[i]), np.float64(g[i]), np.float64(h[i])
        ae += p * t
        af += p * u
        ag += p * v
        ah += p * w
        be += q * t
        bf += q * u
        bg += q * v
        bh += q * w
        ce += r * t
        cf += r * u
        cg += r * v
        ch += r * w
        de += s * t
        df += s * u
        dg += s * v
        dh += s * w
    out[0, 0], out[0, 1], out[0, 2], out[0, 3] = ae, af, ag, ah
    out[1, 0], out[1, 1], out[1, 2], out[1, 3] = be, bf, bg, bh
    out[2, 0], out[2, 1], out[2, 2], out[2, 3] = ce, cf, cg, ch
    out[3, 0], out[3, 1], out[3, 2], out[3, 3] = de, df, dg, dh
