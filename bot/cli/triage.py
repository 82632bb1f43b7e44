"""``explainbot triage``: what the open issues of a repository have in common. Reads alone, writes nothing to the tracker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from bot.cli.app import app, console, load_settings, progress_console

if TYPE_CHECKING:
    from bot.handlers.triage import Backlog
    from bot.model import Issue

triage = typer.Typer(no_args_is_help=True)
app.add_typer(triage, name="triage")


@triage.callback()
def group() -> None:
    """What the open issues of a repository have in common. Writes nothing."""


@triage.command()
def backlog(
    repository: str = typer.Argument(..., metavar="OWNER/NAME", help="The repository whose open issues are read."),
    url: str = typer.Option("", "--url", help="Base URL of the API, in place of EXPLAINBOT_GITHUB_URL.", show_default=False),
    catalogue: str = typer.Option(
        "", "--catalogue", metavar="OWNER/NAME", help="Match with the catalogue of another repository.", show_default=False
    ),
    as_json: bool = typer.Option(False, "--json", help="JSON for machines."),
) -> None:
    """Count the known errors in a repository's open issues, then the unknown ones.

    Reads the issues through the API with the token or App of the settings (`EXPLAINBOT_TOKEN`, or `EXPLAINBOT_APP_ID` with
    `EXPLAINBOT_PRIVATE_KEY_FILE`) and writes nothing there. The first table has a row for each known error: how many open issues
    show it, and which. The second one has the errors that no record explains, the most frequent first: records worth writing.

    Examples:

    - `explainbot triage backlog sgl-project/sglang`

    - `explainbot triage backlog me/fork --catalogue sgl-project/sglang --json`
    """
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from bot.cli.catalogues import Catalogues
    from bot.handlers.triage import backlog as count
    from bot.trackers.github.app import connect

    settings = load_settings()
    found_catalogue = Catalogues(settings).open(catalogue or repository)
    tracker = connect(settings.model_copy(update={"github_url": url} if url else {}), repository)
    columns = (SpinnerColumn(), TextColumn("{task.completed} open issues of {task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=progress_console(), transient=True) as progress:
        task = progress.add_task(repository, total=None)

        def read_issues() -> Iterator[Issue]:
            for issue in tracker.open_issues():
                yield issue
                progress.advance(task)

        found = count(read_issues(), found_catalogue)
    if as_json:
        typer.echo(json.dumps(_as_json(repository, found), indent=2))
    else:
        _print(repository, found)


def _print(repository: str, found: Backlog) -> None:
    from rich.table import Table
    from rich.text import Text

    out = console()
    table = Table("record", "error", title="Known errors", title_justify="left")
    table.add_column("issues", justify="right")
    table.add_column("numbers", ratio=1)
    for known in found.known:
        error = Text(f"{known.record.type}: {known.record.heading}")
        table.add_row(known.record.id, error, str(len(known.issues)), _list(known.issues))
    out.print(table)
    table = Table("error", title="Errors that no record explains", title_justify="left")
    table.add_column("issues", justify="right")
    table.add_column("numbers", ratio=1)
    for unknown in found.unknown:
        table.add_row(Text(unknown.key), str(len(unknown.issues)), _list(unknown.issues))
    out.print(table)
    matched = len({number for known in found.known for number in known.issues})
    out.print(f"{found.total} open issues of {repository}: {matched} show a known error, {found.silent} show none", highlight=False)


def _list(numbers: tuple[int, ...]) -> str:
    return " ".join(f"#{number}" for number in numbers)


def _as_json(repository: str, found: Backlog) -> dict[str, Any]:
    return {
        "repository": repository,
        "issues": found.total,
        "without_error": found.silent,
        "records": [
            {
                "id": known.record.id,
                "type": known.record.type,
                "heading": known.record.heading,
                "status": known.record.status,
                "issues": list(known.issues),
            }
            for known in found.known
        ],
        "unmatched": [{"error": unknown.key, "issues": list(unknown.issues)} for unknown in found.unknown],
    }
