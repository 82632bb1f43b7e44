"""Texts kept beside the code and named by a key: ``raise E(translation_key="no_room")`` with ``strings.json`` in the same folder.

The layout is that of Home Assistant: ``{"exceptions": {"no_room": {"message": "No room for {name}"}}}``, in ``strings.json`` or
``translations/en.json`` (https://developers.home-assistant.io/docs/core/platform/raising_exceptions).
"""

from __future__ import annotations

import json
from pathlib import PurePosixPath

from bot.catalogue.scanners import Known, Offer, Scanned, Unreadable
from bot.catalogue.scanners.python.facts import Constant
from bot.catalogue.sources import SourceFile
from bot.registry import SCANNERS

MAX_LEVELS = 3
"""How many folders up from the code its texts are looked for."""


@SCANNERS.add("python-texts", suffixes="strings.json translations/en.json")
def scan_messages(file: SourceFile, known: Known) -> Scanned:
    """Error texts of a message catalogue, offered to the Python files of its folder.

    Raises Unreadable for a file that is no JSON.
    """
    try:
        held = json.loads(file.text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"cannot be read as JSON: {error}") from error
    texts = held.get("exceptions") if isinstance(held, dict) else None
    offers = []
    for key, entry in texts.items() if isinstance(texts, dict) else ():
        text = entry.get("message") if isinstance(entry, dict) else None
        if isinstance(text, str) and text and not text.startswith("[%key"):
            offers.append((f"translated:{_folder(file.path)}:{key}", Offer(file.path, Constant(((text,),)))))
    return Scanned((), tuple(offers))


def _folder(path: str) -> str:
    folder = PurePosixPath(path).parent
    return str(folder.parent if folder.name == "translations" else folder)


def keys(path: str, key: str) -> list[str]:
    """Under which names the text may be offered that the code of a file names by a key, the nearest first."""
    return [f"translated:{folder}:{key}" for folder in list(PurePosixPath(path).parents)[:MAX_LEVELS]]
