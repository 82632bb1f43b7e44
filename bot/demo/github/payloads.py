"""The payloads of the stand-in's webhook, in the form of GitHub's.

https://docs.github.com/en/webhooks/webhook-events-and-payloads
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.demo.github import identities, shapes
from bot.demo.github.identities import Json
from bot.demo.github.state import Account, StoredComment, StoredIssue, StoredRepository

if TYPE_CHECKING:
    from bot.demo.github.standin import StandIn


def issues(on: StandIn, action: str, repo: StoredRepository, issue: StoredIssue, sender: str, **more: object) -> Json:
    """An ``issues`` event; ``more`` stands beside (``changes``, ``label``)."""
    return {"action": action, "issue": shapes.issue(on.at, repo, issue), **more, **_common(on, repo, sender)}


def comment(on: StandIn, action: str, repo: StoredRepository, about: StoredComment, sender: str, **more: object) -> Json:
    """An ``issue_comment`` event."""
    return {
        "action": action,
        "issue": shapes.issue(on.at, repo, repo.issues[about.issue]),
        "comment": shapes.comment(on.at, repo, about, via=on.facts if about.author == on.bot else None),
        **more,
        **_common(on, repo, sender),
    }


def transferred(on: StandIn, repo: StoredRepository, old: StoredIssue, target: StoredRepository, new: StoredIssue, sender: str) -> Json:
    """The ``issues`` event ``transferred``, at the place that an issue leaves."""
    changes = {"new_issue": shapes.issue(on.at, target, new), "new_repository": shapes.repository(on.at, target)}
    return issues(on, "transferred", repo, old, sender, changes=changes)


def origin(on: StandIn, repo: StoredRepository, old: StoredIssue) -> Json:
    """The ``changes`` of the event ``opened`` at the place where a transferred issue arrives."""
    return {"old_issue": shapes.issue(on.at, repo, old), "old_repository": shapes.repository(on.at, repo)}


def ping(on: StandIn, repository: str | None) -> Json:
    """The event that a new webhook gets first."""
    hook = {
        "type": "App",
        "id": 1,
        "name": "web",
        "active": True,
        "events": list(identities.EVENTS),
        "config": {"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": on.webhook.url or ""},
        "updated_at": identities.stamp(on.facts.created),
        "created_at": identities.stamp(on.facts.created),
        "app_id": on.facts.id,
        "deliveries_url": f"{on.at.api}/app/hook/deliveries",
    }
    payload: Json = {"zen": "Keep it logically awesome.", "hook_id": 1, "hook": hook}
    if repository is not None:
        repo = on.state.repository(repository)
        payload["repository"] = shapes.repository(on.at, repo)
        payload["sender"] = identities.user(on.at, repo.owner)
    return payload


def _common(on: StandIn, repo: StoredRepository, sender: str) -> Json:
    account = on.state.account(sender)
    common: Json = {"repository": shapes.repository(on.at, repo), "sender": identities.user(on.at, account)}
    id = on.state.installations.get(repo.owner.login.lower())
    if id is not None:
        common["installation"] = {"id": id, "node_id": identities.node("MDIzOk", id)}
    if repo.owner.type == "Organization":
        common["organization"] = _organization(on.at, repo.owner)
    return common


def _organization(at: identities.Addresses, account: Account) -> Json:
    path = f"{at.api}/orgs/{account.login}"
    return {
        "login": account.login,
        "id": account.id,
        "node_id": identities.node("O", account.id),
        "url": path,
        "repos_url": f"{path}/repos",
        "events_url": f"{path}/events",
        "hooks_url": f"{path}/hooks",
        "issues_url": f"{path}/issues",
        "members_url": f"{path}/members{{/member}}",
        "public_members_url": f"{path}/public_members{{/member}}",
        "avatar_url": f"{at.site}/avatars/u/{account.id}",
        "description": None,
    }
