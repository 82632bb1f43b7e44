"""Deliveries of GitHub's webhook: is one authentic, and does it concern us? Pure: bytes and values in, values out.

https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
https://docs.github.com/en/webhooks/webhook-events-and-payloads
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Any

from bot.model import Event

SIGNATURE_PREFIX = "sha256="

_ISSUE_ACTIONS = frozenset({"opened", "edited", "reopened", "transferred"})
_COMMENT_ACTIONS = frozenset({"created", "edited"})
_COMMAND = "/explain"
_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
_LARGEST_ID = 2**63 - 1
"""Ids are kept in signed 64-bit columns."""
_LONGEST_NAME = 200


class Malformed(ValueError):
    """A delivery of a kind that we handle, without what we need to handle it; the message says what is missing or wrong."""


def sign(body: bytes, secret: bytes) -> str:
    """The value of ``X-Hub-Signature-256`` for these bytes."""
    return SIGNATURE_PREFIX + hmac.new(secret, body, hashlib.sha256).hexdigest()


def verify(body: bytes, signature: str | None, secrets: tuple[bytes, ...]) -> bool:
    """Whether ``signature`` (``X-Hub-Signature-256``) is that of these very bytes under one of the secrets.

    Never raises, whatever the header holds: it is turned into bytes before the comparison, because ``compare_digest`` of
    text raises TypeError outside ASCII. An empty secret signs nothing. SHA-1 (``X-Hub-Signature``) is not accepted.
    """
    if signature is None or len(signature) != len(SIGNATURE_PREFIX) + 64 or not signature.startswith(SIGNATURE_PREFIX):
        return False
    try:
        given = bytes.fromhex(signature[len(SIGNATURE_PREFIX) :])
    except ValueError:
        return False
    # Every secret is tried, also after a hit, so that the time taken tells nothing of which one fits.
    fits = [hmac.compare_digest(hmac.digest(secret, body, "sha256"), given) for secret in secrets if secret]
    return any(fits)


def event(name: str, delivery: str, payload: object) -> Event | None:
    """What a delivery means to us; None when it is not for us.

    ``name`` is ``X-GitHub-Event``, ``delivery`` is ``X-GitHub-Delivery``. For us are ``issues`` opened, edited, reopened and
    transferred, and ``issue_comment`` created or edited whose text holds ``/explain`` somewhere, or did before the edit (whether
    as a command is decided later, from the comment as it then is). A transferred issue is named by its new place: at the old one
    there is nothing left to read.

    Raises Malformed for a delivery of these kinds that lacks what we need.
    """
    if name not in ("issues", "issue_comment"):
        return None
    if not isinstance(payload, Mapping):
        raise Malformed("the payload is not an object")
    action = payload.get("action")
    if name == "issues":
        return _issue_event(action, delivery, payload) if isinstance(action, str) and action in _ISSUE_ACTIONS else None
    if not isinstance(action, str) or action not in _COMMENT_ACTIONS or not any(map(may_command, _texts(payload))):
        return None
    return _made(
        f"comment.{action}",
        delivery,
        payload,
        _part(payload, "repository"),
        _part(payload, "issue"),
        _id(_part(payload, "comment"), "id"),
    )


def may_command(text: str) -> bool:
    """Whether a command may stand in a comment; whether one does is decided when it is read."""
    return _COMMAND in text.lower()


def _texts(payload: Mapping[str, Any]) -> list[str]:
    """What a comment says, and what it said before it was edited; only the text that changed counts as an edit."""
    comment, changes = payload.get("comment"), payload.get("changes")
    found = [comment.get("body")] if isinstance(comment, Mapping) else []
    if payload.get("action") == "edited":
        body = changes.get("body") if isinstance(changes, Mapping) else None
        if not isinstance(body, Mapping):
            return []
        found.append(body.get("from"))
    return [text for text in found if isinstance(text, str)]


def clean(text: str) -> str:
    """The text without NUL and lone surrogates: JSON can carry them, databases and UTF-8 can not."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def is_bot(user: Mapping[str, Any]) -> bool:
    """Whether a user object of GitHub's is that of an App or another bot."""
    login = user.get("login")
    return user.get("type") == "Bot" or (isinstance(login, str) and login.endswith("[bot]"))


def _issue_event(action: str, delivery: str, payload: Mapping[str, Any]) -> Event:
    place, prefix = payload, ""
    if action == "transferred":
        place, prefix = _part(payload, "changes"), "new_"
    return _made(f"issue.{action}", delivery, payload, _part(place, f"{prefix}repository"), _part(place, f"{prefix}issue"))


def _made(
    name: str,
    delivery: str,
    payload: Mapping[str, Any],
    repository: Mapping[str, Any],
    issue: Mapping[str, Any],
    comment: int | None = None,
) -> Event:
    sender = _part(payload, "sender")
    full_name = repository.get("full_name")
    if not isinstance(full_name, str) or not _REPOSITORY.fullmatch(full_name) or {".", ".."} & set(full_name.split("/")):
        raise Malformed("repository.full_name is not of the form owner/name")
    login = sender.get("login")
    if not isinstance(login, str) or not login:
        raise Malformed("sender.login is missing")
    installation = payload.get("installation")
    return Event(
        name=name,
        repository=full_name,
        repository_id=_id(repository, "id"),
        issue=_id(issue, "number"),
        actor=clean(login)[:_LONGEST_NAME],
        by_bot=is_bot(sender),
        comment=comment,
        installation=_id(installation, "id") if isinstance(installation, Mapping) else None,
        delivery=clean(delivery)[:_LONGEST_NAME],
    )


def _part(payload: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = payload.get(key)
    if not isinstance(part, Mapping):
        raise Malformed(f"{key} is missing")
    return part


def _id(holder: Mapping[str, Any], key: str) -> int:
    value = holder.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= _LARGEST_ID:
        raise Malformed(f"{key} is not a positive number")
    return value
