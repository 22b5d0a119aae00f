"""The page: what it says, and how it does in a real browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from boxreg.reproduce import EXPERIMENTS, markdown, run
from boxreg.reproduce.section import written
from reproducing import TINY, forget, without_data

BROWSER = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    ),
    None,
)
PROBE = """<script>
addEventListener("load", () => {
  const images = [...document.images].map((i) => [i.naturalWidth, i.getBoundingClientRect().width]);
  const table = document.querySelector("table");
  document.body.dataset.images = JSON.stringify(images);
  document.body.dataset.overflow = String(document.documentElement.scrollWidth - innerWidth);
  document.body.dataset.copied = lines(table);
});
</script></body>"""


class Tables(HTMLParser):
    """Text and exact values of the cells, by identity of the table; and all addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.addresses: list[str] = []
        self.body: dict[str, str] = {}
        self._cell: list[str] | None = None

    def handle_starttag(self, tag, attributes):
        held = dict(attributes)
        self.addresses += [held[key] for key in ("src", "href", "srcset") if held.get(key)]
        if tag == "table":
            self.tables[held["id"]] = self._rows = []
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._cell = []
        elif tag == "body":
            self.body = held

    def handle_data(self, text):
        if self._cell is not None:
            self._cell.append(text)

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._rows[-1].append("".join(self._cell))
            self._cell = None


def read(html: str) -> Tables:
    parser = Tables()
    parser.feed(html)
    return parser


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The page, and the data that it shows."""
    patch = pytest.MonkeyPatch()
    without_data(patch)
    out = tmp_path_factory.mktemp("page")
    run(["table1", "figure1", "figure2", "abundance"], TINY, out)
    patch.undo()
    forget()
    place = out / "tiny"
    return place, json.loads((place / "results.json").read_text())


def test_asks_nothing_of_the_network(made):
    html = (made[0] / "index.html").read_text()
    for address in read(html).addresses:
        assert address.startswith(("data:", "#"))
    assert not re.search(r"@import|url\((?!#)|fetch\(|XMLHttpRequest|//[a-z]+\.[a-z]+/", html)


def same_figures(parsed: Tables, results: dict) -> int:
    """Every cell of every table is the value in the JSON, written; returns how many there were."""
    count = 0
    for name, held in results["experiments"].items():
        for i, table in enumerate(held["tables"]):
            head, *rows = parsed.tables[f"{name}-{i}"]
            assert head == [column["title"] for column in table["columns"]]
            assert len(rows) == len(table["rows"])
            for shown, row in zip(rows, table["rows"], strict=True):
                expected = [
                    written(row.get(c["key"]), c["kind"], row["marks"].get(c["key"], ""))
                    for c in table["columns"]
                ]
                assert shown == expected
                count += len(shown)
    return count


def test_tables_hold_the_figures_of_the_json(made):
    place, results = made
    assert same_figures(read((place / "index.html").read_text()), results) > 300


def test_what_could_end_a_script_is_escaped(made):
    html = (made[0] / "index.html").read_text()
    data = re.search(r'id="figures">(.*?)</script>', html, re.DOTALL).group(1)
    assert "<" not in data
    assert set(json.loads(data)) == set(made[1]["experiments"])


def test_tables_go_into_the_documentation(made, tmp_path):
    place, results = made
    page = tmp_path / "page.md"
    page.write_text(
        "Before\n<!-- figure1 -->\nold\n<!-- end -->\nAfter\n<!-- nothing -->\n<!-- end -->\n"
    )
    assert markdown.main([str(place / "results.json"), str(page)]) == 0
    text = page.read_text()
    assert text.startswith("Before\n<!-- figure1 -->\n### Figure 1")
    assert "old" not in text
    assert text.endswith("<!-- end -->\nAfter\n<!-- nothing -->\n<!-- end -->\n")
    assert text.count("| baseline |") == len(TINY.boxes)
    again = markdown.filled(text, results)
    assert again == text


def test_the_documentation_has_a_place_for_every_experiment():
    text = (Path(__file__).parents[1] / "docs" / "reproduction.md").read_text()
    for name in (*EXPERIMENTS, "environment"):
        assert f"<!-- {name} -->\n" in text


def browse(page, tmp_path, *options: str) -> tuple[str, str]:
    """The page as the browser has it once loaded, and what it wrote to its console."""
    probed = tmp_path / "probed.html"
    probed.write_text(page.read_text().replace("</body>", PROBE))
    done = subprocess.run(
        [
            BROWSER,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--enable-logging=stderr",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--virtual-time-budget=5000",
            *options,
            "--dump-dom",
            probed.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout, done.stderr


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
@pytest.mark.parametrize("size", ["1280,900", "500,900"])
@pytest.mark.parametrize("dark", [False, True])
def test_in_a_browser(made, tmp_path, size, dark):
    place, results = made
    options = [f"--window-size={size}", *(["--force-dark-mode"] if dark else [])]
    html, console = browse(place / "index.html", tmp_path, *options)
    assert "CONSOLE" not in console
    parsed = read(html)
    assert same_figures(parsed, results) > 300
    images = json.loads(parsed.body["data-images"])
    drawn = [name for name in results["experiments"] if name in EXPERIMENTS]
    assert len(images) == len(drawn)
    assert all(natural > 100 and shown > 100 for natural, shown in images)
    assert int(parsed.body["data-overflow"]) <= 0  # tables scroll by themselves, not the page
    first = results["experiments"]["table1"]["tables"][0]["rows"][0]
    assert str(first["seconds"]) in parsed.body["data-copied"].splitlines()[1].split("\t")
