"""Signing in to GitHub: as an App's installation, or with a plain token.

https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol
from urllib.parse import quote

from github import Github
from github.Auth import AppAuth, Auth, Token
from pydantic import SecretStr

from bot import __version__
from bot.trackers import Unavailable
from bot.trackers.github.calls import Access
from bot.trackers.github.client import GitHubTracker

PERMISSIONS = {"issues": "write", "contents": "read", "metadata": "read"}
"""What an installation token may do. Asked for by name: it is all we need, and PyGithub otherwise asks for an empty set."""

TIMEOUT = 15
"""Seconds to wait for an answer; GitHub ends a request after 10."""

# At DEBUG, PyGithub logs whole answers, those with fresh tokens too.
logging.getLogger("github.Requester").setLevel(logging.INFO)


class NoCredentials(ValueError):
    """Neither a token nor an App with its private key is set; the message says what to set."""


class Credentials(Protocol):
    """The part of the settings that says who we are on GitHub and where GitHub is."""

    @property
    def app_id(self) -> int | None: ...  # noqa: D102

    @property
    def app_key(self) -> str: ...  # noqa: D102

    @property
    def token(self) -> SecretStr: ...  # noqa: D102

    @property
    def github_url(self) -> str: ...  # noqa: D102


def connect(
    settings: Credentials, repository: str, installation: int | None = None, repository_id: int | None = None, login: str = ""
) -> GitHubTracker:
    """The tracker of a repository. A token, where one is set, is used in place of the App.

    ``login`` says whose token it is, for tokens that may not ask: those of a workflow run.

    An App's ``installation`` is asked of GitHub where it is not known. Tokens and our own user id are kept for the next call, per
    installation; nothing is sent until the tracker is used, but for that question.

    Raises NoCredentials when neither is set; with an App and no ``installation`` also Gone (not installed there) and Unavailable.
    """
    url = settings.github_url
    token = settings.token.get_secret_value()
    if token:
        return GitHubTracker(_by_token(url, token), repository, lambda: _id_of_token(url, token, login), repository_id)
    app, key = settings.app_id, settings.app_key
    if app is None or not key:
        raise NoCredentials("no credentials for GitHub: set EXPLAINBOT_APP_ID and EXPLAINBOT_PRIVATE_KEY_FILE, or EXPLAINBOT_TOKEN")
    at = installation or _installation_of(url, app, key, repository)
    return GitHubTracker(_by_installation(url, app, key, at), repository, lambda: _id_of_app(url, app, key, at), repository_id)


def app_access(settings: Credentials) -> Access | None:
    """The App itself, not one of its installations; None where a plain token is used or no App is set."""
    if settings.token.get_secret_value() or settings.app_id is None or not settings.app_key:
        return None
    return _by_app(settings.github_url, settings.app_id, settings.app_key)


def _access(url: str, sign_in: Callable[[], Auth]) -> Access:
    github = Github(
        auth=sign_in(),
        base_url=url,
        timeout=TIMEOUT,
        user_agent=f"explainbot/{__version__}",
        retry=None,
        seconds_between_requests=0,
        seconds_between_writes=0,
        lazy=True,
        api_version="2022-11-28",
    )
    return Access(github.requester, sign_in)


@lru_cache(maxsize=16)
def _by_token(url: str, token: str) -> Access:
    return _access(url, lambda: Token(token))


@lru_cache(maxsize=16)
def _by_app(url: str, app: int, key: str) -> Access:
    return _access(url, lambda: AppAuth(app, key))


@lru_cache(maxsize=1024)
def _by_installation(url: str, app: int, key: str, installation: int) -> Access:
    return _access(url, lambda: AppAuth(app, key).get_installation_auth(installation, dict(PERMISSIONS)))


@lru_cache(maxsize=1024)
def _installation_of(url: str, app: int, key: str, repository: str) -> int:
    path = "/repos/" + "/".join(quote(part, safe="") for part in repository.split("/")) + "/installation"
    return _number(_by_app(url, app, key).call("GET", path).data)


@lru_cache(maxsize=16)
def _id_of_token(url: str, token: str, login: str = "") -> int:
    return _number(_by_token(url, token).call("GET", f"/users/{quote(login, safe='')}" if login else "/user").data)


@lru_cache(maxsize=16)
def _id_of_app(url: str, app: int, key: str, installation: int) -> int:
    about = _by_app(url, app, key).call("GET", "/app").data
    slug = about.get("slug") if isinstance(about, dict) else None
    if not isinstance(slug, str):
        raise Unavailable("GitHub does not tell the App's slug")
    return _number(_by_installation(url, app, key, installation).call("GET", f"/users/{quote(slug + '[bot]', safe='')}").data)


def _number(found: object) -> int:
    number = found.get("id") if isinstance(found, dict) else None
    if not isinstance(number, int):
        raise Unavailable("GitHub answered without an id")
    return number
