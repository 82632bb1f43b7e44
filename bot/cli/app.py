"""The Typer application, how its errors are shown, and the exit codes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from bot.config import Settings

DONE = 0
FAILED = 1
"""Something is wrong that stderr names: a fault in a file, a setting, a repository without a catalogue, no network."""
USAGE = 2
"""The command line itself is wrong (Click's own code)."""
SILENT = 3
"""Nothing is wrong, and there is nothing to say about this issue."""

EPILOG = "Exit codes: 0 done · 1 an error, named in one line on stderr · 2 wrong use · 3 the bot stays silent."

app = typer.Typer(
    name="explainbot",
    help="Answers issues that hold an error: what it means, the line that raised it, and how to fix it.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Problem(Exception):
    """What a person must be told in one line; the message says what to do."""


@app.callback(invoke_without_command=True)
def version(
    ctx: typer.Context,
    show: bool = typer.Option(False, "--version", help="Print the version."),
) -> None:
    """Answers issues that hold an error: what it means, the line that raised it, and how to fix it."""
    if show:
        from bot import __version__

        typer.echo(__version__)
        raise typer.Exit(DONE)


def load_commands() -> typer.Typer:
    """The application with all its commands, in the order of ``--help``: from trying it out to operating it."""
    from bot.cli import action, check, demo, draft, evaluate, explain, new, scan, serve, triage

    # Each registers itself when it is imported, which may have happened in another order.
    order = [module.__name__ for module in (demo, explain, evaluate, scan, new, draft, check, serve, action, triage)]
    app.registered_commands.sort(key=lambda info: order.index(getattr(info.callback, "__module__", order[-1])))
    return app


def main() -> None:
    """Entry of the console script: run a command, show errors of ours as one line."""
    load_commands()
    try:
        app()
    except Exception as error:
        if not is_ours(error):
            raise
        typer.secho(f"explainbot: {one_line(error)}", fg=typer.colors.RED, err=True)
        sys.exit(FAILED)


def is_ours(error: BaseException) -> bool:
    """Whether an exception was written for people to read: all that this program defines are."""
    return type(error).__module__.split(".")[0] == "bot"


def one_line(error: BaseException) -> str:
    """An error's message without line breaks."""
    return " ".join(str(error).split()) or type(error).__name__


def load_settings() -> Settings:
    """The operator's settings from the environment.

    Raises ConfigError that names the variable.
    """
    from pydantic import ValidationError

    from bot.config import ConfigError, Settings

    try:
        return Settings()
    except ValidationError as error:
        faults = "; ".join(f"EXPLAINBOT_{'_'.join(map(str, e['loc'])).upper()}: {e['msg']}" for e in error.errors())
        raise ConfigError(faults) from error


def console() -> Console:
    """Where tables go: standard output, plain when it is not a terminal."""
    from rich.console import Console

    return Console(soft_wrap=False)


def progress_console() -> Console:
    """Where progress goes: standard error, so that output can be piped."""
    from rich.console import Console

    return Console(stderr=True)
