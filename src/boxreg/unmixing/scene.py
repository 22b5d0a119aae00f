"""A library of spectra, an image, and what the spectra are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..datasets import dataset
from ..validate import LARGEST


@dataclass(frozen=True)
class Scene:
    """Spectra as columns of `library`, spectra of pixels along `axis` of `image`, a name a column.

    Columns of one name are one material. The image is in units of `scale`: scale · image ≈ library · x.
    """

    title: str
    library: Any
    image: Any
    axis: int
    names: tuple[str, ...]
    scale: float = 1.0

    @property
    def matrix(self) -> Any:
        """The library in units of the image, which is taken as it is: min ‖(library / scale) x - y‖."""
        return self.library if self.scale == 1.0 else self.library / self.scale


def make_scene(
    title: str,
    library: Any,
    image: Any,
    names: Sequence[str] | None = None,
    *,
    axis: int | None = None,
    shape: tuple[int, int] | None = None,
    column_major: bool = False,
    scale: float = 1.0,
    group: bool = False,
) -> Scene:
    """A scene with its shapes checked.

    Parameters
    ----------
    library : bands × spectra.
    image : height × width × bands, with the bands along `axis` (by default the only axis that fits), or
        a matrix of pixels, which `shape`, (height, width), makes an image, column by column if
        `column_major`.
    group : take the first word of each name for the material.
    """
    if library.ndim != 2:
        raise ValueError(f"library: expected a matrix, bands × spectra, got shape {library.shape}")
    m, n = library.shape
    if not n:
        raise ValueError("library: has no columns; expected one for each spectrum")
    along = _axis(tuple(image.shape), m, axis)
    if image.ndim == 2:
        image, along = _folded(image, along, shape, column_major), 2 * along
    elif image.ndim != 3 or shape is not None:
        what = "--shape is for a matrix of pixels" if shape else "expected height × width × bands"
        raise ValueError(f"image: {what}, got shape {tuple(image.shape)}")
    if 0 in tuple(image.shape):
        raise ValueError(f"image: has no pixels, shape {tuple(image.shape)}")
    if not 1.0 / LARGEST <= scale <= LARGEST:
        raise ValueError(
            f"scale: expected a number from {1.0 / LARGEST:g} to {LARGEST:g}, got {scale!r}"
        )
    return Scene(title, library, image, along, _named(names, n, group), scale)


def scene_of_dataset(name: str) -> Scene:
    """One of the real data sets that are scenes; the start of its name is enough."""
    scenes = ("cuprite_usgs", "jasper_ridge")
    known = [held for held in scenes if name and held.startswith(name)]
    if not known:
        raise ValueError(f"dataset: unknown scene {name!r}; accepted: {', '.join(scenes)}")
    held = dataset(known[0])
    pixels = held["Y_int16"] if "Y_int16" in held else held["Y_uint16"]
    if "lib_material" in held:
        names = [str(held["material_names"][k - 1]) for k in held["lib_material"]]
    else:
        names = [str(label) for label in held["names"]]
    height, width = (int(side) for side in held["image_shape"])
    return make_scene(
        f"{known[0]}, {height} × {width} pixels",
        held["A"].astype(float),
        pixels,
        names,
        axis=0,
        shape=(height, width),
        column_major=True,
        scale=float(held["Y_scale"]),
        group=True,
    )


def _axis(shape: tuple[int, ...], m: int, axis: int | None) -> int:
    if axis is not None:
        if not -len(shape) <= axis < len(shape):
            raise ValueError(f"axis: {axis} is no axis of an image of shape {shape}")
        if shape[axis] != m:
            raise ValueError(
                f"image: expected {m} entries (bands of the library) along axis {axis}, got shape "
                f"{shape}"
            )
        return axis % len(shape)
    fitting = [k for k, length in enumerate(shape) if length == m]
    if len(fitting) != 1:
        few = "no axis has" if not fitting else "several axes have"
        hint = "" if not fitting else "; say which, with --axis"
        raise ValueError(
            f"image: {few} {m} entries, the bands of the library, in shape {shape}{hint}"
        )
    return fitting[0]


def _folded(image: Any, along: int, shape: tuple[int, int] | None, column_major: bool) -> Any:
    """A matrix of pixels as an image, without a copy."""
    count = image.shape[1 - along]
    if shape is None:
        raise ValueError(
            f"image: {count} pixels in a matrix have no height and width; give --shape HEIGHT WIDTH"
        )
    height, width = shape
    if height < 1 or width < 1 or height * width != count:
        raise ValueError(f"shape: {height} × {width} is not the {count} pixels of the image")
    sides = (width, height) if column_major else (height, width)
    array = image if hasattr(image, "reshape") else image[...]
    array = array.reshape((*sides, -1) if along else (-1, *sides))
    first = 0 if along else 1
    return array.swapaxes(first, first + 1) if column_major else array


def _named(names: Sequence[str] | None, n: int, group: bool) -> tuple[str, ...]:
    if names is None:
        return tuple(f"spectrum {j}" for j in range(n))
    if len(names) != n:
        raise ValueError(f"names: expected {n} (columns of the library), got {len(names)}")
    words = (name.split() or [""] for name in names)
    return tuple(words_of[0] for words_of in words) if group else tuple(names)
