"""One request to GitHub, sent once, and what its answer means to us: data, or one of the tracker's exceptions.

PyGithub signs in, refreshes installation tokens and carries the bytes. Its own retries and pauses are off (:mod:`.app`): by
default it sends a POST again after a server error or a dropped connection, which doubles comments. Its typed objects are not
used either: they ask for a missing attribute with a further request, and refuse kinds of users that they do not know.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn
from urllib.parse import urlsplit

import requests
import urllib3.exceptions
from github import GithubException
from github.Auth import Auth
from github.Requester import Requester

from bot import trackers
from bot.trackers import Ambiguous, Gone, Refused, TooLong, Unavailable

SUSPENDED_PAUSE = 3600.0
"""Seconds to wait while an installation is suspended: only its owner can end that."""
MOST_PAGES = 1000
"""Pages that one list is followed for; GitHub allows 2,500 comments on an issue."""

_LONGEST_PAUSE = 24 * 3600.0
_HEADERS = {"Accept": "application/vnd.github+json"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: the decoded JSON (None where there was none) and the address of the next page."""

    data: Any
    next: str | None = None


class Access:
    """One identity on GitHub. ``sign_in`` makes its credentials anew when they turn out to be void.

    Safe to use from several threads.
    """

    def __init__(self, requester: Requester, sign_in: Callable[[], Auth]) -> None:
        self._requester = requester
        self._sign_in = sign_in
        self._lock = threading.Lock()

    def call(self, verb: str, path: str, parameters: dict[str, Any] | None = None, body: object = None) -> Answer:
        """Send one request, once.

        Raises Gone, Unavailable, and for a verb other than GET also Refused and Ambiguous. A redirect is followed once, as GitHub
        asks for renamed repositories: a request that is answered by one has done nothing.
        """
        write = verb != "GET"
        status, headers, text = self._send(verb, path, parameters, body, write)
        if 300 <= status < 400 and "location" in headers:
            # 301 is followed by PyGithub itself; it takes 302, 307 and 308 for success.
            status, headers, text = self._send(verb, self._on_our_host(headers["location"]), None, body, write)
        if not 200 <= status < 300:
            if status == 401:
                self._renew()
            _refuse(status, headers, text, write)
        try:
            return Answer(json.loads(text) if text else None, _next_page(headers.get("link", "")))
        except (ValueError, RecursionError) as error:
            raise (Ambiguous if write else Unavailable)(f"GitHub answered {status} with what is not JSON") from error

    def pages(self, path: str, parameters: dict[str, Any]) -> Iterator[Any]:
        """The entries of a list, page after page, each page fetched when it is reached.

        Raises Gone and Unavailable.
        """
        answer = self.call("GET", path, parameters)
        for _ in range(MOST_PAGES):
            if not isinstance(answer.data, list):
                raise Unavailable("GitHub answered a list with what is not a list")
            yield from answer.data
            if answer.next is None:
                return
            answer = self.call("GET", answer.next)

    def _send(self, verb: str, path: str, parameters: dict[str, Any] | None, body: object, write: bool) -> tuple[int, dict[str, str], str]:
        requester = self._requester
        self._have_token(requester)
        try:
            return requester.requestJson(verb, path, parameters, dict(_HEADERS), body)
        except GithubException as error:  # only signing in raises it here
            _refuse_sign_in(error)
        except RuntimeError as error:  # PyGithub's, for a redirect to another host
            raise Unavailable(f"GitHub redirects elsewhere: {error}", SUSPENDED_PAUSE) from error
        except (OSError, urllib3.exceptions.HTTPError) as error:
            if write and not _never_sent(error):
                raise Ambiguous(f"no answer from GitHub: {type(error).__name__}") from error
            raise Unavailable(f"GitHub cannot be reached: {type(error).__name__}") from error

    def _have_token(self, requester: Requester) -> None:
        """Fetch a token where ours has run out, before the request, so that a failure here is not taken for one of the write."""
        try:
            with self._lock:
                _ = getattr(requester.auth, "token", None)
        except GithubException as error:
            _refuse_sign_in(error)
        except (OSError, urllib3.exceptions.HTTPError) as error:
            raise Unavailable(f"GitHub cannot be reached: {type(error).__name__}") from error

    def _renew(self) -> None:
        with self._lock:
            self._requester = self._requester.withAuth(self._sign_in())

    def _on_our_host(self, location: str) -> str:
        parts = urlsplit(location)
        if parts.hostname not in (None, self._requester.hostname):
            raise Unavailable(f"GitHub redirects to another host: {parts.hostname}", SUSPENDED_PAUSE)
        return location


def _never_sent(error: BaseException) -> bool:
    """Whether the connection was not even made, so that nothing can have been written."""
    if isinstance(error, requests.ConnectTimeout):
        return True
    inner = error.args[0] if error.args else None
    reason = getattr(inner, "reason", None)
    return isinstance(reason, (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError))


def _refuse_sign_in(error: GithubException) -> NoReturn:
    headers = {key.lower(): value for key, value in (error.headers or {}).items()}
    if error.status in (401, 422):  # a wrong key or clock; a permission that the installation's owner has not granted yet
        raise Unavailable(f"GitHub does not accept our credentials: {error.message or error.status}", SUSPENDED_PAUSE) from error
    _refuse(error.status, headers, json.dumps(error.data), write=False)


def _refuse(status: int, headers: Mapping[str, str], text: str, write: bool) -> NoReturn:
    """Raise what an answer other than 2xx means.

    https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
    """
    said = _message(text)
    message = f"GitHub answered {status}: {said[:200]}"
    wait = _pause(headers)
    if status >= 500:
        if write:
            raise Ambiguous(message)
        raise Unavailable(message, wait)
    limited = wait is not None or "rate limit" in said.lower() or "abuse" in said.lower()
    if status == 429 or (status == 403 and limited):
        raise Unavailable(message, wait)
    if status == 403 and "suspended" in said.lower():
        raise Unavailable(message, SUSPENDED_PAUSE)
    if status == 401 or status < 400 or status == 408:
        raise Unavailable(message)
    if write and status not in (404, 410, 451):
        raise (TooLong if status == 422 and _is_of_the_body(text) else Refused)(message)
    raise Gone(message)


def _is_of_the_body(text: str) -> bool:
    """Whether a 422 is about the text of a comment; GitHub names the field ``body``, or ``data`` and says "Body is too long"."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return False
    errors = data.get("errors") if isinstance(data, dict) else None
    named = [error for error in errors if isinstance(error, dict)] if isinstance(errors, list) else []
    return any(error.get("field") == "body" or "too long" in str(error.get("message")) for error in named)


def _message(text: str) -> str:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    said = data.get("message") if isinstance(data, dict) else None
    return said if isinstance(said, str) else ""


def _pause(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait as the headers ask, None when they do not: ``retry-after`` first, then the reset of a used-up limit."""
    try:
        if "retry-after" in headers:
            wait = float(headers["retry-after"])
        elif headers.get("x-ratelimit-remaining") == "0":
            wait = float(headers["x-ratelimit-reset"]) - _their_clock(headers)
        else:
            return None
    except (KeyError, ValueError, OverflowError):
        return trackers.PAUSE
    # 1 at least: the reset of a limit may already have passed. min and max also turn nan into a bound.
    return min(max(1.0, wait), _LONGEST_PAUSE)


def _their_clock(headers: Mapping[str, str]) -> float:
    try:
        return parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, ValueError):
        return time.time()


def _next_page(link: str) -> str | None:
    for part in requests.utils.parse_header_links(link):
        if part.get("rel") == "next":
            return part.get("url")
    return None
