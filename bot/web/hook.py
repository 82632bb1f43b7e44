"""``POST /hooks/github``: bytes in, verified, turned into an event, put in line, answered.

GitHub counts a delivery as failed when it is not answered within 10 seconds, and does not send it again by itself
(https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries): nothing slow happens here, and an event
that cannot be put in line is answered with 503, so that the failure is seen. Headers and bodies are never logged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import structlog
from flask import Blueprint, Response, jsonify, request

from bot.model import Event
from bot.trackers.github import receive

SIGNATURE = "X-Hub-Signature-256"

_NAME = re.compile(r"[a-z_]{1,64}")
_DELIVERY = re.compile(r"[A-Za-z0-9_-]{1,64}")

log = structlog.get_logger(__name__)


def blueprint(secrets: tuple[bytes, ...], submit: Callable[[Event], object]) -> Blueprint:
    """The hook; ``submit`` puts an event in line durably before it returns, or raises."""
    routes = Blueprint("hook", __name__)

    @routes.post("/hooks/github")
    def github() -> tuple[Response, int]:
        if request.content_length is None:
            return _refuse(411, "Content-Length is missing")
        body = request.get_data(cache=False)  # raises 413 above MAX_CONTENT_LENGTH, before a byte is read
        if not receive.verify(body, request.headers.get(SIGNATURE), secrets):
            return _refuse(403, f"{SIGNATURE} is missing or wrong")
        if request.mimetype == "application/x-www-form-urlencoded":
            return _refuse(415, "set the webhook's content type to application/json")
        name = request.headers.get("X-GitHub-Event", "")
        delivery = request.headers.get("X-GitHub-Delivery", "")
        if not _NAME.fullmatch(name):
            return _refuse(400, "X-GitHub-Event is missing or malformed")
        if not _DELIVERY.fullmatch(delivery):
            return _refuse(400, "X-GitHub-Delivery is missing or malformed")
        try:
            payload = json.loads(body)
        except (ValueError, RecursionError, MemoryError):
            return _refuse(400, "the body is not JSON that can be read")
        if not isinstance(payload, dict):
            return _refuse(400, "the body is not a JSON object")
        if name == "ping":
            return jsonify(pong=delivery), 200
        return _taken(name, delivery, payload, submit)

    return routes


def _taken(name: str, delivery: str, payload: dict[str, object], submit: Callable[[Event], object]) -> tuple[Response, int]:
    try:
        event = receive.event(name, delivery, payload)
    except receive.Malformed as error:
        return _refuse(400, str(error))
    if event is None:
        return jsonify(ignored=delivery), 200
    try:
        submit(event)
    except Exception as error:
        # The type alone: a database error's text holds the values that it failed on.
        log.error("delivery could not be put in line", delivery=delivery, error=type(error).__name__)
        return _refuse(503, "the delivery could not be put in line; deliver it again")
    return jsonify(accepted=delivery), 202


def _refuse(status: int, problem: str) -> tuple[Response, int]:
    return jsonify(error=problem), status
