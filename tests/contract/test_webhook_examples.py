"""GitHub's own examples of webhook payloads through our receiver."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.trackers.github.receive import event


@pytest.fixture(scope="module")
def examples(node_modules: Path) -> dict[str, list[dict[str, Any]]]:
    """The examples by event."""
    index = json.loads((node_modules / "@octokit/webhooks-examples/api.github.com/index.json").read_text())
    return {entry["name"]: entry["examples"] for entry in index}


def test_issues(examples: dict[str, list[dict[str, Any]]]) -> None:
    taken = 0
    for payload in examples["issues"]:
        seen = event("issues", "guid", payload)
        if payload["action"] not in ("opened", "edited", "reopened", "transferred"):
            assert seen is None
            continue
        taken += 1
        assert seen is not None
        place = payload["changes"] if payload["action"] == "transferred" else payload
        prefix = "new_" if payload["action"] == "transferred" else ""
        assert seen.name == f"issue.{payload['action']}"
        assert seen.repository == place[f"{prefix}repository"]["full_name"]
        assert seen.repository_id == place[f"{prefix}repository"]["id"]
        assert seen.issue == place[f"{prefix}issue"]["number"]
        assert (seen.actor, seen.by_bot) == (payload["sender"]["login"], payload["sender"]["type"] == "Bot")
        assert seen.installation == payload.get("installation", {}).get("id")
        assert (seen.comment, seen.delivery) == (None, "guid")
    assert taken >= 9


def test_issue_comments(examples: dict[str, list[dict[str, Any]]]) -> None:
    created = [payload for payload in examples["issue_comment"] if payload["action"] == "created"]
    assert created
    for payload in examples["issue_comment"]:
        assert event("issue_comment", "guid", payload) is None
        payload["comment"]["body"] = "/explain"
        seen = event("issue_comment", "guid", payload)
        assert (seen is not None) == (payload["action"] in ("created", "edited"))
        if seen is not None:
            assert (seen.issue, seen.comment) == (payload["issue"]["number"], payload["comment"]["id"])
            assert (seen.name, seen.repository) == (f"comment.{payload['action']}", payload["repository"]["full_name"])
            assert seen.installation == payload.get("installation", {}).get("id")


def test_everything_else_is_not_for_us(examples: dict[str, list[dict[str, Any]]]) -> None:
    others = {name: payloads for name, payloads in examples.items() if name not in ("issues", "issue_comment")}
    assert "ping" in others
    for name, payloads in others.items():
        for payload in payloads:
            assert event(name, "guid", payload) is None
