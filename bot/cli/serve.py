"""``explainbot serve``, ``work`` and ``replay``: the server, its worker, and a delivery sent by hand."""

from __future__ import annotations

import json
import signal
import socket
import threading
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bot.cli.app import DONE, FAILED, Problem, app, load_settings, one_line

if TYPE_CHECKING:
    from flask import Flask

    from bot.cli.catalogues import Catalogues
    from bot.config import Settings
    from bot.work.passes import Runtime

HOST = typer.Option("127.0.0.1", "--host", help="Address to listen on.")
PORT = typer.Option(8080, "--port", min=0, max=65535, help="Port to listen on.")
THREADS = typer.Option(8, "--threads", min=1, help="Requests that one process answers at a time.")
PROCESSES = typer.Option(1, "--processes", min=1, help="Receiving processes; more than one only with --receiver-only.")
RECEIVER_ONLY = typer.Option(False, "--receiver-only", help="Answer and queue; the work is done by `explainbot work`.")
LISTEN_FD = typer.Option(None, "--listen-fd", hidden=True, help="An open listening socket, in place of host and port.")
WITH_PARENT = typer.Option(False, "--with-parent", hidden=True, help="Stop when the process that started this one ends.")
PAYLOAD = typer.Argument(..., metavar="PAYLOAD.json", exists=True, dir_okay=False, help="The body of a delivery.")
EXECUTOR = typer.Option("worker-0", "--executor", help="Name of this worker: the same after each restart, no two share one.")


@app.command()
def serve(
    host: str = HOST,
    port: int = PORT,
    threads: int = THREADS,
    processes: int = PROCESSES,
    receiver_only: bool = RECEIVER_ONLY,
    executor: str = EXECUTOR,
    listen_fd: int | None = LISTEN_FD,
    with_parent: bool = WITH_PARENT,
) -> None:
    """Answer GitHub's webhook, serve the record pages and the JSON API, and do the work.

    Settings come from the environment (`EXPLAINBOT_…`, all in `deploy/env.example`); without a webhook secret of at least 32 bytes the
    server does not start. `deploy/README.md` goes from creating the GitHub App to the first answered issue.

    With `--receiver-only` the process answers and queues, and `explainbot work` elsewhere does the work; both need the same database.

    Examples:

    - `explainbot serve`

    - `explainbot serve --receiver-only --host 0.0.0.0 --processes 2`
    """
    if processes > 1 and not receiver_only:
        raise Problem("more than one process needs --receiver-only: the work is done by one process for each executor name")
    settings = ready_settings()
    from bot.cli.gunicorn import run

    listening = socket.socket(fileno=listen_fd) if listen_fd is not None else listen(host, port)
    address, bound = listening.getsockname()[:2]
    typer.echo(f"explainbot listens at http://{f'[{address}]' if ':' in address else address}:{bound}", err=True)
    run(
        settings,
        f"fd://{listening.detach()}",  # gunicorn closes it
        threads=threads,
        processes=processes,
        executor=None if receiver_only else executor,
        with_parent=with_parent,
    )


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one.

    Raises Problem when the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise Problem(f"{host} port {port} cannot be used: {error.strerror or error}") from error


@app.command()
def work(executor: str = EXECUTOR) -> None:
    """Do the work that receivers have queued, until a signal ends the process.

    Any number of workers may share one database (PostgreSQL), each with a name of its own that stays the same after a restart: what a
    killed worker left unfinished goes on when one of its name starts again.

    Example: `explainbot work --executor worker-1`
    """
    settings = ready_settings()
    from bot.cli.catalogues import Catalogues
    from bot.work.workflows import start, stop

    ended = threading.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda *_: ended.set())
    catalogues = Catalogues(settings)
    load_indexes(catalogues)
    start(settings, runtime(settings, catalogues), executor)
    ended.wait()
    stop()


@app.command()
def replay(
    payload: Path = PAYLOAD,
    event: str = typer.Option("issues", "--event", help="The X-GitHub-Event of the delivery."),
    url: str = typer.Option("http://127.0.0.1:8080/hooks/github", "--url", help="Where the running server listens."),
    delivery: str = typer.Option("", "--delivery", help="The X-GitHub-Delivery; a new one when left out.", show_default=False),
    dry_run: bool = typer.Option(False, "--dry-run", help="Send nothing; print what the handler would have written."),
) -> None:
    """Sign a saved payload with the webhook secret and deliver it to the running server.

    A delivery that was handled already (the same `--delivery`) starts nothing. With `--dry-run` nothing is sent and nothing is written: the
    handler reads the issue from GitHub as it is now, and its effects are printed as JSON. Exits 1 when the server does not accept.

    Examples:

    - `explainbot replay payload.json --event issues`

    - `explainbot replay payload.json --event issues --dry-run`
    """
    body = payload.read_bytes()
    id = delivery or str(uuid.uuid4())
    if dry_run:
        typer.echo(json.dumps(dry(load_settings(), body, event, id), indent=2))
        return
    status, text = deliver(body, event, url, id, load_settings().secrets[0])
    typer.echo(f"{status} {text.strip()}")
    raise typer.Exit(DONE if status < 300 else FAILED)


def ready_settings() -> Settings:
    """The settings of a process that serves or works.

    Raises ConfigError or NoCredentials when something that it needs is missing, Problem when the database cannot be opened.
    """
    settings = load_settings()
    settings.secrets  # noqa: B018  raises
    if not settings.token.get_secret_value() and (settings.app_id is None or not settings.app_key):
        raise Problem("no credentials for GitHub: set EXPLAINBOT_APP_ID and EXPLAINBOT_PRIVATE_KEY_FILE, or EXPLAINBOT_TOKEN")
    import sqlalchemy.exc

    from bot import store

    try:
        store.open(settings.database).dispose()
    except (sqlalchemy.exc.SQLAlchemyError, OSError, ImportError) as error:
        raise Problem(f"the database {_without_password(settings.database)} cannot be opened: {one_line(error)}") from error
    return settings


def _without_password(url: str) -> str:
    import sqlalchemy as sa

    try:
        return sa.make_url(url).render_as_string(hide_password=True)
    except sa.exc.ArgumentError:
        return "of EXPLAINBOT_DATABASE_URL"


def runtime(settings: Settings, catalogues: Catalogues) -> Runtime:
    """What a worker is given: repositories through GitHub's API, catalogues from the cache folder."""
    from bot.trackers.github.app import connect
    from bot.trackers.github.deliveries import redeliver_failed
    from bot.work.passes import Runtime

    return Runtime(
        connect=lambda repository, installation: connect(settings, repository, installation),
        catalogue=catalogues.open_or_none,
        redeliver=lambda since: redeliver_failed(settings, since),
    )


def load_indexes(catalogues: Catalogues) -> None:
    """Open all built catalogues and load their indexes, so that the first issue doesn't wait for it."""
    from bot.matching import matcher

    for repository in catalogues.built():
        if catalogue := catalogues.open_or_none(repository):
            matcher(catalogue)


def web_app(settings: Settings, executor: str | None) -> Flask:
    """The web application with what it needs around it; with an ``executor`` the work is done in this process."""
    from bot.cli.catalogues import Catalogues
    from bot.web.app import create_app
    from bot.work import workflows

    catalogues = Catalogues(settings)
    if executor is None:
        workflows.receive(settings)
    else:
        workflows.start(settings, runtime(settings, catalogues), executor)
        threading.Thread(target=load_indexes, args=(catalogues,), daemon=True, name="indexes").start()
    return create_app(settings, workflows.submit, catalogues.open_or_none, catalogues.built)


def deliver(body: bytes, event: str, url: str, delivery: str, secret: bytes) -> tuple[int, str]:
    """Deliver a payload as GitHub does; the answer's status and text.

    Raises Problem when there is no answer.
    """
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    from bot.trackers.github.receive import sign

    if not url.startswith(("http://", "https://")):
        raise Problem(f"{url} is not an http address")
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "explainbot-replay",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": delivery,
        "X-Hub-Signature-256": sign(body, secret),
    }
    try:
        with urlopen(Request(url, body, headers, method="POST"), timeout=30) as answer:  # noqa: S310  checked above
            return answer.status, answer.read(10_000).decode("utf-8", "replace")
    except HTTPError as error:
        return error.code, error.read(10_000).decode("utf-8", "replace")
    except (URLError, OSError) as error:
        raise Problem(f"{url} does not answer: {one_line(getattr(error, 'reason', error))}; is `explainbot serve` running?") from error


def dry(settings: Settings, body: bytes, event: str, delivery: str) -> list[dict[str, Any]]:
    """What a delivery would lead to, in order; nothing is written.

    Raises Problem when the payload is not JSON or not for us, and what a tracker raises when it is read.
    """
    from dataclasses import asdict

    from bot.cli.catalogues import Catalogues
    from bot.config import CONFIG_PATH, parse_repo_config
    from bot.handlers import Context, handle
    from bot.trackers.github.receive import event as read_event

    try:
        payload = json.loads(body)
    except ValueError as error:
        raise Problem(f"the payload is not JSON: {one_line(error)}") from error
    what = read_event(event, delivery, payload)
    if what is None:
        raise Problem(f"a delivery of this kind ({event}: {payload.get('action')}) leads to nothing")
    ready = runtime(settings, Catalogues(settings))
    tracker = ready.connect(what.repository, what.installation)
    config = parse_repo_config(tracker.file(CONFIG_PATH) or "")
    context = Context(
        tracker,
        ready.catalogue(what.repository),
        config,
        lambda id: f"{settings.public_url.rstrip('/')}/errors/{id}",
        minimum=settings.minimum,
        records_repository=settings.records_repository,
    )
    return [{"effect": type(effect).__name__, **asdict(effect)} for effect in handle(what, context)]
