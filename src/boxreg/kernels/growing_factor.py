"""The factor G_FF = UᵀU of a set F of columns that enter at the end and leave anywhere.

U is stored by rows. A column that enters costs a triangular solve; one that leaves, Givens rotations
of the rows below it, which lose no accuracy. G is a matrix that is there already or, where `gram` is
empty, the products of the columns √h ∘ a_j, computed as they enter.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from .compiling import inner, leaf, leaf_sums
from .vectors import floats, indices, table

Model = namedtuple("Model", ["gram", "rows", "columns", "norms", "roots", "ridge", "inverse"])
"""AᵀA, or a 0 × 0 table; A by rows and by columns; ||a_j||; √h, of no length where h = 1; μ of a ridge
term ½ sum μ_j x_j², of no length where there is none; what slopes are multiplied by to compare them,
1 / √(||a_j||² + μ_j), and 0 where that is not finite. G is AᵀHA + diag(μ)."""

Factor = namedtuple("Factor", ["chosen", "upper", "inverse", "held", "column"])
"""F in order of entry, U, 1 / u_kk, the columns √h ∘ a_j of F where G is not there, and room."""


INDEPENDENT = 1e-13
"""A column enters on its own if this share of its squared norm, or more, is not that of others."""


@inner
def new_factor(room, m):  # type: ignore[no-untyped-def]
    """Nothing in F yet."""
    return Factor(indices(room), table(room, room), floats(room), table(room, m), floats(room))


@leaf_sums
def append(model, factor, count, j, needed):  # type: ignore[no-untyped-def]
    """Let j enter if the share `needed` of its squared norm is new; returns the new size."""
    if count == len(factor.chosen):
        return count
    own = _products(model, factor, count, j)
    upper, column = factor.upper, factor.column
    rest = own
    for i in range(count):
        value = column[i] * factor.inverse[i]
        row = upper[i]
        for p in range(i + 1, count):
            column[p] -= value * row[p]
        column[i] = value
        rest -= value * value
    if not rest > needed * own:
        return count
    for i in range(count):
        upper[i, count] = column[i]
    root = np.sqrt(rest)
    upper[count, count] = root
    factor.inverse[count] = 1.0 / root
    factor.chosen[count] = j
    return count + 1


@leaf_sums
def _products(model, factor, count, j):  # type: ignore[no-untyped-def]
    """g_jj, and g_ij for i in F into the room."""
    column = factor.column
    own = model.ridge[j] if len(model.ridge) else 0.0
    if len(model.gram):
        row = model.gram[j]
        for i in range(count):
            column[i] = row[factor.chosen[i]]
        return row[j] + own
    fresh, source = factor.held[count], model.columns[j]
    weighted = len(model.roots) > 0
    for r in range(len(fresh)):
        fresh[r] = source[r] * model.roots[r] if weighted else source[r]
    for i in range(count):
        column[i] = _dot(factor.held[i], fresh)
    return _dot(fresh, fresh) + own


@leaf
def factor_again(model, factor, state, count):  # type: ignore[no-untyped-def]
    """Factor the set at hand anew, for a model that has changed; the size of what is independent.

    The others get the state -1, that of variables at their lower bound.
    """
    size = 0
    for k in range(count):
        j = factor.chosen[k]
        grown = append(model, factor, size, j, INDEPENDENT)
        if grown == size:
            state[j] = -1
        size = grown
    return size


@leaf_sums
def remove(model, factor, count, at):  # type: ignore[no-untyped-def]
    """Let the column at position `at` leave; returns the new size."""
    upper, chosen = factor.upper, factor.chosen
    for k in range(at, count - 1):
        chosen[k] = chosen[k + 1]
        if not len(model.gram):
            _copy(factor.held[k + 1], factor.held[k])
    for i in range(at + 1):
        row = upper[i]
        for k in range(max(at, i), count - 1):
            row[k] = row[k + 1]
    for k in range(at, count - 1):
        low = upper[k + 1]
        for c in range(k, count - 1):  # its columns move left by one; entry k is below the diagonal
            low[c] = low[c + 1]
        high, a, b = upper[k], upper[k, k], low[k]
        size = np.sqrt(a * a + b * b)
        cosine, sine = a / size, b / size
        high[k] = size
        factor.inverse[k] = 1.0 / size
        for c in range(k + 1, count - 1):
            s, t = high[c], low[c]
            high[c] = cosine * s + sine * t
            low[c] = cosine * t - sine * s
    return count - 1


@leaf_sums
def _dot(u, v):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(len(v)):
        total += u[i] * v[i]
    return total


@leaf
def _copy(source, out):  # type: ignore[no-untyped-def]
    for i in range(len(out)):
        out[i] = source[i]


@leaf_sums
def solve_factored(factor, count, pull, out):  # type: ignore[no-untyped-def]
    """out = G_FF⁻¹ pull_F, pull given over all columns."""
    upper, inverse, chosen = factor.upper, factor.inverse, factor.chosen
    for i in range(count):
        out[i] = pull[chosen[i]]
    for i in range(count):
        row = upper[i]
        value = out[i] * inverse[i]
        out[i] = value
        for p in range(i + 1, count):
            out[p] -= value * row[p]
    for i in range(count - 1, -1, -1):
        row = upper[i]
        total = out[i]
        for p in range(i + 1, count):
            total -= row[p] * out[p]
        out[i] = total * inverse[i]
