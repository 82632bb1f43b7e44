"""The hidden line by which a comment of ours is known again: ``<!-- eb:v1:<job id>:<HMAC> -->``.

It says which answer a comment is, and that we wrote it. Anybody can paste it elsewhere, so it is believed only in a comment whose
author is us.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence

_MARKER = re.compile(r"<!-- eb:v1:([0-9a-f]{16}):([0-9a-f]{16}) -->")


def job_id(repository_id: int, issue: int, purpose: str) -> str:
    """The short name of an answer: 16 hex digits, equal on every machine."""
    return hashlib.sha256(f"{repository_id}/{issue}/{purpose}".encode()).hexdigest()[:16]


def mark(body: str, job: str, secrets: Sequence[bytes]) -> str:
    """The body with the marker of this job as its last line, made with the first secret."""
    return f"{body.rstrip()}\n\n<!-- eb:v1:{job}:{_code(job, secrets[0])} -->"


def read_marker(text: str, secrets: Sequence[bytes]) -> str | None:
    """The job id of a comment's marker; None when its last line is no marker, or one that none of the secrets made."""
    found = _MARKER.fullmatch(_last_line(text))
    if found is None:
        return None
    fits = [hmac.compare_digest(_code(found[1], secret), found[2]) for secret in secrets]
    return found[1] if any(fits) else None


def fingerprint(text: str) -> str:
    """A hash of a comment's text without its marker, equal however line ends came back from the tracker."""
    text = text.replace("\r\n", "\n").rstrip()
    if _MARKER.fullmatch(_last_line(text)):
        text = text[: -len(_last_line(text))].rstrip()
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _last_line(text: str) -> str:
    text = text.rstrip()
    return text[text.rfind("\n") + 1 :]


def _code(job: str, secret: bytes) -> str:
    # A key of its own, so that nothing signed here is of use at the webhook.
    key = hmac.digest(secret, b"explainbot marker v1", "sha256")
    return hmac.digest(key, job.encode(), "sha256").hex()[:16]
