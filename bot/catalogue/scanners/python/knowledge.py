"""What one file knows beyond its statements: its imports, its own facts, and what other files offer.

Names are resolved as far as imports tell. Where they don't (a method of some object), a fact is used only when every file that offers that
name says the same, and the name is long enough not to be shared by chance.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TypeVar

from bot.catalogue.scanners import Known, Offer
from bot.catalogue.scanners.python.calls import is_self, last_name, names_class
from bot.catalogue.scanners.python.facts import MAX_BASES, Argument, Below, Class, Constant, Error, Function, Kept, printed, substitute
from bot.catalogue.scanners.python.flags import Flag
from bot.catalogue.scanners.python.parts import Texts, unparse
from bot.catalogue.scanners.python.text import Items
from bot.model import Hole

F = TypeVar("F", Constant, Class, Function)

BUILTIN_ERRORS = frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
) | {"ExceptionGroup", "BaseExceptionGroup", "EncodingWarning", "PythonFinalizationError"}
"""Exceptions of Python itself; those of other versions are named, so that every version scans alike."""

MIN_NAME = 8
"""A method's name must have this many characters, and a ``_``, to be found by name alone."""


class Imports:
    """The names that a file imports, wherever in it: name to (module, name there)."""

    def __init__(self, path: str) -> None:
        self.package = dotted(path).split(".")
        if not path.endswith("__init__.py"):
            self.package = self.package[:-1]
        self.names: dict[str, tuple[str, str]] = {}

    def add(self, statement: ast.Import | ast.ImportFrom) -> None:
        """Note an import statement."""
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                self.names[alias.asname or alias.name.partition(".")[0]] = (alias.name, "")
            return
        module = statement.module or ""
        if statement.level:
            base = self.package[: len(self.package) - statement.level + 1]
            module = ".".join([*base, module] if module else base)
        for alias in statement.names:
            self.names[alias.asname or alias.name] = (module, alias.name)


def dotted(path: str) -> str:
    """The module name that ends a path's own: ``python/a/b.py`` is ``python.a.b``."""
    parts = PurePosixPath(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts and parts[-1] == "__init__" else parts)


class Knowledge:
    """Answers what a name stands for, and notes in ``wants`` what could only be answered by other files."""

    def __init__(self, path: str, known: Known) -> None:
        self.path = path
        self.imports = Imports(path)
        self.known = known
        self.wants: set[str] = set()
        self.own_classes: Mapping[str, Class] = {}
        self.own_functions: Sequence[tuple[str, Function]] = ()
        self.missed: set[str] = set()

    def printed(self, type: str, arguments: tuple[Argument, ...]) -> tuple[Error, ...]:
        """What an exception of this type prints."""
        classes: dict[str, Class] = {}
        name = type
        while name and name not in classes and name not in BUILTIN_ERRORS and (found := self._class(name)) is not None:
            classes[name] = found
            name = found.bases[0] if found.bases else ""
        return printed(type, arguments, classes, BUILTIN_ERRORS)

    def _class(self, name: str) -> Class | None:
        if name in self.own_classes:
            return self.own_classes[name]
        self.missed.add(name)
        self.wants.add(f"class:{name}")
        return self._chosen(f"class:{name}", name, Class)

    def translated(self, keys: Sequence[str]) -> Texts:
        """The text that is offered under the first of these keys that has one."""
        self.wants.update(keys)
        for key in keys:
            found = self._chosen(key, "", Constant)
            if found is not None:
                return found.texts
        return ()

    def items(self, constant: Constant | None) -> Items:
        """A dictionary of texts; one that is read from a file beside the code holds what is offered under the file's name."""
        if constant is None or not constant.file:
            return constant.items if constant is not None else ()
        self.wants.add(f"file:{constant.file}")
        found = self._chosen(f"file:{constant.file}", "", Constant)
        return found.items if found is not None else ()

    def overrides(self, class_name: str, attribute: str) -> list[Constant]:
        """What classes of other files set an attribute to that are made from this one, or from one of those."""
        self.wants.add(f"below:{class_name}")
        found: list[Constant] = []
        reached = [(class_name, self.path)]
        for name, path in reached:
            for offer in self.known.get(f"below:{name}", ()):
                if not isinstance(offer.value, Below) or f".{offer.value.module}." not in f".{dotted(path)}.":
                    continue
                if (offer.value.name, offer.path) not in reached:
                    reached.append((offer.value.name, offer.path))
                    found += [constant for named, constant in offer.value.messages if named == attribute]
        return found

    def constant(self, node: ast.Name | ast.Attribute) -> Constant | None:
        """An imported constant: ``NAME``, ``module.NAME``, ``Class.NAME``, ``Class.MEMBER.value``."""
        if isinstance(node, ast.Name):
            imported = self.imports.names.get(node.id)
            name = imported[1] if imported else ""
            local = node.id
        else:
            names = unparse(node).split(".")
            imported = self.imports.names.get(names[0])
            # What was imported may be a class, or else is a module.
            is_class = imported is not None and names_class(imported[1])
            name = ".".join([imported[1], *names[1:]] if imported is not None and is_class else names[1:])
            local = names[0]
        if not imported or not name:
            return None
        self.wants.add(f"constant:{name}")
        return self._chosen(f"constant:{name}", local, Constant)

    def functions(self, func: ast.expr, class_name: str) -> tuple[Function, ...]:
        """What is known of the function that is called: nothing, or one function."""
        name = last_name(func)
        if not name or name.startswith("__"):
            return ()
        self.missed.add(name)
        own = [fact for owner, fact in self.own_functions if fact.name == name and (isinstance(func, ast.Attribute) or not owner)]
        if isinstance(func, ast.Name):
            if own:
                return self._linked(own)
            imported = self.imports.names.get(name)
            if imported is None or not imported[1]:
                return ()
            self.wants.add(f"function:{imported[1]}")
            found = self._chosen(f"function:{imported[1]}", name, Function)
            return self._linked([found] if found else [])
        if not isinstance(func, ast.Attribute):
            return ()
        receiver = func.value
        mine = is_self(receiver) or (isinstance(receiver, ast.Call) and last_name(receiver.func) == "super")
        if mine:
            same = [fact for owner, fact in self.own_functions if fact.name == name and owner == class_name]
            own = same or own
        if own and (mine or is_distinctive(name)):
            return self._linked(own)
        module = self.imports.names.get(receiver.id) if isinstance(receiver, ast.Name) else None
        if module is not None or mine or is_distinctive(name):
            self.wants.add(f"function:{name}")
            found = self._chosen(f"function:{name}", receiver.id if module and isinstance(receiver, ast.Name) else "", Function)
            return self._linked([found] if found else [])
        return ()

    def _linked(self, functions: Sequence[Function]) -> tuple[Function, ...]:
        """The function, unless there are several that differ; with what is raised from the attributes that it fills."""
        if not functions or any(function != functions[0] for function in functions[1:]):
            return ()
        function = functions[0]
        raises = list(function.raises)
        for parameter, attribute in function.stores:
            self.wants.add(f"kept:{attribute}")
            for offer in self.known.get(f"kept:{attribute}", ()):
                kept = offer.value
                if isinstance(kept, Kept):
                    filled = {kept.hole: ((Hole(parameter),),)}
                    for parts in substitute(kept.error.parts, filled):
                        also = tuple(way for other in kept.error.also for way in substitute(other, filled))
                        error = Error(kept.error.type, parts, also)
                        if error not in raises:
                            raises.append(error)
        if len(raises) == len(function.raises):
            return (function,)
        return (replace(function, raises=tuple(raises)),)

    def _chosen(self, key: str, local: str, kind: type[F]) -> F | None:
        """The fact that is offered under a key and that the local name means, as far as imports tell; None when in doubt."""
        offers = [offer for offer in self.known.get(key, ()) if isinstance(offer.value, kind)]
        imported = self.imports.names.get(local)
        if imported is not None and imported[0]:
            module = imported[0]
            exact = [offer for offer in offers if ends(dotted(offer.path), module)]
            inside = [offer for offer in offers if f".{module}." in f".{dotted(offer.path)}."]
            family = [offer for offer in offers if module.split(".")[0] in dotted(offer.path).split(".")]
            offers = exact or inside or family
        values = {offer.value for offer in offers}
        chosen = next(iter(values)) if len(values) == 1 else None
        return chosen if isinstance(chosen, kind) else None


def ends(name: str, module: str) -> bool:
    """Whether a path's dotted name (:func:`dotted`) is that of a module."""
    return name == module or name.endswith("." + module)


def is_distinctive(name: str) -> bool:
    """Whether a name is long enough not to be shared by chance."""
    return len(name) >= MIN_NAME and "_" in name.strip("_")


def _flat(fact: Class, own: Mapping[str, Class]) -> Class:
    """A class without those bases of its own file that add nothing: in another file, their names may mean something else."""
    for _ in range(MAX_BASES):
        base = own.get(fact.bases[0]) if fact.bases else None
        if base is None or base.parameters is not None or base.printed or base.name == fact.name:
            break
        fact = replace(fact, bases=base.bases or ("Exception",))
    return fact


def offers(
    path: str,
    constants: Mapping[str, Constant],
    classes: Iterable[Class],
    functions: Iterable[tuple[str, Function]],
    kept: Iterable[Kept],
    flags: Mapping[str, Flag],
    below: Iterable[tuple[str, Below]] = (),
) -> tuple[tuple[str, Offer], ...]:
    """What a file offers to others, by key."""
    found = [
        (f"constant:{name}", Offer(path, constant, frozenset({f"file:{constant.file}"} if constant.file else ())))
        for name, constant in constants.items()
    ]
    found += [(f"below:{base}", Offer(path, fact, frozenset({f"below:{fact.name}"}))) for base, fact in below]
    own = {fact.name: fact for fact in classes}
    for fact in own.values():
        fact = _flat(fact, own)
        base = fact.bases[0] if fact.bases else ""
        foreign = bool(base) and base not in BUILTIN_ERRORS
        if fact.parameters is not None or fact.printed or foreign:
            found.append((f"class:{fact.name}", Offer(path, fact, frozenset({f"class:{base}"} if foreign else ()))))
    for _, function in functions:
        if function.name.startswith("__"):
            continue
        needs = frozenset(f"kept:{attribute}" for _, attribute in function.stores)
        found.append((f"function:{function.name}", Offer(path, function, needs)))
    found += [(f"kept:{one.attribute}", Offer(path, one)) for one in kept]
    found += [(f"flag:{name}", Offer(path, flag)) for name, flag in flags.items()]
    return tuple(dict.fromkeys(found))
