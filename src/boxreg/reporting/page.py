"""A result as one self-contained HTML page."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..files.json_values import written
from ..version import __version__
from .page_convergence import convergence
from .page_coordinates import coordinates
from .page_parts import facts, plain
from .page_style import STYLE
from .text import duration

if TYPE_CHECKING:
    from ..result import Result


def result_page(result: Result) -> str:
    """What was solved, the certificate, convergence, and the coordinates."""
    sections = (
        _head(result),
        _section("What was solved", _solved(result)),
        _section("Certificate", _certificate(result)),
        _section("Convergence", convergence(result)),
        _section("Coordinates", coordinates(result)),
    )
    m, n = result.shape
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,">'
        f"<title>boxreg: {m} × {n}, gap {result.gap:.2e}</title><style>{STYLE}</style></head>\n"
        f"<body><main>\n{''.join(sections)}"
        f'<p class="quiet">Made by boxreg {escape(__version__)}.</p></main>\n{_data(result)}'
        "</body></html>\n"
    )


def _section(title: str, inner: str) -> str:
    return f"<section><h2>{escape(title)}</h2>\n{inner}</section>\n"


def _head(result: Result) -> str:
    good = result.success and bool(result.certificate)
    if good:
        verdict = "✓ Solved, and proved"
    elif result.success:
        verdict = "✗ Solved, but the gap is not proved"
    else:
        verdict = "✗ Not solved to the gap asked for"
    return (
        f'<h1>boxreg report</h1><p class="verdict {"good" if good else "bad"}">{verdict}</p>'
        f"<p>{escape(result.message)}</p>\n"
    )


def _solved(result: Result) -> str:
    (m, n), told = result.shape, result.settings
    formula = f'<p class="formula">minimise {_objective(told)} subject to l ≤ x ≤ u</p>'
    screening = told.get("screening", "unknown")
    return formula + facts(
        (
            ("A", f"{m} rows × {n} columns"),
            ("loss f", told.get("loss", "unnamed")),
            ("lower bounds l", _spread(result.lower)),
            ("upper bounds u", _spread(result.upper)),
            ("solver", told.get("solver", "unnamed")),
            ("dual points", told.get("dual", "unnamed")),
            ("safe region", told.get("region", "unnamed")),
            ("screening", screening),
            ("effort", f"{result.n_iter} steps, {len(result.history)} checks"),
            ("work", f"{result.work:,.1f} × n products of length m"),
            ("time", duration(result.seconds)),
        )
    )


def _objective(told: dict[str, str]) -> str:
    """The formula, with the terms that were given."""
    given = told.get("terms", "").split(", ")
    weight = "ω<sub>i</sub> " if "sample_weight" in given else ""
    formula = f"Σ<sub>i</sub> {weight}f([Ax]<sub>i</sub>; y<sub>i</sub>)"
    formula += " + cᵀx" if "linear" in given else ""
    return formula + (" + ½‖Γx‖²" if "ridge" in given else "")


def _spread(bounds: Array) -> str:
    """One number for all, or the range and how many are infinite."""
    if not len(bounds):
        return "none"
    low, high = float(np.min(bounds)), float(np.max(bounds))
    if low == high:
        return f"{plain(low)} for every coordinate"
    free = int(np.count_nonzero(np.isinf(bounds)))
    finite = bounds[np.isfinite(bounds)]
    said = f"{plain(float(np.min(finite)))} to {plain(float(np.max(finite)))}"
    return f"{said}; {free} infinite" if free else said


def _certificate(result: Result) -> str:
    proof = result.certificate
    relative = plain(result.relative_gap) if result.scale > 0 else "P₀ = 0"
    of_answer = plain(result.gap_over_objective) if result.objective else "P(x) = 0"
    rows = [
        ("verdict", f"{proof.verdict.label}: {proof.verdict.value}"),
        ("gap: P(x) − P* is at most", plain(result.gap)),
        ("of P₀", relative),
        ("of P(x)", of_answer),
        ("gap asked for", plain(result.target_gap)),
        ("objective P(x)", plain(result.objective)),
        ("dual objective D(θ)", plain(result.dual_objective)),
        ("of the gap, allowance for rounding", plain(proof.rounding)),
        ("x within its bounds", "yes, exactly" if proof.primal_feasible else "no"),
        ("θ feasible", "yes" if proof.dual_feasible else "no"),
        *(("reason", reason) for reason in proof.reasons),
    ]
    return facts(rows)


def _data(result: Result) -> str:
    """The figures again, for programs; `<` is escaped so that no text can end the element."""
    held = {
        "shape": list(result.shape),
        "status": result.status.name,
        "verdict": result.certificate.verdict.name,
        "message": result.message,
        "settings": result.settings,
        **{
            name: written(getattr(result, name))
            for name in ("gap", "target_gap", "scale", "objective", "dual_objective", "seconds")
        },
        "n_iter": result.n_iter,
        "work": result.work,
    }
    text = json.dumps(held, ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="boxreg-result">{text}</script>\n'
