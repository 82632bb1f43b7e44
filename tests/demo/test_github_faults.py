"""Faults on demand: how often, where, and whether the request was carried out."""

from collections.abc import Iterator

import pytest
import requests

from bot.demo.github import Fault, StandIn

REPOSITORY = "octo-org/octo-repo"
PATH = f"/repos/{REPOSITORY}/issues/1/comments"


@pytest.fixture
def github() -> Iterator[StandIn]:
    standin = StandIn()
    standin.add_repository(REPOSITORY)
    standin.open_issue(REPOSITORY, "title")
    with standin.serve():
        yield standin


def _post(github: StandIn, timeout: float = 10) -> requests.Response:
    headers = {"Authorization": f"token {github.token('somebody')}"}
    return requests.post(github.url + PATH, json={"body": "text"}, headers=headers, timeout=timeout)


def _list(github: StandIn) -> list[dict[str, object]]:
    headers = {"Authorization": f"token {github.token('somebody')}"}
    found: list[dict[str, object]] = requests.get(github.url + PATH, headers=headers, timeout=10).json()
    return found


@pytest.mark.parametrize(
    ("kind", "status", "written"),
    [
        ("502-after-write", 502, 1),
        ("502-before-write", 502, 0),
        ("429", 429, 0),
        ("403-secondary", 403, 0),
        ("403-primary", 403, 0),
    ],
)
def test_answered_faults(github: StandIn, kind: str, status: int, written: int) -> None:
    github.plan(Fault("create_comment", kind))  # type: ignore[arg-type]
    assert _post(github).status_code == status
    assert len(github.comments(REPOSITORY, 1)) == written


@pytest.mark.parametrize(("kind", "written"), [("reset", 1), ("reset-before-write", 0), ("timeout", 1), ("timeout-before-write", 0)])
def test_faults_without_an_answer(github: StandIn, kind: str, written: int) -> None:
    github.plan(Fault("create_comment", kind, seconds=30))  # type: ignore[arg-type]
    expected = requests.ReadTimeout if kind.startswith("timeout") else requests.ConnectionError
    with pytest.raises(expected):
        _post(github, timeout=0.5 if kind.startswith("timeout") else 10)
    assert len(github.comments(REPOSITORY, 1)) == written
    assert github.seen[-1].status == 0


def test_fault_happens_as_often_as_planned_and_only_there(github: StandIn) -> None:
    github.plan(Fault("create_comment", "502-before-write", times=2), Fault("create_comment", "429"))
    assert _list(github) == []
    assert [_post(github).status_code for _ in range(5)] == [502, 502, 429, 201, 201]


def test_fault_of_any_request(github: StandIn) -> None:
    github.plan(Fault("*", "401", times=2))
    assert requests.get(github.url + "/user", timeout=10).status_code == 401
    assert _post(github).status_code == 401
    assert _post(github).status_code == 201


def test_failed_request_is_not_turned_into_a_fault_of_its_own(github: StandIn) -> None:
    github.lock_issue(REPOSITORY, 1)
    github.plan(Fault("create_comment", "502-after-write"))
    assert _post(github).status_code == 403


def test_list_that_lags_misses_what_is_young(github: StandIn) -> None:
    _post(github)
    github.plan(Fault("list_comments", "list-lag", seconds=3600), Fault("list_comments", "list-lag", seconds=0))
    assert [len(_list(github)) for _ in range(3)] == [0, 1, 1]


def test_limits_say_how_long_to_wait(github: StandIn) -> None:
    github.plan(Fault("create_comment", "429", seconds=5), Fault("create_comment", "403-primary", seconds=5))
    assert _post(github).headers["Retry-After"] == "5"
    assert _post(github).headers["X-RateLimit-Remaining"] == "0"


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown kind"):
        Fault("create_comment", "503")  # type: ignore[arg-type]
