"""Frames, printed source lines, text, type, release: what each piece of evidence is worth.

Evidence is counted in bits (log-odds to the base 2), so that pieces that say independent things add up. Each function returns reasons
with their weights; :mod:`bot.matching.verdict` adds them and decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import log2

from rapidfuzz import fuzz

from bot.catalogue.catalogue import Catalogue
from bot.matching.template import Alignment, Words
from bot.model import Frame, Occurrence, RaiseSite, Reason, Record

QUOTED = frozenset({"title", "prose", "source"})
"""Dialects in which a person quotes the error: heads of messages are usual, and their own words run on after it."""

FRAMES_LOOKED_AT = 8
"""In-repository frames of one traceback that are looked up, from the last one on."""

_RAISING = re.compile(r"^(raise|assert)\b")

ALIASES = {"EnvironmentError": "OSError", "IOError": "OSError", "log:critical": "log:error"}
"""Types that Python prints under another name (documentation of OSError), and log levels that say the same."""


# ------------------------------------------------------------------------------------------------------------- text

FULL, DAMPED = 40.0, 0.5
"""Literal bits that count in full, and what each further one counts: words of one sentence are not independent for ever."""

MISSING_INSIDE = 1.6
"""Price of a literal bit that is skipped inside the matched part: a message of other words is another message."""

CHANGED = 4.0
"""Skipped bits from which a printed line counts as changed."""

CUT_BASE, CUT, CUT_CAP = 1.5, 0.1, {True: 4.0, False: 9.0}
"""Price of a missing end that is cut off or that a hole may hide: for any, more for each literal bit, and the most together where the
text is cut or quoted by a person, and where it is printed whole. A whole template is so preferred to a longer one that begins with it."""

MISSING_TAIL = 1.0
"""Price of a literal bit after the matched part where the message goes on otherwise."""

OWN_WORDS, OWN_WORDS_CAP = 0.5, 12.0
"""The same where a person quotes, whose own words may follow, and the most they cost together."""

FRAGMENT = 6.0
"""Price of a mere head of a template in the middle of other words."""

INTRUDER = 3.0
"""Price of a foreign word between two words of one literal piece."""

LEAD, LEAD_CAP = 0.8, 5.0
"""Price of a word before a template that starts with a literal, and the most that they cost together."""

SAME_SENTENCE = {True: 3.0, False: 8.0}
"""Price of a word right before or after the template in the same sentence, when quoted and when printed: it makes another sentence."""

_SENTENCE_END = re.compile(r"[.:;!?\n|>\])\"'`]|[-\u2013\u2014] ")
"""What separates a template's text from words that are not its own."""


def weigh_text(found: Alignment, pieces: tuple[str, ...], occurrence: Occurrence, message: Words) -> list[Reason]:
    """What the words of the message say for the template."""
    quoted = occurrence.dialect in QUOTED
    counted = min(found.matched, FULL) + DAMPED * max(found.matched - FULL, 0.0)
    reasons = [Reason("text", counted, f"{found.coverage:.0%} of the template's words stand there in order")]
    if found.missing_inside > 0.05:
        reasons.append(Reason("missing words", -MISSING_INSIDE * found.missing_inside, "words of the template are missing"))
    if found.missing_tail > 0.05:
        if _may_be_cut(found, occurrence, message):
            price = min(CUT_BASE + CUT * found.missing_tail, CUT_CAP[quoted or occurrence.truncated])
            reasons.append(Reason("cut", -price, "the end of the template is missing"))
        else:
            price = min(OWN_WORDS * found.missing_tail, OWN_WORDS_CAP) if quoted else MISSING_TAIL * found.missing_tail
            reasons.append(Reason("other end", -price, "the message goes on with other words than the template"))
        if pieces[0] and found.first:
            reasons.append(Reason("fragment", -FRAGMENT, "only the head of the template, amid other words"))
    if found.gaps:
        reasons.append(Reason("gaps", -found.gaps, "its pieces stand apart"))
    if found.intruders:
        reasons.append(Reason("other words", -INTRUDER * found.intruders, "other words stand inside the template's text"))
    if pieces[0] and found.first and occurrence.dialect != "source":
        price = min(LEAD * found.first, LEAD_CAP) * (0.5 if quoted else 1.0)
        if _begins_late(found, pieces, occurrence, message):
            price += SAME_SENTENCE[quoted]
        reasons.append(Reason("words before", -price, "the message begins with other words"))
    if _runs_on(found, pieces, occurrence, message):
        reasons.append(Reason("runs on", -SAME_SENTENCE[quoted], "the sentence goes on where the template ends"))
    return reasons


def is_changed(found: Alignment, pieces: tuple[str, ...], occurrence: Occurrence, message: Words) -> bool:
    """Whether a message says something else than the template: other projects copy texts and change a word or go on.

    Who quotes leaves words out at the ends and goes on in words of his own; inside, a message is copied or it is another one.
    """
    if found.missing_inside > CHANGED or found.intruders > 0:
        return True
    if occurrence.dialect in QUOTED:
        return False
    ends_otherwise = found.missing_tail > CHANGED and not _may_be_cut(found, occurrence, message)
    return ends_otherwise or _begins_late(found, pieces, occurrence, message) or _runs_on(found, pieces, occurrence, message)


def _may_be_cut(found: Alignment, occurrence: Occurrence, message: Words) -> bool:
    """Whether the end of the template may be missing because the message ends before it, or because a hole took the rest."""
    return found.open_end or found.last >= len(message) - (2 if occurrence.truncated else 1)


def _begins_late(found: Alignment, pieces: tuple[str, ...], occurrence: Occurrence, message: Words) -> bool:
    """Whether a word stands before the template in the same sentence, though the template starts with a literal."""
    return bool(pieces[0]) and found.first > 0 and not _apart(occurrence.message, message, found.first - 1)


def _runs_on(found: Alignment, pieces: tuple[str, ...], occurrence: Occurrence, message: Words) -> bool:
    """Whether the sentence goes on after the template's last literal."""
    ends = found.exact and bool(pieces[-1]) and found.last < len(message) - 1
    return ends and not _apart(occurrence.message, message, found.last)


def _apart(text: str, message: Words, word: int) -> bool:
    """Whether more than blanks and commas stands between a word of the message and the next."""
    return _SENTENCE_END.search(text[message.spans[word][1] : message.spans[word + 1][0]]) is not None


# ------------------------------------------------------------------------------------------------------------- type

TYPE_CAP = 6.0
"""The most that an equal type is worth; a rare type is worth more than ValueError."""

TYPE_MISMATCH = -6.0
"""What a different type costs. Types change between releases, and a catalogue of one release has only its own: never a filter."""

SURE_WORDS = 60.0
"""Literal bits that are a message of the project whatever the type: nobody else's error says so much by chance."""


def weigh_type(occurrence: Occurrence, record_type: str, share: float) -> list[Reason]:
    """What the printed exception type says; ``share`` is how much of the catalogue has the record's type."""
    printed = short_type(occurrence.type)
    if printed is None:
        return []
    if printed == short_type(record_type):
        return [Reason("type", min(TYPE_CAP, -log2(max(share, 1e-6))), f"the type is {printed}")]
    logged = (printed.startswith("log:"), record_type.startswith("log:"))
    if logged == (True, False):
        return []
    return [Reason("other type", TYPE_MISMATCH, f"the type is {printed}, not {record_type}")]


def short_type(type: str | None) -> str | None:
    """The last part of a dotted type, with aliases resolved."""
    if type is None:
        return None
    last = type.rsplit(".", 1)[-1]
    return ALIASES.get(last, last)


# ----------------------------------------------------------------------------------------------------------- frames

FRAME_DOUBT = {1: 3.0, 2: 0.0}
"""A last frame in the function of a raise site picks it out of all sites, less this doubt by equal path parts (one; two or more)."""

CODE = 9.0
"""Worth of the printed source line being the site's own."""

NEAR_CODE, NEAR = 4.0, 80.0
"""Worth of a printed line that is nearly the site's own (edited since), and from which likeness on (percent)."""

RAISES = 6.0
"""Worth of the last frame printing a raise or assert of the project: the error is its own, whichever raise it is."""

OTHER_CODE = -9.0
"""What it costs when the frame's printed line is another statement than the site's."""

LINE = 2.0
"""Worth of the line number being within the site's statement: a tie-break only, lines move with each release."""

INNER_FRAME = 4.0
"""Worth of a site whose printed line stands in an earlier frame (a helper raised, or the error was raised again)."""

ELSEWHERE = -5.0
"""What it costs when the last frame is in the repository, but in no function that raises this record."""

FOREIGN = -30.0
"""What it costs when the last frame is outside the repository: another project raised it."""

ELSEWHERE_FOR_SURE = frozenset({"foreign frame", "no raise"})
"""Names of the reasons that rule a raise of the project out, whatever the text says: other projects copy texts."""

IMPLICIT = -60.0
"""What it costs when the last frame prints a line that raises nothing by itself: the interpreter or a compiled module did."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A record that a frame points at, with what that is worth. ``site`` is None when several of its sites fit equally well;
    ``proven``: the printed source line is (nearly) that of the raise.
    """

    record: Record
    site: RaiseSite | None
    reasons: tuple[Reason, ...]
    last: bool
    proven: bool

    @property
    def weight(self) -> float:
        """The sum of its reasons, in bits."""
        return sum(reason.weight for reason in self.reasons)


def is_ours(frame: Frame, catalogue: Catalogue) -> bool:
    """Whether a frame's file belongs to the catalogue's project: its package is a folder of the path, below site-packages if there."""
    parts = frame.path.replace("\\", "/").split("/")
    for fence in ("site-packages", "dist-packages"):
        if fence in parts:
            parts = parts[len(parts) - parts[::-1].index(fence) :][:1]
            break
    return catalogue.source.package.replace("-", "_") in parts or (len(parts) > 1 and parts[0] in ("...", "..", "…"))


def see_sites(occurrence: Occurrence, catalogue: Catalogue) -> dict[str, Seen]:
    """The records that the frames point at, by id: each with the best site, from the last frame of the project on.

    The last frame points at sites of its function; an earlier one only where its printed line is the site's own.
    """
    ours = [frame for frame in occurrence.frames if is_ours(frame, catalogue)]
    sites = log2(max(len(catalogue), 2))
    seen: dict[str, Seen] = {}
    for number, frame in enumerate(reversed(ours[-FRAMES_LOOKED_AT:])):
        last = number == 0 and frame is occurrence.frames[-1]
        if frame.function is None:
            continue
        for record, site in catalogue.by_frame(frame.path, frame.function):
            reasons = _weigh_frame(frame, site, sites)
            proven = any(reason.name in ("source line", "near line") for reason in reasons)
            if not last:
                reasons = [Reason("earlier frame", INNER_FRAME, f"an earlier frame shows the line of {site.function}")]
            if last or proven:
                _keep(seen, Seen(record, site, tuple(reasons), last, proven))
    return seen


def _keep(seen: dict[str, Seen], one: Seen) -> None:
    """Keep the better of two sightings of a record; of two that weigh the same, keep that it was seen, and no site."""
    known = seen.get(one.record.id)
    if known is None or one.weight > known.weight:
        seen[one.record.id] = one
    elif one.weight == known.weight and one.site != known.site:
        seen[one.record.id] = replace(known, site=None)


def _weigh_frame(frame: Frame, site: RaiseSite, sites: float) -> list[Reason]:
    equal = common_tail(frame.path, site.path)
    name = site.path.rsplit("/", 1)[-1]
    reasons = [Reason("frame", sites - FRAME_DOUBT[min(equal, 2)], f"raised in {site.function} of {name}")]
    if frame.code:
        if _RAISING.search(frame.code):
            reasons.append(Reason("raises", RAISES, "the last frame's line is a raise of the project"))
        if same_code(frame.code, site.code):
            reasons.append(Reason("source line", CODE, "the traceback prints the raising line itself"))
        elif _RAISING.search(frame.code) and fuzz.ratio(frame.code, site.code.split("\n", 1)[0]) >= NEAR:
            reasons.append(Reason("near line", NEAR_CODE, "the traceback prints nearly the raising line"))
        else:
            reasons.append(Reason("other line", OTHER_CODE, "the traceback prints another line of that function"))
    at = site.latest
    if frame.line is not None and at.line <= frame.line <= at.end_line:
        reasons.append(Reason("line", LINE, f"line {frame.line} is in the statement"))
    return reasons


def same_code(printed: str, source: str) -> bool:
    """Whether a printed source line is (the beginning of) the site's statement; white space does not count."""
    have, want = "".join(printed.split()), "".join(source.split())
    first = "".join(source.split("\n", 1)[0].split())
    return have == first or (len(have) >= 12 and want.startswith(have))


def common_tail(one: str, other: str) -> int:
    """How many path parts are equal, from the end."""
    count = 0
    pairs: Iterable[tuple[str, str]] = zip(reversed(one.replace("\\", "/").split("/")), reversed(other.split("/")), strict=False)
    for left, right in pairs:
        if left != right:
            break
        count += 1
    return max(count, 1)


def weigh_place(occurrence: Occurrence, record: Record, seen: Seen | None, catalogue: Catalogue) -> list[Reason]:
    """What the frames say of a record that the text named, given how they point at it (None: they do not)."""
    if seen is not None and seen.weight > 0:
        return list(seen.reasons)
    if not occurrence.frames or record.type.startswith("log:"):
        return []
    last = occurrence.frames[-1]
    if not is_ours(last, catalogue):
        return [Reason("foreign frame", FOREIGN, "the last frame is outside of the project")]
    if last.code and not _RAISING.search(last.code):
        return [Reason("no raise", IMPLICIT, "the last frame's line raises nothing by itself")]
    return [Reason("elsewhere", ELSEWHERE, "the last frame is in a function that does not raise this")]
