"""Where issues live. A tracker is anything that has this protocol; :mod:`bot.trackers.github` is the first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from bot.model import Comment, Issue

PAUSE = 60.0
"""Seconds to stay away from a tracker that cannot be reached, or refuses without naming a time (GitHub: "at least one minute")."""


class Gone(Exception):
    """The issue, comment or repository is not there, or we may not see or change it any more; do not try again."""


class Refused(Exception):
    """The tracker refused a write for good (locked, too long, flagged as spam); do not try again."""


class TooLong(Refused):
    """The tracker refused a write for the length or form of its text; nothing was written, and a shorter text may be taken."""


class Unavailable(Exception):
    """The tracker could not be reached or asks us to wait; nothing was written.

    ``retry_after`` is in seconds; :data:`PAUSE` when nothing is known of it.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = PAUSE if retry_after is None else retry_after


class Ambiguous(Exception):
    """A write ended without an answer, or with a server error: it may or may not have happened."""


class Tracker(Protocol):
    """One repository on a tracker. Reads may raise Gone or Unavailable; writes also Refused and Ambiguous.

    A write goes out once per call, never retried inside.
    """

    repository: str

    def identity(self) -> int:
        """Our own user id: the author id of the comments we write."""

    def issue(self, number: int) -> Issue:
        """The issue as it is now."""

    def open_issues(self) -> Iterator[Issue]:
        """All open issues, newest first, pull requests left out."""

    def opened_since(self, since: float) -> Iterator[Issue]:
        """Issues opened since then (seconds since 1970), newest first, whatever their state."""

    def commented_since(self, since: float) -> Iterator[Comment]:
        """Comments written since then on all issues, newest first."""

    def comments(self, issue: int) -> Iterator[Comment]:
        """All comments of an issue, oldest first."""

    def comment(self, id: int) -> Comment:
        """One comment as it is now."""

    def permission(self, user: str) -> str:
        """What the user may do: ``admin``, ``maintain``, ``write``, ``triage``, ``read`` or ``none``."""

    def file(self, path: str) -> str | None:
        """The text of a file on the default branch, or None when there is none."""

    def create_comment(self, issue: int, body: str) -> Comment:
        """Write a comment."""

    def edit_comment(self, id: int, body: str) -> Comment:
        """Replace a comment's text."""

    def delete_comment(self, id: int) -> None:
        """Delete a comment."""

    def react(self, comment: int, content: str) -> None:
        """Put a reaction on a comment; the same one twice is one."""

    def add_labels(self, issue: int, labels: tuple[str, ...]) -> None:
        """Add labels; those it has stay."""


MAINTAINERS = frozenset({"admin", "maintain", "write", "triage"})
"""Permissions of those who may sort issues."""


def may_sort(tracker: Tracker, user: str) -> bool:
    """Whether a user may sort issues there; one who is gone may not. Raises Unavailable, so that nobody need guess."""
    try:
        return tracker.permission(user) in MAINTAINERS
    except Gone:
        return False
