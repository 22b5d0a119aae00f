"""Arrays that live on a GPU, and the card that works on them."""

from .arrays import as_given, host, lives_on_gpu, module_of, on_gpu
from .card import Card, find_card, small_launches

__all__ = [
    "Card",
    "as_given",
    "find_card",
    "host",
    "lives_on_gpu",
    "module_of",
    "on_gpu",
    "small_launches",
]
