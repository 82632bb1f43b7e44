"""The versions that the reporter states, of any package."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.model import StatedVersion
from bot.reading.noise import Line

MAX_VERSIONS = 600
"""Statements kept; a pip freeze of a CUDA image has 350 lines."""

MAX_NUMBERS = 1_000
"""Numbers whose neighbourhood is read in one part of a text, from its start and its end."""

_LOOK_BACK = 90
"""Characters before a version that can hold its package's name."""

TRUST = ("freeze", "path", "image", "log", "prose", "commit")

_TAIL = r"(?:(?:\.?(?:post|dev)|a|b|rc)\d+){0,3}(?:\+[A-Za-z0-9.]{1,40})?"
_VERSION = re.compile(rf"\d{{1,6}}\.\d{{1,8}}(?:\.\d{{1,8}}){{0,3}}{_TAIL}(?![\w%/])")
# Each starts with a plain character, so that the engine can skip to it: logs are full of digits.
_THREE = re.compile(r"\.\d{1,6}\.\d")
_TWO = (
    re.compile(r"== ?(?=\d)"),
    re.compile(r"ersion[ :=]{1,3}v?(?=\d)"),
    re.compile(r"v(?=\d{1,3}\.\d)"),
    re.compile(r" {4}(?=\d{1,3}\.\d)"),
)
_FREEZE = re.compile(r"(?:^|[\s\"'`(,;\[\]])(?P<name>[A-Za-z][\w.-]{0,60})(?:\[[\w,.-]{0,60}\])? ?===? ?v?$")
_PATH = re.compile(r"(?P<name>[A-Za-z][\w.]{0,60}(?:-[A-Za-z]\w{0,40}){0,1})[-/]v?$")
_IMAGE = re.compile(r"(?:(?P<organisation>[\w.-]{1,60})/)(?P<name>[A-Za-z][\w.-]{0,60}):v?$")
_RELEASE = re.compile(
    r"github\.com/[\w.-]{1,60}/(?P<name>[\w.-]{1,80})/(?:releases/tag|releases/download|tree|blob|archive/refs/tags|archive)/v?$"
)
_LISTED = re.compile(
    r"^[\s>|*#-]{0,12}(?:\[(?:pip3?|conda)\] )?[`*]{0,2}(?P<name>[A-Za-z][\w.-]{0,60})[`*]{0,2}"
    r"(?: +(?:[Vv]ersion|VERSION))?(?: \([^()\n]{0,40}\))?[`*]{0,2}(?: *[:=|][\s*`]{0,8}| {2,60}|\t{1,8})v?$"
)
_LOGGED = re.compile(
    r"(?P<name>[A-Za-z][\w.-]{1,40})(?: (?:API|server|engine|LLM|backend|runtime)){1,3} \(?(?:version|v)[ :=]{0,3}v?$", re.IGNORECASE
)
_SPOKEN = re.compile(
    r"(?P<name>[A-Za-z][\w-]{0,40}?)[`*)\]]{0,3}(?:[\s:=@(`*-]|\b(?:version|ver|release|is|at|=|==)\b){0,8}v?$", re.IGNORECASE
)
_BARE = re.compile(
    r"(?:^|[\s(`*])(?:version|ver|release|v|upgrad\w{2,4}(?: \w{1,12}){0,2} to|in|to|on|since|with|using)[\s:=`*]{0,4}v?$", re.IGNORECASE
)
_NO_NAMES = frozenset(
    re.findall(
        r"\w+",
        "version ver release in on at to with using from since after before and or the of is for by than under via v new latest "
        "current tag tags pip install upgrade update python3 server engine config file line build about only both like until "
        "between image docker time date port http https host ip rev",
    )
)
# By the word that must stand in the text before the pattern is worth a look.
_COMMITS = (
    (
        "github.com/",
        re.compile(
            r"github\.com/[\w.-]{1,60}/(?P<name>[\w.-]{1,80}?)(?:\.git)?"
            r"(?:/(?:commit|commits|tree|blob|blame)/|@)(?P<commit>[0-9a-f]{7,40})\b"
        ),
    ),
    ("ommit", re.compile(r"ommit(?: (?:id|ID|hash|sha))?[\s:=`*(#\[]{1,6}(?P<commit>[0-9a-f]{7,40})\b")),
    ("evision", re.compile(r"evision[\s:=`*(#\[]{1,6}(?P<commit>[0-9a-f]{7,40})\b")),
    ("ash", re.compile(r"ash[\s:=`*(#\[]{1,6}(?P<commit>[0-9a-f]{7,40})\b")),
)
_SHOWN = re.compile(r"^Name: (?P<name>[\w.-]{1,80})\s*\n\s*Version: (?P<version>\d[\w.+!]{0,40})\s*$", re.MULTILINE)


_DUMPED = re.compile(
    r"[\s*>-]{0,8}`?[A-Za-z#][\w .()/?+`*#-]{1,60}:(?: {1,60}|\t{1,8})\S|[\w.-]{1,60}(?:\[[\w,]{1,40}\])?(?:==| @ )\S"
    r"|[\w.-]{2,60} {2,60}\d[\w.+!]{0,30}(?: |$)"
    r"|\[(?:pip3?|conda)\] |(?:\x1b)?\s{0,8}(?:GPU|NIC)\d{1,2}[\s:]|\| {1,8}[\w<=N/]|\+[-=]{3,}|Vulnerability |Legend:|\w{1,30}\(s\) "
)
_DUMP_KEY = re.compile(
    r"[^:\n]{0,60}\b(?:version|driver|config|topology|platform)\b[^:\n]{0,40}:|[^:\n]{1,60}: +(?:Could not collect|N/A\b|not installed)",
    re.IGNORECASE,
)
_FAILURE_KEY = re.compile(
    r"[^:\n]{0,60}(?:error|exception|fail|traceback|warning|fatal|critical|assert|message|reason|detail|cause)", re.IGNORECASE
)
_DUMP_RUN = 5
"""Lines in a row that read ``name: value`` or ``name==version`` before they count as a dump."""


def dumped_lines(lines: Sequence[Line]) -> list[bool]:
    """Which lines belong to a dump of an environment or a configuration: they state versions, and the words in them are no errors."""
    flags = [False] * len(lines)
    run: list[int] = []
    for number, line in enumerate(lines):
        text = line.text
        if not text:
            continue
        if not line.label and _DUMPED.match(text) and not _FAILURE_KEY.match(text):
            run.append(number)
            flags[number] = _DUMP_KEY.match(text) is not None
            continue
        if len(run) >= _DUMP_RUN:
            for taken in run:
                flags[taken] = True
        run = []
    if len(run) >= _DUMP_RUN:
        for taken in run:
            flags[taken] = True
    return flags


def normalise_package(name: str) -> str:
    """A package's name in its comparable form: lower case, runs of ``-``, ``_`` and ``.`` as one ``-`` (packaging.python.org, names)."""
    return re.sub(r"[-_.]+", "-", name.removesuffix(".__version__")).lower().strip("-")


def read_versions(text: str, title_end: int, parts: tuple[tuple[int, int], ...]) -> tuple[StatedVersion, ...]:
    """All stated versions in the title and in these parts of the text: most trusted kind first, then in order; each statement once.

    A version whose package is not named has the package ``""``: who reads it knows which repository the issue is about.
    """
    found: dict[tuple[str, str, str], StatedVersion] = {}
    for first, last in ((0, min(title_end, 1024)), *parts):
        for stated in _read_part(text, first, last):
            key = (stated.package, stated.version, stated.kind)
            if key not in found and len(found) < MAX_VERSIONS:
                found[key] = stated
    return tuple(sorted(found.values(), key=lambda stated: (TRUST.index(stated.kind), stated.span)))


def _read_part(text: str, first: int, last: int) -> Iterator[StatedVersion]:
    """The statements of one part."""
    shown: set[int] = set()
    for pair in _SHOWN.finditer(text, first, last) if text.find("Name: ", first, last) >= 0 else ():
        yield StatedVersion(normalise_package(pair["name"]), pair["version"], "freeze", pair.span("version"))
        shown.add(pair.start("version"))
    for number in _numbers(text, first, last):
        stated = _statement(text, first, number)
        if stated and stated.span[0] not in shown:
            yield stated
    for sign, pattern in _COMMITS:
        for commit in pattern.finditer(text, first, last) if text.find(sign, first, last) >= 0 else ():
            value = commit["commit"]
            if any(ch.isdigit() for ch in value) and (len(value) == 40 or any(ch.isalpha() for ch in value)):
                name = commit.groupdict().get("name") or ""
                yield StatedVersion(normalise_package(name), value, "commit", commit.span("commit"))


def _numbers(text: str, first: int, last: int) -> Iterator[re.Match[str]]:
    """What may be a version: three numbers joined by dots, or two behind a sign that says so. Addresses and measured values are not."""
    starts: set[int] = set()
    for three in _THREE.finditer(text, first, last):
        start = three.start()
        while start > first and text[start - 1].isdigit():
            start -= 1
        starts.add(start)
    for pattern in _TWO:
        starts.update(two.end() for two in pattern.finditer(text, first, last))
    found = []
    for start in sorted(starts):
        number = _VERSION.match(text, start, last)
        if number and (start == first or text[start - 1] != "."):
            parts = number.group().split(".")
            address = len(parts) == 4 and all(part.isdigit() and int(part) < 256 for part in parts)
            if not address or text.endswith("==", first, start):
                found.append(number)
    yield from found if len(found) <= MAX_NUMBERS else (*found[: MAX_NUMBERS // 2], *found[-MAX_NUMBERS // 2 :])


def _statement(text: str, first: int, number: re.Match[str]) -> StatedVersion | None:
    """What is said of a version, from the text before it in its line."""
    start, end = number.span()
    version = number.group().rstrip(".")
    line_start = text.rfind("\n", max(first, start - _LOOK_BACK), start) + 1 or max(first, start - _LOOK_BACK)
    before = text[line_start:start]
    after = text[end : end + 12]
    span = (start, start + len(version))
    if before.endswith(("==", "== ")) and (found := _FREEZE.search(before)):
        listed = not before[: found.start("name")].strip(" \t-*>`\"'[]pi3conda")
        return StatedVersion(normalise_package(found["name"]), version, "freeze" if listed else "prose", span)
    if after.startswith((".dist-info", ".egg-info", "-py", "-cp", ".tar.gz", ".whl", ".zip")) and (found := _PATH.search(before)):
        return StatedVersion(normalise_package(found["name"]), version, "path", span)
    if found := _RELEASE.search(before):
        return StatedVersion(normalise_package(found["name"]), version, "path", span)
    if found := _IMAGE.search(before):
        name, organisation = normalise_package(found["name"]), normalise_package(found["organisation"])
        return StatedVersion(organisation if name.startswith(organisation + "-") else name, version, "image", span)
    if (found := _LISTED.search(before)) and found["name"].lower() not in _NO_NAMES:
        return StatedVersion(normalise_package(found["name"]), version, "freeze", span)
    if found := _LOGGED.search(before):
        return StatedVersion(normalise_package(found["name"]), version, "log", span)
    return _spoken(before, version, span)


def _spoken(before: str, version: str, span: tuple[int, int]) -> StatedVersion | None:
    """A version in a sentence."""
    if before.rstrip().endswith(("/", "$", "~", "<", ">", "!")) or before.endswith("."):
        return None
    found = _SPOKEN.search(before[-60:])
    if found and len(found["name"]) > 1 and found["name"].lower() not in _NO_NAMES:
        return StatedVersion(normalise_package(found["name"]), version, "prose", span)
    if _BARE.search(before):
        return StatedVersion("", version, "prose", span)
    return None
