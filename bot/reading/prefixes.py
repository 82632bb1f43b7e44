"""What logs print before a line: stamps, levels, process tags, source markers, also stacked.

A prefix is a run of tokens. ``split_prefix`` takes them off one by one, so a stack such as
``svc-1  | (EngineCore_DP0 pid=7) ERROR 11-18 18:07:28 [core.py:366] `` needs no rule of its own.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

MAX_TOKENS = 10
"""Tokens taken off one line; the deepest stack seen in a real issue has five."""

LEVELS = {
    "error": "error",
    "critical": "error",
    "fatal": "error",
    "severe": "error",
    "err": "error",
    "e": "error",
    "f": "error",
    "warning": "warning",
    "warn": "warning",
    "w": "warning",
    "info": "info",
    "i": "info",
    "notice": "info",
    "debug": "info",
    "trace": "info",
    "success": "info",
    "notset": "info",
}

_LEVEL = r"(?P<{}>ERROR|CRITICAL|FATAL|SEVERE|WARNING|WARN|INFO|NOTICE|DEBUG|TRACE|SUCCESS|NOTSET)"
_TIME = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_DATE = r"(?:\d{4}[-/]\d\d?[-/]\d\d?|\d\d?[-/]\d\d?(?:[-/]\d{2,4})?)"
_ZONE = r"(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"

# What may open a prefix. The groups say what it was: `outer` is printed by the carrier of a log on every line (compose, Ray, Kubernetes),
# `stamp` by the program at the start of a record, `level` is a level word, `marker` names the source line that logged.
_OPENING = re.compile(
    "|".join(
        (
            rf"(?P<stamp>\[?{_DATE}[ T]{_TIME}{_ZONE}[^\]\[\n|]{{0,60}}\]"  # [2025-08-08 09:09:09 DP7 TP30], also without its first bracket
            rf"|\[?{_TIME}[^\]\[\n|]{{0,40}}\]"  # [23:17:08 TP4]
            rf"|[EWIF]\d{{4}} {_TIME}(?: +\d+)? [\w./-]{{1,80}}:\d+\]"  # glog
            rf"|\[[EWIF]\d{{4}} {_TIME}(?: +\d+)? [\w./-]{{1,80}}:\d+\])",
            rf"(?P<iso>{_DATE}[ T]{_TIME}{_ZONE}(?: std(?:err|out) [FP])?|{_TIME}(?= |\]))(?=[\s,|\]-]|: |$)",
            r"(?P<outer>\[rank ?\d+\]:?|\[\d+,\d+\]<std(?:err|out)>:?"
            r"|\([^()\n]{0,60}\b(?:pid|rank|ip|node_id|actor_id)=[^()\n]{1,100}\)"
            r"|[A-Za-z0-9][\w.@-]{0,60}(?:[-_]\d{1,3} {1,20}| {2,30})\|(?= |$)"
            r"|\[pod/[\w./-]{1,120}\]|##\[\w{1,20}\]|::error[^:\n]{0,80}::"
            r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,60} [\w./-]{1,60}(?:\[\d+\])?:)",
            rf"(?P<word>\[?{_LEVEL.format('level')}\]?(?=[\s:|])(?::(?=\s)|:(?P<logger>[\w.]{{1,60}}):)?)",
        )
    )
)

# What may follow once a stamp or a level was seen.
_FOLLOWING = re.compile(
    "|".join(
        (
            rf"(?P<word>[\[(<](?i:{_LEVEL.format('level')})[\])>]:?|{_LEVEL.format('plain')}(?=[\s:|,]|$):?"
            rf"|(?i:{_LEVEL.format('spoken')})(?=:| {{1,4}}[|-] ):?)",
            r"(?P<marker>\[?[\w./<>-]{1,80}\.\w{1,4}:\d+\]|\[[\w.<>]{1,80}:\d+\]"
            r"|[\w.<>]{1,80}:[\w.<>]{1,60}:\d+ -|[\w.]{1,60}:\d+ -|\([\w./<>-]{1,80}:\d+\)"
            r"|[\w./-]{1,60}\.(?:py|cc|cpp|cu|h|rs):\d+(?=[\s:]):?)",
            r"(?P<pid>\[\d{1,8}(?:[:#,]\d{1,8})?\]|\((?:MainThread|MainProcess|Thread-\d+)\))",
            r"(?P<logger>\[[A-Za-z_][\w.]{0,60}\]|[A-Za-z_][\w.]{0,60} -(?= ))",
            r"(?P<mark>[|-](?=\s)|,(?= ))",
        )
    )
)

# docker build prints seconds before each line, BuildKit its step as well. A bare number is a prefix only before what looks like output.
_BUILD = re.compile(r"#\d{1,4} \d{1,5}\.\d{1,3}(?= |$)|\d{1,5}\.\d{2,3}(?=  +\S| Traceback| [\w.]+(?:Error|Exception)\b| ERROR| raise )")

_PROGRESS = re.compile(r"(?:[^|\n]{0,60}: {1,3})?\d{1,3}%\|[^|\n]{0,120}\|[^\[\n]{0,40}\[[^\]\n]{0,60}\] ?(?=\S)")
"""A progress bar that the message was printed behind."""

_DIGITS = str.maketrans("123456789", "0" * 9)
_WINDOW = 64
"""Characters that are looked at first: the shape of a line up to here, blind to digits, is looked up before it is read."""

_LONG_WINDOW = 400
_WORD_STARTS = frozenset(
    re.findall(
        r"\w+",
        "ERR CRI FAT EXC SEV WAR INF NOT DEB TRA SUC Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    )
)


class Prefix(NamedTuple):
    """What stood before a line: where the rest begins, the level (``error``, ``warning``, ``info`` or empty), whether a program's
    own record starts here (not only a carrier's tag), and the process that printed."""

    end: int
    level: str
    record: bool
    origin: str


NO_PREFIX = Prefix(0, "", False, "")


def split_prefix(line: str) -> Prefix:
    """Find the prefix of one line; one blank after each token belongs to it, deeper indentation stays.

    What decides are signs and the number of digits, never their values: so lines of one shape, as most of a log are, are read once.
    """
    first = line[:1]
    if not first or (first == " " and line[:5].isspace() and "%|" not in line):
        return NO_PREFIX
    if first.isalpha() and "|" not in line[: _WINDOW + 8] and line[:3] not in _WORD_STARTS and not line[1:2].isdigit():
        return NO_PREFIX
    found = _read_shape(line[:_WINDOW].translate(_DIGITS), len(line) <= _WINDOW)
    if found is None:
        found = _read_shape(line[:_LONG_WINDOW].translate(_DIGITS), True)
    if found is None:
        return NO_PREFIX
    prefix, (start, stop) = found
    return prefix._replace(origin=line[start:stop]) if stop else prefix


@lru_cache(maxsize=4096)
def _read_shape(line: str, whole: bool) -> tuple[Prefix, tuple[int, int]] | None:
    """The prefix of a line whose digits are all ``0``, and where its process tag stands; None when more of the line must be seen."""
    at, size = 0, len(line)
    while at < size and line[at] == " ":
        at += 1
    end, level = 0, ""
    origin = (0, 0)
    record = stamped = False
    for _ in range(MAX_TOKENS):
        found = _FOLLOWING.match(line, at) if stamped else None
        if found and found.group() == "," and not level:
            found = None
        found = found or _OPENING.match(line, at) or _BUILD.match(line, at)
        if found is None:
            break
        groups = found.groupdict()
        kind = found.lastgroup
        if word := groups.get("level") or groups.get("plain") or groups.get("spoken"):
            if level:
                break
            if not stamped and found.end() < size and line[found.end()] not in ":] " and line[found.end() - 1] != ":":
                break
            level = LEVELS[word.lower()]
            record = stamped = True
        if groups.get("stamp") or groups.get("iso"):
            stamped = True
            record = record or bool(groups.get("stamp")) or not groups["iso"].endswith(("Z", " F", " P"))
            if not level and (glog := _GLOG.match(found.group())):
                level = LEVELS[glog[1].lower()]
        elif kind == "outer":
            origin = (origin[0] if origin[1] else at, found.end())
        at = found.end()
        end = at + 1 if at < size and line[at] == " " else at
        at = end
        while at < size and line[at] == " " and stamped:
            at += 1
        if at >= size or at - end > 12:
            break
    bar = _PROGRESS.match(line, end) if "%|" in line else None
    if bar:
        end, record = bar.end(), True
    if not whole and (end > _WINDOW - 24 or "%|" in line or (end == 0 and "|" in line) or _UNFINISHED.match(line)):
        return None
    return Prefix(end, level, record, ""), origin


_GLOG = re.compile(r"\[?([EWIF])\d{4} ")
_UNFINISHED = re.compile(r"[\[(][^\])]*$")
