"""A result as text."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..result import Result

_WIDTH = 100


def result_text(result: Result) -> str:
    """The result as an aligned block of lines: how it ended, then one fact a line."""
    return block(result.message, result_rows(result))


def block(message: str, rows: list[tuple[str, str]]) -> str:
    """A message, and pairs of a name and a sentence, aligned."""
    width = max(len(name) for name, _ in rows)
    lines = [_wrapped("boxreg: ", message)]
    lines += [_wrapped(f"  {name:<{width}}  ", said) for name, said in rows]
    return "\n".join(lines)


def result_rows(result: Result) -> list[tuple[str, str]]:
    """What there is to say about a result, as pairs of a name and a sentence."""
    (m, n), told, proof = result.shape, result.settings, result.certificate
    return [
        ("problem", f"{m} × {n}, {told.get('loss', 'unnamed')} loss"),
        ("method", _method(told)),
        # Adding 0 turns -0 into 0.
        ("objective", f"{result.objective + 0.0:.10g}, dual {result.dual_objective + 0.0:.10g}"),
        ("gap", _gap(result)),
        ("screened", _screened(result)),
        ("x", f"{np.count_nonzero(result.x)} of {n} non-zero"),
        (
            "effort",
            f"{count(result.n_iter, 'step')}, {count(len(result.history), 'check')}, "
            f"work {result.work:,.1f}, {duration(result.seconds)}",
        ),
        ("certificate", f"{proof.verdict.label}: {proof.verdict.value}"),
        *(("", reason) for reason in proof.reasons),
    ]


def duration(seconds: float) -> str:
    """Three digits and the unit that suits them."""
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        # The bound is where rounding to three digits reaches 1 of this unit.
        if seconds * factor >= 0.9995:
            return f"{_three_digits(seconds * factor)} {unit}"
    return f"{_three_digits(seconds * 1e6)} µs"


def _wrapped(head: str, said: str) -> str:
    return fill(head + said, _WIDTH, subsequent_indent=" " * len(head), break_on_hyphens=False)


def _three_digits(value: float) -> str:
    return f"{value:#.3g}".rstrip(".") if 0.0 < value < 999.5 else f"{value:.0f}"


def _method(settings: dict[str, str]) -> str:
    named = (
        f"{part} {settings[part]}" for part in ("dual", "region", "screening") if part in settings
    )
    return ", ".join((settings.get("solver", "unnamed solver"), *named))


def _gap(result: Result) -> str:
    of_start = f"{_small(result.relative_gap)} of P₀" if result.scale > 0 else "P₀ = 0"
    of_answer = f"{_small(result.gap_over_objective)} of P(x)" if result.objective else "P(x) = 0"
    return f"{_small(result.gap)} ({of_start}, {of_answer}), asked {_small(result.target_gap)}"


def _small(value: float) -> str:
    return f"{value:.2e}" if value else "0"


def count(number: int, thing: str) -> str:
    """A number and what it counts."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _screened(result: Result) -> str:
    low, high = (int(np.count_nonzero(result.screened == side)) for side in (-1, 1))
    left = len(result.screened) - low - high
    share = f"{100.0 * result.screening_ratio:.1f} %"
    return f"{share}: {low} at lower, {high} at upper, {left} open"
