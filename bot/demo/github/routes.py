"""The addresses of GitHub's REST API that the stand-in answers.

https://docs.github.com/en/rest
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, g, jsonify, request

from bot.demo.github import identities, shapes
from bot.demo.github.entry import Problem, fields, install, invalid, need, page_of, text_field
from bot.demo.github.shapes import REACTIONS
from bot.demo.github.state import Account, Login, NotThere, StoredComment, StoredIssue, StoredRepository, now

if TYPE_CHECKING:
    from bot.demo.github.standin import StandIn

Answer = Response | tuple[Any, int]

_MAY_TRIAGE = ("admin", "maintain", "write", "triage")
_MAY_WRITE = ("admin", "maintain", "write")
_LONGEST_TITLE = 1024


def create_app(on: StandIn) -> Flask:
    """The WSGI application over a stand-in's state."""
    from bot.demo.github.standin import Seen

    app = Flask("stand-in", static_folder=None)
    app.json.sort_keys = False  # type: ignore[attr-defined]
    install(app, on, Seen)
    _add_people(app, on)
    _add_repositories(app, on)
    _add_issues(app, on)
    _add_comments(app, on)
    _add_app(app, on)
    return app


def _repo(on: StandIn, owner: str, name: str) -> StoredRepository:
    return on.state.repository(f"{owner}/{name}")


def _role(repo: StoredRepository, login: Login) -> str:
    """What the caller may do: an installation with its permissions as much as a collaborator with ``write``."""
    return "write" if login.installation is not None else repo.role(login.account.login)


def _add_people(app: Flask, on: StandIn) -> None:
    @app.get("/user")
    def get_user() -> Answer:
        login: Login = g.login
        if login.installation is not None:
            raise Problem(403, "Resource not accessible by integration")
        return jsonify(identities.own_profile(on.at, login.account))

    @app.get("/users/<login>")
    def get_user_by_login(login: str) -> Answer:
        with on.changed:
            return jsonify(identities.profile(on.at, on.state.known_account(login)))


def _add_repositories(app: Flask, on: StandIn) -> None:
    @app.get("/repos/<owner>/<name>")
    def get_repository(owner: str, name: str) -> Answer:
        with on.changed:
            repo = _repo(on, owner, name)
            return jsonify(shapes.full_repository(on.at, repo, _role(repo, g.login)))

    @app.get("/repos/<owner>/<name>/collaborators/<login>/permission")
    def get_permission(owner: str, name: str, login: str) -> Answer:
        need("metadata", "read")
        with on.changed:
            repo = _repo(on, owner, name)
            account = on.state.accounts.get(login.lower())
            if account is None:
                raise Problem(404, f"{login} is not a user")
            return jsonify(shapes.permission(on.at, account, repo.role(login)))

    @app.get("/repos/<owner>/<name>/contents/<path:path>")
    def get_content(owner: str, name: str, path: str) -> Answer:
        need("contents", "read")
        with on.changed:
            repo = _repo(on, owner, name)
            if path not in repo.files:
                raise NotThere(path)
            return jsonify(shapes.content_file(on.at, repo, path))


def _add_issues(app: Flask, on: StandIn) -> None:
    @app.get("/repos/<owner>/<name>/issues")
    def list_issues(owner: str, name: str) -> Answer:
        need("issues", "read")
        state = request.args.get("state", "open")
        if state not in ("open", "closed", "all"):
            raise invalid("Issue", "state", "invalid")
        with on.changed:
            repo = _repo(on, owner, name)
            found = [issue for issue in repo.issues.values() if state == "all" or issue.open == (state == "open")]
            key = "updated" if request.args.get("sort") == "updated" else "created"
            found.sort(key=lambda issue: (getattr(issue, key), issue.number), reverse=request.args.get("direction") != "asc")
            return page_of(on, found, lambda issue: shapes.issue(on.at, repo, issue))

    @app.post("/repos/<owner>/<name>/issues")
    def create_issue(owner: str, name: str) -> Answer:
        login = need("issues", "write")
        title = text_field("Issue", "title", _LONGEST_TITLE)
        body = fields().get("body")
        if body is not None and not isinstance(body, str):
            raise invalid("Issue", "body", "invalid")
        with on.changed:
            repo = _repo(on, owner, name)
            issue = on.open_issue(repo.full_name, title, body, login.account.login)
            return jsonify(shapes.issue(on.at, repo, issue)), 201

    @app.get("/repos/<owner>/<name>/issues/<int:number>")
    def get_issue(owner: str, name: str, number: int) -> Answer:
        need("issues", "read")
        with on.changed:
            repo = _repo(on, owner, name)
            return jsonify(shapes.issue(on.at, repo, on.state.issue(repo, number)))

    @app.patch("/repos/<owner>/<name>/issues/<int:number>")
    def update_issue(owner: str, name: str, number: int) -> Answer:
        login = need("issues", "write")
        given = fields()
        if given.get("state", "open") not in ("open", "closed"):
            raise invalid("Issue", "state", "invalid")
        for field in ("title", "body"):
            if not isinstance(given.get(field, ""), str):
                raise invalid("Issue", field, "invalid")
        with on.changed:
            repo = _repo(on, owner, name)
            issue = on.state.issue(repo, number)
            _check_may_change(repo, login, issue.author)
            who = login.account.login
            if "title" in given or "body" in given:
                issue = on.edit_issue(repo.full_name, number, given.get("title"), given.get("body"), who)
            if "state" in given and issue.open != (given["state"] == "open"):
                issue = on.set_open(repo.full_name, number, given["state"] == "open", who)
            return jsonify(shapes.issue(on.at, repo, issue))

    @app.get("/repos/<owner>/<name>/issues/<int:number>/labels")
    def list_labels(owner: str, name: str, number: int) -> Answer:
        need("issues", "read")
        with on.changed:
            repo = _repo(on, owner, name)
            return page_of(on, on.state.issue(repo, number).labels, lambda label: shapes.label(on.at, repo, label))

    @app.post("/repos/<owner>/<name>/issues/<int:number>/labels")
    def add_labels(owner: str, name: str, number: int) -> Answer:
        login = need("issues", "write")
        # GitHub takes a bare list too, although its description shows only the object.
        body = request.get_json(force=True, silent=True)
        labels = body.get("labels") if isinstance(body, dict) else body
        if not isinstance(labels, list) or not all(isinstance(label, str) and label for label in labels):
            raise invalid("Label", "name", "invalid")
        with on.changed:
            repo = _repo(on, owner, name)
            if _role(repo, login) not in _MAY_TRIAGE:
                raise Problem(403, "Must have admin rights to Repository.")
            issue = on.add_labels(repo.full_name, number, tuple(labels), login.account.login)
            return jsonify([shapes.label(on.at, repo, label) for label in issue.labels])


def _add_comments(app: Flask, on: StandIn) -> None:
    def shown(repo: StoredRepository, comment: StoredComment) -> identities.Json:
        return shapes.comment(on.at, repo, comment, via=on.facts if comment.author == on.bot else None)

    @app.get("/repos/<owner>/<name>/issues/<int:number>/comments")
    def list_comments(owner: str, name: str, number: int) -> Answer:
        need("issues", "read")
        with on.changed:
            repo = _repo(on, owner, name)
            on.state.issue(repo, number)
            comments = on.state.comments_of(repo, number)
            if g.fault is not None and g.fault.kind == "list-lag":
                known = now() - timedelta(seconds=g.fault.seconds)
                comments = tuple(comment for comment in comments if comment.created <= known)
            return page_of(on, comments, lambda comment: shown(repo, comment))

    @app.post("/repos/<owner>/<name>/issues/<int:number>/comments")
    def create_comment(owner: str, name: str, number: int) -> Answer:
        login = need("issues", "write")
        body = text_field("IssueComment", "body")
        with on.changed:
            repo = _repo(on, owner, name)
            _check_unlocked(repo, login, on.state.issue(repo, number))
            comment = on.comment(repo.full_name, number, body, login.account.login)
            return jsonify(shown(repo, comment)), 201

    @app.get("/repos/<owner>/<name>/issues/comments")
    def list_repository_comments(owner: str, name: str) -> Answer:
        need("issues", "read")
        with on.changed:
            repo = _repo(on, owner, name)
            key = "updated" if request.args.get("sort") == "updated" else "created"
            newest_first = request.args.get("direction") == "desc"
            found = sorted(repo.comments.values(), key=lambda comment: (getattr(comment, key), comment.id), reverse=newest_first)
            return page_of(on, found, lambda comment: shown(repo, comment))

    @app.get("/repos/<owner>/<name>/issues/comments/<int:id>")
    def get_comment(owner: str, name: str, id: int) -> Answer:
        need("issues", "read")
        with on.changed:
            repo = _repo(on, owner, name)
            return jsonify(shown(repo, on.state.comment(repo, id)))

    @app.patch("/repos/<owner>/<name>/issues/comments/<int:id>")
    def update_comment(owner: str, name: str, id: int) -> Answer:
        login = need("issues", "write")
        body = text_field("IssueComment", "body")
        with on.changed:
            repo = _repo(on, owner, name)
            _check_may_change(repo, login, on.state.comment(repo, id).author)
            return jsonify(shown(repo, on.edit_comment(repo.full_name, id, body, login.account.login)))

    @app.delete("/repos/<owner>/<name>/issues/comments/<int:id>")
    def delete_comment(owner: str, name: str, id: int) -> Answer:
        login = need("issues", "write")
        with on.changed:
            repo = _repo(on, owner, name)
            _check_may_change(repo, login, on.state.comment(repo, id).author)
            on.delete_comment(repo.full_name, id, login.account.login)
            return Response(status=204)

    @app.get("/repos/<owner>/<name>/issues/comments/<int:id>/reactions")
    def list_reactions(owner: str, name: str, id: int) -> Answer:
        need("issues", "read")
        with on.changed:
            comment = on.state.comment(_repo(on, owner, name), id)
            return page_of(on, comment.reactions, lambda reaction: shapes.reaction(on.at, reaction))

    @app.post("/repos/<owner>/<name>/issues/comments/<int:id>/reactions")
    def create_reaction(owner: str, name: str, id: int) -> Answer:
        login = need("issues", "write")
        content = fields().get("content")
        if content not in REACTIONS:
            raise invalid("Reaction", "content", "invalid")
        with on.changed:
            repo = _repo(on, owner, name)
            reaction, new = on.react(repo.full_name, id, content, login.account.login)
            return jsonify(shapes.reaction(on.at, reaction)), 201 if new else 200


def _check_may_change(repo: StoredRepository, login: Login, author: Account) -> None:
    if author != login.account and _role(repo, login) not in _MAY_WRITE:
        raise Problem(403, "Must have admin rights to Repository.")


def _check_unlocked(repo: StoredRepository, login: Login, issue: StoredIssue) -> None:
    # An App may not comment on a locked issue, whatever its permissions.
    if issue.locked and (login.installation is not None or repo.role(login.account.login) not in _MAY_WRITE):
        raise Problem(403, "Unable to create comment because issue is locked.")


def _add_app(app: Flask, on: StandIn) -> None:
    @app.get("/app")
    def get_app() -> Answer:
        return jsonify({**identities.app(on.at, on.facts), "installations_count": len(on.state.installations)})

    def installation(id: int) -> Account:
        for owner, known in on.state.installations.items():
            if known == id:
                return on.state.known_account(owner)
        raise NotThere(str(id))

    @app.get("/repos/<owner>/<name>/installation")
    def get_repository_installation(owner: str, name: str) -> Answer:
        with on.changed:
            account = _repo(on, owner, name).owner
            id = on.state.installation(account.login)
            return jsonify(identities.installation(on.at, on.facts, id, account, id in on.state.suspended))

    @app.post("/app/installations/<int:id>/access_tokens")
    def create_access_token(id: int) -> Answer:
        asked = (request.get_json(force=True, silent=True) or {}).get("permissions", dict(identities.PERMISSIONS))
        with on.changed:
            installation(id)
            if id in on.state.suspended:
                raise Problem(403, "This installation has been suspended")
            levels = ("read", "write")
            for name, level in asked.items():
                given = identities.PERMISSIONS.get(name)
                if given is None or level not in levels or levels.index(level) > levels.index(given):
                    raise Problem(422, "The permissions requested are not granted to this installation.")
            token, login = on.state.new_token("ghs_", on.bot, id, asked)
            return jsonify(identities.installation_token(token, login)), 201

    @app.get("/app/hook/deliveries")
    def list_deliveries() -> Answer:
        with on.changed:
            newest = sorted(on.webhook.deliveries, key=lambda delivery: -delivery.id)
            cursor = request.args.get("cursor", "")
            size = min(int(request.args.get("per_page", "30")), 100)
            later = [each for each in newest if not cursor.isdigit() or each.id < int(cursor)]
            response = jsonify([shapes.delivery(each) for each in later[:size]])
            if len(later) > size:
                address = f"{on.url}/app/hook/deliveries?per_page={size}&cursor={later[size - 1].id}"
                response.headers["Link"] = f'<{address}>; rel="next"'
            return response

    @app.get("/app/hook/deliveries/<int:id>")
    def get_delivery(id: int) -> Answer:
        with on.changed:
            return jsonify(shapes.full_delivery(on.webhook.delivery(id), on.webhook.url or ""))

    @app.post("/app/hook/deliveries/<int:id>/attempts")
    def redeliver(id: int) -> Answer:
        on.webhook.redeliver(id)
        return jsonify({}), 202
