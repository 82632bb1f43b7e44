"""Signatures and payloads: what is ours, what is not, and that nothing a stranger sends makes it fall over."""

import contextlib
import copy
import hashlib
import hmac
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.demo.github import StandIn
from bot.trackers.github.receive import Malformed, event, sign, verify

SECRET = b"a secret of more than thirty-two bytes"
REPOSITORY = "octo-org/octo-repo"


def test_signature_is_the_one_that_githubs_documentation_gives() -> None:
    # https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries#testing-the-webhook-payload-validation
    given = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert sign(b"Hello, World!", b"It's a Secret to Everybody") == given
    assert verify(b"Hello, World!", given, (b"It's a Secret to Everybody",))


def test_signature_under_any_of_the_secrets_is_accepted() -> None:
    other = b"another secret of more than 32 bytes"
    assert verify(b"body", sign(b"body", SECRET), (other, SECRET))
    assert verify(b"body", sign(b"body", SECRET), (SECRET, other))
    assert not verify(b"body", sign(b"body", SECRET), (other,))
    assert not verify(b"body", sign(b"body", SECRET), ())


def test_signature_of_other_bytes_is_refused() -> None:
    assert not verify(b'{"a": 1}', sign(b'{"a":1}', SECRET), (SECRET,))


def test_empty_secret_signs_nothing() -> None:
    assert not verify(b"body", sign(b"body", b""), (b"",))


@pytest.mark.parametrize(
    "signature",
    [
        None,
        "",
        "sha256=",
        "sha256",
        "sha1=" + hmac.new(SECRET, b"body", hashlib.sha1).hexdigest(),
        "sha256=" + "0" * 64,
        "sha256=" + "é" * 64,
        "sha256=" + "٣" * 64,
        "sha256=" + " " * 64,
        "sha256=" + "0" * 63,
        "sha256=" + "0" * 1_000_000,
        sign(b"body", SECRET)[7:],
        "SHA256=" + sign(b"body", SECRET)[7:],
        sign(b"body", SECRET) + " ",
        sign(b"body", SECRET) + "00",
        " " + sign(b"body", SECRET),
        "\ud800" * 71,
    ],
)
def test_anything_else_is_refused_without_an_error(signature: str | None) -> None:
    assert not verify(b"body", signature, (SECRET,))


@settings(deadline=None)
@given(st.one_of(st.text(), st.text(min_size=64, max_size=64).map(lambda text: "sha256=" + text)))
def test_no_text_is_accepted_by_chance_or_raises(signature: str) -> None:
    assert not verify(b"body", signature, (SECRET,))


# ------------------------------------------------------------------------------------------------------------- events


@pytest.fixture
def github() -> StandIn:
    standin = StandIn()
    standin.add_repository(REPOSITORY)
    return standin


def _last(github: StandIn) -> tuple[str, str, dict[str, Any]]:
    delivery = github.deliveries[-1]
    return delivery.event, delivery.guid, delivery.payload


def test_opened_issue(github: StandIn) -> None:
    issue = github.open_issue(REPOSITORY, "It breaks", None, "reporter")
    name, guid, payload = _last(github)
    seen = event(name, guid, payload)
    assert seen is not None
    assert (seen.name, seen.repository, seen.issue, seen.actor) == ("issue.opened", REPOSITORY, issue.number, "reporter")
    assert seen.repository_id == github.state.repository(REPOSITORY).id
    assert seen.installation == github.installation(REPOSITORY)
    assert (seen.delivery, seen.comment, seen.by_bot) == (guid, None, False)


def test_edited_and_reopened_issue(github: StandIn) -> None:
    github.open_issue(REPOSITORY, "title")
    github.edit_issue(REPOSITORY, 1, body="more")
    assert event(*_last(github)).name == "issue.edited"  # type: ignore[union-attr]
    github.set_open(REPOSITORY, 1, False)
    assert event(*_last(github)) is None
    github.set_open(REPOSITORY, 1, True)
    assert event(*_last(github)).name == "issue.reopened"  # type: ignore[union-attr]


def test_transferred_issue_is_named_by_its_new_place(github: StandIn) -> None:
    target = github.add_repository("octo-org/elsewhere")
    github.open_issue("octo-org/elsewhere", "first there")
    github.open_issue(REPOSITORY, "title")
    moved = github.transfer_issue(REPOSITORY, 1, "octo-org/elsewhere")
    delivery = next(each for each in github.deliveries if each.action == "transferred")
    seen = event(delivery.event, delivery.guid, delivery.payload)
    assert seen is not None
    assert (seen.name, seen.repository, seen.repository_id, seen.issue) == (
        "issue.transferred",
        "octo-org/elsewhere",
        target.id,
        moved.number,
    )


def test_comment_matters_only_when_it_may_hold_a_command(github: StandIn) -> None:
    github.open_issue(REPOSITORY, "title")
    github.comment(REPOSITORY, 1, "I have this too")
    assert event(*_last(github)) is None
    comment = github.comment(REPOSITORY, 1, "Please\n\n/explain", "maintainer")
    seen = event(*_last(github))
    assert seen is not None
    assert (seen.name, seen.comment, seen.issue, seen.actor) == ("comment.created", comment.id, 1, "maintainer")
    for text in ("/explain again", "never mind"):
        github.edit_comment(REPOSITORY, comment.id, text)
        edited = event(*_last(github))
        assert edited is not None
        assert (edited.name, edited.comment) == ("comment.edited", comment.id)
    github.edit_comment(REPOSITORY, comment.id, "never mind at all")
    assert event(*_last(github)) is None
    github.delete_comment(REPOSITORY, comment.id)
    assert event(*_last(github)) is None


@pytest.mark.parametrize("changes", [None, {}, {"body": None}, {"body": {}}, {"body": {"from": 3}}, {"body": "x"}, []])
def test_an_edit_of_odd_form_is_survived(github: StandIn, changes: object) -> None:
    github.open_issue(REPOSITORY, "title")
    comment = github.comment(REPOSITORY, 1, "/explain")
    github.edit_comment(REPOSITORY, comment.id, "/explain again")
    name, guid, payload = _last(github)
    found = event(name, guid, payload | {"changes": changes})
    assert (found is not None) == (isinstance(changes, dict) and isinstance(changes.get("body"), dict))


def test_bots_are_known_by_type_and_by_name(github: StandIn) -> None:
    github.open_issue(REPOSITORY, "title")
    github.comment(REPOSITORY, 1, "/explain", github.bot.login)
    name, guid, payload = _last(github)
    assert event(name, guid, payload).by_bot  # type: ignore[union-attr]
    payload["sender"]["type"] = "User"
    assert event(name, guid, payload).by_bot  # type: ignore[union-attr]
    payload["sender"]["login"] = "somebody"
    assert not event(name, guid, payload).by_bot  # type: ignore[union-attr]


def test_other_events_are_not_ours_whatever_they_hold() -> None:
    for name in ("ping", "push", "pull_request", "discussion", "", "issues.opened"):
        for payload in ({"action": "opened"}, [], None, "text"):
            assert event(name, "id", payload) is None


def test_nul_and_lone_surrogates_do_not_pass(github: StandIn) -> None:
    github.open_issue(REPOSITORY, "title")
    name, _, payload = _last(github)
    payload["sender"]["login"] = "a\0b\ud800"
    seen = event(name, "guid\0\udfff", payload)
    assert seen is not None
    assert (seen.actor, seen.delivery) == ("ab?", "guid?")


@pytest.mark.parametrize("full_name", ["../..", "a/..", "a/b/c", "a", "a/b?c", "a/b\n", "", "a/" + "b" * 101, "é/b"])
def test_repository_names_that_github_does_not_allow(github: StandIn, full_name: str) -> None:
    github.open_issue(REPOSITORY, "title")
    name, guid, payload = _last(github)
    payload["repository"]["full_name"] = full_name
    with pytest.raises(Malformed, match="full_name"):
        event(name, guid, payload)


def _changed(payload: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field of a payload, down to the third level, taken away and replaced by values of each JSON type."""

    def paths(node: Any, depth: int) -> Iterator[tuple[str, ...]]:
        if isinstance(node, dict) and depth:
            for key, value in node.items():
                yield (key,)
                for rest in paths(value, depth - 1):
                    yield (key, *rest)

    absent = object()
    for path in paths(payload, 3):
        for value in (absent, None, 0, -1, 2**70, 1.5, True, "", "\ud800", [], [None], {}):
            other = copy.deepcopy(payload)
            node = other
            for key in path[:-1]:
                node = node[key]
            if value is absent:
                del node[path[-1]]
            else:
                node[path[-1]] = value
            yield ".".join(path), other


def test_every_field_may_be_missing_null_or_of_another_type(github: StandIn) -> None:
    github.add_repository("octo-org/elsewhere")
    github.open_issue(REPOSITORY, "title", "body")
    github.comment(REPOSITORY, 1, "/explain")
    github.transfer_issue(REPOSITORY, 1, "octo-org/elsewhere")
    needed = set()
    for delivery in github.deliveries[:3]:
        for path, payload in _changed(delivery.payload):
            try:
                event(delivery.event, delivery.guid, payload)
            except Malformed:
                needed.add(path)
    assert needed == {
        "sender",
        "sender.login",
        "installation",
        "installation.id",
        "repository",
        "repository.id",
        "repository.full_name",
        "issue",
        "issue.number",
        "comment.id",
        "changes",
        "changes.new_repository",
        "changes.new_repository.id",
        "changes.new_repository.full_name",
        "changes.new_issue",
        "changes.new_issue.number",
    }


@settings(deadline=None)
@given(
    st.sampled_from(["issues", "issue_comment"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(["opened", "created", "/explain"]),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["action", "issue", "comment", "body", "id"]), inner),
        max_leaves=20,
    ),
)
def test_any_json_is_taken_or_called_malformed(name: str, payload: object) -> None:
    with contextlib.suppress(Malformed):
        event(name, "id", payload)
