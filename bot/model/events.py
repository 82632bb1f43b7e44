"""What happens on a tracker, what stands there, and the writes that are not yet done."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.model.verdicts import Decision


@dataclass(frozen=True, slots=True)
class Event:
    """What happened, in our words, the same for every tracker.

    ``name`` is ``issue.opened``, ``issue.edited``, ``issue.reopened``, ``issue.transferred``, ``comment.created`` or
    ``comment.edited``. ``by_bot`` says that the actor is a bot (or ourselves). ``installation`` is the App installation, None with
    a plain token.
    """

    name: str
    repository: str
    repository_id: int
    issue: int
    actor: str
    by_bot: bool = False
    comment: int | None = None
    installation: int | None = None
    delivery: str = ""


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue as it is now on the tracker.

    ``reason`` is why it was closed (GitHub's names: ``completed``, ``not_planned``, ``duplicate``; "" when open, or not told).
    """

    repository: str
    repository_id: int
    number: int
    title: str
    body: str
    author: str
    open: bool = True
    locked: bool = False
    by_bot: bool = False
    labels: tuple[str, ...] = ()
    is_pull_request: bool = False
    reason: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier issue that holds the same error; ``open`` and ``reason`` say how it ended, as in :class:`Issue`."""

    number: int
    url: str
    open: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment as it is now on the tracker."""

    id: int
    issue: int
    author: str
    author_id: int
    body: str
    by_bot: bool = False
    url: str = ""


@dataclass(frozen=True, slots=True)
class PostAnswer:
    """Make exactly one comment of ours with this ``purpose`` exist on the issue, with this body.

    ``purpose`` is ``auto`` for the automatic answer, ``command:<comment id>`` for the answer to a command.
    """

    issue: int
    purpose: str
    body: str
    records: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WithdrawAnswer:
    """When a comment with this purpose exists, edit it to ``body`` (which says why it has nothing more to say).

    Else do nothing.
    """

    issue: int
    purpose: str
    body: str


@dataclass(frozen=True, slots=True)
class React:
    """Put a reaction (GitHub's content names: ``eyes``, ``+1``, ``confused``) on a comment."""

    issue: int
    comment: int
    content: str


@dataclass(frozen=True, slots=True)
class AddLabels:
    """Add labels to an issue; those it has already stay."""

    issue: int
    labels: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Remember:
    """Keep which records an issue holds, in place of what was kept before; nothing of the reporter's text."""

    issue: int
    decision: Decision
    records: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DropAnswer:
    """Delete the comment with this purpose, and never write one again: people do not want it on this issue."""

    issue: int
    purpose: str


@dataclass(frozen=True, slots=True)
class Judge:
    """Keep what somebody said of the answer: ``wrong`` or ``right``. ``comment`` is where it was said.

    ``records`` are those it was said of; those of the automatic answer when empty.
    """

    issue: int
    comment: int
    opinion: str
    records: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoldAnswer:
    """When a comment with this purpose exists, edit it to ``body``, in which the answer is folded away.

    It stays so until the answer is about other records, or :class:`UnfoldAnswer`.
    """

    issue: int
    purpose: str
    body: str


@dataclass(frozen=True, slots=True)
class UnfoldAnswer:
    """Let the next :class:`PostAnswer` with this purpose replace what was folded away."""

    issue: int
    purpose: str


@dataclass(frozen=True, slots=True)
class AllowAnswer:
    """Let there be comments with this purpose again, after :class:`DropAnswer`."""

    issue: int
    purpose: str


@dataclass(frozen=True, slots=True)
class Correct:
    """Keep that a maintainer said which record the issue is about. ``comment`` is where it was said."""

    issue: int
    comment: int
    record: str


Effect = PostAnswer | WithdrawAnswer | DropAnswer | FoldAnswer | UnfoldAnswer | AllowAnswer | React | AddLabels | Remember | Judge | Correct
