"""Deliveries of the stand-in's webhook: signed, sent over HTTP, remembered, and sent again on request.

https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers
"""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from http import HTTPStatus
from typing import Any

import requests

from bot.demo.github.state import NotThere, now
from bot.trackers.github.receive import sign

TIMEOUT = 10
"""Seconds within which GitHub wants an answer."""

_LONGEST_ANSWER = 10_000


@dataclass(frozen=True, slots=True)
class Delivery:
    """One attempt to deliver an event. ``status_code`` is 0 until there is an answer, and where there was none.

    ``guid`` is ``X-GitHub-Delivery``: a redelivery is another attempt, with another id and the same guid.
    """

    id: int
    guid: str
    event: str
    action: str | None
    body: bytes = field(repr=False)
    headers: dict[str, str] = field(repr=False)
    delivered: datetime
    repository_id: int | None = None
    installation_id: int | None = None
    redelivery: bool = False
    done: bool = False
    status_code: int = 0
    duration: float = 0.0
    answer: str = field(default="", repr=False)

    @property
    def payload(self) -> dict[str, Any]:
        """What was sent, decoded."""
        decoded: dict[str, Any] = json.loads(self.body)
        return decoded

    @property
    def status(self) -> str:
        """The outcome in GitHub's words."""
        if not self.done:
            return "pending"
        if self.status_code == 0:
            return "failed to connect to host"
        return HTTPStatus(self.status_code).phrase if self.status_code in HTTPStatus.__members__.values() else "unknown"


class Webhook:
    """The one webhook of the App. Without a ``url``, deliveries are remembered as pending and not sent."""

    def __init__(
        self, url: str | None, secret: bytes, app_id: int, changed: threading.Condition, new_id: Callable[[], int], senders: int
    ) -> None:
        self.url = url
        self.secret = secret
        self.deliveries: list[Delivery] = []
        self._app_id = app_id
        self._changed = changed
        self._new_id = new_id
        self._pool = ThreadPoolExecutor(senders, thread_name_prefix="hookshot")
        self._waiting = 0

    def send(self, event: str, payload: dict[str, Any]) -> Delivery:
        """Sign a payload, remember it, and send it from another thread."""
        body = json.dumps(payload, separators=(",", ":")).encode()
        guid = str(uuid.uuid4())
        headers = {
            "Accept": "*/*",
            "Content-Type": "application/json",
            "User-Agent": f"GitHub-Hookshot/{guid[:7]}",
            "X-GitHub-Delivery": guid,
            "X-GitHub-Event": event,
            "X-GitHub-Hook-ID": "1",
            "X-GitHub-Hook-Installation-Target-ID": str(self._app_id),
            "X-GitHub-Hook-Installation-Target-Type": "integration",
            "X-Hub-Signature": "sha1=" + hmac.new(self.secret, body, hashlib.sha1).hexdigest(),
            "X-Hub-Signature-256": sign(body, self.secret),
        }
        delivery = Delivery(
            id=self._new_id(),
            guid=guid,
            event=event,
            action=payload.get("action"),
            body=body,
            headers=headers,
            delivered=now(),
            repository_id=payload.get("repository", {}).get("id"),
            installation_id=payload.get("installation", {}).get("id"),
        )
        return self._queue(delivery)

    def redeliver(self, id: int) -> Delivery:
        """Send a delivery again: same bytes, same guid. Raises NotThere."""
        first = self.delivery(id)
        again = replace(first, id=self._new_id(), delivered=now(), redelivery=True, done=False, status_code=0, duration=0.0, answer="")
        return self._queue(again)

    def delivery(self, id: int) -> Delivery:
        """The attempt of that id. Raises NotThere."""
        for delivery in self.deliveries:
            if delivery.id == id:
                return delivery
        raise NotThere(str(id))

    def wait(self, timeout: float) -> bool:
        """Wait until all that was queued has been answered or has failed; False when ``timeout`` seconds are not enough."""
        with self._changed:
            return self._changed.wait_for(lambda: self._waiting == 0, timeout)

    def close(self) -> None:
        """End the sending threads; what is queued and not begun stays pending."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _queue(self, delivery: Delivery) -> Delivery:
        with self._changed:
            self.deliveries.append(delivery)
            if self.url is not None:
                self._waiting += 1
                self._pool.submit(self._post, self.url, delivery, len(self.deliveries) - 1)
            self._changed.notify_all()
        return delivery

    def _post(self, url: str, delivery: Delivery, at: int) -> None:
        begun = time.monotonic()
        status, answer = 0, ""
        try:
            got = requests.post(url, data=delivery.body, headers=delivery.headers, timeout=TIMEOUT, allow_redirects=False)
            status, answer = got.status_code, got.text[:_LONGEST_ANSWER]
        except requests.RequestException as error:
            answer = type(error).__name__
        finally:
            over = replace(delivery, done=True, status_code=status, duration=time.monotonic() - begun, answer=answer)
            with self._changed:
                self.deliveries[at] = over
                self._waiting -= 1
                self._changed.notify_all()
