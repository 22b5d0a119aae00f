"""Safe regions: one file each, and the registry of their names."""

from .base import SafeRegion
from .gap_sphere import GapSphere
from .two_point_ball import TwoPointBall

REGIONS: dict[str, type[SafeRegion]] = {
    "auto": TwoPointBall,
    "gap_sphere": GapSphere,
    "two_point_ball": TwoPointBall,
}

__all__ = ["REGIONS", "GapSphere", "SafeRegion", "TwoPointBall"]
