"""Safe regions: one file each, and the registry of their names."""

from .base import SafeRegion
from .dome import Dome
from .gap_sphere import GapSphere
from .two_point_ball import TwoPointBall

REGIONS: dict[str, type[SafeRegion]] = {
    "dome": Dome,
    "gap_sphere": GapSphere,
    "two_point_ball": TwoPointBall,
}

__all__ = ["REGIONS", "Dome", "GapSphere", "SafeRegion", "TwoPointBall"]
