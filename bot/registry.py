"""Modules register what they offer by decorator; nobody keeps a list.

A registry is filled when the package that holds its modules is loaded with :func:`load`. Tables in the README and ``/explain help``
are made from the registries.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """What was registered: its name, what it is in one line (the first line of its docstring), and the thing itself."""

    name: str
    summary: str
    value: T
    facts: dict[str, str]


class Registry(Generic[T]):
    """Named things of one kind, filled by decorator from the modules of one package.

    ``package`` is imported with all its modules at the first look-up, so a new file there is known without a list of files.
    """

    def __init__(self, package: str) -> None:
        self.package = package
        self._entries: dict[str, Entry[T]] = {}
        self._loaded = False

    def add(self, name: str, **facts: str) -> Callable[[T], T]:
        """Register the decorated thing under ``name``; raises ValueError when the name is taken."""

        def register(value: T) -> T:
            if name in self._entries:
                raise ValueError(f"{name!r} is registered twice for {self.package}")
            summary = (getattr(value, "__doc__", None) or "").strip().split("\n")[0]
            self._entries[name] = Entry(name, summary, value, facts)
            return value

        return register

    def __iter__(self) -> Iterator[Entry[T]]:
        """All entries, by name."""
        self._load()
        return iter(sorted(self._entries.values(), key=lambda entry: entry.name))

    def get(self, name: str) -> Entry[T] | None:
        """The entry of that name, or None."""
        self._load()
        return self._entries.get(name)

    def _load(self) -> None:
        if not self._loaded:
            # Marked afterwards: another thread must not find it half filled.
            load(self.package)
            self._loaded = True


def load(package: str) -> None:
    """Import every module below ``package``, so that what they register is known."""
    root: ModuleType = importlib.import_module(package)
    for module in pkgutil.walk_packages(root.__path__, prefix=f"{package}."):
        importlib.import_module(module.name)


DIALECTS: Registry[Callable[..., object]] = Registry("bot.reading.dialects")
"""Ways of printing an error: functions from a block of text to occurrences."""

SCANNERS: Registry[Callable[..., object]] = Registry("bot.catalogue.scanners")
"""Languages: functions from a source file to raise sites; the fact ``suffixes`` names the file endings."""

HANDLERS: Registry[Callable[..., object]] = Registry("bot.handlers")
"""Events: functions from an event and its context to effects."""

COMMANDS: Registry[Callable[..., object]] = Registry("bot.handlers")
"""Slash commands: functions from a command and its context to effects; facts ``usage`` and ``who``."""
