"""The public contract: what `solve`, `nnls` and `verify` promise."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.sparse.linalg import aslinearoperator

import boxreg
from boxreg import Status
from boxreg.workloads import bvls_figure1, bvls_table2, nnls_table1
from judging import SOLVERS

WORKLOAD = nnls_table1(80, m=60)
A, Y = WORKLOAD.A, WORKLOAD.y


@pytest.mark.parametrize("solver", SOLVERS)
def test_matches_scipy(solver: str) -> None:
    """NNLS and BVLS against SciPy."""
    x, rnorm = optimize.nnls(A, Y)
    result = boxreg.solve(A, Y, solver=solver, tol=1e-12)
    assert result.objective == pytest.approx(0.5 * rnorm**2, rel=1e-11)
    np.testing.assert_allclose(result.x, x, atol=1e-4)
    box = bvls_table2(40, m=60)
    theirs = optimize.lsq_linear(box.A, box.y, (0.0, 1.0), method="bvls", tol=1e-14)
    result = boxreg.solve(box.A, box.y, 0.0, 1.0, solver=solver, tol=1e-12)
    assert result.objective == pytest.approx(theirs.cost, rel=1e-11)


@pytest.mark.parametrize("solver", SOLVERS)
def test_stops_at_the_gap_asked_for(solver: str) -> None:
    """tol is relative to P₀, atol absolute; the target is the larger of both and is in the result."""
    for tol, atol in ((1e-3, 0.0), (1e-6, 0.0), (0.0, 1e-2), (1e-6, 1e-2)):
        result = boxreg.solve(A, Y, solver=solver, tol=tol, atol=atol)
        assert result.target_gap == pytest.approx(max(tol * 0.5 * Y @ Y, atol))
        assert result.gap <= result.target_gap
        assert result.success
        assert result.status is Status.CONVERGED


def test_tolerance_is_scale_free() -> None:
    """Scaling the data by a power of two changes nothing but the scale."""
    plain = boxreg.solve(A, Y, solver="coordinate_descent")
    scaled = boxreg.solve(A * 2.0**30, Y * 2.0**-40, solver="coordinate_descent")
    assert scaled.n_iter == plain.n_iter
    np.testing.assert_array_equal(scaled.x, plain.x * 2.0**-70)


@pytest.mark.parametrize("solver", SOLVERS)
def test_out_of_budget_is_a_status_and_a_warning(solver: str) -> None:
    """The best point so far, its gap, and a warning that says both figures."""
    hard = nnls_table1(300, m=200, variant="printed")
    with pytest.warns(boxreg.ConvergenceWarning, match=r"iteration limit .* asked for"):
        result = boxreg.solve(hard.A, hard.y, solver=solver, max_iter=1)
    assert result.status is Status.ITERATION_LIMIT
    assert not result.success
    assert np.isfinite(result.gap)
    assert result.gap > result.target_gap
    assert result.certificate
    assert result.n_iter == 1


def test_zero_iterations() -> None:
    """max_iter = 0 certifies the starting point."""
    with pytest.warns(boxreg.ConvergenceWarning):
        result = boxreg.solve(A, Y, max_iter=0)
    assert result.n_iter == 0
    assert not result.x.any()


def test_best_point_is_returned_when_the_last_is_worse() -> None:
    """Chambolle–Pock is not monotone: out of budget, the best checked point comes back."""
    box = bvls_figure1(0.5, m=80, n=60)
    with pytest.warns(boxreg.ConvergenceWarning):
        result = boxreg.solve(
            box.A,
            box.y,
            box.lower,
            box.upper,
            solver="chambolle_pock",
            tol=0.0,
            max_iter=25,
            screening=False,
        )
    assert result.objective == pytest.approx(result.history.objective.min(), rel=1e-13)


@pytest.mark.parametrize("solver", SOLVERS)
def test_same_input_same_output(solver: str) -> None:
    """Deterministic, and independent of the memory order of A up to rounding."""
    first = boxreg.solve(A, Y, solver=solver)
    second = boxreg.solve(A, Y, solver=solver)
    np.testing.assert_array_equal(first.x, second.x)
    assert first.work == second.work
    other = boxreg.solve(np.ascontiguousarray(A), Y, solver=solver)
    np.testing.assert_allclose(other.x, first.x, atol=1e-8)


def test_coordinate_descent_reads_contiguous_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A C-ordered A is copied once into column order, and only by the solver that reads columns."""
    from boxreg.designs import DenseDesign

    seen = []
    epochs = DenseDesign.least_squares_epochs

    def watched(self, *arguments):
        seen.append(self.array.flags.f_contiguous)
        return epochs(self, *arguments)

    monkeypatch.setattr(DenseDesign, "least_squares_epochs", watched)
    boxreg.solve(np.ascontiguousarray(A), Y, solver="coordinate_descent")
    assert seen
    assert all(seen)
    monkeypatch.setattr(DenseDesign, "column_major", lambda self: pytest.fail("copied"))
    boxreg.solve(np.ascontiguousarray(A), Y, solver="projected_gradient", tol=1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["dense", "csr", "csc"])
def test_the_caller_s_arrays_are_not_changed(solver: str, kind: str) -> None:
    """Read-only input works, and writable input keeps its values."""
    dense = A.copy()
    given = dense if kind == "dense" else sparse.csr_array(dense).asformat(kind)
    y, lower, upper, x0 = Y.copy(), np.zeros(80), np.full(80, 2.0), np.full(80, 0.5)
    before = [np.array(v, copy=True) for v in (dense, y, lower, upper, x0)]
    data = given.data.copy() if kind != "dense" else None
    boxreg.solve(given, y, lower, upper, solver=solver, x0=x0)
    for array, copy in zip((dense, y, lower, upper, x0), before, strict=True):
        np.testing.assert_array_equal(array, copy)
    if data is not None:
        np.testing.assert_array_equal(given.data, data)
    for array in (dense, y, lower, upper, x0):
        array.setflags(write=False)
    boxreg.solve(dense, y, lower, upper, solver=solver, x0=x0)


@pytest.mark.parametrize("solver", SOLVERS)
def test_warm_start(solver: str) -> None:
    """Starting at the solution takes no more work than starting at 0, and x0 is projected."""
    cold = boxreg.solve(A, Y, solver=solver)
    warm = boxreg.solve(A, Y, solver=solver, x0=cold.x)
    assert warm.success
    assert warm.n_iter <= cold.n_iter
    assert boxreg.solve(A, Y, solver=solver, x0=np.full(80, -5.0)).success


def test_callback_sees_and_stops() -> None:
    """It gets a snapshot at each check and its true return value stops the run."""
    seen: list[boxreg.Snapshot] = []

    def stop_late(snapshot: boxreg.Snapshot) -> bool:
        seen.append(snapshot)
        return snapshot.iteration >= 10

    result = boxreg.solve(A, Y, solver="projected_gradient", callback=stop_late)
    assert result.status is Status.STOPPED_BY_CALLBACK
    assert [s.iteration for s in seen] == list(result.history.iteration)
    assert seen[-1].n == 80
    assert result.certificate


@pytest.mark.parametrize("solver", SOLVERS)
def test_history_tells_the_run(solver: str) -> None:
    """One entry a check; preserved columns never come back, time and work only grow."""
    result = boxreg.solve(A, Y, solver=solver)
    history = result.history
    assert len(history) == len(history.gap) == len(history.preserved)
    assert np.all(np.diff(history.preserved) <= 0)
    assert np.all(np.diff(history.seconds) >= 0)
    assert np.all(np.diff(history.work) > 0)
    assert history.work[-1] <= result.work
    proved = result.screened != 0
    assert np.all(result.screened_at[proved] >= 0)
    assert np.all(result.screened_at[~proved] == -1)


def test_edge_shapes() -> None:
    """n = 0, m = 0, everything fixed, one entry."""
    nothing = boxreg.solve(np.zeros((3, 0)), np.ones(3))
    assert nothing.success
    assert nothing.objective == 1.5
    assert nothing.x.shape == (0,)
    rowless = boxreg.solve(np.zeros((0, 3)), np.zeros(0), -1.0, 2.0)
    assert rowless.success
    np.testing.assert_array_equal(rowless.x, 0.0)
    fixed = boxreg.solve(A, Y, 0.3, 0.3)
    assert fixed.success
    np.testing.assert_array_equal(fixed.x, 0.3)
    zero_column = boxreg.solve(np.array([[1.0, 0.0]]), [2.0], [0.0, 1.0], [np.inf, 3.0])
    np.testing.assert_array_equal(zero_column.x, [2.0, 1.0])


@pytest.mark.parametrize("solver", ["projected_gradient", "chambolle_pock"])
def test_operators(solver: str) -> None:
    """Solvers that need only products take operators; the certificate says what it rests on."""
    design = boxreg.operator(aslinearoperator(A), column_norms=np.linalg.norm(A, axis=0))
    result = boxreg.solve(design, Y, solver=solver, tol=1e-6)
    dense = boxreg.solve(A, Y, solver=solver, tol=1e-6)
    assert result.objective == pytest.approx(dense.objective, rel=1e-5)
    assert result.success
    assert not result.certificate.rigorous
    assert any("operator" in remark for remark in result.certificate.reasons)
    with pytest.warns(boxreg.PerformanceWarning, match="column norms"):
        assert boxreg.solve(aslinearoperator(A), Y, tol=1e-4).success


@pytest.mark.parametrize("solver", SOLVERS)
def test_float32(solver: str) -> None:
    """float32 data are solved as the float64 numbers they are, to the same gap."""
    narrow = A.astype(np.float32)
    result = boxreg.solve(narrow, Y.astype(np.float32), solver=solver, tol=1e-9)
    wide = boxreg.solve(narrow.astype(float), Y.astype(np.float32), solver=solver, tol=1e-9)
    assert result.success
    assert result.x.dtype == np.float64
    assert result.objective == pytest.approx(wide.objective, rel=1e-8)
    assert result.certificate.rigorous


def test_integers_lists_and_scalars() -> None:
    """Whatever numpy reads as numbers is taken."""
    result = boxreg.solve([[1, 0], [0, 2]], [3, 4], 0, [1, 5])
    np.testing.assert_allclose(result.x, [1.0, 2.0])


def test_nnls_like_scipy() -> None:
    """Signature, meaning and accuracy of scipy.optimize.nnls."""
    x, rnorm = boxreg.nnls(A, Y)
    theirs, their_norm = optimize.nnls(A, Y)
    np.testing.assert_allclose(x, theirs, atol=1e-12)
    assert rnorm == pytest.approx(their_norm, rel=1e-14)
    assert isinstance(rnorm, float)
    relaxed, _ = boxreg.nnls(A, Y, atol=1e3)
    assert not relaxed.any()
    sparse_x, _ = boxreg.nnls(sparse.csr_array(A), Y)
    np.testing.assert_allclose(sparse_x, theirs, atol=1e-10)


def test_instances_in_place_of_names() -> None:
    """A solver, a region, a dual update and a loss may be given as instances."""
    from boxreg.dual_updates import Translation
    from boxreg.losses import LeastSquares
    from boxreg.safe_regions import GapSphere
    from boxreg.solvers import ChambollePock

    result = boxreg.solve(
        A,
        Y,
        0.0,
        1.0,
        loss=LeastSquares(),
        solver=ChambollePock(sigma=0.1),
        dual=Translation(),
        region=GapSphere(),
        tol=1e-6,
    )
    assert result.success
    assert result.settings["solver"] == "chambolle_pock"


def test_importing_is_light() -> None:
    """Importing boxreg loads neither numba nor matplotlib."""
    code = "import sys, boxreg; assert not {'numba', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_verbose_is_quiet_in_a_pipe(capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing is printed when standard error is no terminal."""
    boxreg.solve(A, Y, verbose=1)
    assert capfd.readouterr() == ("", "")


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    """On a terminal the line shows gap and columns, and is wiped at the end."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    boxreg.solve(A, Y, solver="projected_gradient", verbose=1)
    shown = capfd.readouterr().err
    assert "gap" in shown
    assert "columns 80/80" in shown
    assert shown.endswith("\r\x1b[K")
