"""Unmixing of an image by a library of spectra: maps, a residual map and a page about them."""

from .drawing import abundance_figure, residual_figure
from .maps import Maps, maps_of
from .page import summary_page
from .scene import Scene, make_scene, scene_of_dataset
from .summary import summary_of

__all__ = [
    "Maps",
    "Scene",
    "abundance_figure",
    "make_scene",
    "maps_of",
    "residual_figure",
    "scene_of_dataset",
    "summary_of",
    "summary_page",
]
