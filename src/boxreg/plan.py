"""How a problem is solved, and why: what a result says about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Decision(NamedTuple):
    """One thing that was decided before the first step."""

    what: str
    """What it is about: 'engine', 'start', 'layout', …"""
    choice: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """All that was decided before the first step, with reasons, and what a run changed about it.

    `print(result.plan)` shows it; `result.plan['engine']` is one choice.

    Attributes
    ----------
    decisions : tuple of Decision
        What was decided, what was chosen, and the reason, in the order of a run.
    log : tuple of str
        What a run did otherwise, as it happened.
    """

    decisions: tuple[Decision, ...] = ()
    log: tuple[str, ...] = ()

    def __getitem__(self, what: str) -> str:
        """What was chosen."""
        for decision in self.decisions:
            if decision.what == what:
                return decision.choice
        raise KeyError(what)

    def decided(self, what: str, choice: str, reason: str) -> Plan:
        """The plan with one more decision."""
        return Plan((*self.decisions, Decision(what, choice, reason)), self.log)

    def noted(self, event: str) -> Plan:
        """The plan with one more line in its log."""
        return Plan(self.decisions, (*self.log, event))

    def __str__(self) -> str:
        rows = [(what, f"{choice}: {reason}") for what, choice, reason in self.decisions]
        rows += [("then", event) for event in self.log]
        width = max((len(what) for what, _ in rows), default=0)
        return "\n".join(f"{what:{width}}  {text}" for what, text in rows)
