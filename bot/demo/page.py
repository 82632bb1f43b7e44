"""The issue tracker page of the demo: write an issue, see the bot's comment below it.

It works without JavaScript; with it, a comment appears without loading the page again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flask import Flask, Response, abort, redirect, render_template, request, url_for
from markupsafe import Markup
from werkzeug.serving import WSGIRequestHandler, make_server

from bot.demo.rendering import render
from bot.demo.running import Demo

LONGEST_TITLE = 256
LONGEST_BODY = 65_536
"""GitHub's bounds."""

AT_ONCE = 0.9
"""Seconds that the page of a fresh issue waits for the comment before it is shown without."""

WAIT = 20.0
"""Seconds that a request for news waits."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class ExampleIssue:
    """An issue text that is one click away."""

    slug: str
    title: str
    body: str


def examples() -> tuple[ExampleIssue, ...]:
    """The texts of ``examples/``, in the order of their file names."""
    found = []
    for file in sorted((Path(__file__).parent / "examples").glob("*.md")):
        title, _, body = file.read_text(encoding="utf-8").partition("\n")
        found.append(ExampleIssue(file.stem, title.removeprefix("# ").strip(), body.lstrip("\n")))
    return tuple(found)


def create_page(demo: Demo) -> Flask:
    """The page of a running demo."""
    app = Flask("bot.demo", static_url_path="/static")
    app.config.update(MAX_CONTENT_LENGTH=1_000_000, MAX_FORM_MEMORY_SIZE=1_000_000, SEND_FILE_MAX_AGE_DEFAULT=0)
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    known = examples()
    app.jinja_env.globals.update(demo=demo, repository=demo.repository, server=demo.server)
    app.jinja_env.filters.update(markdown=lambda text: Markup(render(text)), title=title, ago=ago)  # noqa: S704  render() escapes

    @app.before_request
    def only_from_here() -> None:
        # Another page in the same browser could otherwise post here, or read through a name that resolves to this machine.
        if request.host.rsplit(":", 1)[0] not in ("127.0.0.1", "localhost"):
            abort(403)
        if request.method == "POST" and request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            abort(403)

    @app.after_request
    def with_headers(response: Response) -> Response:
        response.headers.update(HEADERS)
        return response

    @app.get("/")
    def index() -> str:
        chosen = next((one for one in known if one.slug == request.args.get("example")), None)
        issues = demo.stand_in.issues(demo.repository)
        counts = {issue.number: len(demo.stand_in.comments(demo.repository, issue.number)) for issue in issues}
        return render_template("index.html", issues=issues, counts=counts, examples=known, chosen=chosen)

    @app.post("/issues")
    def submit() -> Any:
        title = request.form.get("title", "").strip()[:LONGEST_TITLE]
        body = _text("body")
        if not title:
            return render_template("index.html", issues=(), counts={}, examples=known, chosen=ExampleIssue("", "", body)), 400
        issue = demo.stand_in.open_issue(demo.repository, title, body, user="you")
        demo.wait(issue.number, AT_ONCE)
        return redirect(_issue_url(demo, issue.number), 303)

    @app.get(f"/{demo.repository}/issues/<int:number>")
    def issue(number: int) -> str:
        return render_template("issue.html", **_facts(demo, number))

    @app.get(f"/{demo.repository}/issues/<int:number>/news")
    def news(number: int) -> str:
        _facts(demo, number)
        demo.wait(number, WAIT, request.args.get("seen"))
        return render_template("timeline.html", **_facts(demo, number))

    @app.post(f"/{demo.repository}/issues/<int:number>")
    def edit(number: int) -> Any:
        _facts(demo, number)
        title = request.form.get("title", "").strip()[:LONGEST_TITLE]
        demo.stand_in.edit_issue(demo.repository, number, title or None, _text("body"))
        demo.wait(number, AT_ONCE)
        return redirect(_issue_url(demo, number), 303)

    @app.post(f"/{demo.repository}/issues/<int:number>/comments")
    def comment(number: int) -> Any:
        _facts(demo, number)
        if body := _text("body").strip():
            demo.stand_in.comment(demo.repository, number, body, user="you")
            demo.wait(number, AT_ONCE)
        return redirect(_issue_url(demo, number), 303)

    @app.get("/favicon.ico")
    def icon() -> Any:
        return redirect(url_for("static", filename="icon.svg"))

    return app


def _text(field: str) -> str:
    return request.form.get(field, "").replace("\r\n", "\n")[:LONGEST_BODY]


def _issue_url(demo: Demo, number: int) -> str:
    return f"/{demo.repository}/issues/{number}"


def _facts(demo: Demo, number: int) -> dict[str, Any]:
    try:
        issue = demo.stand_in.issue(demo.repository, number)
    except LookupError:
        abort(404)
    # The mark first: what changes in between shows again, and is not missed.
    mark = demo.mark(number)
    return {
        "issue": issue,
        "comments": demo.stand_in.comments(demo.repository, number),
        "mark": mark,
        "state": demo.state(number),
        "news_url": f"{_issue_url(demo, number)}/news",
    }


def title(text: str) -> Markup:
    """A title as GitHub shows it: what stands in backticks as code, all else as it is."""
    return Markup("").join(Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in enumerate(_ticked(text)))


def _ticked(text: str) -> list[str]:
    parts = text.split("`")
    return parts if len(parts) % 2 else [*parts[:-2], "`".join(parts[-2:])]


def ago(time: datetime) -> str:
    """A time as people say it: ``just now``, ``3 minutes ago``."""
    seconds = int((datetime.now(UTC) - time).total_seconds())
    for size, name in ((3600, "hour"), (60, "minute")):
        if seconds >= size:
            number = seconds // size
            return f"{number} {name}{'s' * (number > 1)} ago"
    return "just now"


@contextmanager
def serve(demo: Demo, port: int = 0) -> Iterator[str]:
    """Serve the page on loopback while the block runs, and give its address. Port 0 takes a free one.

    Raises OSError when the port is taken.
    """
    server = make_server("127.0.0.1", port, create_page(demo), threaded=True, request_handler=_Quiet)
    server.daemon_threads = True  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True, name="page")
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.socket.close()


class _Quiet(WSGIRequestHandler):
    """Without a line on the terminal for each request."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""
