"""How good the answers are on issues whose right answers are known.

A case is an issue with its right raise sites, as written in a cases file (JSON lines): ``expect[]`` holds the errors of the
project that the issue shows, each with the places (``latest``, ``path:line``) where it stands in the newest release; none
means that nothing may be posted. An answer is right when one of the sites of the first record stands at such a place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bot.catalogue.catalogue import Catalogue
from bot.catalogue.records import Fault, line_of
from bot.matching import match
from bot.matching.verdict import CAUTIOUS
from bot.model import Decision, Record, Sample, Verdict
from bot.reading import read


class CaseError(Exception):
    """A cases file that cannot be used; the message names the line."""


@dataclass(frozen=True, slots=True)
class Expected:
    """One error that a case shows: its type, where it stood (``path:line``, ``release``) and where it stands in the newest release."""

    type: str
    latest: frozenset[str]
    place: str
    release: str
    gone: bool

    @property
    def logged(self) -> bool:
        """The text is logged and never raised."""
        return self.type.startswith("log:")


@dataclass(frozen=True, slots=True)
class Case:
    """An issue with its right answer. ``root`` is the index in ``expect`` of what caused the others."""

    id: str
    repository: str
    title: str
    body: str
    kind: str = ""
    expect: tuple[Expected, ...] = ()
    root: int = 0
    optional: bool = False
    also_ok: tuple[str, ...] = ()

    @property
    def group(self) -> Literal["negative", "optional", "gone", "log", "positive"]:
        """Which of the counts the case goes to; only ``positive`` counts for recall."""
        if not self.expect:
            return "negative"
        if self.optional:
            return "optional"
        right = self.expect[self.root]
        if right.gone:
            return "gone"
        return "log" if right.logged else "positive"


Result = Literal["right", "other", "wrong", "excused", "silent"]
"""What a posted answer is worth: ``right`` names the root cause, ``other`` another error of the issue, ``excused`` one that may be
named."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was decided for a case. ``result`` is what the first record is worth if it is posted, ``silent`` when there is none."""

    case: Case
    decision: Decision
    result: Result
    record: Record | None = None

    def posted(self, level: Level) -> bool:
        """Whether an operator who posts at this level would have posted."""
        return self.decision == "answer" or (level == "cautious" and self.decision == "cautious")


Level = Literal["answer", "cautious"]
"""What counts as posted: only plain answers, or careful ones too."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Counts over some outcomes, at one level of posting.

    ``positives`` are the cases that recall counts: an error of the project that the newest release has, raised, not optional.
    ``right``, ``any`` (right, or another error of the same issue) and ``answered`` (posted at all) count among those. ``posts`` and
    ``good_posts`` count among all cases, excused posts left out.
    """

    cases: int
    positives: int
    answered: int
    right: int
    any: int
    posts: int
    good_posts: int

    @property
    def recall(self) -> float | None:
        """Recall at 1: positives whose first posted record is the root cause, as a share; None without positives."""
        return self.right / self.positives if self.positives else None

    @property
    def recall_any(self) -> float | None:
        """As :attr:`recall`, but any error of the issue counts."""
        return self.any / self.positives if self.positives else None

    @property
    def precision(self) -> float | None:
        """Share of the posts that name an error of the issue; None without posts."""
        return self.good_posts / self.posts if self.posts else None

    @property
    def coverage(self) -> float | None:
        """Share of the positives that got a post, right or wrong; None without positives."""
        return self.answered / self.positives if self.positives else None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All outcomes, and the ids of the cases whose repository has no catalogue."""

    outcomes: tuple[Outcome, ...]
    skipped: tuple[tuple[str, str], ...] = ()


def read_cases(lines: Iterable[str]) -> Iterator[Case]:
    """Cases from JSON lines; empty lines are passed over.

    Raises CaseError for a line that is not such a case.
    """
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield _case(json.loads(line))
            except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
                what = f"field {error} is missing" if isinstance(error, KeyError) else str(error)
                raise CaseError(f"line {number} is not a case: {what}") from error


def _case(data: dict[str, object]) -> Case:
    expect = tuple(
        Expected(
            type=str(item["type"]),
            latest=frozenset(item["latest"]),
            place=f"{item['path']}:{item['line']}",
            release=str(item["version"]),
            gone=bool(item.get("gone_in")) and not item["latest"],
        )
        for item in data["expect"]  # type: ignore[attr-defined]
    )
    root = int(data.get("root") or 0)  # type: ignore[call-overload]
    if expect and not 0 <= root < len(expect):
        raise ValueError(f"root {root} is not an index of expect")
    return Case(
        id=str(data["id"]),
        repository=str(data["repo"]),
        title=str(data["title"] or ""),
        body=str(data["body"] or ""),
        kind=str(data.get("kind") or ""),
        expect=expect,
        root=root,
        optional=bool(data.get("optional")),
        also_ok=tuple(data.get("also_ok") or ()),  # type: ignore[arg-type]
    )


def judge(case: Case, verdict: Verdict) -> Outcome:
    """What a verdict on a case is worth."""
    if verdict.decision == "silent" or not verdict.matches:
        return Outcome(case, "silent", "silent")
    record = verdict.matches[0].record
    return Outcome(case, verdict.decision, _worth(case, record), record)


def _worth(case: Case, record: Record) -> Result:
    stands = [index for index, expected in enumerate(case.expect) if _is(record, expected)]
    if case.root in stands:
        return "right"
    if stands:
        return "other"
    texts = [str(template).split("\n")[0].strip() for template in record.templates]
    if any(text and text in allowed for text in texts for allowed in case.also_ok):
        return "excused"
    return "wrong"


def _is(record: Record, expected: Expected) -> bool:
    """Whether one of the record's sites is the expected one, in the newest release or in the release the case was written from."""
    if expected.latest & {f"{site.path}:{site.latest.line}" for site in record.sites}:
        return True
    return any(f"{site.path}:{at.line}" == expected.place for site in record.sites for at in site.lines if at.release == expected.release)


def evaluate(cases: Iterable[Case], catalogue: Callable[[str], Catalogue | None]) -> Evaluation:
    """Match every case; ``catalogue`` gives that of a repository, None where none is built."""
    outcomes: list[Outcome] = []
    skipped: list[tuple[str, str]] = []
    for case in cases:
        found = catalogue(case.repository)
        if found is None:
            skipped.append((case.id, case.repository))
        else:
            outcomes.append(judge(case, match(read(case.title, case.body), found)))
    return Evaluation(tuple(outcomes), tuple(skipped))


def score(outcomes: Iterable[Outcome], level: Level) -> Scores:
    """Count outcomes at a level of posting."""
    seen = list(outcomes)
    positives = [outcome for outcome in seen if outcome.case.group == "positive"]
    answered = [outcome for outcome in positives if outcome.posted(level)]
    posts = [outcome for outcome in seen if outcome.posted(level) and outcome.result != "excused"]
    return Scores(
        cases=len(seen),
        positives=len(positives),
        answered=len(answered),
        right=sum(outcome.result == "right" for outcome in answered),
        any=sum(outcome.result in ("right", "other") for outcome in answered),
        posts=len(posts),
        good_posts=sum(outcome.result in ("right", "other") for outcome in posts),
    )


def check_samples(catalogue: Catalogue, written: Iterable[Record], errors_dir: Path | None = None) -> tuple[Fault, ...]:
    """Hold the texts of record files against the catalogue: an example must be answered with its record, a confuser must not.

    A symptom is never answered by itself: its examples must be recognised as it. ``written`` are the records of the files, as
    :func:`bot.catalogue.records.load_records` gives them; with ``errors_dir``, a fault names its line.
    """
    return tuple(fault for record in written for fault in _check_record(record, catalogue, errors_dir))


def _check_record(record: Record, catalogue: Catalogue, errors_dir: Path | None) -> Iterator[Fault]:
    known = catalogue.get(record.id)
    right = known.id if known else record.id

    def fault(kind: str, number: int, problem: str, mend: str) -> Fault:
        line = line_of(errors_dir, record.file, kind, number) if errors_dir else 1
        return Fault(record.file, line, problem, mend)

    for number, sample in enumerate(record.samples):
        verdict = match(read("", sample.text), catalogue)
        first = verdict.matches[0] if verdict.matches else None
        found = first is not None and (verdict.decision != "silent" or (record.symptom and first.score >= CAUTIOUS))
        if first is None or not found or first.record.id != right:
            named = f"is answered with {first.record.id}" if first is not None and found else "gets no answer"
            yield fault("examples", number, f"example {_short(sample)} {named}", f"change the example or the template ({verdict.why})")
        elif wrong := _wrong_captures(sample, {c.expression: c.value for c in first.captures}):
            yield fault("examples", number, f"example {_short(sample)}: {wrong}", "write the capture as it is found, or mend the template")
    for number, sample in enumerate(record.confusers):
        verdict = match(read("", sample.text), catalogue)
        if verdict.decision != "silent" and any(one.record.id == right for one in verdict.matches):
            problem = f"confuser {_short(sample)} is answered with this record"
            yield fault("confusers", number, problem, "make the template tell the two apart")


def _wrong_captures(sample: Sample, found: dict[str, str]) -> str:
    for expression, value in sample.captures:
        if found.get(expression) != value:
            return f"{{{expression}}} is {found.get(expression)!r}, not {value!r}"
    return ""


def _short(sample: Sample) -> str:
    first = sample.text.strip().split("\n")[-1]
    return repr(first if len(first) <= 60 else first[:57] + "…")
