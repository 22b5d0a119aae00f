"""Neighbouring chunks of a dask array, several to a task: a scheduler has its costs for each task."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from dataclasses import dataclass
from math import ceil
from typing import Any

from dask.core import get, get_dependencies, reverse_dict
from dask.system import CPU_COUNT

_TASK = 0.25
"""Seconds that a task should take at least: a scheduler spends milliseconds on it."""

_EACH = 8
"""Tasks for each thread, at least: they end at different times, and the last is waited for."""

Graph = dict[Hashable, Any]


@dataclass(frozen=True)
class Several:
    """A part of a graph that is one task of another: its arguments are the values of `names`."""

    graph: Graph
    keys: list[Hashable]
    names: list[Hashable]

    def __call__(self, *values: Any) -> list[Any]:
        """The values of `keys`, computed one after the other."""
        return list(get({**self.graph, **dict(zip(self.names, values, strict=True))}, self.keys))


def group_size(chunks: int, seconds: float, threads: int) -> int:
    """How many chunks of so many seconds should be one task."""
    return max(1, min(ceil(_TASK / seconds), chunks // (_EACH * threads)))


def grouped(
    graph: Graph, keys: list[Hashable], size: int, name: str
) -> tuple[Graph, list[tuple[str, int]]]:
    """The graph with a task (name, k) for every `size` of `keys`, a list of their values; its keys.

    What only one of `keys` needs goes with it, as far as it is a chain: the reading of its chunk.
    """
    needs = {key: _needs(graph, key) for key in graph}
    needed_by, new, found = reverse_dict(needs), dict(graph), []
    for first in range(0, len(keys), size):
        some = keys[first : first + size]
        inside = {key: new.pop(key) for one in some for key in _chain(one, needs, needed_by, new)}
        outside = sorted({need for key in inside for need in needs[key]} - set(inside), key=str)
        found.append((name, first // size))
        new[found[-1]] = (Several(inside, some, outside), *outside)
    return new, found


def threads_of(options: dict[str, Any]) -> int:
    """How many tasks a computation with these options may run at a time, as far as one can tell."""
    if options.get("num_workers"):
        return int(options["num_workers"])
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        try:
            client = distributed.default_client()
        except ValueError:  # there is no cluster
            client = None
        if client is not None and not client.asynchronous:
            return sum(client.nthreads().values()) or 1
    return int(CPU_COUNT)


def held(graph: Any) -> Graph:
    """What of a graph lies on a cluster already. Optimising leaves it out, though tasks refer to it."""
    return {key: value for key, value in dict(graph).items() if _is_future(value)}


def _is_future(value: Any) -> bool:
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(value, distributed.Future)


def _needs(graph: Graph, key: Hashable) -> set[Hashable]:
    told = getattr(graph[key], "dependencies", None)
    return set(get_dependencies(graph, key) if told is None else told)


def _chain(key: Hashable, needs: Any, needed_by: Any, graph: Graph) -> list[Hashable]:
    """The key, what it alone needs, and so on, while there is one such."""
    chain = [key]
    while True:
        alone = [k for k in needs[chain[-1]] if k in graph and len(needed_by[k]) == 1]
        own = [k for k in alone if not _is_future(graph[k])]
        if len(own) != 1:
            return chain
        chain += own
