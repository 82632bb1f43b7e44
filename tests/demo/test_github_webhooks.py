"""The stand-in's deliveries: in the form of GitHub's payloads, signed, sent over HTTP, and sent again."""

import threading
from collections.abc import Callable, Iterator

import githubkit.webhooks
import pytest
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from bot.demo.github import StandIn
from bot.trackers.github.receive import verify

REPOSITORY = "octo-org/octo-repo"


@pytest.fixture
def github() -> Iterator[StandIn]:
    standin = StandIn()
    standin.add_repository(REPOSITORY)
    standin.add_repository("octo-org/elsewhere")
    standin.add_repository("a-person/repo")
    yield standin
    standin.webhook.close()


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[tuple[dict[str, str], bytes]], list[int]]]:
    """An address, what came in there, and the statuses it will answer (202 when there are none)."""
    came: list[tuple[dict[str, str], bytes]] = []
    statuses: list[int] = []

    @Request.application
    def app(request: Request) -> Response:
        came.append((dict(request.headers), request.get_data()))
        return Response("taken", statuses.pop(0) if statuses else 202)

    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{server.port}/hook", came, statuses
    server.shutdown()
    thread.join()
    server.server_close()


def _everything(github: StandIn, repository: str) -> None:
    github.open_issue(repository, "It breaks", None, "reporter")
    github.edit_issue(repository, 1, "It still breaks", "Traceback")
    github.set_open(repository, 1, False, "maintainer")
    github.set_open(repository, 1, True)
    github.lock_issue(repository, 1)
    github.lock_issue(repository, 1, False)
    github.add_labels(repository, 1, ("bug",), "maintainer")
    comment = github.comment(repository, 1, "/explain", "maintainer")
    github.edit_comment(repository, comment.id, "never mind")
    answer = github.comment(repository, 1, "an answer", github.bot.login)
    github.delete_comment(repository, answer.id)
    github.ping(repository)
    github.ping()


EXPECTED = [
    ("issues", "opened"),
    ("issues", "edited"),
    ("issues", "closed"),
    ("issues", "reopened"),
    ("issues", "locked"),
    ("issues", "unlocked"),
    ("issues", "labeled"),
    ("issue_comment", "created"),
    ("issue_comment", "edited"),
    ("issue_comment", "created"),
    ("issue_comment", "deleted"),
    ("ping", None),
    ("ping", None),
]


@pytest.mark.parametrize("repository", [REPOSITORY, "a-person/repo"])
def test_payloads_have_githubs_form(github: StandIn, repository: str) -> None:
    _everything(github, repository)
    assert [(delivery.event, delivery.action) for delivery in github.deliveries] == EXPECTED
    for delivery in github.deliveries:
        githubkit.webhooks.parse(delivery.event, delivery.body)  # type: ignore[call-overload]


def test_transfer_is_told_at_both_ends(github: StandIn) -> None:
    github.open_issue(REPOSITORY, "It breaks")
    github.comment(REPOSITORY, 1, "me too")
    new = github.transfer_issue(REPOSITORY, 1, "octo-org/elsewhere")
    left, arrived = github.deliveries[-2:]
    for delivery in (left, arrived):
        githubkit.webhooks.parse("issues", delivery.body)
    assert (left.action, left.payload["repository"]["full_name"]) == ("transferred", REPOSITORY)
    assert left.payload["changes"]["new_issue"]["id"] == new.id
    assert (arrived.action, arrived.payload["repository"]["full_name"]) == ("opened", "octo-org/elsewhere")
    assert [comment.body for comment in github.comments("octo-org/elsewhere", new.number)] == ["me too"]


def test_edit_tells_what_it_was_before(github: StandIn) -> None:
    github.open_issue(REPOSITORY, "old", "same")
    github.edit_issue(REPOSITORY, 1, "new", "same")
    assert github.deliveries[-1].payload["changes"] == {"title": {"from": "old"}}


def test_payload_holds_the_state_of_its_moment(github: StandIn) -> None:
    github.open_issue(REPOSITORY, "first")
    github.edit_issue(REPOSITORY, 1, "second")
    assert [delivery.payload["issue"]["title"] for delivery in github.deliveries] == ["first", "second"]


Receiver = tuple[str, list[tuple[dict[str, str], bytes]], list[int]]


def test_delivery_arrives_signed_and_in_order(github: StandIn, receiver: Receiver) -> None:
    github.webhook.url, came, _ = receiver
    _everything(github, REPOSITORY)
    assert github.webhook.wait(10)
    assert [body for _, body in came] == [delivery.body for delivery in github.deliveries]
    assert len({headers["X-Github-Delivery"] for headers, _ in came}) == len(EXPECTED)
    for (headers, body), delivery in zip(came, github.deliveries, strict=True):
        assert verify(body, headers["X-Hub-Signature-256"], (github.secret,))
        assert headers["X-Github-Event"] == delivery.event
        assert headers["X-Github-Delivery"] == delivery.guid
        assert headers["Content-Type"] == "application/json"
        assert headers["User-Agent"].startswith("GitHub-Hookshot/")
        assert (delivery.status, delivery.status_code, delivery.answer) == ("Accepted", 202, "taken")


def test_redelivery_is_the_same_bytes_under_the_same_id(github: StandIn, receiver: Receiver) -> None:
    github.webhook.url, came, statuses = receiver
    statuses.append(503)
    github.open_issue(REPOSITORY, "title")
    assert github.webhook.wait(10)
    first = github.deliveries[0]
    assert (first.status_code, first.redelivery) == (503, False)
    again = github.webhook.redeliver(first.id)
    assert github.webhook.wait(10)
    assert came[0] == came[1]
    assert (github.deliveries[1].guid, github.deliveries[1].redelivery, github.deliveries[1].status_code) == (
        first.guid,
        True,
        202,
    )
    assert again.id != first.id


def test_nobody_at_the_address(github: StandIn) -> None:
    github.webhook.url = "http://127.0.0.1:9/hook"
    github.open_issue(REPOSITORY, "title")
    assert github.webhook.wait(10)
    assert (github.deliveries[0].status_code, github.deliveries[0].status) == (0, "failed to connect to host")


def test_without_an_address_deliveries_stay_pending(github: StandIn) -> None:
    github.open_issue(REPOSITORY, "title")
    assert github.webhook.wait(0)
    assert [delivery.status for delivery in github.deliveries] == ["pending"]


def test_waiting_ends_with_the_change_that_was_waited_for(github: StandIn) -> None:
    opened = threading.Event()

    def act() -> None:
        opened.wait(10)
        github.open_issue(REPOSITORY, "title")
        github.comment(REPOSITORY, 1, "the answer", github.bot.login)

    thread = threading.Thread(target=act)
    thread.start()

    def look() -> tuple[object, ...]:
        opened.set()
        return github.comments(REPOSITORY, 1)

    assert len(github.wait_for(look, 10)) == 1
    thread.join()
    never: Callable[[], bool] = lambda: False  # noqa: E731
    assert github.wait_for(never, 0.01) is False
