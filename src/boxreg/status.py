"""How a run ended, in words."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    """Each member's value is the sentence shown to the user."""

    CONVERGED = "The duality gap is at or below the target."
    ITERATION_LIMIT = "The iteration limit was reached before the target gap."
    TIME_LIMIT = "The time limit was reached before the target gap."
    PRECISION_LIMIT = (
        "The gap is as small as rounding in float64 allows it to be proved, but above the target."
    )
    NOT_PROVED = (
        "No dual point was found that proves the target gap, though the solver can improve x no more; x "
        "may well be optimal."
    )
    UNBOUNDED = "The objective has no lower bound: it falls for ever along a direction of the box."
    NOT_ATTAINED = (
        "No minimum is attained: the objective falls for ever, towards a limit, along a direction of "
        "the box. x is as good as the gap says."
    )
    STOPPED_BY_CALLBACK = "The callback asked to stop before the target gap was reached."

    @classmethod
    def of_gap(cls, gap: float, rounding: float) -> Status:
        """Why a run that ran out of means is left with a gap of which `rounding` is an allowance for
        rounding errors: they are the cause only where they make up at least half of it."""
        return cls.PRECISION_LIMIT if rounding >= 0.5 * gap else cls.NOT_PROVED

    @property
    def fell_short(self) -> bool:
        """Whether a minimum exists, for all that is known, and the gap asked for was not proved."""
        return self in (
            Status.ITERATION_LIMIT,
            Status.TIME_LIMIT,
            Status.PRECISION_LIMIT,
            Status.NOT_PROVED,
        )

    @property
    def success(self) -> bool:
        """Whether the gap that was asked for has been proved."""
        return self is Status.CONVERGED
