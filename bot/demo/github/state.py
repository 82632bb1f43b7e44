"""What the stand-in knows: accounts, repositories, issues, comments. Plain values in dictionaries, in memory.

Issues and comments are frozen: a change replaces the value, so that what a reader holds never changes under it. Callers hold the
stand-in's lock while they change anything.
"""

from __future__ import annotations

import itertools
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

TOKEN_LIFE = timedelta(hours=1)
"""How long an installation token lives on GitHub."""

ROLES = ("admin", "maintain", "write", "triage", "read")


def now() -> datetime:
    """The time, with its microseconds: the age of a comment matters for lists that lag."""
    return datetime.now(UTC)


class NotThere(LookupError):
    """No such repository, issue, comment or user: 404."""


class Deleted(LookupError):
    """The issue was deleted: 410."""


class Moved(LookupError):
    """It lives elsewhere now: 301, to the path that is the argument."""


@dataclass(frozen=True, slots=True)
class Account:
    """A user, an App's bot or an organisation; ``type`` is ``User``, ``Bot`` or ``Organization``."""

    id: int
    login: str
    type: str
    created: datetime


@dataclass(frozen=True, slots=True)
class StoredReaction:
    """A reaction on an issue or comment."""

    id: int
    author: Account
    content: str
    created: datetime


@dataclass(frozen=True, slots=True)
class StoredComment:
    """A comment below an issue; ``issue`` is the issue's number."""

    id: int
    issue: int
    author: Account
    body: str
    created: datetime
    updated: datetime
    reactions: tuple[StoredReaction, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredIssue:
    """An issue; ``body`` is None where the form was left empty, as on GitHub."""

    id: int
    number: int
    title: str
    body: str | None
    author: Account
    created: datetime
    updated: datetime
    open: bool = True
    locked: bool = False
    labels: tuple[str, ...] = ()
    closed: datetime | None = None
    reactions: tuple[StoredReaction, ...] = ()
    is_pull_request: bool = False


@dataclass(slots=True)
class StoredRepository:
    """A repository with all that is in it. ``moved`` tells where a transferred issue went: repository id and number."""

    id: int
    full_name: str
    owner: Account
    created: datetime
    collaborators: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    issues: dict[int, StoredIssue] = field(default_factory=dict)
    comments: dict[int, StoredComment] = field(default_factory=dict)
    deleted: set[int] = field(default_factory=set)
    moved: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The part after the slash."""
        return self.full_name.split("/")[1]

    def role(self, login: str) -> str:
        """What a user may do here: ``admin`` for the owner, the collaborator's role, or ``read`` as in a public repository."""
        if login.lower() == self.owner.login.lower():
            return "admin"
        return self.collaborators.get(login.lower(), "read")

    def next_number(self) -> int:
        """The number of the next issue; never one that was used."""
        return max((0, *self.issues, *self.deleted, *self.moved)) + 1


@dataclass(frozen=True, slots=True)
class Login:
    """Whom a token speaks for; ``installation`` and ``permissions`` only for an App."""

    account: Account
    installation: int | None = None
    permissions: dict[str, str] | None = None
    expires: datetime | None = None


class State:
    """All of it, with the look-ups that GitHub's addresses need."""

    def __init__(self) -> None:
        self._ids = itertools.count(1001)
        self.accounts: dict[str, Account] = {}
        self.repositories: dict[str, StoredRepository] = {}
        self.former_names: dict[str, int] = {}
        self.installations: dict[str, int] = {}
        self.suspended: set[int] = set()
        self.logins: dict[str, Login] = {}

    def new_id(self) -> int:
        """An id that nothing else has."""
        return next(self._ids)

    def account(self, login: str, type: str = "User") -> Account:
        """The account of that name, made on first use."""
        key = login.lower()
        if key not in self.accounts:
            self.accounts[key] = Account(self.new_id(), login, type, now())
        return self.accounts[key]

    def known_account(self, login: str) -> Account:
        """The account of that name. Raises NotThere."""
        try:
            return self.accounts[login.lower()]
        except KeyError:
            raise NotThere(login) from None

    def repository(self, full_name: str) -> StoredRepository:
        """The repository of that name, or of that former name. Raises NotThere."""
        key = full_name.lower()
        if key in self.repositories:
            return self.repositories[key]
        if key in self.former_names:
            return self.repository_by_id(self.former_names[key])
        raise NotThere(full_name)

    def repository_by_id(self, id: int) -> StoredRepository:
        """The repository of that id. Raises NotThere."""
        for repository in self.repositories.values():
            if repository.id == id:
                return repository
        raise NotThere(str(id))

    def issue(self, repository: StoredRepository, number: int) -> StoredIssue:
        """An issue. Raises NotThere, Deleted, or Moved for one that was transferred."""
        if number in repository.issues:
            return repository.issues[number]
        if number in repository.deleted:
            raise Deleted(str(number))
        if number in repository.moved:
            id, at = repository.moved[number]
            raise Moved(f"/repositories/{id}/issues/{at}")
        raise NotThere(str(number))

    def comment(self, repository: StoredRepository, id: int) -> StoredComment:
        """A comment. Raises NotThere."""
        try:
            return repository.comments[id]
        except KeyError:
            raise NotThere(str(id)) from None

    def comments_of(self, repository: StoredRepository, number: int) -> tuple[StoredComment, ...]:
        """The comments of an issue, oldest first."""
        return tuple(comment for _, comment in sorted(repository.comments.items()) if comment.issue == number)

    def installation(self, owner: str) -> int:
        """The id of the App's installation on an account. Raises NotThere."""
        try:
            return self.installations[owner.lower()]
        except KeyError:
            raise NotThere(owner) from None

    def new_token(
        self, prefix: str, account: Account, installation: int | None = None, permissions: dict[str, str] | None = None
    ) -> tuple[str, Login]:
        """A fresh token for an account; one of an installation expires after an hour."""
        expires = now() + TOKEN_LIFE if installation is not None else None
        token = prefix + secrets.token_urlsafe(27).replace("-", "x").replace("_", "y")
        self.logins[token] = Login(account, installation, permissions, expires)
        return token, self.logins[token]
