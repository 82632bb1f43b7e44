"""``explainbot action`` as a workflow's step runs it: a process that is given the runner's variables and files, and nothing else."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bot.catalogue.catalogue import catalogue_path
from bot.demo.github import StandIn

REPOSITORY = "octo/engine"
SPROCKETS = "ValueError: The frobnicator alpha needs at least 3 sprockets before it can turn"
LOGIN = "helper"


class Runner:
    """What a workflow run gives its steps, and what they leave behind."""

    def __init__(self, folder: Path, catalogue: Path) -> None:
        self.folder = folder
        self.hub = StandIn()
        self.hub.add_repository(REPOSITORY, collaborators={LOGIN: "write"})
        path = catalogue_path(folder / "cache", REPOSITORY)
        path.parent.mkdir(parents=True)
        shutil.copyfile(catalogue, path)

    def step(self, name: str, payload: object, *arguments: str, **changed: str) -> subprocess.CompletedProcess[str]:
        file = self.folder / "event.json"
        file.write_text(payload if isinstance(payload, str) else json.dumps(payload), "utf-8")
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("EXPLAINBOT_", "GITHUB_"))}
        environment = clean | {
            "EXPLAINBOT_CACHE_DIR": str(self.folder / "cache"),
            "EXPLAINBOT_ERRORS_DIR": str(self.folder),
            "EXPLAINBOT_WRITE_INTERVAL": "0",
            "EXPLAINBOT_SETTLE_SECONDS": "0.2",
            "GITHUB_API_URL": self.hub.url,
            "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(file),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_RUN_ID": "7",
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_TOKEN": self.hub.token(LOGIN),
        }
        command = [sys.executable, "-m", "bot.cli", "action", "--login", LOGIN, *arguments]
        return subprocess.run(command, env=environment | changed, capture_output=True, text=True, timeout=120, check=False)

    def payload(self, event: str) -> dict[str, object]:
        """The last thing that the repository said of this kind."""
        return next(delivery.payload for delivery in reversed(self.hub.deliveries) if delivery.event == event)

    def comments(self, issue: int) -> list[str]:
        return [comment.body for comment in self.hub.comments(REPOSITORY, issue) if comment.author.login == LOGIN]


@pytest.fixture
def runner(tmp_path, engine_catalogue):
    made = Runner(tmp_path, engine_catalogue)
    with made.hub.serve():
        yield made


def test_an_issue_is_answered_once_however_often_the_step_runs(runner, tmp_path):
    issue = runner.hub.open_issue(REPOSITORY, "It fails", SPROCKETS).number
    payload = runner.payload("issues")
    first, again = runner.step("issues", payload), runner.step("issues", payload)
    assert (first.returncode, first.stdout, again.returncode, again.stdout) == (0, "posted\n", 0, "unchanged\n")
    (text,) = runner.comments(issue)
    assert "too few sprockets" in text
    assert (tmp_path / "output").read_text("utf-8") == "outcome=posted\noutcome=unchanged\n"
    assert (tmp_path / "summary").read_text("utf-8") == "explainbot: posted\nexplainbot: unchanged\n"


def test_a_command_in_a_comment_is_answered(runner):
    issue = runner.hub.open_issue(REPOSITORY, "It fails", "See below.").number
    runner.hub.comment(REPOSITORY, issue, f"/explain {SPROCKETS}")
    ended = runner.step("issue_comment", runner.payload("issue_comment"))
    assert ended.returncode == 0
    (text,) = runner.comments(issue)
    assert "too few sprockets" in text


@pytest.mark.parametrize("body", ["They would be nice.", None])
def test_an_issue_without_an_error_is_left_alone(runner, body):
    issue = runner.hub.open_issue(REPOSITORY, "Please add colours", body or "").number
    payload = runner.payload("issues")
    payload["issue"]["body"] = body
    assert runner.step("issues", payload).returncode == 0
    assert runner.comments(issue) == []


@pytest.mark.parametrize("payload", [{"action": "opened"}, {"action": "opened", "issue": None, "repository": 7}, []])
def test_an_event_that_is_none_of_ours_passes(runner, payload):
    ended = runner.step("issues", payload)
    assert (ended.returncode, ended.stdout) == (0, "nothing for us\n")


@pytest.mark.parametrize(
    ("payload", "changed", "said"),
    [
        ("not json", {}, "event.json cannot be read"),
        ("[" * 100_000, {}, "event.json cannot be read"),
        (None, {"GITHUB_TOKEN": ""}, "no token"),
        (None, {"GITHUB_EVENT_PATH": ""}, "for a GitHub Actions workflow"),
        (None, {"EXPLAINBOT_CACHE_DIR": "nowhere"}, "explainbot scan octo/engine"),
    ],
)
def test_a_step_that_cannot_work_fails_and_says_in_a_line_what_to_do(runner, payload, changed, said):
    runner.hub.open_issue(REPOSITORY, "It fails", SPROCKETS)
    ended = runner.step("issues", payload or runner.payload("issues"), **changed)
    assert ended.returncode == 1
    assert said in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
