"""Who may do what, while the API fails too; and another bot that answers whatever we write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from bot import store
from bot.catalogue.catalogue import Catalogue, catalogue_path
from bot.config import LabelsSection, RepoConfig, Settings
from bot.demo.github import Fault, StandIn
from bot.demo.github.faults import Kind
from bot.handlers.help import ANYONE, AUTHOR, SORTERS
from bot.registry import COMMANDS
from bot.trackers.github.app import connect
from bot.work.desk import Desk
from bot.work.manners import MAX_COMMENTS_A_DAY
from tests.bench.suites import Found, Run, chance, each, suite
from tests.bench.suites.scene import SECRET, cache_folder, database
from tests.engine import REPOSITORY, SPROCKETS
from tests.work.play import Play


@contextmanager
def play() -> Iterator[Play]:
    """A play on SQLite."""
    with ExitStack() as stack:
        cache = stack.enter_context(cache_folder())
        catalogue = stack.enter_context(Catalogue.open(catalogue_path(cache, REPOSITORY)))
        url = stack.enter_context(database("sqlite"))
        hub = StandIn(secret=SECRET)
        place = hub.add_repository(REPOSITORY, collaborators={"helper": "write"})
        stack.enter_context(hub.serve())
        settings = Settings(webhook_secrets=SECRET.decode(), token=hub.token("helper"), github_url=hub.url)  # type: ignore[arg-type]
        tracker = connect(settings, REPOSITORY)
        tracker.token = settings.token  # type: ignore[attr-defined]
        engine = store.open(url)
        yield Play(hub, Desk(engine, tracker, settings.secrets, place.id, "all", 0.0, 0.0), catalogue, RepoConfig(labels=LabelsSection()))
        engine.dispose()


# ---------------------------------------------------------------------------------------------------------- permissions

ROLES = ("admin", "maintain", "write", "triage", "read", "stranger", "author")
"""``stranger`` is no collaborator; ``author`` opened the issue and is none either."""

FAULTS: tuple[Kind | None, ...] = (None, "502-before-write", "403-secondary", "reset-before-write", "404")
"""How the permission cannot be read; None: it can."""

REFUSED = "so nothing was done"


def _expected(who: str, role: str) -> bool:
    """Whether a role may use a command; written down here a second time, without the code that decides it."""
    sorts = role in ("admin", "maintain", "write", "triage")
    return {ANYONE: True, AUTHOR: sorts or role == "author", SORTERS: sorts}[who]


@dataclass(frozen=True, slots=True)
class _State:
    comments: tuple[str, ...]
    labels: tuple[str, ...]
    corrected: str
    opinions: tuple[object, ...]


def _state(on: Play, issue: int, record: str) -> _State:
    """What a command could have changed on an issue."""
    engine, place = on.desk.engine, on.desk.repository_id
    return _State(
        tuple(on.own(issue)),
        on.hub.issue(REPOSITORY, issue).labels,
        store.corrected(engine, place, issue),
        tuple(each for each in store.judged(engine, record) if each[1] == issue),
    )


def commands() -> list[tuple[str, str, str]]:
    """Every command there is: its name, how it is written, and who may use it."""
    found = []
    for entry in COMMANDS:
        usage = entry.facts["usage"].replace("[text or code block]", "").replace("[id]", "").replace("<id>", "{record}")
        usage = usage.replace("<link to a comment>", "https://github.com/octo/engine/issues/{issue}")
        found.append((entry.name, usage.strip(), entry.facts["who"]))
    return found


CASES = len(ROLES) * len(commands()) * len(FAULTS)
STRIDE = 317
"""All cases are gone through in steps of so many, so that the first few already are of all kinds; it divides no number of cases."""


@suite("permissions", "permissions: 7 roles × commands × 4 API faults", "all as they should be", full=CASES, quick=50, slice=105)
@contextmanager
def permissions(seed: int) -> Iterator[Run]:
    """All combinations. While the permission cannot be read, nothing is carried out that needs one; afterwards it is decided rightly."""
    with play() as on:
        record = on.record("sprockets")

        def check(index: int) -> str | None:
            at = index * STRIDE % CASES
            name, usage, who = commands()[at // len(FAULTS) % len(commands())]
            role, kind = ROLES[at // len(FAULTS) // len(commands())], FAULTS[at % len(FAULTS)]
            user = f"{role}-{index}"
            if role not in ("stranger", "author"):
                on.hub.state.repository(REPOSITORY).collaborators[user] = role
            issue = on.open(SPROCKETS.format(index), user if role == "author" else "octocat")
            if name == "on":
                on.say(issue, "/explain off", "octocat" if role != "author" else user)
            before = _state(on, issue, record)
            asks = who != ANYONE and not (who == AUTHOR and role == "author")
            if kind is not None:
                on.hub.plan(Fault("get_permission", kind, times=2, seconds=1))
            comment = on.hub.comment(REPOSITORY, issue, usage.format(record=record, issue=issue), user)
            seen: list[_State] = []
            on.between = lambda: seen.append(_state(on, issue, record))
            on.run()
            on.between = None
            left = on.hub.forget_plans()
            after = _state(on, issue, record)
            expected = _expected(who, role) and (kind != "404" or not asks)
            allowed = not any(REFUSED in text for text in after.comments)
            what = f"{usage} by {role}, {kind or 'no fault'}"
            if allowed != expected:
                return f"{what}: {'allowed' if allowed else 'refused'}"
            if not expected and replace(after, comments=before.comments) != before:
                return f"{what}: refused, and yet {after} came of it"
            if not expected and [text for text in after.comments if REFUSED not in text] != list(before.comments):
                return f"{what}: refused, and yet a comment was changed"
            if kind not in (None, "404") and asks and (left or not seen or any(state != before for state in seen)):
                return f"{what}: something was done while the permission could not be read"
            if not any(reaction.content in ("+1", "confused") for reaction in _reactions(on, issue, comment.id)):
                return f"{what}: no reaction"
            return None

        yield each(check)


def _reactions(on: Play, issue: int, comment: int) -> tuple[object, ...]:
    return next(each.reactions for each in on.hub.comments(REPOSITORY, issue) if each.id == comment)


# --------------------------------------------------------------------------------------------------------- another bot

EVENTS = 500
"""Events of one play with one other bot."""


@suite("bots", "two bots that trigger each other", "bounded, ≤ 1 comment each", full=10_000, quick=120, slice=EVENTS)
@contextmanager
def bots(seed: int) -> Iterator[Run]:
    """Another bot answers all that we write, and all that it hears of; it is a bot by its account, or passes for a person."""
    with play() as on:

        def run(indices: range) -> Found:
            draw, found = chance(seed, "bots", indices.start), Found()
            way = draw.choice(("quotes", "commands", "edits itself", "edits the issue", "is a bot", "opens issues"))
            echo = "echo[bot]" if way == "is a bot" else f"echo-{indices.start}"
            if way == "is a bot":
                on.hub.state.account(echo, "Bot")
            issue = on.open(SPROCKETS.format(indices.start), f"octocat-{indices.start}")
            issues, own, heard = [issue], on.own(issue), 0
            asked = on.hub.comment(REPOSITORY, issue, "/explain why", echo)
            words = ("", " help", " wrong", " right", " halp", " why", " off", " on", " all", f" {on.record('sprockets')}")
            while heard < len(indices):
                heard += len(on.run())
                said = (on.own(issue) or own)[-1]
                if way == "quotes":
                    on.hub.comment(REPOSITORY, issue, f"{said}\n\n/explain", echo)
                elif way == "edits itself":
                    on.hub.edit_comment(REPOSITORY, asked.id, f"/explain{draw.choice(words)}\n\n{heard}", echo)
                elif way == "edits the issue":
                    on.hub.edit_issue(REPOSITORY, issue, body=f"{said}\n\n{draw.choice(('', SPROCKETS.format(heard)))}\n\n{heard}")
                elif way == "opens issues":
                    issues.append(on.hub.open_issue(REPOSITORY, "It fails", said.replace("no longer", ""), echo).number)
                else:
                    on.hub.comment(REPOSITORY, issue, f"/explain{draw.choice(words)}", echo)
                heard += 1
            on.run()
            found.counted["events"] += heard
            for number in issues:
                written = len(on.own(number))
                found.counted["comments"] += written
                if written > MAX_COMMENTS_A_DAY:
                    found.fail(indices.start, f"{way}: {written} comments on one issue")
            by_request = [c for c in on.hub.comments(REPOSITORY, issue) if c.author.login == "helper"]
            if len({c.body.rsplit("<!-- eb:", 1)[-1] for c in by_request}) != len(by_request):
                found.fail(indices.start, f"{way}: two comments because of one")
            created = sum(len(on.own(number)) for number in issues)
            if way != "opens issues" and created > MAX_COMMENTS_A_DAY:
                found.fail(indices.start, f"{way}: {created} comments")
            return found

        yield run
