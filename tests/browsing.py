"""Pages in a real browser, without a window: Chromium, where it is."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import escape
from pathlib import Path

import pytest

PHONE, LAPTOP = (390, 844), (1280, 800)
_CALL = (
    *(
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--enable-logging=stderr",
    ),
    *("--disable-background-networking", "--disable-component-update", "--no-first-run"),
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
_DARK = ("--force-dark-mode", "--blink-settings=preferredColorScheme=0")


def _browser() -> str:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if found is None:
        pytest.skip("no chromium here: pages are not looked at in a browser")
    return found


def _run(page: Path, size: tuple[int, int], dark: bool, *task: str) -> tuple[str, list[str]]:
    call = [_browser(), *_CALL, *(_DARK if dark else ()), f"--window-size={size[0]},{size[1]}"]
    profile = page.parent / f"profile-{page.stem}"
    call += [f"--user-data-dir={profile}", *task, page.as_uri()]
    done = subprocess.run(call, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout, re.findall(r"CONSOLE.*", done.stderr)


def dom(page: Path, size: tuple[int, int] = LAPTOP, dark: bool = False) -> tuple[str, list[str]]:
    """The page as the browser holds it, and what it said on the console."""
    return _run(page, size, dark, "--dump-dom")


_MEASURE = """<script>addEventListener("load", () => {
const inner = document.querySelector("iframe").contentDocument, said = document.body.dataset;
said.width = inner.documentElement.scrollWidth;
said.drawn = [...inner.querySelectorAll("svg, img")].filter(
  held => held.getBoundingClientRect().height > 100).length; })</script>"""


def measured(page: Path, size: tuple[int, int], dark: bool) -> dict[str, int]:
    """How wide the page is in a frame of this size (a window has a least width), unfolded, and how
    many of its drawings can be seen."""
    frame = page.with_name(f"frame-{page.name}")
    held = escape(page.read_text(encoding="utf-8").replace("<details>", "<details open>"))
    box = f'width="{size[0]}" height="{size[1]}" style="border: 0"'
    frame.write_text(f'<body><iframe {box} srcdoc="{held}"></iframe>{_MEASURE}</body>')
    found, said = dom(frame, LAPTOP, dark)
    assert said == []
    return {name: int(value) for name, value in re.findall(r'data-(width|drawn)="(\d+)"', found)}


def screenshot(page: Path, to: Path, size: tuple[int, int], dark: bool) -> list[str]:
    """Draw the page; what it said on the console."""
    return _run(page, size, dark, f"--screenshot={to}")[1]
