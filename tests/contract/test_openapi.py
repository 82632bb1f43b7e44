"""What the tracker sends, and what the stand-in answers, against GitHub's own description of its REST API."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from flask import Response, request
from jwt import encode
from openapi_core import Config, OpenAPI
from openapi_core.exceptions import OpenAPIError
from openapi_core.templating.responses.exceptions import ResponseNotFound
from openapi_core.testing import MockRequest, MockResponse

from bot.demo.github import Fault, StandIn
from bot.trackers import Gone, Refused, Unavailable
from bot.trackers.github.app import connect

REPOSITORY = "octo-org/octo-repo"
FILE = ".github/explainbot.yml"

OURS = (
    "/app",
    "/app/hook/deliveries",
    "/app/hook/deliveries/{delivery_id}",
    "/app/hook/deliveries/{delivery_id}/attempts",
    "/app/installations/{installation_id}/access_tokens",
    "/repos/{owner}/{repo}",
    "/repos/{owner}/{repo}/collaborators/{username}/permission",
    "/repos/{owner}/{repo}/installation",
    "/repos/{owner}/{repo}/issues",
    "/repos/{owner}/{repo}/issues/comments",
    "/repos/{owner}/{repo}/issues/comments/{comment_id}",
    "/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions",
    "/repos/{owner}/{repo}/issues/{issue_number}",
    "/repos/{owner}/{repo}/issues/{issue_number}/comments",
    "/repos/{owner}/{repo}/issues/{issue_number}/labels",
    "/user",
    "/users/{username}",
)
CONTENTS = "/repos/{owner}/{repo}/contents/{path}"

UNDESCRIBED = frozenset({400, 401, 403, 429})
"""Statuses that GitHub answers everywhere, and describes only at some addresses."""

Exchange = tuple[MockRequest, MockResponse]


def _description(node_modules: Path, server: str) -> dict[str, Any]:
    """GitHub's description, cut down to our paths, at the stand-in's address.

    In OpenAPI a path parameter holds no slash; GitHub's ``{path}`` of a file does, so the folder becomes part of the address.
    """
    document: dict[str, Any] = json.loads((node_modules / "@octokit/openapi/generated/api.github.com.json").read_text())
    paths = {path: document["paths"][path] for path in OURS}
    paths[CONTENTS.replace("{path}", ".github/{path}")] = document["paths"][CONTENTS]
    return {**document, "paths": paths, "components": _with_null(document["components"]), "servers": [{"url": server}]}


def _with_null(node: Any) -> Any:
    """OpenAPI 3.0 wants null named among the values of a nullable enum too; GitHub leaves it out (``state_reason``)."""
    if isinstance(node, list):
        return [_with_null(each) for each in node]
    if not isinstance(node, dict):
        return node
    copied = {key: _with_null(value) for key, value in node.items()}
    if copied.get("nullable") is True and isinstance(copied.get("enum"), list) and None not in copied["enum"]:
        copied["enum"] = [*copied["enum"], None]
    return copied


@pytest.fixture
def exchanges(node_modules: Path) -> Iterator[tuple[StandIn, list[Exchange]]]:
    """A stand-in, and everything asked of it and answered by it."""
    seen: list[Exchange] = []
    github = StandIn()

    @github.app.after_request
    def record(response: Response) -> Response:
        asked = MockRequest(
            request.host_url.rstrip("/"),
            request.method,
            request.path,
            args=request.args.to_dict(),
            headers=dict(request.headers),
            data=request.get_data(),
            content_type=request.content_type or "",
        )
        answered = MockResponse(response.get_data(), response.status_code, dict(response.headers), response.content_type)
        seen.append((asked, answered))
        return response

    github.add_repository(REPOSITORY, {"maintainer": "maintain"}, {FILE: "labels: {}\n"})
    with github.serve():
        yield github, seen


def _check(api: OpenAPI, exchange: Exchange) -> str | None:
    """What is wrong with a request or its answer, if anything."""
    asked, answered = exchange
    about = f"{asked.method} {asked.path} -> {answered.status_code}"
    try:
        if answered.status_code not in (400, 422):
            api.validate_request(asked)
        api.validate_response(asked, answered)
    except OpenAPIError as error:
        if isinstance(error, ResponseNotFound) and answered.status_code in UNDESCRIBED:
            return None
        causes = getattr(error.__cause__, "schema_errors", None) or [error.__cause__ or error]
        return f"{about}: {type(error).__name__}: {[str(cause)[:200] for cause in causes]}"
    return None


def _drive(github: StandIn) -> None:
    """Everything that the tracker can do, by App and by token, and the ways in which it is refused."""
    tracker = connect(github.settings(), REPOSITORY)
    github.open_issue(REPOSITORY, "It breaks", "Traceback", "reporter")
    for _ in range(101):
        github.open_issue(REPOSITORY, "another", None, "reporter")
    github.open_issue(REPOSITORY, "pull", is_pull_request=True)
    tracker.identity()
    tracker.issue(1)
    assert len(list(tracker.open_issues())) == 102
    comment = tracker.create_comment(1, "text")
    tracker.edit_comment(comment.id, "other text")
    tracker.comment(comment.id)
    tracker.react(comment.id, "eyes")
    tracker.react(comment.id, "eyes")
    tracker.add_labels(1, ("area: kernels", "bug"))
    tracker.issue(1)
    list(tracker.comments(1))
    assert len(list(tracker.opened_since(0.0))) == 102
    assert [one.id for one in tracker.commented_since(0.0)] == [comment.id]
    for user in ("maintainer", "reporter", "nobody", github.bot.login):
        tracker.permission(user)
    tracker.file(FILE)
    tracker.file(".github/none.yml")
    github.lock_issue(REPOSITORY, 1)
    with pytest.raises(Refused):
        tracker.create_comment(1, "text")
    with pytest.raises(Refused):
        tracker.create_comment(2, "x" * 65537)
    tracker.delete_comment(comment.id)
    github.delete_issue(REPOSITORY, 3)
    for number in (3, 999):
        with pytest.raises(Gone):
            tracker.issue(number)
    for kind in ("403-primary", "403-secondary", "429", "401"):
        github.plan(Fault("get_issue", kind))  # type: ignore[arg-type]
        with pytest.raises(Unavailable):
            tracker.issue(1)
    person = connect(github.settings(token=github.token("maintainer")), REPOSITORY)
    person.identity()
    person.create_comment(2, "text")


def _drive_directly(github: StandIn) -> None:
    """What the stand-in offers beyond the tracker's needs: opening and changing issues, deliveries."""
    headers = {"Authorization": f"Bearer {github.token('maintainer')}"}
    issues = f"{github.url}/repos/{REPOSITORY}/issues"
    made = requests.post(issues, json={"title": "by API", "body": "text"}, headers=headers, timeout=10).json()
    for change in ({"title": "changed"}, {"state": "closed"}, {"state": "open", "body": "new"}):
        requests.patch(f"{issues}/{made['number']}", json=change, headers=headers, timeout=10)
    requests.get(f"{issues}/{made['number']}/labels", headers=headers, timeout=10)
    now = int(github.facts.created.timestamp())
    token = encode({"iat": now - 60, "exp": now + 300, "iss": str(github.facts.id)}, github.private_key, "RS256")
    app = {"Authorization": f"Bearer {token}"}
    deliveries = f"{github.url}/app/hook/deliveries"
    for delivery in requests.get(f"{deliveries}?per_page=2", headers=app, timeout=10).json():
        requests.get(f"{deliveries}/{delivery['id']}", headers=app, timeout=10)
        requests.post(f"{deliveries}/{delivery['id']}/attempts", headers=app, timeout=10)


def test_requests_and_answers_are_as_github_describes_them(node_modules: Path, exchanges: tuple[StandIn, list[Exchange]]) -> None:
    github, seen = exchanges
    _drive(github)
    _drive_directly(github)
    api = OpenAPI.from_dict(_description(node_modules, github.url), config=Config(spec_validator_cls=None))
    faults = [fault for fault in (_check(api, exchange) for exchange in seen) if fault]
    assert not faults, "\n".join(faults)
    routes = {each.route for each in github.seen}
    with contextlib.suppress(KeyError):
        routes.remove("")
    assert routes == set(github.app.view_functions) - {"list_reactions"}


def test_the_description_does_refuse(node_modules: Path, exchanges: tuple[StandIn, list[Exchange]]) -> None:
    github, seen = exchanges
    github.open_issue(REPOSITORY, "title")
    headers = {"Authorization": f"Bearer {github.token('maintainer')}"}
    issue = f"{github.url}/repos/{REPOSITORY}/issues/1"
    requests.post(f"{issue}/comments", json={"body": "text"}, headers=headers, timeout=10)
    requests.post(f"{issue}/labels", json=["label"], headers=headers, timeout=10)
    api = OpenAPI.from_dict(_description(node_modules, github.url), config=Config(spec_validator_cls=None))
    (asked, answered), (bare_list, _) = seen
    assert _check(api, (asked, answered)) is None
    asked.body = b'{"body": 5}'
    assert "body" in (_check(api, (asked, answered)) or "")
    asked.body = b'{"body": "text"}'
    answered.data = b'{"id": 1}'
    assert "node_id" in (_check(api, (asked, answered)) or "")
    # GitHub takes it, and says so in prose only: our client sends the object form.
    assert _check(api, (bare_list, answered)) is not None
