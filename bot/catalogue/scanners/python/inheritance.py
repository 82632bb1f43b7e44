"""Attributes of classes that hold messages, read through an instance: those of the bases, and what classes below set them to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from bot.catalogue.scanners.python import calls
from bot.catalogue.scanners.python.facts import MAX_BASES, Constant, Override, either
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
        self._set: set[str] = set(earlier._set) if earlier else set()
        self._read: set[str] = set()
        self.is_late = False

    def note(self, attribute: str) -> None:
        """A class of this file sets an attribute."""
        self._set.add(attribute)
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
        below = (name for name in self.bases if attribute in self._set and name != owner and owner in self._ancestors(name))
        local = [self.constants[key] for name in below if (key := f"{name}.{attribute}") in self.constants]
        return either([*held, *local, *self.knowledge.overrides(owner, attribute)])

    def _ancestors(self, name: str, bases: Sequence[str] = ()) -> list[str]:
        """A class and those that it is made from, the nearest first, as far as this file tells."""
        found = dict.fromkeys((name, *bases))
        for _ in range(MAX_BASES):
            more = dict.fromkeys(base for known in found for base in self.bases.get(known, ()))
            if more.keys() <= found.keys():
                break
            found |= more
        return list(found)

    def overrides(self) -> Iterator[tuple[str, Override]]:
        """Messages that classes set as attributes, with the key under which a class of another file reads them that they are made from."""
        for name, constant in self.constants.items():
            owner, _, attribute = name.partition(".")
            if owner not in self.bases or not (attribute.isupper() or MESSAGE_LIKE.search(attribute)):
                continue
            if any(map(calls.says, (constant.texts, *(texts for _, texts in constant.items)))):
                for base in self._ancestors(owner):
                    imported = self.knowledge.imports.names.get(base)
                    if imported and base not in self.bases:
                        yield f"override:{imported[1] or base}.{attribute}", Override(imported[0], constant)
