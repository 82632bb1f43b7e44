"""What every request passes before and after its route: sign-in, planned faults, redirects, errors in GitHub's form, pages."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

import jwt
from flask import Flask, Response, g, jsonify, request
from werkzeug.exceptions import HTTPException

from bot.demo.github.faults import MARK, Fault, breaking
from bot.demo.github.state import Deleted, Login, Moved, NotThere, now

if TYPE_CHECKING:
    from bot.demo.github.standin import Seen, StandIn

T = TypeVar("T")

RATE_LIMIT = 5000
MOST_PER_PAGE = 100

_DOCUMENTATION = "https://docs.github.com/rest"
_LONGEST_JWT_LIFE = 600
_PLAIN_ERRORS = {
    404: "Not Found",
    410: "This issue was deleted",
    401: "Bad credentials",
    405: "Method Not Allowed",
}


class Problem(Exception):
    """An answer other than success: status, message, and for 422 which fields are wrong."""

    def __init__(self, status: int, message: str = "", errors: Sequence[dict[str, str]] = (), **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message or _PLAIN_ERRORS.get(status, "Server Error")
        self.errors = list(errors)
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def invalid(resource: str, field: str, code: str, message: str = "") -> Problem:
    """422 for a field: ``missing_field``, ``invalid`` or ``custom`` with a message."""
    error = {"resource": resource, "field": field, "code": code}
    return Problem(422, "Validation Failed", [{**error, "message": message} if message else error])


def install(app: Flask, on: StandIn, seen: type[Seen]) -> None:
    """Put all of this around the routes of an application."""
    app.wsgi_app = _redirecting(on, breaking(app.wsgi_app, on.closing))  # type: ignore[method-assign]

    @app.before_request
    def enter() -> Response | None:
        request.get_data()  # what stays unread of a connection torn down is read as a request, and complained about
        g.fault = on.take_fault(request.endpoint or "")
        if g.fault is not None and not g.fault.after and g.fault.kind != "list-lag":
            return _failure(g.fault)
        with on.changed:
            g.login = _app_login(on) if _is_for_app(request.path) else _login(on)
        return None

    @app.after_request
    def leave(response: Response) -> Response:
        fault: Fault | None = g.get("fault")
        if fault is not None and fault.after and response.status_code < 400:
            response = _failure(fault)
        response.headers.setdefault("X-RateLimit-Limit", str(RATE_LIMIT))
        response.headers.setdefault("X-RateLimit-Remaining", str(RATE_LIMIT - 1))
        response.headers.setdefault("X-RateLimit-Used", "1")
        response.headers.setdefault("X-RateLimit-Reset", str(int(time.time()) + 3600))
        response.headers.setdefault("X-RateLimit-Resource", "core")
        response.headers["X-GitHub-Api-Version-Selected"] = request.headers.get("X-GitHub-Api-Version", "2022-11-28")
        response.headers["X-GitHub-Media-Type"] = "github.v3; format=json"
        with on.changed:
            status = 0 if MARK in request.environ else response.status_code
            on.seen.append(seen(request.method, request.path, request.endpoint or "", status))
            on.changed.notify_all()
        return response

    app.register_error_handler(Problem, lambda problem: _error(problem.status, problem.message, problem.errors, problem.headers))
    app.register_error_handler(NotThere, lambda _: _error(404))
    app.register_error_handler(Deleted, lambda _: _error(410))
    app.register_error_handler(Moved, lambda moved: _redirect(on, str(moved.args[0])))
    app.register_error_handler(HTTPException, lambda error: _error(error.code or 500))


def fields() -> dict[str, Any]:
    """The request's JSON object."""
    body = request.get_json(force=True, silent=True)
    if body is None:
        raise Problem(400, "Problems parsing JSON")
    if not isinstance(body, dict):
        raise Problem(422, "Invalid request.\n\nFor 'links/0/schema', the body is not an object.")
    return body


def text_field(resource: str, name: str, longest: int = 65536) -> str:
    """A field that must hold a text, as of a comment's body."""
    value = fields().get(name)
    if value is None or (isinstance(value, str) and not value.strip()):
        raise invalid(resource, name, "missing_field")
    if not isinstance(value, str):
        raise invalid(resource, name, "invalid")
    if len(value) > longest:
        raise invalid(resource, name, "custom", f"{name} is too long (maximum is {longest} characters)")
    return value


def page_of(on: StandIn, items: Sequence[T], shape: Callable[[T], Any]) -> Response:
    """One page of a list, with the ``Link`` header.

    https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
    """
    size = min(_number("per_page", 30), MOST_PER_PAGE)
    page = _number("page", 1)
    last = max(1, -(-len(items) // size))
    links = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
    shown = [name for name in links if (page > 1 if name in ("prev", "first") else page < last)]
    response = jsonify([shape(item) for item in items[(page - 1) * size : page * size]])
    if shown:
        query = {name: value for name, value in request.args.items() if name != "page"}
        address = f"{on.url}{request.path}?"
        response.headers["Link"] = ", ".join(f'<{address}{urlencode({**query, "page": links[name]})}>; rel="{name}"' for name in shown)
    return response


def _number(name: str, default: int) -> int:
    value = request.args.get(name, "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 and int(value) > 0 else default


def need(permission: str, level: str) -> Login:
    """Who asks; raises Problem 403 for an App's token that was not given this permission."""
    login: Login = g.login
    if login.permissions is not None:
        given = login.permissions.get(permission)
        if given != "write" and given != level:
            raise Problem(403, "Resource not accessible by integration")
    return login


def _is_for_app(path: str) -> bool:
    return path == "/app" or path.startswith("/app/") or path.endswith("/installation")


def _login(on: StandIn) -> Login:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() not in ("token", "bearer"):
        raise Problem(401, "Requires authentication")
    login = on.state.logins.get(token.strip())
    if login is None or (login.expires is not None and login.expires < now()):
        raise Problem(401, "Bad credentials")
    if login.installation in on.state.suspended:
        raise Problem(403, "This installation has been suspended")
    return login


def _app_login(on: StandIn) -> Login:
    """Check the JSON Web Token with the App's public key.

    https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
    """
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer":
        raise Problem(401, "A JSON web token could not be decoded")
    try:
        claims = jwt.decode(token, on.public_key, algorithms=["RS256"], options={"require": ["iat", "exp", "iss"]})
    except jwt.InvalidTokenError as error:
        raise Problem(401, "A JSON web token could not be decoded") from error
    if str(claims["iss"]) != str(on.facts.id):
        raise Problem(401, "Integration not found")
    if claims["exp"] > time.time() + _LONGEST_JWT_LIFE:
        raise Problem(401, "'Expiration time' claim ('exp') is too far in the future")
    return Login(on.bot)


def _error(status: int, message: str = "", errors: Sequence[dict[str, str]] = (), headers: dict[str, str] | None = None) -> Response:
    said: dict[str, Any] = {
        "message": message or _PLAIN_ERRORS.get(status, "Server Error"),
        "documentation_url": _DOCUMENTATION,
        "status": str(status),
    }
    if errors:
        said["errors"] = list(errors)
    response = jsonify(said)
    response.status_code = status
    response.headers.update(headers or {})
    return response


_REFUSALS: dict[str, tuple[int, str, tuple[dict[str, str], ...]]] = {
    "403-suspended": (403, "This installation has been suspended", ()),
    "403-archived": (403, "Repository was archived so is read-only.", ()),
    "404": (404, "Not Found", ()),
    "410": (410, "This issue was deleted", ()),
    "422-long": (
        422,
        "Validation Failed",
        (
            {
                "resource": "IssueComment",
                "code": "unprocessable",
                "field": "data",
                "message": "Body is too long (maximum is 65536 characters)",
            },
        ),
    ),
    "422-spam": (
        422,
        "Validation Failed",
        ({"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": "Body was submitted too quickly"},),
    ),
}


def _failure(fault: Fault) -> Response:
    if fault.breaks_connection:
        request.environ[MARK] = fault
        return Response(status=500)
    if fault.kind.startswith("502"):
        return Response("<html><body><h1>502 Bad Gateway</h1></body></html>", 502, mimetype="text/html")
    if fault.kind == "401":
        return _error(401)
    if fault.kind in _REFUSALS:
        status, message, errors = _REFUSALS[fault.kind]
        return _error(status, message, errors)
    wait = {"Retry-After": str(int(fault.seconds))} if fault.seconds > 0 else {}
    if fault.kind == "429":
        return _error(429, "Too Many Requests", headers=wait)
    if fault.kind == "403-primary":
        reset = str(int(time.time() + fault.seconds))
        return _error(403, "API rate limit exceeded", headers={"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset})
    message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    return _error(403, message, headers=wait)


def _redirect(on: StandIn, path: str) -> Response:
    # GitHub keeps the method of a write with 307.
    status = 301 if request.method in ("GET", "HEAD") else 307
    response = jsonify({"message": "Moved Permanently", "url": f"{on.url}{path}", "documentation_url": _DOCUMENTATION})
    response.status_code = status
    response.headers["Location"] = f"{on.url}{path}"
    return response


_REPOSITORY_PATH = re.compile(r"/repos/([^/]+/[^/]+)(/.*)?")
_ID_PATH = re.compile(r"/repositories/([0-9]{1,18})(/.*)?")


def _redirecting(on: StandIn, inner: Any) -> Any:
    """Redirect a repository's former names to its id, and serve the addresses that name it by id."""

    def run(environ: dict[str, Any], start_response: Any) -> Any:
        path = environ.get("PATH_INFO", "")
        named, numbered = _REPOSITORY_PATH.fullmatch(path), _ID_PATH.fullmatch(path)
        with on.changed:
            if named and named[1].lower() in on.state.former_names:
                to = f"/repositories/{on.state.former_names[named[1].lower()]}{named[2] or ''}"
                query = environ.get("QUERY_STRING", "")
                with on.app.request_context(environ):
                    return _redirect(on, f"{to}?{query}" if query else to)(environ, start_response)
            if numbered:
                for repository in on.state.repositories.values():
                    if repository.id == int(numbered[1]):
                        environ = {**environ, "PATH_INFO": f"/repos/{repository.full_name}{numbered[2] or ''}"}
        return inner(environ, start_response)

    return run
