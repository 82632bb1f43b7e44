"""Faults on demand: the ways in which GitHub fails, each at a named request and a given number of times."""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

Kind = Literal[
    "502-before-write",
    "502-after-write",
    "reset-before-write",
    "reset",
    "timeout-before-write",
    "timeout",
    "401",
    "429",
    "403-primary",
    "403-secondary",
    "403-suspended",
    "403-archived",
    "404",
    "410",
    "422-long",
    "422-spam",
    "list-lag",
]

WRITES = ("create_comment", "update_comment", "delete_comment", "create_reaction", "add_labels")
READS = ("get_issue", "get_comment", "list_comments", "get_permission", "get_content")


@dataclass(frozen=True, slots=True)
class Fault:
    """``times`` requests named ``when`` fail in the way ``kind`` says; ``when`` is a route's name (``create_comment``) or ``*``.

    ``reset`` (the connection is torn down) and ``timeout`` (no answer for ``seconds``) come after the request was carried out,
    the worse case; with ``-before-write`` nothing was done. ``429``, ``403-primary`` and ``403-secondary`` ask to wait
    ``seconds``; with 0 they do not say how long. ``403-suspended``, ``403-archived``, ``404``, ``410``, ``422-long`` and
    ``422-spam`` refuse in GitHub's words. ``list-lag``: a list misses the comments younger than ``seconds``.
    """

    when: str
    kind: Kind
    times: int = 1
    seconds: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"unknown kind of fault: {self.kind}")

    @property
    def breaks_connection(self) -> bool:
        """Whether the caller gets no answer at all."""
        return self.kind.startswith(("reset", "timeout"))

    @property
    def after(self) -> bool:
        """Whether the request is carried out before it fails."""
        return self.kind in ("502-after-write", "reset", "timeout")


def faults_of(
    seed: int, count: int, kinds: Sequence[Kind] = (), routes: Sequence[str] = WRITES + READS, seconds: float = 0.1
) -> tuple[Fault, ...]:
    """So many faults, the same for the same seed; of all kinds, or of these. Each is at a request that can
    fail so; where several can, at one of ``routes``."""
    chance = random.Random(seed)  # noqa: S311  repeatable, no secret
    found = []
    for _ in range(count):
        kind = chance.choice(tuple(kinds) or get_args(Kind))
        if kind == "list-lag":
            when = "list_comments"
        elif kind.startswith("422") or kind in ("502-after-write", "403-archived"):
            when = chance.choice(WRITES)
        else:
            when = chance.choice(tuple(routes))
        found.append(Fault(when, kind, seconds=seconds))
    return tuple(found)


MARK = "explainbot.fault"
"""Where a request's WSGI environment holds the fault that breaks its connection."""

Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def breaking(inner: Wsgi, closing: threading.Event) -> Wsgi:
    """A WSGI application that tears the connection down where a request is marked so; ``closing`` ends every wait."""

    def run(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        answer = inner(environ, start_response)
        fault: Fault | None = environ.get(MARK)
        if fault is None:
            return answer
        if fault.kind.startswith("timeout"):
            closing.wait(fault.seconds)
        connection: socket.socket | None = environ.get("werkzeug.socket")
        if connection is not None:
            connection.shutdown(socket.SHUT_RDWR)
        raise ConnectionResetError(f"planned fault: {fault.kind}")

    return run
