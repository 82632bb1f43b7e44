"""Attributes of classes that hold messages, read through an instance: those of the bases, and what classes below set them to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from bot.catalogue.scanners.python import calls
from bot.catalogue.scanners.python.facts import MAX_BASES, Below, Constant, either
from bot.catalogue.scanners.python.knowledge import Knowledge
from bot.catalogue.scanners.python.parts import Texts

MESSAGE_LIKE = re.compile(
    r"(^|_)(msg|message|messages|err|error|reason|failure|cause|detail|details|text|exc|exception|description)(_|$|\\d)"
)
"""Names of variables that hold messages."""


class Inheritance:
    """The classes of a file and what they are made from. ``constants`` and ``missed`` are those of the walk over it.

    ``is_late`` says that a class sets what one above it in the file has read: then the file has to be walked again.
    """

    def __init__(self, knowledge: Knowledge, constants: dict[str, Constant], missed: set[str], earlier: Inheritance | None) -> None:
        self.knowledge, self.constants, self.missed = knowledge, constants, missed
        self.bases: dict[str, tuple[str, ...]] = dict(earlier.bases) if earlier else {}
        self._made_from: dict[str, list[str]] = dict(earlier._made_from) if earlier else {}
        self._read: set[str] = set()
        self.is_late = False

    def define(self, name: str, bases: tuple[str, ...]) -> None:
        """This file has a class."""
        if name not in self.bases:
            for base in bases:
                self._made_from.setdefault(base, []).append(name)
        self.bases[name] = bases

    def note(self, attribute: str) -> None:
        """A class of this file sets an attribute."""
        self.is_late = self.is_late or attribute in self._read

    def constant(self, owner: str, bases: Sequence[str], attribute: str) -> Constant | None:
        """A constant of this class or of one of its bases, or what a class sets it to that is made from this one: all of them at once.

        What is no message there may be the instance's own.
        """
        if not attribute.isupper() and not MESSAGE_LIKE.search(attribute):
            return None
        own: list[Constant] = []
        for at, name in enumerate(self._ancestors(owner, bases)):
            found = self.constants.get(f"{name}.{attribute}")
            if found is None and at:
                found = self.knowledge.constant(ast.Attribute(ast.Name(name, ast.Load()), attribute, ast.Load()))
            if found is None:
                self.missed.add(f"{name}.{attribute}")
            elif not own or found.items:
                own.append(found)
        nearest: dict[str, Texts] = {key: texts for found in reversed(own) for key, texts in found.items}
        held = [Constant(own[0].texts, tuple(nearest.items()), own[0].file)] if own else []
        self._read.add(attribute)
        below = list(dict.fromkeys(self._made_from.get(owner, ())))
        for name in below:
            below += [lower for lower in self._made_from.get(name, ()) if lower not in below and lower != owner]
        local = [self.constants[key] for name in below if (key := f"{name}.{attribute}") in self.constants]
        foreign = (constant for name in (owner, *below) for constant in self.knowledge.overrides(name, attribute))
        return either([*held, *local, *foreign])

    def _ancestors(self, name: str, bases: Sequence[str] = ()) -> list[str]:
        """A class and those that it is made from, the nearest first, as far as this file tells."""
        found = dict.fromkeys((name, *bases))
        for _ in range(MAX_BASES):
            more = dict.fromkeys(base for known in found for base in self.bases.get(known, ()))
            if more.keys() <= found.keys():
                break
            found |= more
        return list(found)

    def below(self) -> Iterator[tuple[str, Below]]:
        """The classes that are made from one of another file, by the name of that."""
        messages: dict[str, list[tuple[str, Constant]]] = {}
        for name, constant in self.constants.items():
            owner, _, attribute = name.partition(".")
            is_read = owner in self.bases and (attribute.isupper() or MESSAGE_LIKE.search(attribute))
            if is_read and any(map(calls.says, (constant.texts, *(texts for _, texts in constant.items)))):
                messages.setdefault(owner, []).append((attribute, constant))
        for owner in self.bases:
            for base in self._ancestors(owner):
                imported = self.knowledge.imports.names.get(base)
                if imported and base not in self.bases:
                    yield imported[1] or base, Below(owner, imported[0], tuple(messages.get(owner, ())))
