"""The JSON of who is there: users, the App, its installations and their tokens.

https://docs.github.com/en/rest/users, https://docs.github.com/en/rest/apps
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.demo.github.state import Account, Login

Json = dict[str, Any]

PERMISSIONS = {"issues": "write", "contents": "read", "metadata": "read"}
EVENTS = ["issues", "issue_comment"]

_USER_LINKS = (
    "followers",
    "following{/other_user}",
    "gists{/gist_id}",
    "starred{/owner}{/repo}",
    "subscriptions",
    "orgs",
    "repos",
    "events{/privacy}",
    "received_events",
)


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the API is, and where people look: without a slash at the end."""

    api: str
    site: str


@dataclass(frozen=True, slots=True)
class AppFacts:
    """The App that the stand-in has."""

    id: int
    slug: str
    owner: Account
    created: datetime


def stamp(time: datetime) -> str:
    """A time as GitHub writes it, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def node(kind: str, id: int) -> str:
    """A node id; GitHub's are opaque too."""
    return base64.b64encode(f"{kind}{id}".encode()).decode()


def user(at: Addresses, account: Account) -> Json:
    """A user as it stands inside other answers."""
    path = f"{at.api}/users/{account.login}"
    links = {f"{_link_name(link)}_url": f"{path}/{link}" for link in _USER_LINKS}
    return {
        "login": account.login,
        "id": account.id,
        "node_id": node("U", account.id),
        "avatar_url": f"{at.site}/avatars/u/{account.id}",
        "gravatar_id": "",
        "url": path,
        "html_url": f"{at.site}/{account.login}",
        **links,
        "type": account.type,
        "user_view_type": "public",
        "site_admin": False,
    }


def _link_name(link: str) -> str:
    name = link.split("{")[0]
    return "organizations" if name == "orgs" else name


def profile(at: Addresses, account: Account) -> Json:
    """A user as ``GET /users/{login}`` and ``GET /user`` show it."""
    empty = dict.fromkeys(("name", "company", "blog", "location", "email", "hireable", "bio", "twitter_username"))
    counts = dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0)
    made = stamp(account.created)
    return {**user(at, account), **empty, "blog": "", **counts, "created_at": made, "updated_at": made}


def own_profile(at: Addresses, account: Account) -> Json:
    """What only the user itself sees besides."""
    private = ("private_gists", "total_private_repos", "owned_private_repos", "disk_usage", "collaborators")
    shown = {**profile(at, account), **dict.fromkeys(private, 0)}
    return {**shown, "user_view_type": "private", "two_factor_authentication": True}


def app(at: Addresses, facts: AppFacts) -> Json:
    """The App."""
    return {
        "id": facts.id,
        "client_id": f"Iv23li{facts.id:014d}",
        "slug": facts.slug,
        "node_id": node("A", facts.id),
        "owner": user(at, facts.owner),
        "name": facts.slug,
        "description": "",
        "external_url": f"{at.site}/apps/{facts.slug}",
        "html_url": f"{at.site}/apps/{facts.slug}",
        "created_at": stamp(facts.created),
        "updated_at": stamp(facts.created),
        "permissions": dict(PERMISSIONS),
        "events": list(EVENTS),
    }


def installation(at: Addresses, facts: AppFacts, id: int, account: Account, suspended: bool) -> Json:
    """An installation of the App on an account."""
    return {
        "id": id,
        "client_id": f"Iv23li{facts.id:014d}",
        "account": user(at, account),
        "repository_selection": "all",
        "access_tokens_url": f"{at.api}/app/installations/{id}/access_tokens",
        "repositories_url": f"{at.api}/installation/repositories",
        "html_url": f"{at.site}/settings/installations/{id}",
        "app_id": facts.id,
        "app_slug": facts.slug,
        "target_id": account.id,
        "target_type": account.type,
        "permissions": dict(PERMISSIONS),
        "events": list(EVENTS),
        "created_at": stamp(facts.created),
        "updated_at": stamp(facts.created),
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": user(at, account) if suspended else None,
        "suspended_at": stamp(facts.created) if suspended else None,
    }


def installation_token(token: str, login: Login) -> Json:
    """A fresh token of an installation."""
    assert login.expires is not None  # noqa: S101 - for the type checker
    return {
        "token": token,
        "expires_at": stamp(login.expires),
        "permissions": dict(login.permissions or {}),
        "repository_selection": "all",
    }
