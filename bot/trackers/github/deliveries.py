"""Deliveries of the App's webhook that did not arrive: GitHub keeps them for three days and sends them again only on request.

https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from bot.trackers import Ambiguous, Gone, Refused, Unavailable
from bot.trackers.github.app import Credentials, app_access

EVENTS = frozenset({"issues", "issue_comment"})

MAX_ATTEMPTS = 5
"""Deliveries of one event, the first included; what fails so often fails for another reason than an outage."""

MAX_REQUESTS = 200
"""Deliveries asked for in one go; what is left comes with the next."""


def redeliver_failed(settings: Credentials, since: float) -> int:
    """Ask GitHub to send again what it could not deliver since then (seconds since 1970); says for how many deliveries.

    A delivery that comes again has its first id, so one that arrived after all starts nothing. 0 with a plain token, which cannot
    see them. Raises Unavailable and Gone when the list cannot be read.
    """
    access = app_access(settings)
    if access is None:
        return 0
    attempts: dict[str, list[dict[str, Any]]] = {}
    for delivery in access.pages("/app/hook/deliveries", {"per_page": 100}):
        try:
            if datetime.fromisoformat(delivery["delivered_at"]).timestamp() < since:
                break
            if delivery["event"] in EVENTS:
                attempts.setdefault(str(delivery["guid"]), []).append(delivery)
        except (KeyError, TypeError, ValueError) as error:
            raise Unavailable(f"GitHub answered in an unknown form ({error!r})") from error
    asked = 0
    # The oldest first: the list comes newest first.
    for tries in reversed(list(attempts.values())):
        if asked >= MAX_REQUESTS or len(tries) >= MAX_ATTEMPTS or any(_arrived(one) or _is_pending(one) for one in tries):
            continue
        try:
            access.call("POST", f"/app/hook/deliveries/{int(tries[0]['id'])}/attempts")
        except (Ambiguous, Refused, Gone):
            continue
        asked += 1
    return asked


def _arrived(delivery: dict[str, Any]) -> bool:
    status = delivery.get("status_code")
    return isinstance(status, int) and 200 <= status < 300


def _is_pending(delivery: dict[str, Any]) -> bool:
    return delivery.get("status") == "pending"
