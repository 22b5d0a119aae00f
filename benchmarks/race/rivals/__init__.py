"""Every contestant; each library has one file. Heavy imports happen in `prepare`."""

from __future__ import annotations

from .adelie_rival import ADELIE
from .ours import OURS
from .qp_rivals import QP
from .rival import Rival, Run
from .scipy_rivals import SCIPY
from .skglm_rival import SKGLM
from .sklearn_rivals import SKLEARN

RIVALS: dict[str, Rival] = {
    rival.name: rival for rival in (*OURS, *SCIPY, *SKGLM, *ADELIE, *SKLEARN, *QP)
}

__all__ = ["OURS", "RIVALS", "Rival", "Run"]
