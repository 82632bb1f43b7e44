"""Every answer of the stand-in against the models that githubkit made from GitHub's own description."""

import base64
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import jwt
import pytest
from flask.testing import FlaskClient
from githubkit_schemas.latest import models
from pydantic import TypeAdapter, ValidationError
from werkzeug.test import TestResponse

from bot.demo.github import StandIn

REPOSITORY = "octo-org/octo-repo"
ROOT = f"/repos/{REPOSITORY}"


@pytest.fixture(scope="module")
def github() -> Iterator[StandIn]:
    """Shared by this file: a repository with an issue, a comment of each kind of author, labels and reactions."""
    standin = StandIn()
    standin.add_repository(REPOSITORY, {"maintainer": "maintain"}, {".github/explainbot.yml": "labels: {}\n"})
    standin.open_issue(REPOSITORY, "It breaks", "Traceback", "reporter")
    standin.add_labels(REPOSITORY, 1, ("bug", "area: kernels"), "maintainer")
    comment = standin.comment(REPOSITORY, 1, "me too", "reporter")
    standin.react(REPOSITORY, comment.id, "+1", "maintainer")
    standin.comment(REPOSITORY, 1, "an answer", standin.bot.login)
    standin.open_issue(REPOSITORY, "A pull request", None, "maintainer", is_pull_request=True)
    yield standin
    standin.webhook.close()


class Caller:
    """Requests in process, signed in."""

    def __init__(self, client: FlaskClient, authorization: str) -> None:
        self.client = client
        self.headers = {"Authorization": authorization}

    def __call__(self, method: str, path: str, **more: Any) -> TestResponse:
        return self.client.open(path, method=method, headers=self.headers, **more)


@pytest.fixture(scope="module")
def person(github: StandIn) -> Caller:
    return Caller(github.app.test_client(), f"Bearer {github.token('maintainer')}")


@pytest.fixture(scope="module")
def app(github: StandIn) -> Caller:
    now = int(datetime.now(UTC).timestamp())
    token = jwt.encode({"iat": now - 60, "exp": now + 300, "iss": str(github.facts.id)}, github.private_key, "RS256")
    return Caller(github.app.test_client(), f"Bearer {token}")


def _holds(answer: TestResponse, model: Any, status: int = 200) -> Any:
    """Check status and form, nothing lost: every field that the model requires is there, and of the right type."""
    assert answer.status_code == status, answer.text
    return TypeAdapter(model).validate_python(answer.json)


def test_issue(person: Caller) -> None:
    issue = _holds(person("GET", f"{ROOT}/issues/1"), models.Issue)
    assert (issue.title, issue.body, issue.comments, issue.user.login) == ("It breaks", "Traceback", 2, "reporter")
    assert [label.name for label in issue.labels] == ["bug", "area: kernels"]


def test_the_models_refuse_what_is_incomplete(person: Caller) -> None:
    answer = person("GET", f"{ROOT}/issues/1")
    for field in ("id", "user", "labels", "locked", "created_at"):
        with pytest.raises(ValidationError):
            models.Issue.model_validate({key: value for key, value in answer.json.items() if key != field})


def test_list_of_issues(person: Caller) -> None:
    issues = _holds(person("GET", f"{ROOT}/issues?state=all&per_page=100"), list[models.Issue])
    assert [issue.number for issue in issues[-2:]] == [2, 1]
    assert issues[-2].pull_request.merged_at is None


def test_issue_is_created_and_changed(person: Caller) -> None:
    made = _holds(person("POST", f"{ROOT}/issues", json={"title": "new", "body": "text"}), models.Issue, 201)
    assert (made.user.login, made.state) == ("maintainer", "open")
    changed = _holds(person("PATCH", f"{ROOT}/issues/{made.number}", json={"title": "newer", "state": "closed"}), models.Issue)
    assert (changed.title, changed.body, changed.state) == ("newer", "text", "closed")
    assert changed.closed_at is not None


def test_comment_is_created_read_listed_changed_and_deleted(person: Caller) -> None:
    made = _holds(person("POST", f"{ROOT}/issues/1/comments", json={"body": "text"}), models.IssueComment, 201)
    path = f"{ROOT}/issues/comments/{made.id}"
    assert _holds(person("GET", path), models.IssueComment) == made
    assert made in _holds(person("GET", f"{ROOT}/issues/1/comments"), list[models.IssueComment])
    assert _holds(person("PATCH", path, json={"body": "other"}), models.IssueComment).body == "other"
    deleted = person("DELETE", path)
    assert (deleted.status_code, deleted.data) == (204, b"")
    _holds(person("GET", path), models.BasicError, 404)


def test_comment_of_the_app_names_the_app(github: StandIn, person: Caller) -> None:
    comments = _holds(person("GET", f"{ROOT}/issues/1/comments"), list[models.IssueComment])
    assert [comment.performed_via_github_app and comment.performed_via_github_app.slug for comment in comments[:2]] == [
        None,
        "explainbot",
    ]
    assert (comments[1].user.type, comments[1].user.id) == ("Bot", github.bot.id)


def test_reactions(person: Caller, github: StandIn) -> None:
    id = github.comments(REPOSITORY, 1)[0].id
    path = f"{ROOT}/issues/comments/{id}/reactions"
    made = _holds(person("POST", path, json={"content": "eyes"}), models.Reaction, 201)
    assert _holds(person("POST", path, json={"content": "eyes"}), models.Reaction) == made
    assert [each.content for each in _holds(person("GET", path), list[models.Reaction])] == ["+1", "eyes"]
    rollup = _holds(person("GET", f"{ROOT}/issues/comments/{id}"), models.IssueComment).reactions
    assert (rollup.total_count, rollup.plus_one, rollup.eyes, rollup.heart) == (2, 1, 1, 0)


def test_labels_in_both_forms(person: Caller, github: StandIn) -> None:
    number = github.open_issue(REPOSITORY, "to label").number
    path = f"{ROOT}/issues/{number}/labels"
    assert [each.name for each in _holds(person("POST", path, json=["one"]), list[models.Label])] == ["one"]
    both = _holds(person("POST", path, json={"labels": ["two", "One"]}), list[models.Label])
    assert [each.name for each in both] == ["one", "two"]
    assert _holds(person("GET", path), list[models.Label]) == both


def test_permission(person: Caller) -> None:
    answer = _holds(person("GET", f"{ROOT}/collaborators/maintainer/permission"), models.RepositoryCollaboratorPermission)
    assert (answer.permission, answer.role_name) == ("write", "maintain")
    assert answer.user.permissions.maintain
    assert not answer.user.permissions.admin
    answer = _holds(person("GET", f"{ROOT}/collaborators/reporter/permission"), models.RepositoryCollaboratorPermission)
    assert (answer.permission, answer.role_name) == ("read", "read")
    _holds(person("GET", f"{ROOT}/collaborators/nobody/permission"), models.BasicError, 404)


def test_content(person: Caller) -> None:
    answer = _holds(person("GET", f"{ROOT}/contents/.github/explainbot.yml"), models.ContentFile)
    assert (answer.path, answer.name) == (".github/explainbot.yml", "explainbot.yml")
    assert base64.b64decode(answer.content) == b"labels: {}\n"
    _holds(person("GET", f"{ROOT}/contents/none"), models.BasicError, 404)


def test_repository_and_users(person: Caller) -> None:
    assert _holds(person("GET", ROOT), models.FullRepository).full_name == REPOSITORY
    assert _holds(person("GET", "/user"), models.PrivateUser).login == "maintainer"
    assert _holds(person("GET", "/users/reporter"), models.PublicUser).type == "User"
    assert _holds(person("GET", "/users/explainbot%5Bbot%5D"), models.PublicUser).type == "Bot"


def test_app_and_its_installation(app: Caller, github: StandIn) -> None:
    assert _holds(app("GET", "/app"), models.Integration).slug == "explainbot"
    installation = _holds(app("GET", f"{ROOT}/installation"), models.Installation)
    assert installation.id == github.installation(REPOSITORY)
    path = f"/app/installations/{installation.id}/access_tokens"
    token = _holds(app("POST", path, json={"permissions": {"issues": "write"}}), models.InstallationToken, 201)
    bot = Caller(github.app.test_client(), f"token {token.token}")
    made = _holds(bot("POST", f"{ROOT}/issues/1/comments", json={"body": "text"}), models.IssueComment, 201)
    assert made.user.id == github.bot.id
    _holds(bot("GET", f"{ROOT}/contents/.github/explainbot.yml"), models.BasicError, 403)
    _holds(bot("GET", "/user"), models.BasicError, 403)
    _holds(app("POST", path, json={"permissions": {"administration": "write"}}), models.ValidationError, 422)
    _holds(app("POST", path, json={"permissions": {"contents": "write"}}), models.ValidationError, 422)
    _holds(app("POST", "/app/installations/1/access_tokens", json={}), models.BasicError, 404)


def test_deliveries(app: Caller, github: StandIn) -> None:
    first = _holds(app("GET", "/app/hook/deliveries?per_page=2"), list[models.HookDeliveryItem])
    newest = [delivery.id for delivery in github.deliveries][::-1]
    assert [item.id for item in first] == newest[:2]
    one = _holds(app("GET", f"/app/hook/deliveries/{newest[0]}"), models.HookDelivery)
    assert one.guid == github.deliveries[-1].guid
    ids: list[int] = []
    path: str | None = "/app/hook/deliveries?per_page=3"
    while path:
        answer = app("GET", path)
        ids += [item["id"] for item in answer.json]
        link = answer.headers.get("Link", "")
        path = link[1 : link.index(">")].removeprefix(github.url) if link else None
    assert ids == newest


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "model"),
    [
        ("GET", f"{ROOT}/issues/999", None, 404, models.BasicError),
        ("GET", "/repos/octo-org/none/issues", None, 404, models.BasicError),
        ("GET", "/nowhere", None, 404, models.BasicError),
        ("PUT", f"{ROOT}/issues/1", {}, 405, models.BasicError),
        ("GET", f"{ROOT}/issues?state=shut", None, 422, models.ValidationError),
        ("POST", f"{ROOT}/issues", {}, 422, models.ValidationError),
        ("POST", f"{ROOT}/issues", {"title": 5}, 422, models.ValidationError),
        ("PATCH", f"{ROOT}/issues/1", {"state": "shut"}, 422, models.ValidationError),
        ("POST", f"{ROOT}/issues/1/comments", {}, 422, models.ValidationError),
        ("POST", f"{ROOT}/issues/1/comments", {"body": "  "}, 422, models.ValidationError),
        ("POST", f"{ROOT}/issues/1/comments", {"body": ["x"]}, 422, models.ValidationError),
        ("POST", f"{ROOT}/issues/1/comments", {"body": "x" * 65537}, 422, models.ValidationError),
        ("POST", f"{ROOT}/issues/1/labels", {"labels": [1]}, 422, models.ValidationError),
        ("PATCH", f"{ROOT}/issues/comments/1", {"body": "x"}, 404, models.BasicError),
    ],
)
def test_errors_have_githubs_form(person: Caller, method: str, path: str, body: Any, status: int, model: Any) -> None:
    answer = person(method, path, json=body) if body is not None else person(method, path)
    _holds(answer, model, status)
    assert answer.json["status"] == str(status)
    assert answer.json["documentation_url"].startswith("https://docs.github.com/")


def test_body_that_is_not_json(person: Caller) -> None:
    answer = person("POST", f"{ROOT}/issues/1/comments", data=b"{")
    assert (answer.status_code, answer.json["message"]) == (400, "Problems parsing JSON")


def test_nobody_comes_in_without_credentials(github: StandIn) -> None:
    client = github.app.test_client()
    expired = {"iat": 1, "exp": 2, "iss": str(github.facts.id)}
    long = {"iat": 1, "exp": int(datetime.now(UTC).timestamp()) + 3600, "iss": str(github.facts.id)}
    jwts = [jwt.encode(claims, github.private_key, "RS256") for claims in (expired, long)]
    jwts.append(jwt.encode({**expired, "exp": long["exp"] - 3300}, StandIn().private_key, "RS256"))
    for authorization in (
        None,
        "",
        "Bearer",
        "Bearer x",
        "Basic eDp5",
        f"Bearer {github.private_key[:20]!r}",
        *map("Bearer {}".format, jwts),
    ):
        headers = {} if authorization is None else {"Authorization": authorization}
        for path in (f"{ROOT}/issues/1", "/user", "/app", "/app/hook/deliveries", f"{ROOT}/installation"):
            answer = client.get(path, headers=headers)
            assert answer.status_code == 401, (authorization, path)


def test_pages_link_to_each_other(github: StandIn, person: Caller) -> None:
    number = github.open_issue(REPOSITORY, "long").number
    made = [github.comment(REPOSITORY, number, str(n)).id for n in range(7)]
    path = f"{ROOT}/issues/{number}/comments"
    second = person("GET", f"{path}?per_page=3&page=2")
    assert [comment["id"] for comment in second.json] == made[3:6]
    link = f'<{github.url}{path}?per_page=3&page={{}}>; rel="{{}}"'
    assert second.headers["Link"].split(", ") == [
        link.format(page, name) for page, name in ((1, "prev"), (3, "next"), (3, "last"), (1, "first"))
    ]
    third = person("GET", f"{path}?per_page=3&page=3")
    assert [comment["id"] for comment in third.json] == made[6:]
    assert 'rel="next"' not in third.headers["Link"]
    assert "Link" not in person("GET", path).headers
    assert person("GET", f"{path}?per_page=1000&page=x").json[-1]["id"] == made[-1]


def test_stranger_may_not_change_what_others_wrote(github: StandIn) -> None:
    stranger = Caller(github.app.test_client(), f"token {github.token('stranger')}")
    id = github.comments(REPOSITORY, 1)[0].id
    for method, path in (
        ("PATCH", f"{ROOT}/issues/comments/{id}"),
        ("DELETE", f"{ROOT}/issues/comments/{id}"),
        ("PATCH", f"{ROOT}/issues/1"),
        ("POST", f"{ROOT}/issues/1/labels"),
    ):
        assert stranger(method, path, json={"body": "x", "labels": ["x"]}).status_code == 403
