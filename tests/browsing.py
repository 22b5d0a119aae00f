"""Pages in a real browser, without a window: Chromium, where it is."""

from __future__ import annotations

import re
import shutil
import subprocess
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


def screenshot(page: Path, to: Path, size: tuple[int, int], dark: bool) -> list[str]:
    """Draw the page; what it said on the console."""
    return _run(page, size, dark, f"--screenshot={to}")[1]
