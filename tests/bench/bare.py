"""A bare Flask endpoint for receiver.py: under the same gunicorn it checks the signature, and does nothing more."""

# ruff: noqa: E402 - run as a script, its imports need the repository on the path first
from __future__ import annotations

import hashlib
import hmac
import os
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2])]

import typer
from flask import Flask, request

from bot.cli import gunicorn, serve


def bare_app() -> Flask:
    """The endpoint, as GitHub's documentation has it."""
    app, secret = Flask("bare"), os.environ["EXPLAINBOT_WEBHOOK_SECRETS"].encode()

    @app.post("/hooks/github")
    def hook() -> tuple[str, int]:
        expected = "sha256=" + hmac.new(secret, request.get_data(), hashlib.sha256).hexdigest()
        if not hmac.compare_digest(expected, request.headers.get("X-Hub-Signature-256", "")):
            return "", 403
        return "", 202

    return app


def main(port: int = 0, processes: int = 2, threads: int = 4) -> None:
    """Serve it with the options of ``explainbot serve``."""
    serve.web_app = lambda *_: bare_app()
    listening = serve.listen("127.0.0.1", port)
    typer.echo(f"explainbot listens at http://127.0.0.1:{listening.getsockname()[1]}", err=True)
    from bot.config import Settings

    gunicorn.run(Settings(), f"fd://{listening.detach()}", threads=threads, processes=processes, executor=None, with_parent=False)


if __name__ == "__main__":
    typer.run(main)
