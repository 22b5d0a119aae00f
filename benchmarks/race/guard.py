"""A trial run in a forked child: compiled code that never returns can be killed, nothing is lost."""

from __future__ import annotations

import os
import pickle
import resource
import select
import signal
import time
from collections.abc import Callable

from .problem import Array
from .timing import clock

MEMORY_SHARE = 0.6
"""Of the machine's memory: what a trial may address before its allocation fails."""


class OverTime(Exception):
    """The trial was killed at its cap."""


class Failed(Exception):
    """The trial raised, or its process died."""


def trial(run: Callable[[], Array], cap: float) -> tuple[float, Array]:
    """Time one call in a child that shares the parent's memory and compiled code; (seconds, x)."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _child(run, writing)
    os.close(writing)
    try:
        payload = _read_all(reading, time.monotonic() + cap + 0.5)
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if not payload:
        raise Failed("the process died")
    outcome = pickle.loads(payload)
    if isinstance(outcome, str):
        raise Failed(outcome)
    if outcome[0] > cap:
        raise OverTime
    return outcome


def _child(run: Callable[[], Array], writing: int) -> None:
    """Run, send (seconds, x) or the error's text, and leave without any clean-up."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        limit = int(MEMORY_SHARE * memory)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        held: list[Array] = []
        seconds = clock(lambda: held.append(run()))
        message = pickle.dumps((seconds, held[0]))
    except BaseException as error:  # whatever it is, the parent reports it
        message = pickle.dumps(describe(error))
    with os.fdopen(writing, "wb") as stream:
        stream.write(message)
    os._exit(0)


def _read_all(reading: int, deadline: float) -> bytes:
    parts = []
    while True:
        ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise OverTime
        part = os.read(reading, 1 << 20)
        if not part:
            return b"".join(parts)
        parts.append(part)


def describe(error: BaseException) -> str:
    """One line of an error."""
    text = str(error).strip().splitlines()
    if isinstance(error, Failed):  # already a description
        return str(error)
    return f"{type(error).__name__}: {text[0][:120]}" if text else type(error).__name__
