"""Every contestant; each library has one file. Heavy imports happen in `prepare`."""

from __future__ import annotations

from .contestant import Contestant
from .lbfgsb import LBFGSB
from .ours import OURS
from .skglm_rivals import SKGLM
from .sklearn_rivals import SKLEARN

CONTESTANTS: dict[str, Contestant] = {
    held.name: held for held in (*OURS, *LBFGSB, *SKGLM, *SKLEARN)
}

__all__ = ["CONTESTANTS", "OURS", "Contestant"]
