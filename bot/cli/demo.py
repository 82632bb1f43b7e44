"""``explainbot demo``: the main job on one machine, with a page to play with or for one issue."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import typer

from bot.cli.app import DONE, SILENT, Problem, app, load_settings

if TYPE_CHECKING:
    from bot.config import Settings

REPOSITORY = "sgl-project/sglang"

RELEASE = "0.5.23"
"""The release of it that is fetched: one wheel, where the whole history takes minutes."""

ONCE_SECONDS = 20.0
"""How long one issue may take."""


@app.command()
def demo(
    once: str = typer.Option(
        "", "--once", metavar="FILE.md", help="Open this issue, print the bot's comment, and end.", show_default=False
    ),
    port: int = typer.Option(0, "--port", min=0, max=65535, help="Port of the page; a free one by default."),
    repository: str = typer.Option(REPOSITORY, "--repo", metavar="OWNER/NAME", help="Whose catalogue to use."),
) -> None:
    """Show the main job: write an issue with an error, see the bot's comment below it.

    Everything runs on this machine: the server as `explainbot serve` starts it, with a fresh SQLite database, and a stand-in for
    GitHub with a small issue tracker page. The first run fetches one release of sglang through pip and builds its catalogue (about a
    minute); later runs start at once and need no network.

    With `--once` the first line `# title` of the file is the issue's title; the issue goes the whole way (webhook over HTTP, work, comment
    through the API). Exits 0 with the comment on stdout, 3 when the bot stayed silent.

    Examples:

    - `explainbot demo`

    - `explainbot demo --once bot/demo/examples/1-helion-missing.md`
    """
    settings = load_settings()
    if once:
        from bot.cli.explain import read_text, split_title

        title, body = split_title(read_text(once))
        _have_catalogue(settings, repository)
        _once(settings, repository, title, body)
    else:
        _have_catalogue(settings, repository)
        _page(settings, repository, port)


def _have_catalogue(settings: Settings, repository: str) -> None:
    """Build the catalogue when it is missing or was built by another version of the program."""
    from bot.catalogue.catalogue import CatalogueError
    from bot.cli.catalogues import Catalogues

    try:
        Catalogues(settings).open(repository)
    except CatalogueError:
        from bot.cli.scan import scan_repository

        typer.echo("The first run fetches a release and builds its catalogue, which takes about a minute.", err=True)
        scan_repository(settings, repository, releases=(RELEASE if repository == REPOSITORY else "latest",))


def _page(settings: Settings, repository: str, port: int) -> None:
    from bot.demo import page, running

    with running.run(repository, settings) as demo:
        try:
            with page.serve(demo, port) as address:
                typer.echo(f"The demo is at {address}/ (Ctrl+C ends it)")
                threading.Thread(target=demo.warm_up, daemon=True, name="warm-up").start()
                demo.await_server()
                demo.await_end()
        except KeyboardInterrupt:
            typer.echo("")
        except OSError as error:
            raise Problem(f"port {port} cannot be used: {error.strerror}") from error


def _once(settings: Settings, repository: str, title: str, body: str) -> None:
    from bot.demo import running

    with running.run(repository, settings) as demo:
        threading.Thread(target=demo.warm_up, daemon=True, name="warm-up").start()
        demo.await_server()
        begun = time.monotonic()
        issue = demo.stand_in.open_issue(repository, title, body, user="you")
        state = demo.wait(issue.number, ONCE_SECONDS)
        answers = demo.answers(issue.number)
        if state == "silent":
            typer.echo("explainbot: the bot stayed silent", err=True)
            raise typer.Exit(SILENT)
        if not answers:
            raise Problem(f"no answer within {time.monotonic() - begun:.0f} s ({state})")
        typer.echo(answers[-1].body)
        raise typer.Exit(DONE)
