"""The reproduction, at tiny sizes."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import boxreg
from boxreg.reproduce import EXPERIMENTS, command, data, run, running
from boxreg.reproduce.case import Case
from boxreg.reproduce.measure import GAP, Policy, measured
from boxreg.reproduce.off_the_clock import OffTheClock
from boxreg.reproduce.paper_solvers import PaperDescent, PaperGradient
from boxreg.reproduce.progress import Bar
from boxreg.reproduce.section import written
from boxreg.reproduce.store import Cell, Store
from boxreg.reproduce.ways import baseline, four, paper, support_only
from boxreg.workloads import bvls_table2, nnls_table1
from reproducing import TINY, forget, without_data

NAMES = list(EXPERIMENTS)


@pytest.fixture
def stand_ins(monkeypatch):
    without_data(monkeypatch)
    yield
    monkeypatch.undo()
    forget()


@pytest.fixture
def undrawn(monkeypatch):
    """Figures are left out: they take longer than the rest."""
    monkeypatch.setattr(running, "_images", lambda sections, folder: {})


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Everything, measured once: the folder, the outcome and the results."""
    patch = pytest.MonkeyPatch()
    without_data(patch)
    out = tmp_path_factory.mktemp("whole")
    outcome = run(NAMES, TINY, out)
    yield out, outcome, json.loads((out / "tiny" / "results.json").read_text())
    patch.undo()
    forget()


def test_every_experiment_runs_and_every_answer_is_verified(whole):
    out, outcome, results = whole
    assert outcome.code == 0
    assert not outcome.failures
    assert outcome.missing == 0
    assert list(results["experiments"]) == NAMES
    for held in results["experiments"].values():
        assert held["tables"]
        assert all(table["rows"] for table in held["tables"])
        assert all(c["measured"].get("verified", True) for c in held["cells"].values())
    for kind in ("png", "svg"):
        names = {path.stem for path in (out / "tiny" / "figures").glob(f"*.{kind}")}
        assert names == set(NAMES)


def test_the_environment_is_recorded(whole):
    where = whole[2]["environment"]
    assert where["boxreg"] == boxreg.__version__
    assert {"cpu", "numpy", "scipy", "numba", "threads", "date", "source"} <= set(where)


def test_stand_ins_say_so_in_the_title(whole):
    titles = {name: held["title"] for name, held in whole[2]["experiments"].items()}
    marked = {name for name, title in titles.items() if data.STAND_IN in title}
    assert marked == {"figure2", "figure4", "figure5", "kullback_leibler", "abundance"}


def test_a_second_run_measures_nothing(whole, stand_ins, undrawn):
    out, outcome, results = whole
    again = run(NAMES, TINY, out)
    assert again.measured == 0
    assert again.recalled == outcome.measured
    after = json.loads((out / "tiny" / "results.json").read_text())
    assert after["experiments"] == results["experiments"]


def test_what_was_measured_before_stays_on_the_page(whole, stand_ins, undrawn):
    out = whole[0]
    assert run(["figure1"], TINY, out).measured == 0
    held = json.loads((out / "tiny" / "results.json").read_text())
    assert list(held["experiments"]) == NAMES


def test_an_interrupted_run_goes_on_and_loses_nothing(tmp_path, monkeypatch, undrawn):
    genuine, taken = running.Store.keep, []

    def interrupted(self, cell, found):
        if len(taken) == 5:
            raise KeyboardInterrupt
        taken.append(cell.key)
        genuine(self, cell, found)

    with monkeypatch.context() as patched:
        patched.setattr(running.Store, "keep", interrupted)
        first = run(["figure1"], TINY, tmp_path)
    assert first.code == 130
    assert first.measured == 5
    page = first.page.read_text()
    assert f"{first.missing} measurements are still missing" in page
    second = run(["figure1"], TINY, tmp_path)
    assert second.code == 0
    assert second.recalled == 5
    assert second.measured == first.missing
    assert "still missing" not in second.page.read_text()


def test_a_cell_that_fails_does_not_stop_the_others(tmp_path, monkeypatch, undrawn):
    genuine = running.EXPERIMENTS["figure1"].cells

    def broken() -> dict:
        raise RuntimeError("no such thing")

    def with_a_failure(scale):
        first, *rest = genuine(scale)
        return [replace(first, measure=broken), *rest]

    monkeypatch.setattr(running.EXPERIMENTS["figure1"], "cells", with_a_failure)
    outcome = run(["figure1"], TINY, tmp_path)
    assert outcome.code == 1
    assert list(outcome.failures.values()) == ["RuntimeError: no such thing"]
    assert outcome.missing == 1
    results = json.loads((tmp_path / "tiny" / "results.json").read_text())
    assert results["failures"] == outcome.failures


def test_a_wrong_answer_is_told(tmp_path, monkeypatch, undrawn):
    monkeypatch.setattr(
        "boxreg.reproduce.measure.verify", lambda *a, **k: boxreg.verify(*a, **{**k, "gap": 0.0})
    )
    outcome = run(["figure1"], replace(TINY, boxes=(1.0,)), tmp_path)
    assert outcome.code == 1
    assert outcome.unverified
    assert "NOT verified" in outcome.page.read_text()


class TestStore:
    cell = Cell("one", {"n": 3}, dict)

    def stored(self, folder, **fingerprint):
        return Store(folder, {"cpu": "any", **fingerprint})

    def test_returns_what_was_kept(self, tmp_path):
        self.stored(tmp_path).keep(self.cell, {"seconds": 1.5, "gap": np.inf})
        again = self.stored(tmp_path)
        assert again.recall(self.cell)
        assert again["one"] == {"seconds": 1.5, "gap": None}
        assert not list(tmp_path.glob("*.part"))

    @pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"settings": {"n": 3}}', "\x00"])
    def test_half_a_file_is_measured_again(self, tmp_path, content):
        (tmp_path / "one.json").write_text(content)
        assert not self.stored(tmp_path).recall(self.cell)

    def test_other_settings_or_another_machine_are_measured_again(self, tmp_path):
        self.stored(tmp_path).keep(self.cell, {})
        assert not self.stored(tmp_path).recall(replace(self.cell, settings={"n": 4}))
        assert not self.stored(tmp_path, cpu="another").recall(self.cell)
        assert not self.stored(tmp_path, source="other").recall(self.cell)


@pytest.mark.parametrize("table", ["table1", "table2"])
def test_ours_takes_no_more_work_than_the_papers_method(whole, table):
    """As coded, at every size, for every algorithm; nor does the default solver where it has to."""
    for held in whole[2]["experiments"][table]["tables"][:2]:
        rows = held["rows"]
        for start in [i for i, row in enumerate(rows) if row["method"] == "baseline"]:
            block = {row["method"]: row for row in rows[start:] if row["n"] == rows[start]["n"]}
            assert block["ours"]["work"] <= block["paper's screening"]["work"]
            assert block["paper's screening"]["less_work"] >= 1.0


def _work_ratio(case: Case, solver: str) -> float:
    first, second = (
        measured(case, way, Policy(30.0, 1)) for way in (baseline(solver), paper(solver))
    )
    return first["work"] / second["work"]


def test_speedup_grows_with_size():
    """By work, as coded, the paper's screening and coordinate descent."""
    small, large = (
        _work_ratio(Case.of(nnls_table1(n, m=200)), "coordinate_descent") for n in (100, 600)
    )
    assert large > small > 1.0


@pytest.mark.parametrize(
    ("solver", "paper_says"), [("projected_gradient", 5.49), ("chambolle_pock", 3.41)]
)
def test_speedup_reaches_what_the_paper_says_of_its_smallest_size(solver, paper_says):
    """By work, as coded."""
    for n in (100, 400):
        assert _work_ratio(Case.of(bvls_table2(n, m=200)), solver) > 0.8 * paper_says


def test_screening_pays_more_where_more_is_saturated(whole):
    rows = whole[2]["experiments"]["figure1"]["tables"][0]["rows"]
    screened = [row for row in rows if row["method"] == "paper's screening"]
    saturation = [row["saturation"] for row in screened]
    assert saturation == sorted(saturation, reverse=True)
    assert screened[0]["less_work"] > screened[-1]["less_work"]


def test_no_box_takes_more_work_with_our_checks(whole):
    rows = whole[2]["experiments"]["figure1"]["tables"][0]["rows"]
    ours = [row["less_work"] for row in rows if row["method"].startswith("same steps")]
    assert len(ours) == len(TINY.boxes)
    assert min(ours) >= 0.95


def test_the_oracle_screens_sooner(whole):
    for held in whole[2]["experiments"]["figure3"]["tables"]:
        work = {row["method"]: row["work"] for row in held["rows"]}
        assert work["oracle dual point"] < work["paper's screening"]


def test_checks_come_every_ten_iterations():
    held = nnls_table1(60, m=80)
    result = boxreg.solve(
        held.A, held.y, solver=PaperDescent(), dual="translation", region="gap_sphere", atol=GAP
    )
    assert result.success
    assert set(np.diff(result.history.iteration)) == {10}


@pytest.mark.parametrize(
    "solver", ["coordinate_descent", "active_set", "projected_gradient", "chambolle_pock"]
)
def test_screening_takes_no_more_iterations(solver):
    draw = nnls_table1 if solver in ("coordinate_descent", "active_set") else bvls_table2
    case = Case.of(draw(80, m=60))
    plain = support_only() if solver == "active_set" else baseline(solver)
    found = [measured(case, way, Policy(30.0, 1)) for way in (plain, paper(solver))]
    assert found[0]["iterations"] >= found[1]["iterations"]
    assert found[0]["objective"] == pytest.approx(found[1]["objective"], abs=2 * GAP)
    assert found[1]["screened"] > 0.5


@pytest.mark.parametrize("solver", ["coordinate_descent", "projected_gradient"])
def test_all_ways_agree(solver):
    draw = nnls_table1 if solver == "coordinate_descent" else bvls_table2
    case = Case.of(draw(50, m=40))
    values = [measured(case, way, Policy(30.0, 1))["objective"] for way in four(solver)]
    assert np.ptp(values) <= 2 * GAP


def test_a_baseline_is_not_charged_for_its_checks():
    held = bvls_table2(30, m=40)
    case = Case.of(held)
    make = PaperGradient(1.0 / case.squared_norm)
    options = {"screening": False, "dual": "residual", "tol": 0.0, "atol": GAP}
    plain = boxreg.solve(*case.data, solver=make, **options)
    clock = OffTheClock(make)
    timed = boxreg.solve(*case.data, solver=clock, **options)
    assert np.array_equal(plain.x, timed.x)
    assert len(clock.trail) == len(timed.history)
    _, work = clock.trail[-1]
    # The survey, which knows the first gradient, and two products a step: no checks.
    assert work == pytest.approx(3.0 - 1.0 + 2.0 * timed.n_iter)
    assert work < timed.work


def test_a_run_is_cut_off_and_says_so():
    case = Case.of(bvls_table2(60, m=40, variant="printed"))
    found = measured(case, baseline("projected_gradient"), Policy(cap=1e-9))
    assert found["capped"]
    assert found["status"] == "stopped_by_callback"
    assert found["verified"]


def test_the_squared_norm():
    case = Case.of(bvls_table2(20, m=30))
    assert case.squared_norm == pytest.approx(np.linalg.norm(case.A, 2) ** 2, rel=1e-9)


@pytest.mark.parametrize(
    ("value", "kind", "mark", "said"),
    [
        (None, "seconds", "", "–"),
        (0.01234, "seconds", "", "0.0123"),
        (300.0, "seconds", ">", "> 300"),
        (1234.5, "work", "", "1,234"),
        (3.456, "ratio", "≥", "≥ 3.46 ×"),
        (123.45, "ratio", "", "123.5 ×"),
        (0.954, "share", "", "95.4 %"),
        (1e-6, "gap", "", "1.0e-06"),
        (2000, "count", "", "2,000"),
    ],
)
def test_how_values_are_written(value, kind, mark, said):
    assert written(value, kind, mark) == said


def test_the_bar_estimates_what_is_left(monkeypatch):
    clock = iter([0.0, 30.0])
    monkeypatch.setattr("boxreg.reproduce.progress.monotonic", lambda: next(clock))
    bar = Bar(expected=40.0)
    bar.advance(10.0)  # took 30 s where 10 were expected: three times as long for the other 30
    line = bar._line(40.0)
    assert "25 %" in line
    assert "0:40, about 1:20 left" in line


def test_the_bar_lives_on_a_terminal_and_leaves_no_trace(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    bar = Bar(expected=2.0)
    bar.show("first")
    bar.clear()
    assert "first" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")
    assert not bar._ticker.is_alive()


class TestCommand:
    def test_an_unknown_name_is_one_line(self, capsys):
        with pytest.raises(SystemExit) as stop:
            command.main(["figure9"])
        assert stop.value.code == 2
        assert "unknown 'figure9'; accepted: all, table1" in capsys.readouterr().err

    @pytest.mark.parametrize("cap", ["0", "-1", "nan", "inf", "x"])
    def test_a_bad_cap_is_refused(self, cap, capsys):
        with pytest.raises(SystemExit) as stop:
            command.main(["--cap", cap])
        assert stop.value.code == 2
        assert "--cap" in capsys.readouterr().err

    def test_help_shows_examples(self):
        said = subprocess.run(
            [sys.executable, "-m", "boxreg.reproduce", "--help"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert "boxreg reproduce --quick" in said
        assert "BOXREG_DATA" in said

    def test_runs_in_a_process_with_one_thread(self, tmp_path, monkeypatch):
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
        seen = {}

        class Child:
            def __init__(self, command, env):
                seen.update(command=command, env=env)

            def __enter__(self):
                return self

            def __exit__(self, *error):
                return None

            def wait(self):
                return 7

        monkeypatch.setattr(command.subprocess, "Popen", Child)
        assert command.main(["table1", "--out", str(tmp_path)]) == 7
        assert seen["command"][1:] == ["-m", "boxreg.reproduce", "table1", "--out", str(tmp_path)]
        assert seen["env"]["OPENBLAS_NUM_THREADS"] == "1"

    def test_tells_how_it_went(self, tmp_path, monkeypatch, capsys, stand_ins, undrawn):
        for name in command.one_thread():
            if name.endswith("_NUM_THREADS") or name == "VECLIB_MAXIMUM_THREADS":
                monkeypatch.setenv(name, "1")
        monkeypatch.setitem(command.SCALES, "quick", replace(TINY, boxes=(1.0,)))
        assert command.main(["figure1", "--out", str(tmp_path)]) == 0
        said = capsys.readouterr()
        assert said.err == ""
        assert said.out.startswith("5 measurements in ")
        assert str(tmp_path / "tiny" / "index.html") in said.out

    def test_an_unwritable_folder_is_one_line(self, tmp_path, monkeypatch, capsys):
        for name in command.one_thread():
            if name.endswith("_NUM_THREADS") or name == "VECLIB_MAXIMUM_THREADS":
                monkeypatch.setenv(name, "1")
        monkeypatch.setitem(command.SCALES, "quick", replace(TINY, boxes=(1.0,)))
        (tmp_path / "file").write_text("")
        assert command.main(["figure1", "--out", str(tmp_path / "file")]) == 2
        assert capsys.readouterr().err.startswith("boxreg reproduce: cannot write: ")
