"""The examples of docs/losses.md give the output shown there."""

from __future__ import annotations

import doctest

from documented import ROOT


def test_examples() -> None:
    page = ROOT / "docs" / "losses.md"
    outcome = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert outcome.attempted > 40
    assert outcome.failed == 0
