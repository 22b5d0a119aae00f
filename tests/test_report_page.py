"""The page about a result: its numbers, its drawings, and a browser's opinion."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import boxreg
from boxreg.reporting.chart import Line, Scale, chart
from boxreg.reporting.coordinates import Places, proofs, ranges
from boxreg.workloads import bvls_table2
from browsing import LAPTOP, PHONE, dom, measured, screenshot
from command_line import CommandLine
from test_reporting import CASES


@pytest.fixture(scope="module")
def result():
    work = bvls_table2(120, m=40)
    return boxreg.solve(
        work.A, work.y, work.lower, work.upper, solver="projected_gradient", tol=1e-6
    )


def _facts(page):
    rows = re.findall(r"<tr><th>(.*?)</th><td>(.*?)</td></tr>", page)
    return {unescape(name): unescape(said) for name, said in rows}


def _data(page):
    found = re.search(r'<script type="application/json" id="boxreg-result">(.*?)</script>', page)
    return json.loads(found[1])


def _agrees(page, result):
    facts, data = _facts(page), _data(page)
    assert float(facts["gap: P(x) − P* is at most"]) == result.gap == data["gap"]
    assert float(facts["of P₀"]) == result.relative_gap
    assert float(facts["of P(x)"]) == result.gap_over_objective
    assert facts["verdict"].startswith("PROVED: ")
    assert data["verdict"] == result.certificate.verdict.name
    assert float(facts["gap asked for"]) == result.target_gap == data["target_gap"]
    assert float(facts["objective P(x)"]) == result.objective == data["objective"]
    assert float(facts["dual objective D(θ)"]) == result.dual_objective == data["dual_objective"]
    assert facts["A"] == f"{result.shape[0]} rows × {result.shape[1]} columns"
    assert facts["solver"] == result.settings["solver"] == data["settings"]["solver"]
    assert facts["effort"] == f"{result.n_iter} steps, {len(result.history)} checks"
    at_lower, at_upper = result.x == result.lower, result.x == result.upper
    expected = [
        np.count_nonzero(at_lower),
        np.count_nonzero(result.screened < 0),
        np.count_nonzero(at_upper),
        np.count_nonzero(result.screened > 0),
        np.count_nonzero(~at_lower & ~at_upper),
    ]
    places = re.search(r'<table id="places">(.*?)</table>', page, re.S)[1]
    assert [int(v) for v in re.findall(r'<td class="number">(\d+)</td>', places)] == expected


def test_the_page_holds_the_numbers_of_the_result(result, tmp_path):
    page = result.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    assert result.report() == page
    _agrees(page, result)


def test_the_page_tells_when_each_coordinate_was_proved(result):
    page = result.report()
    tables = re.findall(r"<summary>Which coordinates.*?<table>(.*?)</table>", page, re.S)
    rows = re.findall(r"<tr>(<td.*?)</tr>", tables[0], re.S)
    told = np.full(120, -1)
    for row in rows:
        step, low, high, *which = re.findall(r"<td.*?>(.*?)</td>", row)
        for count, text in zip((low, high), which, strict=True):
            named = _named(text)
            assert len(named) == int(count)
            told[named] = int(step)
    assert np.array_equal(told, result.screened_at)


def _named(text):
    found = []
    for part in filter(lambda p: p != "–", text.split(", ")):
        first, _, last = part.partition("–")
        found += range(int(first), int(last or first) + 1)
    return found


def test_the_page_asks_nothing_of_the_network(result):
    page = result.report()
    assert re.findall(r'(?:src|href)="(.*?)"', page) == ["data:,"]
    assert "http" not in page
    assert "@import" not in page
    assert "url(" not in page


@pytest.mark.parametrize("result", CASES.values(), ids=CASES.keys())
def test_odd_results_have_pages_too(result):
    page = result.report()
    assert "nan</text>" not in page
    assert "<b>&'" not in page
    assert page.count("<section>") == page.count("</section>") == 4
    if result.message.startswith("<b>"):
        assert _data(page)["message"] == result.message


def test_a_failed_run_is_called_one(result):
    failed = replace(result, status=boxreg.Status.ITERATION_LIMIT)
    assert "✗ Not solved to the gap asked for" in failed.report()
    assert "✓ Solved, and proved" in result.report()


def test_many_coordinates_give_a_page_of_bounded_size():
    n = 50_000
    rng = np.random.default_rng(0)
    base = CASES["solved"]
    big = replace(
        base,
        x=rng.random(n),
        lower=np.zeros(n),
        upper=np.full(n, np.inf),
        screened=np.zeros(n, dtype=np.int8),
        screened_at=np.full(n, -1),
        shape=(20, n),
    )
    page = big.report()
    assert f"The {n} coordinates between their bounds (the 500 largest)" in page
    assert len(page) < 200_000


def test_places_and_proofs():
    base = CASES["solved"]
    held = replace(
        base,
        x=np.array([0.0, 1.0, 0.5, 2.0, 1.0]),
        lower=np.array([0.0, 0.0, 0.0, 2.0, 0.0]),
        upper=np.array([1.0, 1.0, np.inf, 2.0, 1.0]),
        screened=np.array([-1, 1, 0, -1, 0], dtype=np.int8),
        screened_at=np.array([3, 3, -1, 0, -1]),
    )
    places = Places.of(held)
    assert places.at_lower.tolist() == [True, False, False, True, False]
    assert places.at_upper.tolist() == [False, True, False, False, True]
    assert places.inside.tolist() == [False, False, True, False, False]
    found = [(step, low.tolist(), high.tolist()) for step, low, high in proofs(held)]
    assert found == [(0, [3], []), (3, [0], [1])]


def test_ranges():
    assert ranges(np.array([], dtype=int)) == ""
    assert ranges(np.array([4])) == "4"
    assert ranges(np.array([0, 1, 2, 5, 8, 9])) == "0–2, 5, 8–9"


def test_scales_and_ticks():
    log = Scale(-2.0, 2.0, 0.0, 100.0, log=True)
    assert log(np.array([0.01, 1.0, 100.0])).tolist() == [0.0, 50.0, 100.0]
    assert np.isnan(log(np.array([0.0]))[0])
    assert [label for _, label in log.ticks()] == ["1e-2", "1e-1", "1e0", "1e1", "1e2"]
    plain = Scale(0.0, 210.0, 0.0, 1.0)
    assert [label for _, label in plain.ticks()] == ["0", "50", "100", "150", "200"]
    drawn = chart([Line(np.array([0.0]), np.array([np.inf]), "main")], "steps", "gap", log=True)
    assert "never finite" in drawn


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_in_a_browser(result, tmp_path, size, dark):
    path = tmp_path / "page.html"
    result.report(path)
    held, said = dom(path, size, dark)
    assert said == []
    _agrees(held, result)
    # Nothing sticks out sideways; four drawings of the convergence, two of the coordinates.
    assert measured(path, size, dark) == {"width": size[0], "drawn": 6}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_light_and_dark(result, tmp_path, dark):
    from matplotlib.image import imread

    result.report(tmp_path / "page.html")
    assert screenshot(tmp_path / "page.html", tmp_path / "shot.png", LAPTOP, dark) == []
    drawn = imread(tmp_path / "shot.png")[..., :3]
    paper = (drawn[2, 2] * 255).round().astype(int).tolist()
    assert paper == ([0x14, 0x17, 0x1A] if dark else [255, 255, 255])
    assert np.abs(drawn - drawn[2, 2]).max() > 0.7  # ink that can be read on it


def test_the_command_writes_the_same_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    work = bvls_table2(30, m=10)
    np.save("A.npy", work.A)
    np.save("y.npy", work.y)
    run = CommandLine(tmp_path, capsys)
    assert (
        run("solve", "A.npy", "y.npy", "--upper", "1", "-o", "x.npy", "--report", "r.html")[0] == 0
    )
    mine = boxreg.solve(work.A, work.y, 0.0, 1.0).report()
    assert _without_times(Path("r.html").read_text(encoding="utf-8")) == _without_times(mine)


def _without_times(page):
    """Facts and tables with the seconds taken out; drawings against seconds differ too."""
    page = re.sub(r"<figure>.*?</figure>", "", page, flags=re.S)
    page = re.sub(r'<tr><th>time</th>.*?</tr>|"seconds": [0-9.e-]+', "", page)
    return re.sub(r'<td class="number">\d+\.\d{6}</td>', "", page)
