"""The tracker and the receiver against a GitHub that others wrote: npm's emulate."""

import json
import queue
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import requests
from pydantic import SecretStr
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from bot.config import Settings
from bot.demo.github import StandIn
from bot.trackers import Gone
from bot.trackers.github.app import connect
from bot.trackers.github.client import GitHubTracker
from bot.trackers.github.receive import event, verify

REPOSITORY = "octo-org/octo-repo"
SECRET = "a webhook secret of more than 32 bytes"


@dataclass
class World:
    """A running emulate, the App's view of its repository, and what its webhook brought."""

    url: str
    tracker: GitHubTracker
    came: "queue.Queue[tuple[dict[str, str], bytes]]" = field(default_factory=queue.Queue)

    def as_reporter(self, method: str, path: str, body: dict[str, str]) -> dict[str, int]:
        answer = requests.request(
            method, f"{self.url}/repos/{REPOSITORY}{path}", json=body, headers={"Authorization": "token token-of-the-reporter"}, timeout=10
        )
        answer.raise_for_status()
        found: dict[str, int] = answer.json()
        return found


@pytest.fixture(scope="module")
def world(node_modules: Path) -> Iterator[World]:
    came: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()

    @Request.application
    def app(request: Request) -> Response:
        came.put((dict(request.headers), request.get_data()))
        return Response(status=202)

    hook = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=hook.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = Settings(app_id=4242, private_key=SecretStr(StandIn().private_key), github_url=f"http://127.0.0.1:{port}")
    script = Path(__file__).with_name("emulate.mjs")
    node = subprocess.Popen(["node", script, node_modules, str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert node.stdin is not None
    assert node.stdout is not None
    seed = {
        "app_id": settings.app_id,
        "private_key": settings.app_key,
        "webhook_url": f"http://127.0.0.1:{hook.port}/hooks/github",
        "webhook_secret": SECRET,
    }
    node.stdin.write(json.dumps(seed) + "\n")
    node.stdin.flush()
    line = node.stdout.readline()
    assert line, "emulate did not start"
    yield World(settings.github_url, connect(settings, REPOSITORY), came)
    node.stdin.close()
    node.wait(10)
    node.stdout.close()
    hook.shutdown()
    thread.join()
    hook.server_close()


def test_issue_comes_by_webhook_and_the_answer_goes_out(world: World) -> None:
    opened = world.as_reporter("POST", "/issues", {"title": "It breaks", "body": "Traceback"})
    headers, body = world.came.get(timeout=10)
    assert verify(body, headers["X-Hub-Signature-256"], (SECRET.encode(),))
    assert not verify(body + b" ", headers["X-Hub-Signature-256"], (SECRET.encode(),))
    seen = event(headers["X-Github-Event"], headers["X-Github-Delivery"], json.loads(body))
    assert seen is not None
    assert (seen.name, seen.repository, seen.issue, seen.actor, seen.by_bot) == (
        "issue.opened",
        REPOSITORY,
        opened["number"],
        "reporter",
        False,
    )
    assert seen.installation == 100

    issue = world.tracker.issue(seen.issue)
    assert (issue.title, issue.body, issue.author, issue.repository_id) == ("It breaks", "Traceback", "reporter", seen.repository_id)
    made = world.tracker.create_comment(seen.issue, "An answer")
    assert (made.author_id, made.by_bot) == (world.tracker.identity(), True)
    assert world.tracker.edit_comment(made.id, "A better answer").body == "A better answer"
    assert [(each.id, each.body) for each in world.tracker.comments(seen.issue)] == [(made.id, "A better answer")]
    assert world.tracker.comment(made.id).body == "A better answer"
    world.tracker.delete_comment(made.id)
    with pytest.raises(Gone):
        world.tracker.comment(made.id)


def test_command_comes_by_webhook_and_our_own_comment_is_known_as_a_bots(world: World) -> None:
    number = world.as_reporter("POST", "/issues", {"title": "Another", "body": "text"})["number"]
    comment = world.as_reporter("POST", f"/issues/{number}/comments", {"body": "/explain"})["id"]
    own = world.tracker.create_comment(number, "quoting /explain").id
    found = {}
    while own not in found:
        headers, body = world.came.get(timeout=10)
        assert verify(body, headers["X-Hub-Signature-256"], (SECRET.encode(),))
        seen = event(headers["X-Github-Event"], headers["X-Github-Delivery"], json.loads(body))
        if seen is not None and seen.comment is not None:
            found[seen.comment] = seen
    assert (found[comment].issue, found[comment].by_bot, found[own].by_bot) == (number, False, True)


def test_lists_files_labels_and_permissions(world: World) -> None:
    number = world.as_reporter("POST", "/issues", {"title": "Many comments", "body": ""})["number"]
    made = [world.tracker.create_comment(number, str(n)).id for n in range(105)]
    assert [comment.id for comment in world.tracker.comments(number)] == made
    assert number in [issue.number for issue in world.tracker.open_issues()]
    world.tracker.add_labels(number, ("area: kernels",))
    assert world.tracker.issue(number).labels == ("area: kernels",)
    assert world.tracker.file("README.md") is not None
    assert world.tracker.file(".github/explainbot.yml") is None
    assert world.tracker.permission("maintainer") == "admin"
    assert world.tracker.permission("reporter") in ("read", "none")
    with pytest.raises(Gone):
        world.tracker.issue(99999)
