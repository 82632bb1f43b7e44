"""The stand-in for GitHub: one small server that holds issues in memory, answers as GitHub does, and sends its webhooks.

The demo, the tests and the benchmarks use it. People act through its methods (open an issue, comment), the bot through its API.
"""

from __future__ import annotations

import secrets as random
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from flask import Flask
from pydantic import SecretStr
from werkzeug.serving import WSGIRequestHandler, make_server

from bot.config import Settings
from bot.demo.github import identities, payloads, shapes
from bot.demo.github.faults import Fault
from bot.demo.github.state import (
    State,
    StoredComment,
    StoredIssue,
    StoredReaction,
    StoredRepository,
    now,
)
from bot.demo.github.webhooks import Delivery, Webhook

T = TypeVar("T")

NOT_SERVED = "https://api.github.com"


@dataclass(frozen=True, slots=True)
class Seen:
    """A request that came in: which route took it, and what it was answered (0: the connection was torn down)."""

    method: str
    path: str
    route: str
    status: int


class StandIn:
    """GitHub with one App on it, installed on the accounts of all repositories.

    ``webhook_url`` is where its webhook goes (``webhook.url`` may be set later), signed with ``secret`` (random by default);
    ``site_url`` is where its pages are said to be; ``senders`` deliveries are under way at a time (with one they arrive in order,
    which GitHub does not promise); ``private_key`` is the App's, in PEM form (by default a new one, which takes a moment).
    """

    def __init__(
        self,
        webhook_url: str | None = None,
        secret: bytes | None = None,
        *,
        app_id: int = 4242,
        slug: str = "explainbot",
        site_url: str = "https://github.com",
        senders: int = 1,
        private_key: str | None = None,
    ) -> None:
        from bot.demo.github.routes import create_app

        self.state = State()
        self.changed = threading.Condition()
        self.closing = threading.Event()
        self.url = NOT_SERVED
        self.site_url = site_url
        self.secret = secret if secret is not None else random.token_hex(32).encode()
        self.bot = self.state.account(f"{slug}[bot]", "Bot")
        self.facts = identities.AppFacts(app_id, slug, self.state.account(f"{slug}-owner"), now())
        self.webhook = Webhook(webhook_url, self.secret, app_id, self.changed, self.state.new_id, senders)
        self.seen: deque[Seen] = deque(maxlen=10_000)
        self._faults: list[Fault] = []
        self._given_key = private_key
        self.app: Flask = create_app(self)

    # ------------------------------------------------------------------------------------------------ how it is run

    @contextmanager
    def serve(self, port: int = 0, host: str = "127.0.0.1") -> Iterator[StandIn]:
        """Serve the API over HTTP while the block runs, once; :attr:`url` is its address. Port 0 takes a free one."""
        server = make_server(host, port, self.app, threaded=True, request_handler=_QuietHandler)
        self.url = f"http://{host}:{server.port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True, name="stand-in")
        thread.start()
        try:
            yield self
        finally:
            self.closing.set()
            server.shutdown()
            thread.join()
            server.server_close()
            self.webhook.close()

    def wait_for(self, predicate: Callable[[], T], timeout: float = 10.0) -> T:
        """Wait until ``predicate()`` is true, looking again after every change; returns what it returned last, true or not."""
        with self.changed:
            return self.changed.wait_for(predicate, timeout)

    def plan(self, *faults: Fault) -> None:
        """Let coming requests fail, in the order given."""
        with self.changed:
            self._faults.extend(faults)

    def forget_plans(self) -> int:
        """Let nothing fail any more that was planned and has not come yet; says how many faults that were."""
        with self.changed:
            left = len(self._faults)
            self._faults.clear()
            return left

    def take_fault(self, route: str) -> Fault | None:
        """The fault that is due for a request, which uses it up once."""
        with self.changed:
            for at, fault in enumerate(self._faults):
                if fault.when in (route, "*"):
                    left = replace(fault, times=fault.times - 1)
                    self._faults[at : at + 1] = [left] if left.times > 0 else []
                    return fault
        return None

    def count(self, route: str) -> int:
        """How many requests a route has taken (of the last 10,000)."""
        with self.changed:
            return sum(seen.route == route for seen in self.seen)

    @property
    def at(self) -> identities.Addresses:
        """The addresses that answers and deliveries name."""
        return identities.Addresses(self.url, self.site_url)

    # ------------------------------------------------------------------------------------------------ who may come in

    @cached_property
    def private_key(self) -> str:
        """The App's private key, in PEM form."""
        form = serialization.PrivateFormat.TraditionalOpenSSL
        return self._key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()

    @cached_property
    def public_key(self) -> str:
        """The public half of it."""
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return self._key.public_key().public_bytes(serialization.Encoding.PEM, form).decode()

    @cached_property
    def _key(self) -> rsa.RSAPrivateKey:
        if self._given_key is None:
            return rsa.generate_private_key(public_exponent=65537, key_size=2048)
        key = serialization.load_pem_private_key(self._given_key.encode(), None)
        if not isinstance(key, rsa.RSAPrivateKey):
            raise ValueError("the App's private key must be an RSA key")
        return key

    def settings(self, **more: Any) -> Settings:
        """Settings of an operator whose bot is the App here; ``more`` sets other fields."""
        return Settings(
            **{
                "github_url": self.url,
                "app_id": self.facts.id,
                "private_key": SecretStr(self.private_key),
                "webhook_secrets": SecretStr(self.secret.decode()),
                **more,
            }
        )

    def token(self, login: str) -> str:
        """A fresh personal token of a user."""
        with self.changed:
            return self.state.new_token("ghp_", self.state.account(login))[0]

    def revoke(self, token: str | None = None) -> None:
        """Void a token, or all."""
        with self.changed:
            for each in [token] if token else list(self.state.logins):
                self.state.logins.pop(each, None)

    def installation(self, repository: str) -> int:
        """The id of the App's installation that covers a repository."""
        with self.changed:
            return self.state.installation(self.state.repository(repository).owner.login)

    # ------------------------------------------------------------------------------------------------ what is in it

    def add_repository(
        self, full_name: str, collaborators: Mapping[str, str] | None = None, files: Mapping[str, str] | None = None
    ) -> StoredRepository:
        """Make a repository, its owner (an organisation, if new) and the App's installation there.

        ``collaborators`` maps logins to ``admin``, ``maintain``, ``write``, ``triage`` or ``read``; ``files`` maps paths to
        texts.
        """
        with self.changed:
            owner = self.state.account(full_name.split("/")[0], "Organization")
            repo = StoredRepository(self.state.new_id(), full_name, owner, now())
            repo.files.update(files or {})
            for login, role in (collaborators or {}).items():
                repo.collaborators[self.state.account(login).login.lower()] = role
            self.state.repositories[full_name.lower()] = repo
            self.state.former_names.pop(full_name.lower(), None)
            self.state.installations.setdefault(owner.login.lower(), self.state.new_id())
            self.changed.notify_all()
            return repo

    def rename_repository(self, old: str, new: str) -> None:
        """Give a repository another name; the old one redirects."""
        with self.changed:
            repo = self.state.repository(old)
            del self.state.repositories[repo.full_name.lower()]
            self.state.former_names[repo.full_name.lower()] = repo.id
            repo.full_name = new
            self.state.repositories[new.lower()] = repo

    def issue(self, repository: str, number: int) -> StoredIssue:
        """An issue. Raises NotThere, Deleted, Moved (all LookupError)."""
        with self.changed:
            return self.state.issue(self.state.repository(repository), number)

    def issues(self, repository: str) -> tuple[StoredIssue, ...]:
        """All issues, newest first."""
        with self.changed:
            return tuple(sorted(self.state.repository(repository).issues.values(), key=lambda issue: -issue.number))

    def comments(self, repository: str, number: int) -> tuple[StoredComment, ...]:
        """The comments of an issue, oldest first."""
        with self.changed:
            return self.state.comments_of(self.state.repository(repository), number)

    @property
    def deliveries(self) -> tuple[Delivery, ...]:
        """All attempts to deliver, oldest first."""
        with self.changed:
            return tuple(self.webhook.deliveries)

    # ------------------------------------------------------------------------------------------------ what people do

    def open_issue(
        self, repository: str, title: str, body: str | None = None, user: str = "octocat", is_pull_request: bool = False
    ) -> StoredIssue:
        """Open an issue (or a pull request, which the API lists among the issues), and tell the webhook."""
        with self.changed:
            repo = self.state.repository(repository)
            time = now()
            author = self.state.account(user)
            issue = StoredIssue(
                self.state.new_id(), repo.next_number(), title, body or None, author, time, time, is_pull_request=is_pull_request
            )
            return self._store_issue(repo, issue, "opened", user)

    def edit_issue(
        self, repository: str, number: int, title: str | None = None, body: str | None = None, user: str | None = None
    ) -> StoredIssue:
        """Change title or body, and tell the webhook; by its author when no ``user`` is named."""
        with self.changed:
            repo, old = self._issue(repository, number)
            new = replace(old, updated=now(), title=old.title if title is None else title, body=old.body if body is None else body)
            changes = {
                name: {"from": before or ""}
                for name, before, after in (("title", old.title, new.title), ("body", old.body, new.body))
                if before != after
            }
            return self._store_issue(repo, new, "edited", user or old.author.login, changes=changes)

    def set_open(self, repository: str, number: int, open: bool, user: str | None = None) -> StoredIssue:
        """Close or reopen an issue, and tell the webhook."""
        with self.changed:
            repo, old = self._issue(repository, number)
            new = replace(old, updated=now(), open=open, closed=None if open else now())
            return self._store_issue(repo, new, "reopened" if open else "closed", user or old.author.login)

    def lock_issue(self, repository: str, number: int, locked: bool = True, user: str | None = None) -> StoredIssue:
        """Lock or unlock an issue, and tell the webhook."""
        with self.changed:
            repo, old = self._issue(repository, number)
            new = replace(old, updated=now(), locked=locked)
            return self._store_issue(repo, new, "locked" if locked else "unlocked", user or repo.owner.login)

    def add_labels(self, repository: str, number: int, labels: tuple[str, ...], user: str) -> StoredIssue:
        """Put labels on an issue, made where the repository has them not; the webhook is told of each new one."""
        with self.changed:
            repo, issue = self._issue(repository, number)
            for label in labels:
                known = next((name for name in repo.labels if name.lower() == label.lower()), label)
                repo.labels.setdefault(known, self.state.new_id())
                if known not in issue.labels:
                    issue = replace(issue, updated=now(), labels=(*issue.labels, known))
                    self._store_issue(repo, issue, "labeled", user, label=shapes.label(self.at, repo, known))
            return issue

    def delete_issue(self, repository: str, number: int, user: str | None = None) -> None:
        """Delete an issue and its comments, and tell the webhook."""
        with self.changed:
            repo, old = self._issue(repository, number)
            payload = payloads.issues(self, "deleted", repo, old, user or repo.owner.login)
            self._drop(repo, number)
            repo.deleted.add(number)
            self._tell("issues", payload)

    def transfer_issue(self, repository: str, number: int, to: str, user: str | None = None) -> StoredIssue:
        """Move an issue with its comments to another repository of the same owner, and tell the webhook at both ends."""
        with self.changed:
            repo, old = self._issue(repository, number)
            target = self.state.repository(to)
            sender = user or repo.owner.login
            new = replace(old, id=self.state.new_id(), number=target.next_number(), labels=(), updated=now())
            for comment in self.state.comments_of(repo, number):
                target.comments[comment.id] = replace(comment, issue=new.number)
            target.issues[new.number] = new
            self._tell("issues", payloads.transferred(self, repo, old, target, new, sender))
            opened = payloads.issues(self, "opened", target, new, sender, changes=payloads.origin(self, repo, old))
            self._drop(repo, number)
            repo.moved[number] = (target.id, new.number)
            self._tell("issues", opened)
            return new

    def comment(self, repository: str, number: int, body: str, user: str = "octocat") -> StoredComment:
        """Write a comment, and tell the webhook."""
        with self.changed:
            repo, _ = self._issue(repository, number)
            time = now()
            new = StoredComment(self.state.new_id(), number, self.state.account(user), body, time, time)
            return self._store_comment(repo, new, "created", user)

    def edit_comment(self, repository: str, id: int, body: str, user: str | None = None) -> StoredComment:
        """Replace a comment's text, and tell the webhook."""
        with self.changed:
            repo = self.state.repository(repository)
            old = self.state.comment(repo, id)
            new = replace(old, body=body, updated=now())
            return self._store_comment(repo, new, "edited", user or old.author.login, changes={"body": {"from": old.body}})

    def delete_comment(self, repository: str, id: int, user: str | None = None) -> None:
        """Delete a comment, and tell the webhook."""
        with self.changed:
            repo = self.state.repository(repository)
            old = self.state.comment(repo, id)
            payload = payloads.comment(self, "deleted", repo, old, user or old.author.login)
            del repo.comments[id]
            self._tell("issue_comment", payload)

    def react(self, repository: str, id: int, content: str, user: str) -> tuple[StoredReaction, bool]:
        """Put a reaction on a comment; the same of the same user is there once. Returns it, and whether it is new."""
        with self.changed:
            repo = self.state.repository(repository)
            comment = self.state.comment(repo, id)
            author = self.state.account(user)
            for given in comment.reactions:
                if given.author == author and given.content == content:
                    return given, False
            reaction = StoredReaction(self.state.new_id(), author, content, now())
            repo.comments[id] = replace(comment, reactions=(*comment.reactions, reaction))
            self.changed.notify_all()
            return reaction, True

    def ping(self, repository: str | None = None) -> Delivery:
        """Send the event that GitHub sends when a webhook is made."""
        with self.changed:
            return self.webhook.send("ping", payloads.ping(self, repository))

    # ------------------------------------------------------------------------------------------------ inside

    def _issue(self, repository: str, number: int) -> tuple[StoredRepository, StoredIssue]:
        repo = self.state.repository(repository)
        return repo, self.state.issue(repo, number)

    def _store_issue(self, repo: StoredRepository, issue: StoredIssue, action: str, sender: str, **more: object) -> StoredIssue:
        repo.issues[issue.number] = issue
        self._tell("issues", payloads.issues(self, action, repo, issue, sender, **more))
        return issue

    def _store_comment(self, repo: StoredRepository, comment: StoredComment, action: str, sender: str, **more: object) -> StoredComment:
        repo.comments[comment.id] = comment
        self._tell("issue_comment", payloads.comment(self, action, repo, comment, sender, **more))
        return comment

    def _drop(self, repo: StoredRepository, number: int) -> None:
        for comment in self.state.comments_of(repo, number):
            del repo.comments[comment.id]
        del repo.issues[number]

    def _tell(self, event: str, payload: identities.Json) -> None:
        self.webhook.send(event, payload)
        self.changed.notify_all()


class _QuietHandler(WSGIRequestHandler):
    """Without a line on the terminal for each request."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""
