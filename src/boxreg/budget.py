"""Limits on time and work that every loop can ask."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .work import WorkMeter


@dataclass(frozen=True)
class Deadline:
    """A moment after which a call must come back; never, by default."""

    at: float = float("inf")
    """On the clock of `time.monotonic`."""

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """So many seconds from now; never for None."""
        return cls() if seconds is None else cls(time.monotonic() + seconds)

    @property
    def passed(self) -> bool:
        """Whether that moment is over. The clock is not read where there is no such moment."""
        return self.at < float("inf") and time.monotonic() >= self.at

    @property
    def left(self) -> float:
        """Seconds to go, at least 0."""
        return self.at if self.at == float("inf") else max(self.at - time.monotonic(), 0.0)

    def __reduce__(self) -> tuple[object, ...]:
        """Other processes may have another monotonic clock: time spent on the way is read off the
        calendar's."""
        return _arrived, (self.left, time.time())


NEVER = Deadline()


def _arrived(left: float, sent: float) -> Deadline:
    return Deadline(time.monotonic() + left - max(time.time() - sent, 0.0))


class Budget:
    """The work that an inner search may spend.

    It is counted in products with A, not in seconds, so that results do not depend on the machine. The
    deadline of the call ends it too.
    """

    def __init__(self, work: WorkMeter, amount: float) -> None:
        self._work = work
        self._end = work.effort + amount

    @property
    def exhausted(self) -> bool:
        """Whether the search has to give up."""
        return self._work.effort >= self._end or self._work.over

    @property
    def left(self) -> float:
        """Products with A that may still be spent, at least 0."""
        return max(min(self._end, self._work.most) - self._work.effort, 0.0)
