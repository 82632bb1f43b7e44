"""Payloads that are not what they should be: real ones with parts replaced, taken away, or broken as bytes."""

from __future__ import annotations

import copy
import json
import random
from dataclasses import dataclass
from typing import Any

from tests.bench.suites.scene import real_payloads

LOOKED_AT = (
    ("action",),
    ("repository",),
    ("repository", "id"),
    ("repository", "full_name"),
    ("issue",),
    ("issue", "number"),
    ("comment",),
    ("comment", "id"),
    ("comment", "body"),
    ("sender",),
    ("sender", "login"),
    ("sender", "type"),
    ("installation",),
    ("installation", "id"),
    ("changes",),
    ("changes", "body"),
    ("changes", "body", "from"),
    ("changes", "new_repository"),
    ("changes", "new_issue"),
)
"""Where the receiver looks; half of the changes are made there."""

_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, 2**63 - 1, 2**63, -(2**63), 2**70, 10**400, 1.5, 1e308, -0.0,
    "", " ", "0", "1", "\0", "a\0b", "\ud800", "\udfff\ud800", "\u202e", "é" * 300, "x" * 70_000,
    "octo/engine", "octo/engine\n", "../..", "octo/..", "a/b/c", "OCTO/ENGINE", "octo/engine#",
    "/explain", "/EXPLAIN help", "/explain " + "x" * 9000, "`" * 5000, "[bot]", "Bot",
    "opened", "created", "edited", "transferred", "deleted",
    "'; DROP TABLE answers; --", "${jndi:ldap://x}", "{{7*7}}", "%s%n", "\r\nX: y",
    [], [[]], [None], {}, {"id": 1}, {"": ""}, {"login": "x" * 500},
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class There:
    """What the stand-in has: a repository with issues from 1 on, and the ids of comments."""

    repository: str
    repository_id: int
    installation: int
    issues: int
    comments: tuple[int, ...]


def mutated(draw: random.Random, there: There) -> tuple[str, bytes]:
    """An event's name and a body: a real payload, in most cases of a repository that is there, changed at one to four places."""
    payloads = real_payloads()
    ours = [each for each in payloads if each[0] in ("issues", "issue_comment")]
    event, payload = draw.choice(ours if draw.random() < 0.85 else payloads)
    payload = copy.deepcopy(payload)
    if draw.random() < 0.8:
        _settle(draw, payload, there)
    for _ in range(draw.choice((0, 1, 1, 1, 2, 4))):
        _change(draw, payload)
    body = json.dumps(payload, ensure_ascii=draw.random() < 0.7).encode("utf-8", "surrogatepass")
    if draw.random() < 0.15:
        body = _broken(draw, body)
    if draw.random() < 0.05:
        event = draw.choice(("issues", "issue_comment", "ping", "push", "installation", "a_b", "issues_"))
    return event, body


def _settle(draw: random.Random, payload: dict[str, Any], there: There) -> None:
    """Let a payload be about a repository, an issue and a comment that the stand-in has."""
    if isinstance(payload.get("repository"), dict):
        payload["repository"] |= {"id": there.repository_id, "full_name": there.repository}
    if isinstance(payload.get("issue"), dict):
        payload["issue"]["number"] = draw.randrange(1, there.issues + 4)
    if isinstance(payload.get("comment"), dict):
        payload["comment"]["id"] = draw.choice((*there.comments, 7))
        payload["comment"]["body"] = draw.choice(("/explain", "/explain help", "please /explain", "thanks"))
    payload["installation"] = {"id": there.installation}
    if draw.random() < 0.5:
        payload["action"] = draw.choice(("opened", "edited", "reopened", "created", "transferred"))


def _change(draw: random.Random, payload: dict[str, Any]) -> None:
    """Replace or take away one part."""
    where: list[str | int] = list(draw.choice(LOOKED_AT)) if draw.random() < 0.5 else _anywhere(draw, payload)
    holder: Any = payload
    for step in where[:-1]:
        try:
            holder = holder[step]
        except (KeyError, IndexError, TypeError):
            return
    if not where or not isinstance(holder, dict | list):
        return
    if isinstance(holder, dict) and draw.random() < 0.25:
        holder.pop(where[-1], None)
        return
    value = draw.choice(_VALUES)
    if draw.random() < 0.1:
        for _ in range(draw.choice((3, 60, 900))):
            value = [value] if draw.random() < 0.5 else {"id": value}
    if isinstance(holder, dict) or (isinstance(where[-1], int) and where[-1] < len(holder)):
        holder[where[-1]] = copy.deepcopy(value) if not isinstance(value, list | dict) else value


def _anywhere(draw: random.Random, payload: dict[str, Any]) -> list[str | int]:
    where: list[str | int] = []
    at: Any = payload
    while isinstance(at, dict | list) and at:
        step: str | int = draw.choice(list(at)) if isinstance(at, dict) else draw.randrange(len(at))
        where.append(step)
        at = at[step]
        if draw.random() < 0.3:
            break
    return where


def _broken(draw: random.Random, body: bytes) -> bytes:
    """The bytes of a payload, no longer well-formed, or well-formed in an unusual way."""
    at = draw.randrange(len(body))
    match draw.randrange(9):
        case 0:
            return body[:at]
        case 1:
            return body[:at] + draw.randbytes(draw.randrange(1, 5)) + body[at:]
        case 2:
            return b"\xef\xbb\xbf" + body
        case 3:
            return body.decode("utf-8", "replace").encode(draw.choice(("utf-16", "utf-32", "utf-7")), "replace")
        case 4:
            opened = draw.choice((b"[", b'{"a":'))
            return body[:-1] + b',"deep":' + opened * draw.choice((500, 5_000, 100_000)) + b"}"
        case 5:
            return body[:-1] + b',"issue":' + b"9" * draw.choice((400, 5_000)) + b"}"
        case 6:
            return body[:-1] + b',"action":' + draw.choice((b"NaN", b"Infinity", b"-Infinity", b"1e9999", b'"\\ud800"')) + b"}"
        case 7:
            return body[:-1] + b',"issue":null,"repository":{"id":1},"issue":{"number":2}}'
        case _:
            return b" " * draw.choice((1, 100_000)) + body + b"\n" * 3
