"""Lines of the project's source that a record points to, held against what the scan found there in that release.

A line is right when the record's error is raised on it: the built catalogue has the lines of each statement, release by release, and
the statement holds the template's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from bot.catalogue.prose import Part, Remark, parts
from bot.catalogue.source_config import SourceConfig
from bot.model import RaiseSite, Record

_COMMIT = re.compile("[0-9a-f]{7,40}")


@dataclass(frozen=True, slots=True)
class Pin:
    """A line of a file in one state of the source: ``state`` is a commit or a tag. ``where`` in the record, at ``needle``."""

    where: tuple[str | int, ...]
    needle: str
    state: str
    path: str
    first: int
    last: int


def pins(record: Record, repository: str) -> Iterator[Pin]:
    """The lines that a record points to: its ``source``, and links to lines of the repository's files."""
    if record.source is not None:
        at = record.source
        yield Pin(("source",), str(at.line), at.commit, at.path, at.line, at.line)
    for part in parts(record):
        yield from _links(part, repository)


def _links(part: Part, repository: str) -> Iterator[Pin]:
    address = (
        rf"https://github\.com/{re.escape(repository)}/blob/([\w.%-]{{1,100}})/([^\s#?<>\"'`()]{{1,400}})#L(\d{{1,7}})(?:-L(\d{{1,7}}))?"
    )
    for found in re.finditer(address, part.text, re.IGNORECASE):
        first = int(found[3])
        yield Pin(part.where, found[0], unquote(found[1]), unquote(found[2]), first, int(found[4] or first))


def check_pins(record: Record, sites: Sequence[RaiseSite], config: SourceConfig, releases: Sequence[str]) -> tuple[list[Remark], int]:
    """What is wrong with a record's pins, and how many are of a state of the source that was not scanned.

    ``sites`` are those of the record in the built catalogue, ``releases`` the catalogue's, oldest first.
    """
    remarks: list[Remark] = []
    unknown = 0
    tag = next((config.tag_of(one) for one in reversed(releases) if not _COMMIT.fullmatch(one)), "")
    for pin in pins(record, config.repository):
        release = _release(pin.state, config, releases)
        if release is not None:
            remarks += _held(pin, release, sites)
        elif _COMMIT.fullmatch(pin.state) or any(char.isdigit() for char in pin.state):
            unknown += 1
        else:
            mend = "name a commit" + (f", or the tag of a release, such as {tag}" if tag else "")
            remarks.append(Remark(pin.where, pin.needle, f"`{pin.state}` is a branch, whose lines move", mend))
    return remarks, unknown


def _release(state: str, config: SourceConfig, releases: Sequence[str]) -> str | None:
    """The scanned release that a tag or commit is; a commit may be shortened."""
    is_commit = _COMMIT.fullmatch(state) is not None
    return next((one for one in releases if config.tag_of(one) == state or (is_commit and one.startswith(state))), None)


def _held(pin: Pin, release: str, sites: Sequence[RaiseSite]) -> Iterator[Remark]:
    lines = [(site.path, at.line, at.end_line) for site in sites for at in site.lines if at.release == release]
    if any(path == pin.path and line <= pin.last and pin.first <= end for path, line, end in lines):
        return
    # The nearest comes first: of the same file, then by the distance of its line.
    near = sorted(lines, key=lambda place: (place[0] != pin.path, abs(place[1] - pin.first)))
    mend = f"it is raised at {near[0][0]}:{near[0][1]}" if near else "it does not stand in that release: point to one that has it"
    yield Remark(pin.where, pin.needle, f"line {pin.first} of {pin.path} does not raise this error in {release}", mend)
