"""What goes wrong with files."""

from __future__ import annotations


class FileProblem(Exception):
    """A file cannot be read or written as asked; the message is one line that names it."""


def one_line(error: object) -> str:
    """The first sentence or line of a message that may be long."""
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    lines = said.strip().splitlines()
    return lines[0].rstrip(".; ") if lines else type(error).__name__
