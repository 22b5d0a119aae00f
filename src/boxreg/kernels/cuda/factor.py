"""The factor G_FF = UᵀU of `boxreg.kernels.growing_factor`, by the threads of a block.

Rows of U lie one after the other, each from its diagonal on, with room for the most columns F may have.
Loops over the threads are `while` loops: a `range` with a step divides, which takes longer than a row.
"""

from __future__ import annotations

import math
from collections import namedtuple

from numba import cuda

from .compiling import block, within

FreeSet = namedtuple("FreeSet", ["chosen", "upper", "inverse", "column", "goal", "half", "room"])
"""F in order of entry; U; 1 / u_kk; room for a column; a solution of G_FF goal = pull_F, and of
Uᵀ half = pull_F, which follows F as columns enter and leave; the most columns."""


@within
def slot(room, i, p):  # type: ignore[no-untyped-def]
    """Where u_ip lies, i <= p."""
    return (i * (2 * room - i - 1)) // 2 + p


@block
def append(gram, free, count, j, pull, needed):  # type: ignore[no-untyped-def]
    """Let j, pulled by `pull`, enter if the share `needed` of its squared norm is new; the size of F."""
    t, threads, room = cuda.threadIdx.x, cuda.blockDim.x, free.room
    column, upper = free.column, free.upper
    for i in range(t, count, threads):
        column[i] = gram[j, free.chosen[i]]
    own = gram[j, j]
    rest = own
    cuda.syncthreads()
    for i in range(count):
        value = column[i] * free.inverse[i]
        rest -= value * value
        pull -= value * free.half[i]
        row, p = slot(room, i, 0), i + 1 + t
        while p < count:
            column[p] -= value * upper[row + p]
            p += threads
        if t == 0:
            upper[row + count] = value
        cuda.syncthreads()
    if not rest > needed * own:
        return count
    if t == 0:
        root = math.sqrt(rest)
        upper[slot(room, count, count)] = root
        free.inverse[count] = 1.0 / root
        free.half[count] = pull / root
        free.chosen[count] = j
    cuda.syncthreads()
    return count + 1


@block
def pulled(free, count, pull):  # type: ignore[no-untyped-def]
    """Uᵀ half = pull_F, after the pull has changed."""
    t, threads, room = cuda.threadIdx.x, cuda.blockDim.x, free.room
    column, upper = free.column, free.upper
    for i in range(t, count, threads):
        column[i] = pull[free.chosen[i]]
    cuda.syncthreads()
    for i in range(count):
        value = column[i] * free.inverse[i]
        row, p = slot(room, i, 0), i + 1 + t
        while p < count:
            column[p] -= value * upper[row + p]
            p += threads
        if t == 0:
            free.half[i] = value
        cuda.syncthreads()


@block
def solve(free, count):  # type: ignore[no-untyped-def]
    """U goal = half."""
    t, threads, room = cuda.threadIdx.x, cuda.blockDim.x, free.room
    column, upper = free.column, free.upper
    for i in range(t, count, threads):
        column[i] = free.half[i]
    cuda.syncthreads()
    for i in range(count - 1, -1, -1):
        value, p = column[i] * free.inverse[i], t
        while p < i:
            column[p] -= value * upper[slot(room, p, i)]
            p += threads
        if t == 0:
            free.goal[i] = value
        cuda.syncthreads()


@block
def remove(free, count, at):  # type: ignore[no-untyped-def]
    """Take the column at position `at` of F out by Givens rotations; returns the new size."""
    t, threads, room = cuda.threadIdx.x, cuda.blockDim.x, free.room
    upper, carry, last = free.upper, free.column, count - 1
    for q in range(at + t, last, threads):
        carry[q] = upper[slot(room, at, q + 1)]
    for i in range(t, at, threads):
        row = slot(room, i, 0)
        for q in range(at, last):
            upper[row + q] = upper[row + q + 1]
    if t == 0:
        for q in range(at, last):
            free.chosen[q] = free.chosen[q + 1]
    moved = free.half[at]
    cuda.syncthreads()
    for i in range(at, last):
        under = slot(room, i + 1, 0)
        a, b = carry[i], upper[under + i + 1]
        size = math.sqrt(a * a + b * b)
        c, s = a / size, b / size
        row, half, q = slot(room, i, 0), free.half[i + 1], i + 1 + t
        while q < last:
            above, below = carry[q], upper[under + q + 1]
            upper[row + q] = c * above + s * below
            carry[q] = c * below - s * above
            q += threads
        if t == 0:
            upper[row + i] = size
            free.inverse[i] = 1.0 / size
            free.half[i] = c * moved + s * half
        moved = c * half - s * moved
        cuda.syncthreads()
    return last
