"""Commands shown in Markdown files, and what is shown of their output."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


@dataclass
class Shown:
    """A command in a page; `output` is None where none is shown."""

    command: str
    output: list[str] | None = None
    code: int = 0


def blocks(page: Path, language: str | None = None) -> list[str]:
    """The fenced blocks of a page."""
    found = _FENCE.findall(page.read_text(encoding="utf-8"))
    return [text for kind, text in found if language is None or kind == language]


def commands(page: Path) -> list[Shown]:
    """In order: `boxreg …` alone, or `$ boxreg …` with output below; `$ echo $?` tells the code."""
    found: list[Shown] = []
    for block in blocks(page):
        inside: Shown | None = None
        lines = iter(block.replace("\\\n", " ").splitlines())
        for line in lines:
            if line == "$ echo $?":
                found[-1].code = int(next(lines, "0"))
                inside = None
            elif line.startswith("$ boxreg "):
                inside = Shown(line.removeprefix("$ "), output=[])
                found.append(inside)
            elif line.startswith("boxreg "):
                found.append(Shown(line.partition("  #")[0].strip()))
                inside = None
            elif inside is not None and inside.output is not None:
                inside.output.append(line)
    return found


def masked(lines: list[str]) -> list[str]:
    """Lines without their numbers and times, spaces made one; a line … ends the comparison."""
    found = []
    for line in lines:
        if line.strip() == "…":
            break
        plain = re.sub(r"\d[\d.]* (?:ms|s|µs)\b", "TIME", line)
        found.append(re.sub(r"\s+", " ", _NUMBER.sub("N", plain)).strip())
    return found
