"""One repository on GitHub: the :class:`bot.trackers.Tracker` protocol over the REST API.

https://docs.github.com/en/rest/issues
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote

from bot.model import Comment, Issue
from bot.trackers import Ambiguous, Gone, Unavailable
from bot.trackers.github.calls import Access
from bot.trackers.github.receive import clean, is_bot

T = TypeVar("T")

LARGEST_FILE = 64 * 1024
"""Bytes of a file that we read; a longer one counts as none."""

ROLES = ("admin", "maintain", "write", "triage", "read", "none")
"""What a user may do, most first. An organisation's own roles have other names: they count as the role that they are based on."""

GHOST = "ghost"
"""GitHub's stand-in for the author of what a deleted account wrote."""

_PER_PAGE = 100


class GitHubTracker:
    """A repository, seen and changed as one identity. ``identify`` tells its user id.

    ``repository_id`` saves the request that would find it out. Each read costs one request (a list: one a page; the first issue
    one more to learn the repository's id), each write exactly one, which is never repeated here.
    """

    def __init__(self, access: Access, repository: str, identify: Callable[[], int], repository_id: int | None = None) -> None:
        self.repository = repository
        self._access = access
        self._identify = identify
        self._repository_id = repository_id
        self._names = {repository.lower()}
        self._root = "/repos/" + "/".join(quote(part, safe="") for part in repository.split("/"))

    def identity(self) -> int:
        """Our own user id. Raises Unavailable."""
        return self._identify()

    def issue(self, number: int) -> Issue:
        """The issue as it is now. Gone also for one that was transferred, although GitHub redirects to its new place."""
        data = self._access.call("GET", f"{self._root}/issues/{number}").data
        self._check_place(data)
        return _read(self._issue, data)

    def open_issues(self) -> Iterator[Issue]:
        """All open issues, newest first, pull requests left out. One that slips to the next page meanwhile comes once."""
        seen: set[int] = set()
        parameters = {"state": "open", "sort": "created", "direction": "desc", "per_page": _PER_PAGE}
        for data in self._access.pages(f"{self._root}/issues", parameters):
            issue = _read(self._issue, data)
            if issue.number not in seen and not issue.is_pull_request:
                seen.add(issue.number)
                yield issue

    def opened_since(self, since: float) -> Iterator[Issue]:
        """Issues opened since then (seconds since 1970), newest first, pull requests left out."""
        parameters = {"state": "all", "sort": "created", "direction": "desc", "per_page": _PER_PAGE}
        for data in self._access.pages(f"{self._root}/issues", parameters):
            if _read(_created, data) < since:
                return
            issue = _read(self._issue, data)
            if not issue.is_pull_request:
                yield issue

    def commented_since(self, since: float) -> Iterator[Comment]:
        """Comments written since then on all issues, newest first."""
        parameters = {"sort": "created", "direction": "desc", "per_page": _PER_PAGE}
        for data in self._access.pages(f"{self._root}/issues/comments", parameters):
            if _read(_created, data) < since:
                return
            yield _read(_comment, data)

    def comments(self, issue: int) -> Iterator[Comment]:
        """All comments of an issue, oldest first."""
        for data in self._access.pages(f"{self._root}/issues/{issue}/comments", {"per_page": _PER_PAGE}):
            yield _read(_comment, data)

    def comment(self, id: int) -> Comment:
        """One comment as it is now."""
        return _read(_comment, self._access.call("GET", f"{self._root}/issues/comments/{id}").data)

    def permission(self, user: str) -> str:
        """What the user may do; ``none`` for somebody whom GitHub does not know."""
        try:
            data = self._access.call("GET", f"{self._root}/collaborators/{quote(user, safe='')}/permission").data
        except Gone:
            return "none"
        return _read(_role, data)

    def file(self, path: str) -> str | None:
        """The text of a file on the default branch; None for none, for a folder, and for more than 64 KiB."""
        try:
            data = self._access.call("GET", f"{self._root}/contents/{quote(path)}").data
        except Gone:
            return None
        return _read(_text, data)

    def create_comment(self, issue: int, body: str) -> Comment:
        """Write a comment."""
        return _written(_comment, self._access.call("POST", f"{self._root}/issues/{issue}/comments", body={"body": body}).data)

    def edit_comment(self, id: int, body: str) -> Comment:
        """Replace a comment's text."""
        return _written(_comment, self._access.call("PATCH", f"{self._root}/issues/comments/{id}", body={"body": body}).data)

    def delete_comment(self, id: int) -> None:
        """Delete a comment."""
        self._access.call("DELETE", f"{self._root}/issues/comments/{id}")

    def react(self, comment: int, content: str) -> None:
        """Put a reaction on a comment; GitHub keeps the same one of the same user once."""
        self._access.call("POST", f"{self._root}/issues/comments/{comment}/reactions", body={"content": content})

    def add_labels(self, issue: int, labels: tuple[str, ...]) -> None:
        """Add labels; GitHub makes those that the repository has not."""
        self._access.call("POST", f"{self._root}/issues/{issue}/labels", body={"labels": list(labels)})

    def _issue(self, data: Any) -> Issue:
        labels = tuple(label if isinstance(label, str) else label["name"] for label in data["labels"])
        user = data["user"] or {}
        return Issue(
            repository=self.repository,
            repository_id=self._id(),
            number=int(data["number"]),
            title=clean(data["title"]),
            body=clean(data["body"] or ""),
            author=clean(user.get("login", GHOST)),
            open=data["state"] == "open",
            locked=bool(data["locked"]),
            by_bot=is_bot(user),
            labels=tuple(map(clean, labels)),
            is_pull_request=data.get("pull_request") is not None,
            reason=str(data.get("state_reason") or "") if data["state"] != "open" else "",
            url=str(data.get("html_url", "")),
        )

    def _id(self) -> int:
        if self._repository_id is None:
            self._look_up()
        assert self._repository_id is not None  # noqa: S101 - for the type checker
        return self._repository_id

    def _look_up(self) -> None:
        """Learn the repository's id and the name that it has now."""
        data = self._access.call("GET", self._root).data
        self._repository_id = _read(lambda found: int(found["id"]), data)
        self._names.add(_read(lambda found: str(found["full_name"]).lower(), data))

    def _check_place(self, data: Any) -> None:
        """Raise Gone for an issue of another repository; ours may have been renamed."""
        place = "/".join(_read(lambda found: str(found["repository_url"]), data).rsplit("/", 2)[-2:])
        if place.lower() not in self._names:
            self._look_up()
        if place.lower() not in self._names:
            raise Gone(f"the issue was transferred to {place}")


def _created(data: Any) -> float:
    return datetime.fromisoformat(data["created_at"]).timestamp()


def _comment(data: Any) -> Comment:
    user = data["user"] or {}
    return Comment(
        id=int(data["id"]),
        issue=int(data["issue_url"].rsplit("/", 1)[-1]),
        author=clean(user.get("login", GHOST)),
        author_id=int(user.get("id", 0)),
        body=clean(data.get("body") or ""),
        by_bot=is_bot(user),
        url=str(data.get("html_url", "")),
    )


def _role(data: Any) -> str:
    role = data.get("role_name")
    if role in ROLES:
        return str(role)
    return data["permission"] if data["permission"] in ROLES else "none"


def _text(data: Any) -> str | None:
    if isinstance(data, list) or data["type"] != "file" or data["size"] > LARGEST_FILE or data["encoding"] != "base64":
        return None
    return clean(base64.b64decode(data["content"]).decode("utf-8-sig", "replace"))


def _read(convert: Callable[[Any], T], data: Any) -> T:
    """Convert what a read gave. Raises Unavailable when it has not the form that GitHub describes."""
    try:
        return convert(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unavailable(f"GitHub answered in an unknown form ({error!r})") from error


def _written(convert: Callable[[Any], T], data: Any) -> T:
    """Convert what a write gave. Raises Ambiguous when it has not the form that GitHub describes."""
    try:
        return _read(convert, data)
    except Unavailable as error:
        raise Ambiguous(str(error)) from error
