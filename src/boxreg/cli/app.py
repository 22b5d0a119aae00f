"""The `boxreg` command: its subcommands, and how it ends.

Exit codes: 0 solved or PROVED, 1 not solved or NOT PROVED, 2 bad input, 3 an error in boxreg itself,
4 REFUTED, 130 interrupted. Errors are one line; --debug shows where they came from.

A subcommand is a module of this package with a function `command`, named in COMMANDS. Its function
returns the exit code (None is 0) and raises BadInput for what the user can mend.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from ..datasets import DataNotFound
from ..files import FileProblem
from ..version import __version__
from .errors import BadInput, Interrupted

COMMANDS = ("solve", "verify", "unmix", "reproduce", "demo", "bench", "data")
"""In the order of the help."""

_HELP = """Box-constrained linear regression with safe screening, and a proof with every answer.

Solve from files, and check the answer from the data alone:

\b
    boxreg solve A.npy y.npy -o x.npy --certificate cert.json
    boxreg verify A.npy y.npy cert.json

Exit codes: 0 solved or PROVED, 1 not, 2 bad input, 4 REFUTED.
"""


class _Commands(click.Group):
    """Loads a subcommand when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f".{cmd_name}", __package__).command
        if not any(held.name == "debug" for held in command.params):
            command.params.append(_debug())
        return command


def _debug() -> click.Option:
    """--debug, before or after the subcommand's name."""

    def note(ctx: click.Context, param: click.Parameter, value: bool) -> None:
        if value:
            ctx.find_root().meta["boxreg.debug"] = True

    return click.Option(
        ["--debug"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=note,
        help="Show where an error came from.",
    )


@click.group(cls=_Commands, help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="boxreg")
def app() -> None:
    """The group that holds the subcommands."""


app.params.append(_debug())


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _survive_narrow_encodings()
    try:
        code = app.main(arguments or ["--help"], prog_name="boxreg", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except click.Abort:
        return _fail("interrupted; nothing was written", 130)
    except BrokenPipeError:  # whoever was reading has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if "--debug" in arguments:
            traceback.print_exc()
        return _explain(error)


def _explain(error: Exception) -> int:
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else "boxreg"
        return _fail(f"{error.format_message()} See {command} --help", 2)
    if isinstance(error, (BadInput, FileProblem, DataNotFound)):
        return _fail(str(error), 2)
    if isinstance(error, Interrupted):
        return _fail(f"{error.cause}; {error}", error.code)
    if isinstance(error, click.ClickException):
        return _fail(error.format_message(), 2)
    if isinstance(error, MemoryError):
        return _fail(f"not enough memory ({error})" if str(error) else "not enough memory", 3)
    said = f"{type(error).__name__}: {error}"
    return _fail(f"unexpected error ({said}); --debug shows where", 3)


def _fail(message: str, code: int) -> int:
    print("boxreg: " + " ".join(message.split()), file=sys.stderr)
    return code


def _survive_narrow_encodings() -> None:
    """A terminal that lacks × or ₀ shows something else, instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
