"""Where a data set is: in the folder BOXREG_DATA, or at its public address."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import numpy as np

from .converting import Arrays, digest
from .registry import DATASETS, Dataset, Origin

VARIABLE = "BOXREG_DATA"


class DataNotFound(Exception):
    """A data set is neither in the folder BOXREG_DATA nor to be had from its public address."""


def folder() -> Path | None:
    """The folder that BOXREG_DATA names, if it names one that exists."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named and Path(named).is_dir() else None


def found(name: str) -> Path | None:
    """The file of a data set in the folder BOXREG_DATA, if it is there."""
    place = folder()
    path = place / _known(name).file if place else None
    return path if path and path.is_file() else None


def dataset(name: str, *, download: bool = True) -> Arrays:
    """The arrays of one data set, by the names they have in its file.

    Read from the folder BOXREG_DATA; where it is not there and a public address is known, fetched
    from that address (with pooch, which keeps it), checked and converted. `DataNotFound` says what
    stood in the way otherwise.
    """
    known, path = _known(name), found(name)
    if path is not None:
        return _read(path)
    if known.origin is None:
        raise DataNotFound(
            f"{_absent(known)}; no public address is known, made from: {known.source}"
        )
    if not download:
        raise DataNotFound(f"{_absent(known)}; public address: {known.origin.url}")
    return _fetched(known, known.origin)


def _known(name: str) -> Dataset:
    if name not in DATASETS:
        raise ValueError(f"dataset: unknown name {name!r}; accepted: {', '.join(DATASETS)}")
    return DATASETS[name]


def _absent(known: Dataset) -> str:
    if folder() is None:
        named = os.environ.get(VARIABLE)
        state = f"names {named}, which is no folder" if named else "is not set"
        return f"{known.name}: {VARIABLE} {state}"
    return f"{known.name}: {known.file} is not in the folder that {VARIABLE} names"


def _read(path: Path) -> Arrays:
    try:
        with np.load(path, allow_pickle=False) as held:
            return {key: held[key] for key in held.files}
    except Exception as error:  # zipfile, NumPy and the system each have their own
        raise DataNotFound(f"{path.stem}: {path} cannot be read ({error})") from error


def _fetched(known: Dataset, origin: Origin) -> Arrays:
    path = _download(known, origin)
    try:
        arrays = origin.convert(path)
    except Exception as error:
        raise DataNotFound(f"{known.name}: what {origin.url} gave cannot be read") from error
    checked = {key: array for key, array in arrays.items() if key != "shape"}
    if digest(checked) != origin.content:
        raise DataNotFound(f"{known.name}: the data at {origin.url} are not those known here")
    return arrays


def _download(known: Dataset, origin: Origin) -> Path:
    try:
        import pooch
    except ImportError:
        raise DataNotFound(
            f"{_absent(known)}; to fetch it: pip install 'boxreg[data]', or take {origin.url}"
        ) from None
    pooch.get_logger().setLevel(logging.WARNING)
    try:
        fetched = pooch.retrieve(
            origin.url,
            known_hash=origin.sha256 and f"sha256:{origin.sha256}",
            fname=origin.url.rsplit("/", 1)[1],
            path=pooch.os_cache("boxreg"),
        )
    except (OSError, ValueError) as error:  # no connection, no such page, a wrong checksum
        reason = type(error).__name__
        raise DataNotFound(f"{_absent(known)}; fetching {origin.url} failed ({reason})") from error
    return Path(fetched)
