"""Deliveries that failed are asked for again, through the App."""

from __future__ import annotations

import time
from collections.abc import Iterator
from http import HTTPStatus

import pytest
from pydantic import SecretStr
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from bot.demo.github import Fault, StandIn
from bot.trackers import Unavailable
from bot.trackers.github.app import connect
from bot.trackers.github.deliveries import MAX_ATTEMPTS, redeliver_failed

REPOSITORY = "octo-org/octo-repo"


class Receiver:
    """A receiver that answers what it is told to, and keeps what it was sent."""

    def __init__(self) -> None:
        self.status = 500
        self.guids: list[str] = []

    def __call__(self, environ, start_response):  # type: ignore[no-untyped-def]
        request = Request(environ)
        self.guids.append(request.headers["X-GitHub-Delivery"])
        return Response(status=HTTPStatus(self.status))(environ, start_response)


@pytest.fixture
def receiver(github: StandIn) -> Iterator[Receiver]:
    import threading

    app = Receiver()
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    github.webhook.url = f"http://127.0.0.1:{server.port}/"
    yield app
    github.webhook.wait(10)
    server.shutdown()
    thread.join()
    server.server_close()


def test_what_failed_is_sent_again_until_it_arrives(github: StandIn, receiver: Receiver) -> None:
    since = time.time() - 1
    for n in range(3):
        github.open_issue(REPOSITORY, f"issue {n}")
    github.ping()
    assert github.webhook.wait(10)
    receiver.status = 202
    github.open_issue(REPOSITORY, "arrived")
    assert github.webhook.wait(10)
    failed, receiver.guids = receiver.guids[:3], []
    assert redeliver_failed(github.settings(), since) == 3
    assert github.webhook.wait(10)
    assert receiver.guids == failed
    assert redeliver_failed(github.settings(), since) == 0


def test_attempts_are_bounded_and_older_deliveries_left(github: StandIn, receiver: Receiver) -> None:
    github.open_issue(REPOSITORY, "issue")
    assert github.webhook.wait(10)
    for _ in range(MAX_ATTEMPTS + 2):
        redeliver_failed(github.settings(), time.time() - 60)
        assert github.webhook.wait(10)
    assert len(receiver.guids) == MAX_ATTEMPTS
    github.open_issue(REPOSITORY, "another")
    assert github.webhook.wait(10)
    assert redeliver_failed(github.settings(), time.time() + 60) == 0


def test_a_plain_token_cannot_see_deliveries(github: StandIn) -> None:
    settings = github.settings(token=SecretStr(github.token("octocat")))
    assert redeliver_failed(settings, 0.0) == 0
    assert github.count("list_deliveries") == 0


def test_a_list_that_cannot_be_read_is_said(github: StandIn) -> None:
    github.plan(Fault("list_deliveries", "502-before-write"))
    with pytest.raises(Unavailable):
        redeliver_failed(github.settings(), 0.0)


def test_what_was_opened_and_commented_since(github: StandIn) -> None:
    first = github.open_issue(REPOSITORY, "first").number
    github.comment(REPOSITORY, first, "one")
    tracker = connect(github.settings(), REPOSITORY, github.installation(REPOSITORY))
    github.open_issue(REPOSITORY, "change", is_pull_request=True)
    github.open_issue(REPOSITORY, "second")
    github.comment(REPOSITORY, first, "two")
    since = time.time() - 60
    assert [issue.title for issue in tracker.opened_since(since)] == ["second", "first"]
    assert [comment.body for comment in tracker.commented_since(since)] == ["two", "one"]
    assert list(tracker.opened_since(time.time() + 60)) == []
    assert list(tracker.commented_since(time.time() + 60)) == []
