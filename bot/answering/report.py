"""A verdict as plain values for machines: the form that ``explainbot explain --jsonl`` and ``--format json`` print."""

from __future__ import annotations

from typing import Any

from bot.answering.passages import HIDDEN, values_of
from bot.answering.terminal import to_terminal
from bot.answering.words import last_release
from bot.model import Match, RaiseSite, Verdict

__all__ = ["as_json", "to_terminal"]


def as_json(verdict: Verdict, comment: str, posted: bool) -> dict[str, Any]:
    """The verdict, its records (root cause first; none when silent), and the comment.

    ``verdict`` is the matcher's own; ``posted`` says whether the repository's settings let it be posted. Sites are those of
    the newest release that has the record, the named one first.
    """
    matches = () if verdict.decision == "silent" else verdict.matches
    return {
        "verdict": verdict.decision,
        "posted": posted,
        "records": [_record(match) for match in matches],
        "comment": comment,
    }


def _record(match: Match) -> dict[str, Any]:
    record = match.record
    values = values_of(match)
    last = last_release(record)
    sites = sorted((site for site in record.sites if site.latest.release == last), key=lambda site: site != match.site)
    return {
        "id": record.id,
        "type": record.type,
        "template": str(match.template),
        "status": record.status,
        "score": round(match.score, 4),
        "captures": {c.expression: HIDDEN if values[c.expression] == HIDDEN else c.value for c in match.captures},
        "reasons": [{"name": r.name, "weight": round(r.weight, 3), "text": r.text} for r in match.reasons],
        "sites": [_site(site) for site in sites],
    }


def _site(site: RaiseSite) -> dict[str, Any]:
    at = site.latest
    return {"path": site.path, "line": at.line, "function": site.function, "release": at.release}
