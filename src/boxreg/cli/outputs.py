"""The files a solve is to write, checked before it begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..files import STACK_OUTPUTS, VECTOR_FORMATS, Outputs, Resumable
from .errors import BadInput

_ENDINGS = {
    "output": (*VECTOR_FORMATS, ".zarr"),
    "certificate": (".json",),
    "plot": (".png", ".svg", ".pdf"),
    "report": (".html", ".htm"),
}


@dataclass(frozen=True)
class Wanted:
    """Where each output is to go."""

    output: Path
    certificate: Path | None = None
    plot: Path | None = None
    report: Path | None = None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Wanted:
        """From the options; BadInput or FileProblem where something cannot be written."""
        wanted = cls(**{name: options[name] for name in _ENDINGS})
        for name, path in wanted.named().items():
            if path.suffix.lower() not in _ENDINGS[name]:
                accepted = ", ".join(_ENDINGS[name])
                raise BadInput(f"--{name}: {path} must end in one of {accepted}")
            (Resumable if name == "output" else Outputs).check(path, f"--{name}")
        places = [path.resolve() for path in wanted.paths]
        if len(set(places)) < len(places):
            raise BadInput("two outputs have the same name")
        if wanted.plot and find_spec("matplotlib") is None:
            raise BadInput("--plot needs matplotlib: pip install 'boxreg[plot]'")
        return wanted

    def fit(self, many: bool) -> None:
        """Refuse an ending that is for one right-hand side where there are many, or the reverse."""
        kind = "many right-hand sides" if many else "one right-hand side"
        accepted = STACK_OUTPUTS if many else VECTOR_FORMATS
        if self.output.suffix.lower() not in accepted:
            said = ", ".join(accepted)
            raise BadInput(f"--output: {self.output} is no format for {kind}; accepted: {said}")

    @property
    def gaps(self) -> Path | None:
        """The second file of a certificate of many right-hand sides."""
        return self.certificate and self.certificate.with_suffix(".gaps.npz")

    def named(self) -> dict[str, Path]:
        """The outputs asked for, by the names of their options."""
        pairs = ((name, getattr(self, name)) for name in _ENDINGS)
        return {name: path for name, path in pairs if path is not None}

    @property
    def paths(self) -> list[Path]:
        """The outputs asked for."""
        return list(self.named().values())

    def spare(self, *inputs: Path) -> None:
        """Refuse to overwrite what is read."""
        for name, path in self.named().items():
            if any(path.resolve() == held.resolve() for held in inputs):
                raise BadInput(f"--{name}: {path} is read in this run; it would be overwritten")
