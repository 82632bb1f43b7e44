"""Streams of deliveries that come again, at the same moment, and out of order: nothing more is written, and all ends as in order."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from flask.testing import FlaskClient

from bot.catalogue.catalogue import Catalogue, catalogue_path
from bot.config import Settings
from bot.demo.github import Delivery, StandIn
from bot.trackers.github.app import connect
from bot.web.app import create_app
from bot.work import workflows
from bot.work.passes import Runtime
from tests.bench.suites import Found, Run, chance, suite
from tests.bench.suites.scene import SECRET, UNLIMITED, cache_folder, database, unfinished, work_engine
from tests.engine import FLUX, REPOSITORY, SPROCKETS

MODES = ("in order", "replayed", "duplicated", "shuffled")
STORY = 5
"""Things that people do in one story, on one issue."""
OWNERS = 24
SENDERS = 6
PATIENCE = 300.0

_COMMANDS = ("", " help", " why", " all", " halp", " label", " record")
_SETTERS = (" off", " on", " wrong", " right", " duplicate")
"""Commands that set something, or look at what is known by then: they come by themselves, since nothing brings back the order in which
two of them were given within a moment."""
MAX_ASKED = 2
"""Requests in one story: with more, the limit of three comments a day would choose which one is answered."""
_BODIES = (SPROCKETS.format("a"), SPROCKETS.format("b"), f"RuntimeError: {FLUX.replace('{slot}', '7')}", "Paint it green.", "")


@dataclass(frozen=True, slots=True)
class Act:
    """Something that somebody does on the issue of a story; the index is that of the delivery it leads to."""

    index: int
    kind: str
    text: str
    actor: str


def _acts(draw: random.Random, indices: range) -> list[Act]:
    """What happens in one story: an issue is opened, then edited, asked about, closed and opened again."""
    acts = [Act(indices.start, "open", draw.choice(_BODIES[:3]), "octocat")]
    for index in indices[1:]:
        kind = draw.choice(("edit", "edit", "ask", "ask", "ask", "change the request", "reopen"))
        asked = sum(act.kind == "ask" for act in acts)
        if kind == "change the request" and not asked:
            kind = "ask"
        if kind == "ask" and asked >= MAX_ASKED:
            kind = "edit"
        text = f"/explain{draw.choice((*_COMMANDS, *_SETTERS))}" if kind in ("ask", "change the request") else draw.choice(_BODIES)
        acts.append(Act(index, kind, text, draw.choice(("octocat", "octocat", "maintainer", "passer-by"))))
    return acts


def _perform(hub: StandIn, repository: str, act: Act, issue: int, asked: list[int]) -> int:
    """Let it happen on the stand-in; the number of the issue."""
    match act.kind:
        case "open":
            return hub.open_issue(repository, "It fails", act.text, act.actor).number
        case "edit":
            hub.edit_issue(repository, issue, body=f"{act.text}\n\n{act.index}")
        case "reopen":
            hub.set_open(repository, issue, False)
            hub.set_open(repository, issue, True)
        case "change the request":
            hub.edit_comment(repository, asked[-1], act.text)
        case _:
            asked.append(hub.comment(repository, issue, act.text, act.actor).id)
    return issue


def _as_they_come(mode: str, batch: list[Delivery], earlier: list[Delivery], draw: random.Random) -> list[tuple[Delivery, str]]:
    """The deliveries of a batch as they come in a mode, each with the id it comes under."""
    come = [(delivery, delivery.guid) for delivery in batch]
    match mode:
        case "replayed":  # captured ones come again under ids of the attacker's own
            again = [(delivery, f"again-{draw.randrange(2**40):x}") for delivery in draw.sample(earlier, min(len(earlier), len(batch)))]
            return [*come, *again, *[(delivery, f"again-{draw.randrange(2**40):x}") for delivery, _ in come]]
        case "duplicated":  # GitHub, or a proxy, sends the same at the same moment
            return [each for each in come for _ in range(3)]
        case "shuffled":
            draw.shuffle(come)
    return come


@suite("replay", "replay, duplicates, shuffle", "0 extra comments, final state as in order", full=30_000, quick=60, slice=600)
@contextmanager
def replay(seed: int) -> Iterator[Run]:
    """Stories of five acts, each told four times: in order, and with its deliveries replayed, duplicated and shuffled (one case each).

    Deliveries of an act come at once with some of the acts before them. Real hook, queue and worker, with SQLite and PostgreSQL in turns.
    """
    with ExitStack() as stack:
        cache = stack.enter_context(cache_folder())
        catalogue = stack.enter_context(Catalogue.open(catalogue_path(cache, REPOSITORY)))
        urls = [stack.enter_context(database(kind)) for kind in ("sqlite", "postgresql")]

        def run(indices: range) -> Found:
            with ExitStack() as slice:
                found = Found()
                hub = slice.enter_context(StandIn(secret=SECRET).serve())
                url = urls[indices.start // 600 % 2]
                more = {**UNLIMITED, "settle_seconds": 0.3, "github_url": hub.url, "database_url": url}
                settings = Settings(webhook_secrets=SECRET.decode(), token=hub.token("helper"), **more)  # type: ignore[arg-type]
                workflows.start(settings, Runtime(lambda name, _: connect(settings, name), lambda _: catalogue))
                slice.callback(workflows.stop, 0)
                app = create_app(settings, workflows.submit, lambda _: None, lambda: ())
                pool = slice.enter_context(ThreadPoolExecutor(SENDERS))
                told = _Told(hub, app.test_client, url, pool)
                stories = [range(start, min(start + 3 * STORY, indices.stop)) for start in range(indices.start, indices.stop, 3 * STORY)]
                told.tell(seed, stories, found)
            return found

        yield run


@dataclass
class _Told:
    """Tells stories in all modes at the same time, and compares how they end."""

    hub: StandIn
    client: Callable[[], FlaskClient]
    url: str
    pool: ThreadPoolExecutor

    def tell(self, seed: int, stories: list[range], found: Found) -> None:
        places = {}
        for at, story in enumerate(stories):
            for mode in MODES:
                name = f"octo-{(4 * at + MODES.index(mode)) % OWNERS}/{mode.replace(' ', '-')}-{story.start}"
                self.hub.add_repository(name, collaborators={"helper": "write", "maintainer": "triage"})
                places[story, mode] = name
        issues: dict[tuple[range, str], int] = {}
        asked: dict[tuple[range, str], list[int]] = {key: [] for key in places}
        earlier: dict[tuple[range, str], list[Delivery]] = {key: [] for key in places}
        for round in range(STORY):
            coming: list[tuple[Delivery, str]] = []
            for story in stories:
                draw = chance(seed, "replay", story.start)
                acts = _acts(draw, story[:STORY])
                alone = [act.text.removeprefix("/explain") in _SETTERS for act in acts] + [True]
                late = [draw.random() < 0.6 and not (alone[at] or alone[at + 1]) for at in range(len(acts))]
                if round >= len(acts):
                    continue
                for mode in MODES:
                    key = story, mode
                    before = len(self.hub.deliveries)
                    issues[key] = _perform(self.hub, places[key], acts[round], issues.get(key, 0), asked[key])
                    new = [d for d in self.hub.deliveries[before:] if d.event in ("issues", "issue_comment")]
                    earlier[key] += new
                    if late[round]:
                        continue  # comes together with the next
                    batch = [delivery for delivery in earlier[key] if delivery.id not in self._sent]
                    self._sent.update(delivery.id for delivery in batch)
                    old = [delivery for delivery in earlier[key] if delivery not in batch]
                    coming += _as_they_come(mode, batch, old, chance(seed, f"{mode} {round}", story.start))
            self._deliver(coming, found)
            self._settle(found)
        for story in stories:
            ends = {mode: self._end(places[story, mode], issues[story, mode]) for mode in MODES}
            for number, mode in enumerate(MODES[1:]):
                found.counted[mode] += len(story[number::3])
                if ends[mode] != ends["in order"]:
                    found.fail(story.start, f"{mode}: {_difference(ends['in order'], ends[mode])}")

    def __post_init__(self) -> None:
        self._sent: set[int] = set()

    def _deliver(self, coming: list[tuple[Delivery, str]], found: Found) -> None:
        def send(one: tuple[Delivery, str]) -> int:
            delivery, guid = one
            headers = {**delivery.headers, "X-GitHub-Delivery": guid}
            return self.client().post("/hooks/github", data=delivery.body, headers=headers).status_code

        for (delivery, _), status in zip(coming, self.pool.map(send, coming), strict=True):
            found.counted["deliveries"] += 1
            if status not in (200, 202):
                found.fail(0, f"{status} for {delivery.event} {delivery.action}")

    def _settle(self, found: Found) -> None:
        engine = work_engine(self.url)
        deadline = time.monotonic() + PATIENCE
        while left := unfinished(engine):
            if time.monotonic() > deadline:
                found.fail(0, f"{left} works came to no end")
                break
            time.sleep(0.05)
        engine.dispose()

    def _end(self, repository: str, issue: int) -> tuple[object, ...]:
        """How a story ended: our comments without what differs from place to place, and the reactions of ours."""
        comments = self.hub.comments(repository, issue)
        ours = [c.body.split("\n\n<!-- eb:")[0].replace(repository, REPOSITORY) for c in comments if c.author.login == "helper"]
        reactions = [sorted(r.content for r in c.reactions) for c in comments if c.author.login != "helper"]
        return tuple(sorted(ours)), tuple(map(tuple, reactions)), self.hub.issue(repository, issue).labels


def _difference(expected: tuple[object, ...], seen: tuple[object, ...]) -> str:
    names = ("comments", "reactions", "labels")
    return "; ".join(f"{name} {was!r} in order, {now!r} here" for name, was, now in zip(names, expected, seen, strict=True) if was != now)
