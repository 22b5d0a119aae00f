"""What the user can mend."""

from __future__ import annotations


class BadInput(Exception):
    """Input that is refused; the message is one line that names the argument."""
