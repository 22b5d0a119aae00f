"""An unmixing as one self-contained HTML page."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from html import escape
from typing import Any

from ..reporting.page_parts import details, facts, figure, table
from ..reporting.page_style import STYLE
from ..reporting.text import duration

_SHOWN = 20


def summary_page(summary: Mapping[str, Any], pictures: Mapping[str, bytes]) -> str:
    """The figures of `summary_of`, and PNG pictures by their captions."""
    good = summary["proved"] == summary["solved"]
    every = "pixel" if summary["solved"] == summary["pixels"] else "finite pixel"
    verdict = f"✓ Every {every} solved, and proved" if good else "✗ Not every pixel is proved"
    drawn = "".join(_picture(caption, held) for caption, held in pictures.items())
    materials = summary["largest_means"]
    more = details("The others", _table(materials[_SHOWN:])) if len(materials) > _SHOWN else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,">'
        f"<title>boxreg unmix: {escape(summary['scene'])}</title>"
        f"<style>{STYLE}figure img {{ display: block; width: 100%; height: auto; }}"
        "figure { margin: 1rem 0; }</style></head>\n<body><main>\n"
        f'<h1>{escape(summary["scene"])}</h1><p class="verdict {"good" if good else "bad"}">{verdict}'
        f"</p>\n{facts(_facts(summary))}{drawn}"
        f"<section><h2>Materials, by their means</h2>\n{_table(materials[:_SHOWN])}\n{more}</section>"
        f'<p class="quiet">Coefficients of spectra; they sum to one only if the data say so. Made by '
        f"boxreg {escape(summary['boxreg'])}.</p></main></body></html>\n"
    )


def _facts(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    gap, residual = summary["worst_relative_gap"], summary["residual_median"]
    rows = [
        ("image", f"{summary['height']} × {summary['width']} pixels, {summary['bands']} bands"),
        ("library", f"{summary['spectra']} spectra of {summary['materials']} materials"),
        ("bounds", summary["bounds"]),
        ("pixels solved", f"{summary['solved']:,} of {summary['pixels']:,}"),
        ("proved to the gap asked for", f"{summary['proved']:,}, {summary['tol']:g} of P₀"),
        ("time", f"{duration(summary['seconds'])}, {summary['method']}"),
    ]
    if residual is not None:
        rows[5:5] = [
            ("largest gap", f"{gap:.2e} of P₀"),
            ("spectra in a pixel, median", f"{summary['spectra_in_a_pixel_median']:g}"),
            ("relative residual, median", f"{100.0 * residual:.3g} %"),
            ("relative residual, largest", f"{100.0 * summary['residual_largest']:.3g} %"),
        ]
    return rows


def _picture(caption: str, held: bytes) -> str:
    source = b64encode(held).decode()
    drawn = f'<img alt="{escape(caption)}" src="data:image/png;base64,{source}">'
    return figure(drawn, escape(caption)) + "\n"


def _table(materials: list[dict[str, Any]]) -> str:
    rows = [
        (
            f"{held['mean'] or 0.0:.4f}",
            f"{held['largest'] or 0.0:.4f}",
            f"{100.0 * (held['share_of_pixels'] or 0.0):.0f} %",
            held["spectra"],
            held["name"],
        )
        for held in materials
    ]
    return table(("mean", "largest", "pixels with it", "spectra", "material"), rows, words=1)
