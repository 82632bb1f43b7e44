"""The hook: what is taken, what is refused, and that nothing malformed makes it fail."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from werkzeug.test import TestResponse

from bot.config import ConfigError
from bot.trackers.github.receive import sign


class Unread(io.BytesIO):
    """A body that nobody may read."""

    def read(self, size: int | None = -1) -> bytes:
        raise AssertionError("the body was read")


SECRET = b"the first secret which is long enough"
OTHER_SECRET = b"the second secret also long enough....."
ISSUE = {
    "action": "opened",
    "issue": {"number": 7, "title": "t", "body": None, "user": {"login": "octocat", "type": "User"}},
    "repository": {"id": 5, "full_name": "octo/engine"},
    "sender": {"login": "octocat", "type": "User"},
    "installation": {"id": 9},
}
COMMENT = {**ISSUE, "action": "created", "comment": {"id": 11, "body": "/explain"}}


def packed(payload: object) -> bytes:
    return json.dumps(payload).encode()


def deliver(client: FlaskClient, body: bytes, **changes: str | None) -> TestResponse:
    headers = {
        "X-GitHub-Event": "issues",
        "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
        "X-Hub-Signature-256": sign(body, SECRET),
        "Content-Type": "application/json",
    }
    headers.update({name.replace("_", "-"): value for name, value in changes.items()})  # type: ignore[misc]
    return client.post("/hooks/github", data=body, headers={name: value for name, value in headers.items() if value is not None})


def test_a_delivery_is_put_in_line_and_accepted(client: FlaskClient, queue: Any) -> None:
    answer = deliver(client, packed(ISSUE))
    assert (answer.status_code, answer.json) == (202, {"accepted": "72d3162e-cc78-11e3-81ab-4c9367dc0958"})
    (event,) = queue.events
    assert (event.name, event.repository, event.issue, event.installation) == ("issue.opened", "octo/engine", 7, 9)


GOOD = sign(packed(ISSUE), SECRET)
HEX = GOOD.removeprefix("sha256=")


@pytest.mark.parametrize(
    ("status", "body", "changes"),
    [
        (202, packed(ISSUE), {}),
        (202, packed(COMMENT), {"X_GitHub_Event": "issue_comment"}),
        (202, packed(ISSUE), {"X_Hub_Signature_256": sign(packed(ISSUE), OTHER_SECRET)}),
        (202, packed(ISSUE), {"Content_Type": None}),
        (202, packed({**ISSUE, "action": "edited"}), {}),
        (200, packed({**ISSUE, "action": "closed"}), {}),
        (200, packed({**ISSUE, "action": "no such action"}), {}),
        (200, packed({**ISSUE, "action": None}), {}),
        (200, packed({}), {}),
        (200, packed({**COMMENT, "comment": {"id": 11, "body": "thanks"}}), {"X_GitHub_Event": "issue_comment"}),
        (200, packed({**COMMENT, "comment": {"id": 11, "body": None}}), {"X_GitHub_Event": "issue_comment"}),
        (200, packed({"zen": "x"}), {"X_GitHub_Event": "ping"}),
        (200, packed(ISSUE), {"X_GitHub_Event": "push"}),
        # signatures
        (403, packed(ISSUE), {"X_Hub_Signature_256": None}),
        (403, packed(ISSUE), {"X_Hub_Signature_256": ""}),
        (403, packed(ISSUE), {"X_Hub_Signature_256": "sha256="}),
        (403, packed(ISSUE), {"X_Hub_Signature_256": HEX}),
        (403, packed(ISSUE), {"X_Hub_Signature_256": "sha1=" + HEX[:40]}),
        (403, packed(ISSUE), {"X_Hub_Signature_256": GOOD[:-1]}),
        (403, packed(ISSUE), {"X_Hub_Signature_256": GOOD + "0"}),
        (403, packed(ISSUE), {"X_Hub_Signature_256": "sha256=" + "g" * 64}),
        (403, packed(ISSUE), {"X_Hub_Signature_256": "sha256=" + "é" * 64}),
        (403, packed(ISSUE), {"X_Hub_Signature_256": "sha256=" + " " * 64}),
        (403, packed(ISSUE), {"X_Hub_Signature_256": "sha256=" + "0" * 64}),
        (403, packed(ISSUE), {"X_Hub_Signature_256": sign(packed(ISSUE), b"")}),
        (403, packed(ISSUE), {"X_Hub_Signature_256": sign(packed(ISSUE), b"some other secret of nobody we know")}),
        (403, packed(ISSUE), {"X_Hub_Signature_256": None, "X_Hub_Signature": "sha1=" + "0" * 40}),
        (403, packed(ISSUE) + b" ", {"X_Hub_Signature_256": GOOD}),
        (411, b"", {}),
        # what is signed, and still no delivery
        (400, packed(ISSUE), {"X_GitHub_Event": None}),
        (400, packed(ISSUE), {"X_GitHub_Event": ""}),
        (400, packed(ISSUE), {"X_GitHub_Event": "Issues!"}),
        (400, packed(ISSUE), {"X_GitHub_Delivery": None}),
        (400, packed(ISSUE), {"X_GitHub_Delivery": "a b"}),
        (400, packed(ISSUE), {"X_GitHub_Delivery": "a" * 65}),
        (400, b"{", {}),
        (400, b"null", {}),
        (400, b"[]", {}),
        (400, b"7", {}),
        (400, b"\xff\xfe", {}),
        (400, b"[" * 100_000, {}),
        (400, b'{"a":' * 100_000, {}),
        (400, b'{"action": "opened", "issue": ' + b"9" * 5_000 + b"}", {}),
        (400, packed({"action": "opened"}), {}),
        (400, packed({**ISSUE, "issue": None}), {}),
        (400, packed({**ISSUE, "repository": []}), {}),
        (400, packed({**ISSUE, "sender": "octocat"}), {}),
        (400, packed({**ISSUE, "repository": {"id": 5, "full_name": "../etc"}}), {}),
        (400, packed({**ISSUE, "repository": {"id": 2**70, "full_name": "octo/engine"}}), {}),
        (400, packed({**ISSUE, "issue": {"number": -1}}), {}),
        (400, packed({**ISSUE, "issue": {"number": True}}), {}),
        (415, packed(ISSUE), {"Content_Type": "application/x-www-form-urlencoded"}),
    ],
)  # fmt: skip
def test_deliveries(client: FlaskClient, queue: Any, status: int, body: bytes, changes: dict[str, str | None]) -> None:
    assert deliver(client, body, **changes).status_code == status
    assert len(queue.events) == (status == 202)


def test_what_cannot_be_stored_is_cleaned(client: FlaskClient, queue: Any) -> None:
    assert deliver(client, packed({**ISSUE, "sender": {"login": "a\ud800\0b"}})).status_code == 202
    queue.events[0].actor.encode()
    assert "\0" not in queue.events[0].actor


@pytest.mark.parametrize("method", ["get", "put", "delete", "patch"])
def test_other_methods_are_refused(client: FlaskClient, method: str) -> None:
    answer = getattr(client, method)("/hooks/github")
    assert answer.status_code == 405
    assert "POST" in answer.headers["Allow"]


def test_a_body_above_the_cap_is_refused_before_it_is_read(client: FlaskClient) -> None:
    answer = client.post("/hooks/github", input_stream=Unread(), environ_overrides={"CONTENT_LENGTH": str(25 * 1024 * 1024 + 1)})
    assert answer.status_code == 413


def test_a_body_without_a_length_is_refused_before_it_is_read(client: FlaskClient) -> None:
    environ = {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    answer = client.post("/hooks/github", input_stream=Unread(), environ_overrides=environ)
    assert answer.status_code == 411


def test_a_delivery_that_cannot_be_put_in_line_is_shown_as_failed(
    client: FlaskClient, queue: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    queue.full = True
    assert deliver(client, packed(ISSUE)).status_code == 503
    printed = capsys.readouterr()
    assert "RuntimeError" in printed.out + printed.err
    assert "canary" not in printed.out + printed.err


def test_neither_headers_nor_bodies_are_printed(client: FlaskClient, capsys: pytest.CaptureFixture[str]) -> None:
    body = packed({**ISSUE, "issue": {"number": 7, "title": "canary-title"}})
    deliver(client, body, X_GitHub_Encoded_Secret="canary-header")
    deliver(client, body, X_Hub_Signature_256="sha256=canary")
    deliver(client, b"canary-body")
    printed = capsys.readouterr()
    assert "canary" not in printed.out + printed.err


@pytest.mark.parametrize("secrets", ["", " ", ",", "short", "x" * 31, f"{'x' * 40},short", ", ,"])
def test_there_is_no_server_without_a_secret(make_app: Callable[[str], Flask], secrets: str) -> None:
    with pytest.raises(ConfigError):
        make_app(secrets)


LOOSE = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@LOOSE
@given(
    st.one_of(
        st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0")),
        st.from_regex(r"sha(1|256)=[0-9a-fA-F]{0,70}", fullmatch=True),
    )
)
def test_no_signature_but_ours_is_accepted(client: FlaskClient, queue: Any, signature: str) -> None:
    status = deliver(client, packed(ISSUE), X_Hub_Signature_256=signature.strip()).status_code
    assert status == (202 if signature.strip().lower() == GOOD else 403)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*ISSUE, *COMMENT, "id", "login", "full_name"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@LOOSE
@given(
    st.sampled_from([ISSUE, COMMENT]),
    st.dictionaries(st.sampled_from([*COMMENT]), JSON, max_size=3),
    st.sampled_from(["issues", "issue_comment", "ping", "push"]),
)
def test_no_signed_payload_makes_it_fail(client: FlaskClient, whole: dict[str, Any], changes: dict[str, Any], name: str) -> None:
    answer = deliver(client, packed({**whole, **changes}), X_GitHub_Event=name)
    assert answer.status_code in (200, 202, 400)


@LOOSE
@given(st.binary(min_size=1, max_size=60))
def test_no_signed_bytes_make_it_fail(client: FlaskClient, body: bytes) -> None:
    assert deliver(client, body).status_code in (200, 400)
