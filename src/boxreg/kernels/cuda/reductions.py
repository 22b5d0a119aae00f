"""Sums, maxima and choices over the threads of a block, a power of two in number."""

from __future__ import annotations

from numba import cuda

from .compiling import block


@block
def total(value, room):  # type: ignore[no-untyped-def]
    """The sum of one value a thread."""
    t = cuda.threadIdx.x
    room[t] = value
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            room[t] += room[t + half]
        cuda.syncthreads()
        half //= 2
    result = room[0]
    cuda.syncthreads()
    return result


@block
def largest(value, room):  # type: ignore[no-untyped-def]
    """The largest of one value a thread; NaN counts as the smallest."""
    t = cuda.threadIdx.x
    room[t] = value
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half and room[t + half] > room[t]:
            room[t] = room[t + half]
        cuda.syncthreads()
        half //= 2
    result = room[0]
    cuda.syncthreads()
    return result


@block
def choose(value, index, room, places):  # type: ignore[no-untyped-def]
    """The index that goes with the largest value, the first of equals; `room[0]` is that value."""
    t = cuda.threadIdx.x
    room[t], places[t] = value, index
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            other, here = room[t + half], room[t]
            if other > here or (other == here and places[t + half] < places[t]):
                room[t], places[t] = other, places[t + half]
        cuda.syncthreads()
        half //= 2
    result = places[0]
    cuda.syncthreads()
    return result
