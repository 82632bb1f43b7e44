"""``explainbot action``: the bot as a step of a GitHub Actions workflow, for repositories without a server."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bot.cli.app import Problem, app, load_settings, one_line

if TYPE_CHECKING:
    from bot.config import Settings
    from bot.model import Event

WORKFLOW_LOGIN = "github-actions[bot]"
"""Who writes with the token of a workflow run
(https://docs.github.com/en/actions/security-for-github-actions/security-guides/automatic-token-authentication)."""


@app.command()
def action(
    login: str = typer.Option(WORKFLOW_LOGIN, "--login", help="Whose token it is; empty for a personal one."),
    app_login: str = typer.Option("", "--app-login", help="Login of an App of ours on the same repository: its comment stays."),
) -> None:
    """Answer the event of a GitHub Actions workflow run, once, without a server or a database.

    Reads `GITHUB_EVENT_PATH`, `GITHUB_EVENT_NAME` and `GITHUB_TOKEN` as the runner sets them, and the catalogue that `explainbot scan` has
    built in the cache folder. Says in the step summary how it ended. `deploy/README.md` has the workflow file.

    Example: `explainbot action`
    """
    ended = run(login, app_login)
    typer.echo(ended)
    _append("GITHUB_STEP_SUMMARY", f"explainbot: {ended}\n")
    _append("GITHUB_OUTPUT", f"outcome={ended}\n")


def run(login: str, app_login: str) -> str:
    """Work on the event that the runner describes; says in a few words how it ended.

    Raises Problem when the runner's variables are missing, CatalogueError when there is no catalogue to use.
    """
    from bot.cli.catalogues import Catalogues
    from bot.trackers.github.app import connect
    from bot.work.logs import log_as_json
    from bot.work.once import work_once
    from bot.work.passes import Runtime

    event = _event()
    if event is None:
        return "nothing for us"
    settings = _settings(event)
    log_as_json()
    catalogues = Catalogues(settings)
    catalogues.open(event.repository)  # without one it would be silence, each time and unnoticed
    with tempfile.TemporaryDirectory() as folder:
        settings = settings.model_copy(update={"database_url": f"sqlite:///{folder}/explainbot.sqlite"})
        runtime = Runtime(
            connect=lambda repository, installation: connect(settings, repository, login=login), catalogue=catalogues.open_or_none
        )
        return work_once(event, settings, runtime, app_login)


def _event() -> Event | None:
    from bot.trackers.github.receive import Malformed, event

    path, name = os.environ.get("GITHUB_EVENT_PATH", ""), os.environ.get("GITHUB_EVENT_NAME", "")
    if not path or not name:
        raise Problem("GITHUB_EVENT_PATH and GITHUB_EVENT_NAME are not set: this command is for a GitHub Actions workflow")
    try:
        payload = json.loads(Path(path).read_bytes())
        return event(name, f"action-{os.environ.get('GITHUB_RUN_ID', '')}-{os.environ.get('GITHUB_RUN_ATTEMPT', '')}", payload)
    except Malformed:
        return None  # whatever somebody made GitHub send, it is no fault of the workflow
    except (OSError, ValueError, RecursionError) as error:
        raise Problem(f"{path} cannot be read: {one_line(error)}") from error


def _settings(event: Event) -> Settings:
    """The operator's settings, completed by what the runner tells."""
    from pydantic import SecretStr

    settings = load_settings()
    changed: dict[str, object] = {}
    if not settings.token.get_secret_value():
        changed["token"] = SecretStr(os.environ.get("GITHUB_TOKEN", ""))
    if "github_url" not in settings.model_fields_set and os.environ.get("GITHUB_API_URL"):
        changed["github_url"] = os.environ["GITHUB_API_URL"]
    if not settings.webhook_secrets.get_secret_value():
        # Markers count only in comments of our own user, so a key that can be worked out opens nothing by itself.
        changed["webhook_secrets"] = SecretStr(hashlib.sha256(f"explainbot action {event.repository_id}".encode()).hexdigest())
    ready = settings.model_copy(update=changed)
    if not ready.token.get_secret_value():
        raise Problem("no token: give the step `GITHUB_TOKEN: ${{ github.token }}` in its environment")
    return ready


def _append(variable: str, text: str) -> None:
    """Add a line to a file that the runner reads; nothing outside a runner."""
    if path := os.environ.get(variable):
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
