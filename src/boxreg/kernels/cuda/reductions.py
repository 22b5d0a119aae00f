"""Sums, maxima and choices over the threads of a block, a power of two in number."""

from __future__ import annotations

from typing import Any

from numba import cuda

from .compiling import block, within


def _over_threads(merge: Any) -> Any:
    """One value a thread, merged two by two."""

    @block
    def reduced(value, room):  # type: ignore[no-untyped-def]
        t = cuda.threadIdx.x
        room[t] = value
        cuda.syncthreads()
        half = cuda.blockDim.x // 2
        while half > 0:
            if t < half:
                room[t] = merge(room[t], room[t + half])
            cuda.syncthreads()
            half //= 2
        result = room[0]
        cuda.syncthreads()
        return result

    return reduced


@within
def _sum(one, other):  # type: ignore[no-untyped-def]
    return one + other


@within
def _larger(one, other):  # type: ignore[no-untyped-def]
    return other if other > one else one


total = _over_threads(_sum)
largest = _over_threads(_larger)


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
