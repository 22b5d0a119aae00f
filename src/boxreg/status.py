"""How a run ended, in words."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    """Each member's value is the sentence shown to the user."""

    CONVERGED = "The duality gap is at or below the target."
    ITERATION_LIMIT = "The iteration limit was reached before the target gap."
    PRECISION_LIMIT = (
        "The gap is as small as rounding in float64 allows it to be proved, but above the target."
    )
    UNBOUNDED = "The objective has no lower bound: it falls for ever along a direction of the box."
    NOT_ATTAINED = (
        "No minimum is attained: the objective falls for ever, towards a limit, along a direction of "
        "the box. x is as good as the gap says."
    )
    STOPPED_BY_CALLBACK = "The callback asked to stop before the target gap was reached."

    @property
    def success(self) -> bool:
        """Whether the gap that was asked for has been proved."""
        return self is Status.CONVERGED
