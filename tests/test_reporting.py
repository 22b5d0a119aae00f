"""Results as text, HTML and figures, from the ordinary to the degenerate."""

from __future__ import annotations

import sys
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO
from re import findall
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

import boxreg
from boxreg.history import History
from boxreg.reporting.figure import convergence_figure
from boxreg.reporting.html import result_html
from boxreg.reporting.plain_text import png
from boxreg.reporting.text import duration, result_text
from boxreg.workloads import nnls_table1


def _history(gap: list[float], preserved: list[int]) -> History:
    count = len(gap)
    return History(
        iteration=np.arange(count),
        seconds=np.linspace(0.001, 0.002, count),
        work=np.arange(count, dtype=float),
        objective=np.ones(count),
        gap=np.array(gap),
        preserved=np.array(preserved, dtype=np.intp),
    )


def _solved() -> boxreg.Result:
    work = nnls_table1(40, m=20)
    return boxreg.solve(work.A, work.y, work.lower, work.upper, solver="coordinate_descent")


SOLVED = _solved()
NOTHING = replace(
    SOLVED,
    x=np.zeros(0),
    lower=np.zeros(0),
    upper=np.zeros(0),
    screened=np.zeros(0, dtype=np.int8),
    screened_at=np.zeros(0, dtype=np.intp),
    shape=(20, 0),
    history=_history([0.0], [0]),
)
CASES = {
    "solved": SOLVED,
    "no columns": NOTHING,
    "no checks": replace(SOLVED, history=_history([], [])),
    "single check": replace(SOLVED, history=_history([3.0], [40])),
    "gap never finite": replace(SOLVED, gap=np.inf, history=_history([np.inf] * 2, [40, 40])),
    "gap finite at last": replace(SOLVED, history=_history([np.inf, 2.0, 1.0], [40, 40, 9])),
    "gap is nan": replace(SOLVED, gap=np.nan, history=_history([np.nan], [40])),
    "zero scale": replace(SOLVED, scale=0.0, gap=0.0, target_gap=0.0),
    "zero scale, no gap": replace(SOLVED, scale=0.0, gap=np.inf),
    "no settings": replace(SOLVED, settings={}),
    "failed": replace(SOLVED, status=boxreg.Status.ITERATION_LIMIT, message='<b>&\' "quoted"'),
    "reasons": replace(SOLVED, certificate=replace(SOLVED.certificate, reasons=("x < y & so on",))),
}
each_case = pytest.mark.parametrize("result", CASES.values(), ids=CASES.keys())


@each_case
def test_text_is_aligned_and_complete(result):
    lines = result_text(result).splitlines()
    assert lines[0] == f"boxreg: {result.message}"
    names = [line[2:15].strip() for line in lines[1:]]
    expected = ["problem", "method", "objective", "gap", "screened", "x", "effort", "certificate"]
    assert names[:8] == expected
    assert all(line[15] != " " and line[13:15] == "  " for line in lines[1:])


def test_text_says_what_the_result_holds():
    text = result_text(SOLVED)
    assert text == repr(SOLVED)
    assert "20 × 40, least_squares loss" in text
    assert "coordinate_descent" in text
    assert f"{np.count_nonzero(SOLVED.screened == -1)} at lower, 0 at upper" in text
    assert f"{np.count_nonzero(SOLVED.x)} of 40 non-zero" in text
    assert (
        f"{SOLVED.gap:.2e} ({SOLVED.relative_gap:.2e} of P₀, {SOLVED.gap_over_objective:.2e} of P(x)), "
        f"asked {SOLVED.target_gap:.2e}" in text
    )
    assert "certificate  PROVED: The gap bounds P(x) - P*, rounding errors included." in text


def test_text_admits_what_is_not_proved():
    doubt = replace(SOLVED.certificate, gap=np.inf, rigorous=False)
    assert "certificate  NOT PROVED: " in result_text(replace(SOLVED, certificate=doubt))
    assert "0 (P₀ = 0, 0 of P(x)), asked 0" in result_text(CASES["zero scale"])
    assert "P(x) = 0), asked" in result_text(replace(SOLVED, objective=0.0))
    assert "gap          inf" in result_text(CASES["gap never finite"])
    assert "gap          nan" in result_text(CASES["gap is nan"])


def test_long_messages_are_wrapped_under_their_beginning():
    lines = result_text(replace(SOLVED, message="all is well " * 30)).splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[1].startswith(" " * len("boxreg: ") + "well")


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0, "0 µs"),
        (3.456e-5, "34.6 µs"),
        (0.0009999, "1.00 ms"),
        (0.12345, "123 ms"),
        (0.99951, "1.00 s"),
        (12.345, "12.3 s"),
        (999.7, "1000 s"),
        (4321.0, "4321 s"),
    ],
)
def test_durations_have_three_digits(seconds, shown):
    assert duration(seconds) == shown


class _Balanced(HTMLParser):
    """Checks that every tag is closed in turn, and gathers the text."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_data(self, data):
        self.text += data


@each_case
def test_html_is_well_formed_and_self_contained(result):
    page = result_html(result)
    parser = _Balanced()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    assert result.message in parser.text
    assert findall(r"https?://[^\"]*", page) == ["http://www.w3.org/2000/svg"] * 2
    assert not findall(r"src=|href=|<script", page)
    for drawing in findall(r"<svg.*?</svg>", page):
        tree = ElementTree.fromstring(drawing)
        line = tree.find("{http://www.w3.org/2000/svg}polyline")
        places = [tuple(map(float, pair.split(","))) for pair in line.get("points").split()]
        assert all(0 <= h <= 200 and 0 <= v <= 44 for h, v in places)


def test_html_marks_success_and_draws_each_check():
    assert "✓" in SOLVED._repr_html_()
    assert "✗" in result_html(CASES["failed"])
    curves = findall(r'points="(.*?)"', result_html(CASES["gap finite at last"]))
    assert [len(curve.split()) for curve in curves] == [2, 3]


@each_case
def test_figure_can_be_saved(result):
    buffer = BytesIO()
    convergence_figure({"run": result}).savefig(buffer, dpi=30)
    assert buffer.tell() > 1000


def test_figure_without_results_can_be_saved():
    convergence_figure({}).savefig(BytesIO(), dpi=30)


def test_figure_draws_what_happened():
    results = {"a": SOLVED, "a, no screening": SOLVED, "b": SOLVED}
    figure = convergence_figure(results)
    gap, _, ratio, _ = figure.axes
    a, plain, b = gap.lines[:3]
    assert a.get_color() == plain.get_color() != b.get_color()
    assert (a.get_linestyle(), plain.get_linestyle()) == ("-", "--")
    np.testing.assert_array_equal(a.get_ydata(), SOLVED.history.gap)
    assert gap.lines[3].get_ydata()[0] == SOLVED.target_gap
    assert ratio.lines[0].get_ydata()[-1] == pytest.approx(SOLVED.screening_ratio)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(results)


def test_legend_covers_no_panel():
    figure = convergence_figure({f"run {i}": SOLVED for i in range(8)})
    figure.savefig(BytesIO(), dpi=30)
    legend = figure.legends[0].get_window_extent()
    assert not any(legend.overlaps(panel.get_window_extent()) for panel in figure.axes)


@pytest.mark.parametrize(("factor", "scale"), [(1, "linear"), (100, "log")])
def test_runs_of_very_different_length_share_a_log_scale(factor, scale):
    long = replace(SOLVED.history, seconds=factor * SOLVED.history.seconds)
    figure = convergence_figure({"a": SOLVED, "b": replace(SOLVED, history=long)})
    assert figure.axes[1].get_xscale() == scale


def test_figure_uses_the_axes_it_is_given():
    mine = Figure(layout="constrained")
    assert SOLVED.plot(mine.subplots(2, 2)) is mine
    assert len(mine.axes) == 4
    with pytest.raises(ValueError, match="axes: expected 4"):
        SOLVED.plot(mine.axes[:3])


def test_figure_shows_itself_in_a_notebook_without_pyplot(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    assert SOLVED.plot()._repr_png_().startswith(b"\x89PNG")


def test_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(
        ImportError, match=r"plotting needs matplotlib: pip install 'boxreg\[plot\]'"
    ):
        SOLVED.plot()


@pytest.mark.parametrize("name", ["a$b", "_hidden", r"\frac{", "50 % $x_$", "<b>&", "中\x00", "$"])
def test_labels_are_words_not_formulas(name: str, tmp_path) -> None:
    """A label is drawn as it is, in new figures and in the caller's own; so are names in pages."""
    result = boxreg.solve(np.eye(3, 2) + 1.0, np.ones(3))
    result.settings["solver"] = result.settings["loss"] = name
    for figure in (result.plot(), convergence_figure({name: result}, Figure().subplots(2, 2))):
        legend = (figure.legends or [figure.axes[1].get_legend()])[0]
        (entry,) = legend.get_texts()
        assert entry.get_text().strip("\u200b") == name.replace("\x00", "\ufffd")
        assert png(figure, 50).startswith(b"\x89PNG")
    page = result.report(tmp_path / "page.html")
    assert "<b>" not in page
    assert "<b>" not in result._repr_html_().replace("<b>✓ boxreg</b>", "")
