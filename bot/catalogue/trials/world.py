"""What stands around code that is tried: stubs, and a world in which each of them is one thing or another.

Nothing is imported for the code: an import gives a stub, and a stub gives stubs. What a stub is (true, a number, a text, there or
not) is drawn when the code asks, and is the same from then on in that world. Only the standard library is used here: this runs in a
process that has nothing else.
"""

from __future__ import annotations

import builtins
import contextlib
import math
import operator
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bot.catalogue.trials.job import Job

LARGE = (10**6, 10**11, 10**12)
"""Numbers of bytes, which only a stub can be: a parameter may count a loop."""

SAFE = (
    "abs all any bool bytes dict divmod enumerate filter float frozenset int iter len list map max min next pow range repr reversed round "
    "set slice sorted str sum tuple zip callable chr ord hash"
)
"""Builtins that only work on the values they are given; ``isinstance``, ``hasattr``, ``getattr`` and ``print`` are the stage's own."""


class World:
    """What holds in one run: every answer that was asked for, by the name of what was asked."""

    def __init__(self, job: Job, number: int) -> None:
        self.job = job
        self.chance = random.Random(f"{number} {job.text}")  # noqa: S311  the same worlds at each check
        self.known: dict[str, Any] = {}
        self.seen: set[str] = set()
        self.raised: BaseException | None = None
        self.foreign = False

    def draw(self, key: str, choices: Sequence[Any]) -> Any:
        """The answer to ``key``, drawn once."""
        self.seen.add(key)
        if key not in self.known:
            self.known[key] = self.chance.choice(choices)
        return self.known[key]

    def present(self, module: str) -> bool:
        """Whether a module can be imported; only those that the code tries can be missing."""
        parts = module.split(".")
        names = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
        missing = [name for name in names if name in self.job.optional and not self.draw(f"module {name}", (True, False))]
        return not missing

    # ---------------------------------------------------------------------------------- what stands in for Python's own

    def imported(self, name: str, *args: Any) -> Any:
        """``__import__``: a stub, or ModuleNotFoundError where the module is missing in this world."""
        if not self.present(name):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        wanted = args[2] if len(args) > 2 else None
        top = name if wanted else name.split(".")[0]
        return math if top == "math" else Stub(top, self, there=True)

    def find_spec(self, name: str, *_: Any) -> Any:
        """``importlib.util.find_spec``."""
        return Stub(f"spec of {name}", self, there=True) if self.present(name) else None

    def version(self, name: str) -> Any:
        """``importlib.metadata.version``."""
        if not self.draw(f"distribution {name}", (True, False)):
            raise error_class("PackageNotFoundError")(name)
        return Stub(f"version of {name}", self, there=True)

    def variable(self, name: str, default: Any = None) -> Any:
        """``os.environ.get``."""
        value = self.draw(f"variable {name}", (None, *self.job.texts))
        return default if value is None else value

    def source(self) -> None:
        """Raises the record's error at one of the places where the code tries something."""
        if self.raised is None and self.chance.random() < 0.7:
            self.raised = error_class(self.job.type)(self.job.message)
            raise self.raised

    def tried(self, number: int, types: Any = Exception) -> None:
        """In some worlds, what a guard tries fails with an error that it expects."""
        if self.draw(f"try {number} fails", (True, False, False)):
            known = self.caught(types)
            raise (known[0] if isinstance(known, tuple) else known)("it failed")

    def caught(self, types: Any) -> Any:
        """What an ``except`` names, as classes."""
        if isinstance(types, tuple):
            return tuple(self.caught(one) for one in types)
        if isinstance(types, Stub):
            name = types._at.rpartition(".")[2]
            self.foreign = self.foreign or name != self.job.type.rpartition(".")[2]
            return error_class(name)
        if self.job.type.rpartition(".")[2] not in vars(builtins) and not issubclass(Exception, types):
            self.foreign = True  # perhaps a base of the project's class
        return types


class Stub:
    """Something of which nothing is known but how it was come by."""

    __slots__ = ("_at", "_there", "_world")

    def __init__(self, at: str, world: World, there: bool = False) -> None:
        """``there``: it is true, and not None."""
        self._at, self._world, self._there = at[:400], world, there

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return Stub(f"{self._at}.{name}", self._world)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Another stub, but for the few functions whose answers are of a known kind."""
        special = SPECIAL.get(self._at)
        if special is not None:
            return special(self._world, *args, **named)
        shown = ", ".join([*map(shown_name, args), *(f"{key}={shown_name(value)}" for key, value in named.items())])
        return Stub(f"{self._at}({shown})", self._world)

    def __getitem__(self, key: Any) -> Any:
        if self._at == "os.environ":
            value = self._world.variable(key)
            if value is None:
                raise KeyError(key)
            return value
        return Stub(f"{self._at}[{shown_name(key)}]", self._world)

    def __setitem__(self, key: Any, value: Any) -> None: ...

    def __bool__(self) -> bool:
        return self._there or bool(self._world.draw(f"{self._at} is true", (True, False)))

    def __contains__(self, key: Any) -> bool:
        return bool(self._world.draw(f"{shown_name(key)} in {self._at}", (True, False)))

    def __len__(self) -> int:
        return int(self._world.draw(f"len({self._at})", (0, 1, 2, 3, 4)))

    def __iter__(self) -> Iterator[Any]:
        return iter([Stub(f"{self._at}[{at}]", self._world) for at in range(len(self))])

    def __next__(self) -> Any:
        if self._world.draw(f"{self._at} is empty", (True, False)):
            raise StopIteration
        return Stub(f"next({self._at})", self._world)

    def __index__(self) -> int:
        return int(self._world.draw(f"index {self._at}", (0, 1, 2, 3)))

    def __int__(self) -> int:
        return int(_number(self))

    def __float__(self) -> float:
        return float(_number(self))

    def __str__(self) -> str:
        return str(self._world.draw(f"str({self._at})", self._world.job.texts))

    def __format__(self, spec: str) -> str:
        return str(self)

    def __hash__(self) -> int:
        return hash(self._at)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Stub) and other._at == self._at) or bool(_compared(self, other, operator.eq))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None: ...


def shown_name(value: Any) -> str:
    """A value in a few words: a stub by how it was come by."""
    return value._at if isinstance(value, Stub) else repr(value)[:100]


def _number(value: Any) -> Any:
    return value._world.draw(f"number {value._at}", value._world.job.numbers + LARGE) if isinstance(value, Stub) else value


def _compared(one: Stub, other: Any, how: Callable[[Any, Any], Any]) -> Any:
    world = one._world
    if isinstance(other, bool):
        return how(bool(one), other)
    if isinstance(other, int | float | Stub):
        return how(_number(one), _number(other))
    if isinstance(other, str):
        return how(world.draw(f"text {one._at}", world.job.texts), other)
    if isinstance(other, tuple | list):
        return how(type(other)(Stub(f"{one._at}[{at}]", world) for at in range(len(other))), other)
    return world.draw(f"{one._at} {how.__name__} {shown_name(other)}", (True, False))


def _operators() -> None:
    for name in ("lt", "le", "gt", "ge"):
        how = getattr(operator, name)
        setattr(Stub, f"__{name}__", lambda self, other, how=how: _compared(self, other, how))
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
        how = getattr(operator, name)
        setattr(Stub, f"__{name}__", lambda self, other, how=how: _computed(self, other, how))
        setattr(Stub, f"__r{name}__", lambda self, other, how=how: _computed(self, other, lambda a, b: how(b, a)))
    for name in ("neg", "abs"):
        how = getattr(operator, name)
        setattr(Stub, f"__{name}__", lambda self, how=how: how(_number(self)))


def _computed(one: Stub, other: Any, how: Callable[[Any, Any], Any]) -> Any:
    if isinstance(other, int | float) or (isinstance(other, Stub) and how is not operator.truediv):  # a / b may be a path
        return how(_number(one), _number(other))
    return Stub(f"({one._at} with {shown_name(other)})", one._world)


_operators()

SPECIAL: dict[str, Callable[..., Any]] = {
    "importlib.util.find_spec": World.find_spec,
    "importlib.import_module": World.imported,
    "importlib.metadata.version": World.version,
    "os.environ.get": World.variable,
    "os.getenv": World.variable,
    "contextlib.suppress": lambda world, *types: contextlib.suppress(*map(world.caught, types)),
}

_classes: dict[str, type[BaseException]] = {"PackageNotFoundError": type("PackageNotFoundError", (ModuleNotFoundError,), {})}


def error_class(name: str) -> type[BaseException]:
    """The exception class of that name: Python's own, or a new one, of whose bases nothing is known."""
    name = name.rpartition(".")[2]
    found = vars(builtins).get(name)
    if isinstance(found, type) and issubclass(found, BaseException):
        return found
    return _classes.setdefault(name, type(name, (Exception,), {}))


def builtins_for(world: World) -> dict[str, Any]:
    """All that code on the stage can name without having defined it."""

    def attribute(value: Any, name: str, *default: Any) -> Any:
        if not isinstance(name, str) or not name.isidentifier() or name.startswith("_") or not isinstance(value, Stub):
            raise AttributeError(name)
        return getattr(value, name) if not default or has(value, name) else default[0]

    def has(value: Any, name: str) -> bool:
        return isinstance(value, Stub) and bool(world.draw(f"{value._at} has {name}", (True, False)))

    def of_type(value: Any, types: Any) -> bool:
        if isinstance(value, Stub) or any(isinstance(one, Stub) for one in (types if isinstance(types, tuple) else (types,))):
            return bool(world.draw(f"{shown_name(value)} is of {shown_name(types)}", (True, False)))
        return isinstance(value, types)

    def none(value: Any) -> bool:
        if isinstance(value, Stub):
            return not value._there and bool(world.draw(f"{value._at} is None", (True, False)))
        return value is None

    given: dict[str, Any] = {name: getattr(builtins, name) for name in SAFE.split()}
    given |= {name: one for name, one in vars(builtins).items() if isinstance(one, type) and issubclass(one, BaseException)}
    given |= {"isinstance": of_type, "hasattr": has, "getattr": attribute, "print": lambda *_, **__: None}
    given |= {
        "open": Stub("open", world),
        "__import__": world.imported,
        "__source__": world.source,
        "__tried__": world.tried,
        "__caught__": world.caught,
    }
    given["__none__"] = none
    given["__several__"] = lambda value, count: [value[at] for at in range(count)] if isinstance(value, Stub) else value
    return given
