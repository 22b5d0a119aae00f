"""What ends a command, in one line."""

from __future__ import annotations


class BadInput(Exception):
    """Input that is refused; the message is one line that names the argument."""


class Interrupted(Exception):
    """The user interrupted a run of which something is kept; the message says what."""

    cause, code = "interrupted", 130


class OutOfTime(Interrupted):
    """The time limit ended a run; the message says what is kept."""

    cause, code = "time limit reached", 1
