"""The reproduction on the real data, where they are."""

from __future__ import annotations

import json

from boxreg.reproduce import data, run, running
from real_data import load
from reproducing import TINY, forget


def test_the_most_correlated_column_screens_sooner_than_the_least(tmp_path, monkeypatch):
    """The paper's figure 2, one document."""
    load("nips_1-17")
    forget()
    monkeypatch.setattr(running, "_images", lambda sections, folder: {})
    assert run(["figure2"], TINY, tmp_path).code == 0
    held = json.loads((tmp_path / "tiny" / "results.json").read_text())["experiments"]["figure2"]
    assert data.STAND_IN not in held["title"]
    rows = {row["direction"].split(",")[0]: row for row in held["tables"][0]["rows"]}
    assert rows["−a₊"]["at0.5"] < rows["−a₋"]["at0.5"]
    assert rows["auto"]["work"] <= 1.2 * rows["−a₊"]["work"]
