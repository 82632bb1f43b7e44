"""Texts kept beside the code and named by a key.

In Home Assistant, ``raise E(translation_key="no_room")`` with ``{"exceptions": {"no_room": {"message": "No room for {name}"}}}`` in
``strings.json`` or ``translations/en.json`` (https://developers.home-assistant.io/docs/core/platform/raising_exceptions). In Django REST
framework and marshmallow, ``self.fail("no_room", name=…)`` with ``default_error_messages = {"no_room": "No room for {name}"}`` in the
class. Elsewhere, ``ERRORS["no_room"]`` with ``ERRORS = json.load(…)`` of a file of messages.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

import yaml

from bot.catalogue.scanners import Known, Offer, Scanned, Unreadable
from bot.catalogue.scanners.python.facts import Constant
from bot.catalogue.scanners.python.flow import Held
from bot.catalogue.sources import SourceFile
from bot.registry import SCANNERS

MAX_LEVELS = 3
"""How many folders up from the code its texts are looked for."""

FILES = tuple(f"{name}.{ending}" for name in ("errors", "messages") for ending in ("json", "yaml", "yml"))
"""How the names of files end that hold messages by key: other JSON and YAML is data, and projects have thousands of them."""

MAX_YAML = 200_000
"""Bytes of a YAML file that are read: its reader takes some 20 seconds for a megabyte."""

LOADS = frozenset({"load", "loads", "safe_load"})

DEFAULTS = "default_error_messages"
FAILS = frozenset({"fail", "make_error"})
RAISED = "ValidationError"
"""Where a class keeps its messages, the methods that take a key of them, and what these raise
(https://www.django-rest-framework.org/api-guide/fields/, https://marshmallow.readthedocs.io/en/stable/marshmallow.fields.html)."""


@SCANNERS.add("python-texts", suffixes=" ".join(("strings.json", "translations/en.json", *FILES)))
def scan_messages(file: SourceFile, known: Known) -> Scanned:
    """Error texts of a message catalogue, offered to the Python files of its folder, or to those that read it.

    Raises Unreadable for a file that is no JSON or YAML.
    """
    held = _read(file)
    texts = held.get("exceptions") if isinstance(held, dict) else None
    offers = []
    for key, entry in texts.items() if isinstance(texts, dict) else ():
        text = entry.get("message") if isinstance(entry, dict) else None
        if isinstance(text, str) and text and not text.startswith("[%key"):
            offers.append((f"translated:{_folder(file.path)}:{key}", Offer(file.path, Constant(((text,),)))))
    if isinstance(held, dict) and file.path.endswith(FILES):
        items = tuple((repr(key), ((text,),)) for key, text in held.items() if isinstance(text, str) and text)
        offers.append((f"file:{PurePosixPath(file.path).name}", Offer(file.path, Constant((), items))))
    return Scanned((), tuple(offers))


def _read(file: SourceFile) -> object:
    try:
        if file.path.endswith(".json"):
            return json.loads(file.text)
        if len(file.text) > MAX_YAML:
            raise Unreadable(f"has {len(file.text):,} bytes, more than {MAX_YAML:,} of YAML")
        return yaml.safe_load(file.text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        kind = "JSON" if file.path.endswith(".json") else "YAML"
        raise Unreadable(f"cannot be read as {kind}: {' '.join(str(error).split())}") from error


def file_read(value: ast.expr, conditions: Iterable[Held]) -> str:
    """The name of the file of messages that an expression reads (``json.load(open("errors.json"))``, also of a ``with``); or empty."""
    func = value.func if isinstance(value, ast.Call) else None
    if not isinstance(func, ast.Attribute) or func.attr not in LOADS:
        return ""
    opened = [held.what for held in conditions if isinstance(held.what, ast.With)]
    names = {
        PurePosixPath(name).name for node in (value, *(item.context_expr for one in opened for item in one.items)) for name in _named(node)
    }
    return names.pop() if len(names) == 1 else ""


def _named(node: ast.expr) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and inner.value.endswith(FILES):
            yield inner.value


def _folder(path: str) -> str:
    folder = PurePosixPath(path).parent
    return str(folder.parent if folder.name == "translations" else folder)


def keys(path: str, key: str) -> list[str]:
    """Under which names the text may be offered that the code of a file names by a key, the nearest first."""
    return [f"translated:{folder}:{key}" for folder in list(PurePosixPath(path).parents)[:MAX_LEVELS]]
