"""The Flask application: what it serves, and what every answer carries.

Nothing is rendered from a request but through Jinja with escaping on, pages load nothing from elsewhere and run no script.
"""

from __future__ import annotations

from collections.abc import Callable

import structlog
from flask import Flask, Response, jsonify, render_template, request
from jinja2 import StrictUndefined
from werkzeug.exceptions import HTTPException, InternalServerError

from bot import __version__
from bot.catalogue.catalogue import Catalogue, CatalogueError
from bot.config import Settings
from bot.model import Event
from bot.web import api, hook, pages
from bot.web.lookup import Lookup

MAX_BODY = 25 * 1024 * 1024
"""Bytes of a request. GitHub sends no larger payload (https://docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap)."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

_MACHINES = ("/api/", "/hooks/", "/healthz")
"""Where errors are told in JSON."""

_WORDS = {
    400: "The request could not be understood.",
    404: "There is nothing at this address.",
    405: "This address does not take that method.",
    413: "The request is too large.",
}

log = structlog.get_logger(__name__)


def create_app(
    settings: Settings,
    submit: Callable[[Event], object],
    catalogues: Callable[[str], Catalogue | None],
    repositories: Callable[[], tuple[str, ...]],
) -> Flask:
    """The web application. Raises ConfigError when the settings hold no usable webhook secret.

    ``submit`` puts an event in line durably or raises; ``catalogues`` opens the catalogue of a repository (None when there is
    none); ``repositories`` names those that have one.
    """
    secrets = settings.secrets
    app = Flask("bot.web", static_url_path="/static")
    app.config.update(MAX_CONTENT_LENGTH=MAX_BODY, MAX_FORM_MEMORY_SIZE=64 * 1024, SEND_FILE_MAX_AGE_DEFAULT=3600)
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.autoescape = True
    app.url_map.strict_slashes = False
    lookup = Lookup(catalogues, repositories)
    app.register_blueprint(hook.blueprint(secrets, submit))
    app.register_blueprint(api.blueprint(lookup, settings.public_url))
    app.register_blueprint(pages.blueprint(lookup))
    app.register_error_handler(HTTPException, _refusal)
    app.register_error_handler(CatalogueError, _broken_catalogue)
    app.after_request(_with_headers)

    @app.get("/healthz")
    def healthz() -> Response:
        return jsonify(status="ok", version=__version__)

    return app


def _with_headers(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response


def _refusal(error: HTTPException) -> Response:
    """A refused request in the form of the address: JSON for machines, a page for people."""
    code = error.code or 500
    words = _WORDS.get(code) or (error.description or error.name)
    if request.path.startswith(_MACHINES):
        response = jsonify(error=words)
    else:
        response = Response(render_template("refused.html", code=code, words=words), mimetype="text/html")
    response.status_code = code
    response.headers.update({name: value for name, value in error.get_headers() if name == "Allow"})
    return response


def _broken_catalogue(error: CatalogueError) -> Response:
    log.error("catalogue cannot be read", problem=str(error))
    return _refusal(InternalServerError("The catalogue cannot be read at the moment."))
