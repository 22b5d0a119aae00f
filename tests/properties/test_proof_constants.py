"""One set of proof constants: kernels define none of their own, and none is compiled in for good."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import boxreg
from boxreg import rounding
from boxreg.kernels.caching import digest, sources

PACKAGE = Path(boxreg.__file__).parent
KERNELS = sorted((PACKAGE / "kernels").rglob("*.py"))
CONSTANTS = {
    name: value
    for name, value in vars(rounding).items()
    if name.isupper() and not name.startswith("_") and isinstance(value, float)
}


def floats_of(path: Path) -> dict[str, float]:
    """Names that a module gives to numbers it defines itself."""
    found = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                value = eval(compile(ast.Expression(node.value), "", "eval"), {})
            except NameError:
                continue
            if isinstance(value, float):
                found[node.targets[0].id.lstrip("_")] = value
    return found


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_kernels_define_no_constant_of_a_proof(path: Path) -> None:
    own = floats_of(path)
    assert not set(own) & set(CONSTANTS)
    assert "UNIT" not in own
    assert 2.0**-53 not in own.values()


def named(file: str) -> set[str]:
    return {path.relative_to(PACKAGE).as_posix() for path in sources(PACKAGE / file)}


def test_a_kernel_depends_on_what_it_takes_constants_from() -> None:
    found = named("kernels/cuda/certificates.py")
    assert {"rounding.py", "kernels/cuda/certificates.py", "kernels/cuda/reductions.py"} <= found
    found = named("kernels/many_least_squares.py")
    assert {"rounding.py", "kernels/box_moves.py", "kernels/vectors.py"} <= found
    assert "kernels/many_kullback_leibler.py" not in found


def test_every_import_of_a_kernel_is_seen() -> None:
    """By the parser of Python and by `sources`, which reads lines."""
    for path in KERNELS:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.level:
                assert node.module is not None
                base = path.parents[node.level - 1]
                module = base.joinpath(*node.module.split(".")).with_suffix(".py")
                assert module in sources(path)
            else:
                assert not (
                    isinstance(node, ast.Import) and node.names[0].name.startswith("boxreg")
                )


def test_the_digest_changes_with_any_of_the_files(tmp_path: Path) -> None:
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text("A = 1.0\n")
    second.write_text("B = 2.0\n")
    before = digest(frozenset([first, second]))
    third = tmp_path / "third.py"
    third.write_text("B = 2.5\n")
    assert digest(frozenset([first, third])) != before


def test_a_changed_constant_is_compiled_again(tmp_path: Path) -> None:
    """A package of its own: a kernel that returns a constant of its neighbour, before and after."""
    package = tmp_path / "toy"
    shutil.copytree(PACKAGE / "kernels", package / "kernels", ignore=_all_but_these)
    (package / "__init__.py").write_text("")
    shutil.copy(PACKAGE / "compile_time.py", package)
    (package / "kernels" / "__init__.py").write_text("")
    (package / "kernels" / "toy.py").write_text(
        "from ..numbers_of_proofs import UNIT\n"
        "from .compiling import compiled\n\n\n"
        "@compiled\n"
        "def unit():\n"
        "    return UNIT\n"
    )
    found = []
    for value in ("1.0", "1.0", "2.0"):
        (package / "numbers_of_proofs.py").write_text(f"UNIT = {value}\n")
        run = "from toy.kernels.toy import unit; print(unit(), sum(unit.stats.cache_hits.values()))"
        done = subprocess.run(
            [sys.executable, "-B", "-c", run],
            cwd=tmp_path,
            env={**os.environ, "NUMBA_DISABLE_JIT": "0"},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(done.stdout.split())
    assert found == [["1.0", "0"], ["1.0", "1"], ["2.0", "0"]]


def _all_but_these(folder: str, found: list[str]) -> list[str]:
    return [name for name in found if name not in ("compiling.py", "caching.py", "linking.py")]


def test_units_are_those_of_float64() -> None:
    assert np.finfo(np.float64).eps == 2.0 * rounding.UNIT_ROUNDOFF
