"""The JSON that GitHub answers, complete: the tests hold every answer against the models made from GitHub's own description.

https://docs.github.com/en/rest
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from bot.demo.github.identities import Addresses, AppFacts, Json, app, node, stamp, user
from bot.demo.github.state import ROLES, Account, StoredComment, StoredIssue, StoredReaction, StoredRepository

if TYPE_CHECKING:
    from bot.demo.github.webhooks import Delivery

REACTIONS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")

_REPOSITORY_LINKS = {
    "archive": "/{archive_format}{/ref}",
    "assignees": "/assignees{/user}",
    "blobs": "/git/blobs{/sha}",
    "branches": "/branches{/branch}",
    "collaborators": "/collaborators{/collaborator}",
    "comments": "/comments{/number}",
    "commits": "/commits{/sha}",
    "compare": "/compare/{base}...{head}",
    "contents": "/contents/{+path}",
    "contributors": "/contributors",
    "deployments": "/deployments",
    "downloads": "/downloads",
    "events": "/events",
    "forks": "/forks",
    "git_commits": "/git/commits{/sha}",
    "git_refs": "/git/refs{/sha}",
    "git_tags": "/git/tags{/sha}",
    "hooks": "/hooks",
    "issue_comment": "/issues/comments{/number}",
    "issue_events": "/issues/events{/number}",
    "issues": "/issues{/number}",
    "keys": "/keys{/key_id}",
    "labels": "/labels{/name}",
    "languages": "/languages",
    "merges": "/merges",
    "milestones": "/milestones{/number}",
    "notifications": "/notifications{?since,all,participating}",
    "pulls": "/pulls{/number}",
    "releases": "/releases{/id}",
    "stargazers": "/stargazers",
    "statuses": "/statuses/{sha}",
    "subscribers": "/subscribers",
    "subscription": "/subscription",
    "tags": "/tags",
    "teams": "/teams",
    "trees": "/git/trees{/sha}",
}


def repository(at: Addresses, repo: StoredRepository) -> Json:
    """A repository as it stands in deliveries."""
    path = f"{at.api}/repos/{repo.full_name}"
    site = f"{at.site}/{repo.full_name}"
    opened = sum(issue.open for issue in repo.issues.values())
    made = stamp(repo.created)
    return {
        "id": repo.id,
        "node_id": node("R", repo.id),
        "name": repo.name,
        "full_name": repo.full_name,
        "private": False,
        "owner": user(at, repo.owner),
        "html_url": site,
        "description": None,
        "fork": False,
        "url": path,
        **{f"{name}_url": path + link for name, link in _REPOSITORY_LINKS.items()},
        "git_url": f"{site.replace('https:', 'git:')}.git",
        "ssh_url": f"git@github.com:{repo.full_name}.git",
        "clone_url": f"{site}.git",
        "svn_url": site,
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        "default_branch": "main",
        "visibility": "public",
        "size": 0,
        **dict.fromkeys(("forks", "forks_count", "stargazers_count", "watchers", "watchers_count"), 0),
        "open_issues": opened,
        "open_issues_count": opened,
        **dict.fromkeys(("has_issues", "has_projects", "has_wiki", "allow_forking"), True),
        **dict.fromkeys(
            (
                "has_downloads",
                "has_pages",
                "has_discussions",
                "archived",
                "disabled",
                "is_template",
                "web_commit_signoff_required",
            ),
            False,
        ),
        "topics": [],
        "created_at": made,
        "updated_at": made,
        "pushed_at": made,
    }


def full_repository(at: Addresses, repo: StoredRepository, role: str) -> Json:
    """A repository as ``GET /repos/{owner}/{repo}`` shows it."""
    return {
        **repository(at, repo),
        "permissions": permissions(role),
        "subscribers_count": 0,
        "network_count": 0,
        "temp_clone_token": "",
    }


def permissions(role: str) -> Json:
    """A role as the five flags that GitHub shows; each role holds all below it."""
    rank = ROLES.index(role) if role in ROLES else len(ROLES)
    names = {"admin": "admin", "maintain": "maintain", "write": "push", "triage": "triage", "read": "pull"}
    return {names[each]: at >= rank for at, each in enumerate(ROLES)}


def permission(at: Addresses, account: Account, role: str) -> Json:
    """The answer of ``GET …/collaborators/{login}/permission``; ``permission`` knows no maintain and triage."""
    legacy = {"maintain": "write", "triage": "read"}.get(role, role)
    shown = {**user(at, account), "permissions": permissions(role), "role_name": role}
    return {"permission": legacy, "role_name": role, "user": shown}


def label(at: Addresses, repo: StoredRepository, name: str) -> Json:
    """A label of a repository."""
    id = repo.labels[name]
    return {
        "id": id,
        "node_id": node("LA", id),
        "url": f"{at.api}/repos/{repo.full_name}/labels/{name}",
        "name": name,
        "color": "ededed",
        "default": False,
        "description": None,
        "archived_at": None,
        "archived_by": None,
    }


def rollup(url: str, reactions: Iterable[StoredReaction]) -> Json:
    """How many reactions of each kind."""
    contents = [reaction.content for reaction in reactions]
    return {"url": f"{url}/reactions", "total_count": len(contents), **{each: contents.count(each) for each in REACTIONS}}


def reaction(at: Addresses, given: StoredReaction) -> Json:
    """One reaction."""
    return {
        "id": given.id,
        "node_id": node("REA", given.id),
        "user": user(at, given.author),
        "content": given.content,
        "created_at": stamp(given.created),
    }


def issue(at: Addresses, repo: StoredRepository, one: StoredIssue) -> Json:
    """An issue, the same in answers and deliveries."""
    root = f"{at.api}/repos/{repo.full_name}"
    url = f"{root}/issues/{one.number}"
    shown: Json = {
        "url": url,
        "repository_url": root,
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": f"{at.site}/{repo.full_name}/issues/{one.number}",
        "id": one.id,
        "node_id": node("I", one.id),
        "number": one.number,
        "title": one.title,
        "user": user(at, one.author),
        "labels": [label(at, repo, name) for name in one.labels],
        "state": "open" if one.open else "closed",
        "locked": one.locked,
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "comments": sum(comment.issue == one.number for comment in repo.comments.values()),
        "created_at": stamp(one.created),
        "updated_at": stamp(one.updated),
        "closed_at": stamp(one.closed) if one.closed else None,
        "author_association": _association(repo, one.author),
        "active_lock_reason": None,
        "body": one.body,
        "closed_by": None,
        "reactions": rollup(url, one.reactions),
        "performed_via_github_app": None,
        "state_reason": None if one.open else "completed",
    }
    if one.is_pull_request:
        pull = {"url": f"{root}/pulls/{one.number}", "html_url": f"{at.site}/{repo.full_name}/pull/{one.number}"}
        shown["pull_request"] = {**pull, "diff_url": pull["html_url"] + ".diff", "patch_url": pull["html_url"] + ".patch"}
        shown["pull_request"]["merged_at"] = None
        shown["draft"] = False
    return shown


def comment(at: Addresses, repo: StoredRepository, one: StoredComment, via: AppFacts | None = None) -> Json:
    """A comment, the same in answers and deliveries; ``via`` is the App that wrote it."""
    root = f"{at.api}/repos/{repo.full_name}"
    url = f"{root}/issues/comments/{one.id}"
    return {
        "url": url,
        "html_url": f"{at.site}/{repo.full_name}/issues/{one.issue}#issuecomment-{one.id}",
        "issue_url": f"{root}/issues/{one.issue}",
        "id": one.id,
        "node_id": node("IC", one.id),
        "user": user(at, one.author),
        "created_at": stamp(one.created),
        "updated_at": stamp(one.updated),
        "author_association": _association(repo, one.author),
        "body": one.body,
        "reactions": rollup(url, one.reactions),
        "performed_via_github_app": app(at, via) if via else None,
    }


def _association(repo: StoredRepository, account: Account) -> str:
    if account.login.lower() == repo.owner.login.lower():
        return "OWNER"
    return "COLLABORATOR" if account.login.lower() in repo.collaborators else "NONE"


def content_file(at: Addresses, repo: StoredRepository, path: str) -> Json:
    """A file as the contents API shows it; the base64 is broken into lines as GitHub's is."""
    content = repo.files[path].encode()
    sha = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    url = f"{at.api}/repos/{repo.full_name}/contents/{path}?ref=main"
    git = f"{at.api}/repos/{repo.full_name}/git/blobs/{sha}"
    html = f"{at.site}/{repo.full_name}/blob/main/{path}"
    return {
        "name": path.rsplit("/", 1)[-1],
        "path": path,
        "sha": sha,
        "size": len(content),
        "url": url,
        "html_url": html,
        "git_url": git,
        "download_url": f"{at.site}/{repo.full_name}/raw/main/{path}",
        "type": "file",
        "content": base64.encodebytes(content).decode(),
        "encoding": "base64",
        "_links": {"self": url, "git": git, "html": html},
    }


def delivery(one: Delivery) -> Json:
    """One attempt to deliver, as it stands in the list."""
    return {
        "id": one.id,
        "guid": one.guid,
        "delivered_at": stamp(one.delivered),
        "redelivery": one.redelivery,
        "duration": round(one.duration, 3),
        "status": one.status,
        "status_code": one.status_code,
        "event": one.event,
        "action": one.action,
        "installation_id": one.installation_id,
        "repository_id": one.repository_id,
        "throttled_at": None,
    }


def full_delivery(one: Delivery, url: str) -> Json:
    """One attempt to deliver, with what was sent and answered."""
    return {
        **delivery(one),
        "url": url,
        "request": {"headers": dict(one.headers), "payload": one.payload},
        "response": {"headers": {}, "payload": one.answer},
    }
