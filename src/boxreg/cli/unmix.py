"""`boxreg unmix`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from scipy import sparse

from ..files import Outputs, Resumable, one_line, read_matrix, read_names, read_stack
from .describing import bounds_described, described
from .errors import BadInput
from .many import solve_to_file, verdict
from .problems import number_or_vector

if TYPE_CHECKING:
    from ..unmixing import Scene

_HELP = """Abundances of the spectra of a library in every pixel of an image, with maps.

\b
    boxreg unmix library.npy image.npy --names names.txt
    boxreg unmix scene.mat:A scene.mat:Y --shape 250 190 --column-major --upper 1 -o out/scene
    BOXREG_DATA=~/data boxreg unmix --dataset cuprite

Each pixel is a least-squares problem with bounds, and each answer is proved. LIBRARY is a matrix, bands
× spectra; IMAGE has the bands along one of its axes. Files are those of boxreg solve. Spectra of one
name are one material, and their coefficients are summed in the maps.

Writes abundances.npy (like the image, with the spectra in place of its bands), maps.png with the
strongest materials, residual.png, summary.json, and index.html with everything on one page. A run that
was interrupted goes on when the same command is given again.

Exit codes: 0 every gap asked for was proved, 1 not, 2 bad input.
"""

_FILES = ("maps.png", "residual.png", "summary.json", "index.html")


@click.command("unmix", help=_HELP, short_help="Abundance maps of an image, with proofs.")
@click.argument("library", required=False)
@click.argument("image", required=False)
@click.option("--dataset", metavar="NAME", help="Instead of files: cuprite_usgs, jasper_ridge.")
@click.option(
    "-o",
    "--output",
    type=Path,
    default=Path("out/unmix"),
    show_default=True,
    metavar="DIR",
    help="Folder.",
)
@click.option("--lower", default="0", show_default=True, metavar="L", help="Number or file.")
@click.option("--upper", default="inf", show_default=True, metavar="U", help="Number or file.")
@click.option("--axis", type=int, metavar="K", help="Axis of the bands; found if only one fits.")
@click.option("--shape", type=int, nargs=2, metavar="H W", help="Of an image that is a matrix.")
@click.option("--column-major", is_flag=True, help="Such pixels go down the image first.")
@click.option("--scale", default=1.0, show_default=True, help="The image is in units of this.")
@click.option("--names", metavar="FILE", help="Names of the spectra: a line each, or file.npz:key.")
@click.option("--group", is_flag=True, help="The first word of a name is the material.")
@click.option("--top", default=12, show_default=True, metavar="K", help="Materials that are drawn.")
@click.option("--tol", default=1e-8, show_default=True, help="Gap to prove, relative to P₀.")
@click.option("--time-limit", type=float, metavar="S", help="Seconds after which to stop.")
@click.option(
    "--jobs", default=1, show_default=True, metavar="N", help="Threads; -1 for all cores."
)
@click.option(
    "--nan",
    type=click.Choice(["raise", "skip"]),
    default="raise",
    show_default=True,
    help="What to do about pixels that are not finite.",
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
def command(**options: Any) -> int:
    """Read, solve, draw, write."""
    say = (lambda text: None) if options["quiet"] else click.echo
    if options["top"] < 1:
        raise BadInput(f"--top: expected a whole number >= 1, got {options['top']}")
    if find_spec("matplotlib") is None:
        raise BadInput("unmix: its maps need matplotlib: pip install 'boxreg[plot]'")
    with _folder(options["output"]) as folder:
        for name in ("abundances.npy", *_FILES):
            Resumable.check(folder / name, "--output")
        scene = _scene(options, say)
        bounds = {name: number_or_vector(options[name], f"--{name}") for name in ("lower", "upper")}
        box = bounds_described(bounds["lower"], bounds["upper"])
        say(box)
        question = {**bounds, "loss": "least_squares", "tol": options["tol"], "axis": scene.axis}
        question["nan"] = options["nan"]
        how = {"n_jobs": options["jobs"], "progress": not options["quiet"]}
        how["time_limit"] = options["time_limit"]
        target = folder / "abundances.npy"
        result = solve_to_file(scene.matrix, scene.image, question, how, target, say)
        say(repr(result))
        _write(folder, scene, result, box.removeprefix("bounds").strip(), options["top"], say)
    return verdict(result)


@contextmanager
def _folder(path: Path) -> Iterator[Path]:
    """The folder, made if need be; if something goes wrong, what was made and is empty goes again."""
    made: list[Path] = []
    try:
        try:
            made = [held for held in (path, *path.parents) if not held.exists()]
            path.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
            in_the_way = isinstance(error, (FileExistsError, NotADirectoryError))
            why = "it is not a folder" if in_the_way else one_line(error)
            raise BadInput(f"--output: {str(path)[:80]} cannot be made ({why})") from error
        yield path
    except BaseException:
        for held in made:
            with suppress(OSError, ValueError):
                held.rmdir()
        raise


def _scene(options: dict[str, Any], say: Any) -> Scene:
    """From two files, or a data set."""
    from ..unmixing import make_scene, scene_of_dataset

    files = [held for held in (options["library"], options["image"]) if held is not None]
    if bool(options["dataset"]) == bool(files) or len(files) == 1:
        raise BadInput("unmix: expected LIBRARY and IMAGE, or --dataset NAME")
    try:
        if options["dataset"]:
            scene = scene_of_dataset(options["dataset"])
            say(f"scene   {scene.title}")
            return scene
        library = read_matrix(options["library"], "library", "A")
        say(described("A", library))
        image = read_stack(options["image"], "image", "Y")
        say(described("Y", image))
        array = image.array.toarray() if bool(sparse.issparse(image.array)) else image.array
        names = read_names(options["names"], options["library"])
        chosen = {name: options[name] for name in ("axis", "shape", "column_major")}
        also = {name: options[name] for name in ("scale", "group")}
        return make_scene(image.path.name, library.array, array, names, **chosen, **also)
    except ValueError as error:
        raise BadInput(str(error)) from error


def _write(folder: Path, scene: Scene, result: Any, box: str, top: int, say: Any) -> None:
    from matplotlib import rc_context

    from ..reporting.plain_text import png
    from ..unmixing import abundance_figure, maps_of, residual_figure, summary_of, summary_page

    maps = maps_of(scene, result.x)
    summary = summary_of(scene, result, maps, box)
    with rc_context(
        {"text.usetex": False}
    ):  # LaTeX, which users may have asked for, reads formulas
        figures = (abundance_figure(scene, maps, top), residual_figure(scene, maps))
        drawn = [png(figure, dpi=150) for figure in figures]
    captions = ("Abundances of the strongest materials.", "What the library does not explain.")
    page = summary_page(summary, dict(zip(captions, drawn, strict=True)))
    said = json.dumps(summary, indent=2, ensure_ascii=False) + "\n"
    contents = (*drawn, *(text.encode(errors="backslashreplace") for text in (said, page)))
    with Outputs() as outputs:
        for name, held in zip(_FILES, contents, strict=True):
            outputs.write(folder / name, "--output", partial(_put, held))
        outputs.commit()
    if summary["residual_median"] is not None:
        means = ", ".join(f"{m['name']} {m['mean']:.3g}" for m in summary["largest_means"][:5])
        say(f"  residual  {100 * summary['residual_median']:.3g} % of ‖y‖, median")
        say(f"  means     {means}")
    say("Written: " + " ".join(str(folder / name) for name in ("abundances.npy", *_FILES)))


def _put(held: bytes, path: Path) -> None:
    path.write_bytes(held)
