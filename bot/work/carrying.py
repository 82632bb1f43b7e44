"""Carrying out what a handler decided, in its order: on the tracker, or in the store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import sqlalchemy as sa

from bot import store
from bot.catalogue.catalogue import Catalogue
from bot.model import AddLabels, Correct, Effect, Event, Judge, React, Remember
from bot.work.desk import Desk, Outcome
from bot.work.manners import ENOUGH
from bot.work.posting import perform


def carry_out(
    effects: Iterable[Effect], event: Event, desk: Desk, catalogue: Catalogue | None, did: frozenset[str] = frozenset()
) -> tuple[Outcome, list[str]]:
    """Carry out effects in their order, up to the first that has to wait; also says which are now done."""
    now_did: list[str] = []
    last, refused = "nothing to do", False
    for effect in effects:
        if refused and isinstance(effect, React):
            effect = replace(effect, content="confused")
        key = effect_key(effect)
        if key in did:
            continue
        if isinstance(effect, Remember):
            _remember(effect, event, desk.engine, catalogue)
            continue
        if isinstance(effect, Judge):
            answer = store.find_answer(desk.engine, event.repository_id, effect.issue, "auto")
            records = " ".join(effect.records) or (answer.records if answer else "")
            store.judge(desk.engine, event.repository_id, effect.issue, effect.comment, effect.opinion, records)
            continue
        if isinstance(effect, Correct):
            store.correct(desk.engine, event.repository_id, effect.issue, effect.record, effect.comment)
            continue
        outcome = perform(effect, desk)
        if outcome.state != "done":
            return outcome, now_did
        # A comment is looked at again in each pass: what it should say may have changed meanwhile.
        if isinstance(effect, React | AddLabels) or outcome.what == "dead":
            now_did.append(key)
        refused = refused or outcome.what in ENOUGH or outcome.what == "dead"
        last = outcome.what
    return Outcome("done", what=last), now_did


def effect_key(effect: Effect) -> str:
    """A short name of an effect, without text of anybody's."""
    match effect:
        case React():
            return f"react:{effect.comment}:{effect.content}"
        case AddLabels():
            return f"labels:{effect.issue}"
        case Remember() | Judge() | Correct():
            return f"{type(effect).__name__.lower()}:{effect.issue}"
        case _:
            return f"{type(effect).__name__.lower()}:{effect.issue}:{effect.purpose}"


def _remember(effect: Remember, event: Event, engine: sa.Engine, catalogue: Catalogue | None) -> None:
    records = [record for id in effect.records if catalogue and (record := catalogue.get(id))]
    found = [store.Sighting(r.id, r.type[:200], str(r.template) or f"assert {r.expression}", effect.decision) for r in records]
    store.remember(engine, event.repository, event.repository_id, effect.issue, found)
