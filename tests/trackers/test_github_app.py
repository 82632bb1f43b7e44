"""Signing in: as an App's installation with the least permissions, or with a plain token."""

import logging
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import SecretStr

from bot.demo.github import StandIn
from bot.trackers import Gone, Refused, Unavailable
from bot.trackers.github.app import PERMISSIONS, NoCredentials, connect
from bot.trackers.github.client import GitHubTracker

REPOSITORY = "octo-org/octo-repo"
NO_APP = {"app_id": None, "private_key": SecretStr("")}


def test_app_signs_in_once_for_many_requests_and_trackers(github: StandIn) -> None:
    github.open_issue(REPOSITORY, "title")
    for _ in range(3):
        connect(github.settings(), REPOSITORY, github.installation(REPOSITORY)).issue(1)
    assert github.count("create_access_token") == 1


def test_many_threads_share_one_token(github: StandIn) -> None:
    github.open_issue(REPOSITORY, "title")
    tracker = connect(github.settings(), REPOSITORY, github.installation(REPOSITORY))
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda n: tracker.create_comment(1, f"comment {n}"), range(40)))
    assert {comment.body for comment in made} == {comment.body for comment in github.comments(REPOSITORY, 1)}
    assert (len({comment.id for comment in made}), github.count("create_access_token")) == (40, 1)


def test_token_of_the_app_may_do_only_what_we_need(github: StandIn, tracker: GitHubTracker) -> None:
    github.open_issue(REPOSITORY, "title")
    tracker.issue(1)
    granted = [login.permissions for login in github.state.logins.values() if login.installation is not None]
    assert granted == [PERMISSIONS]


def test_app_finds_its_installation_by_the_repository(github: StandIn) -> None:
    github.open_issue(REPOSITORY, "title")
    assert connect(github.settings(), REPOSITORY).issue(1).title == "title"
    with pytest.raises(Gone):
        connect(github.settings(), "octo-org/unknown")


def test_identity_of_the_app_is_its_bot_and_is_asked_once(github: StandIn, tracker: GitHubTracker) -> None:
    github.open_issue(REPOSITORY, "title")
    assert tracker.identity() == github.bot.id == tracker.create_comment(1, "text").author_id
    tracker.identity()
    assert (github.count("get_app"), github.count("get_user_by_login")) == (1, 1)


def test_plain_token_acts_as_its_user(github: StandIn) -> None:
    settings = github.settings(token=SecretStr(github.token("maintainer")), **NO_APP)
    tracker = connect(settings, REPOSITORY)
    github.open_issue(REPOSITORY, "title")
    made = tracker.create_comment(1, "text")
    assert (made.author, made.author_id, made.by_bot) == ("maintainer", tracker.identity(), False)
    assert github.count("create_access_token") == 0


def test_token_is_used_in_place_of_the_app(github: StandIn) -> None:
    tracker = connect(github.settings(token=SecretStr(github.token("helper"))), REPOSITORY, github.installation(REPOSITORY))
    assert tracker.identity() == github.state.account("helper").id


def test_token_without_the_right_is_refused(github: StandIn) -> None:
    tracker = connect(github.settings(token=SecretStr(github.token("stranger")), **NO_APP), REPOSITORY)
    github.open_issue(REPOSITORY, "title")
    with pytest.raises(Refused):
        tracker.add_labels(1, ("label",))


def test_unknown_token_and_wrong_key_wait_for_somebody_to_mend_them(github: StandIn) -> None:
    with pytest.raises(Unavailable):
        connect(github.settings(token=SecretStr("ghp_unknown"), **NO_APP), REPOSITORY).issue(1)
    other = StandIn().private_key
    tracker = connect(github.settings(private_key=SecretStr(other)), REPOSITORY, github.installation(REPOSITORY))
    with pytest.raises(Unavailable):
        tracker.issue(1)
    tracker = connect(github.settings(app_id=1), REPOSITORY, github.installation(REPOSITORY))
    with pytest.raises(Unavailable):
        tracker.issue(1)


@pytest.mark.parametrize("more", [NO_APP, {"app_id": None}, {"private_key": SecretStr("")}])
def test_no_credentials_says_what_to_set(github: StandIn, more: dict[str, object]) -> None:
    with pytest.raises(NoCredentials, match="EXPLAINBOT_"):
        connect(github.settings(**more), REPOSITORY)


def test_enterprise_is_reached_below_its_base_path(github: StandIn) -> None:
    tracker = connect(github.settings(github_url=f"{github.url}/api/v3", token=SecretStr("t"), **NO_APP), REPOSITORY)
    with pytest.raises((Gone, Unavailable)):
        tracker.issue(1)
    assert github.seen[-1].path == f"/api/v3/repos/{REPOSITORY}/issues/1"


def test_tokens_do_not_reach_the_log(github: StandIn, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    github.open_issue(REPOSITORY, "title", "a text that only GitHub should hold")
    connect(github.settings(), REPOSITORY, github.installation(REPOSITORY)).issue(1)
    assert github.state.logins
    assert not [token for token in github.state.logins if token in caplog.text]
    assert "only GitHub should hold" not in caplog.text
