"""From verdicts to figures: what each issue's verdict is worth, shares with their intervals, calibration."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import exp, lgamma, log, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from bot.catalogue.catalogue import Catalogue
from bot.matching import Matcher
from bot.model import Match, Occurrence, Verdict
from bot.reading import read
from tests.bench.mutations import Issue

RESAMPLES = 1000


class Watched(Matcher):
    """The matcher, which also keeps the candidates of each error that it ranked."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self.ranked: list[Match] = []

    def _rank(self, occurrence: Occurrence, search: float) -> list[Match]:
        found = super()._rank(occurrence, search)
        self.ranked += found[:5]
        return found


@dataclass(frozen=True)
class Outcome:
    """What a verdict on an issue is worth.

    ``text``: the first record has the right text; ``record``: it is the right record (of all with that text); ``inside``: the right one is
    among those named; ``five``: among the five best candidates. ``site``: True or False when a site is named, None when none is.
    """

    issue: Issue
    verdict: Verdict
    text: bool
    record: bool
    inside: bool
    five: bool
    site: bool | None
    score: float
    seconds: float

    @property
    def negative(self) -> bool:
        """Nothing may be said."""
        return not self.issue.right

    @property
    def group(self) -> str:
        """What is drawn together in the bootstrap: all issues of one template."""
        return self.issue.about or str(id(self))

    def posted(self, careful: bool) -> bool:
        """Whether something is said; ``careful`` counts questions too."""
        return self.verdict.decision == "answer" or (careful and self.verdict.decision == "cautious")

    @property
    def good(self) -> bool:
        """Whether what is said first is right: the record, or the text where no type was shown that could tell records apart."""
        if self.negative or not self.verdict.matches:
            return False
        first = self.verdict.matches[0].record.id
        return self.record or first in self.issue.others or (self.text and not self.issue.typed)


def judge(matcher: Watched, issue: Issue) -> Outcome:
    """Read and match one issue."""
    matcher.ranked = []
    begun = time.thread_time()  # processor time: other programs on the machine do not count
    verdict = matcher.match(read(issue.title, issue.body))
    seconds = time.thread_time() - begun
    named = verdict.matches
    first = named[0] if named else None
    best = sorted(matcher.ranked, key=lambda match: -match.score)[:5]
    site = None if first is None or first.site is None else f"{first.site.path}:{first.site.latest.line}" == issue.site
    return Outcome(
        issue,
        verdict,
        text=first is not None and _has_text(first, issue),
        record=first is not None and first.record.id in issue.right,
        inside=any(match.record.id in issue.right or _has_text(match, issue) for match in named),
        five=any(match.record.id in issue.right or _has_text(match, issue) for match in best),
        site=site,
        score=first.score if first is not None else 0.0,
        seconds=seconds,
    )


def _has_text(match: Match, issue: Issue) -> bool:
    if match.record.id in issue.right:
        return True
    return any(template.skeleton in issue.skeletons for template in match.record.templates)


# -------------------------------------------------------------------------------------------------------------- shares


@dataclass(frozen=True)
class Share:
    """A share with its 95 % interval."""

    value: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]" if self.count else "–"

    def as_json(self) -> dict[str, float | int]:
        """For ``--json``."""
        return {"value": round(self.value, 5), "low": round(self.low, 5), "high": round(self.high, 5), "count": self.count}


def share(outcomes: Sequence[Outcome], hit: Callable[[Outcome], bool], of: Callable[[Outcome], bool] = lambda _: True) -> Share:
    """Share of hits; the interval is a bootstrap over templates, and Wilson's where all or none hit (a bootstrap says nothing there)."""
    groups: dict[str, int] = {}
    hits: list[float] = []
    counts: list[float] = []
    for one in outcomes:
        if of(one):
            at = groups.setdefault(one.group, len(groups))
            if at == len(hits):
                hits.append(0.0)
                counts.append(0.0)
            hits[at] += hit(one)
            counts[at] += 1
    total = int(sum(counts))
    if not total:
        return Share(0.0, 0.0, 0.0, 0)
    value = sum(hits) / total
    if value in (0.0, 1.0):
        return Share(value, *_wilson(value, total), total)
    low, high = _bootstrap(np.array(hits), np.array(counts))
    return Share(value, low, high, total)


def _bootstrap(hits: NDArray[np.float64], counts: NDArray[np.float64]) -> tuple[float, float]:
    chance = np.random.default_rng(7)
    drawn = []
    for _ in range(RESAMPLES):
        chosen = chance.integers(0, len(hits), len(hits))
        drawn.append(hits[chosen].sum() / counts[chosen].sum())
    low, high = np.percentile(drawn, (2.5, 97.5))
    return float(low), float(high)


def _wilson(value: float, count: int) -> tuple[float, float]:
    z = 1.96
    middle = (value + z * z / (2 * count)) / (1 + z * z / count)
    around = z * sqrt(value * (1 - value) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return max(0.0, middle - around), min(1.0, middle + around)


def calibration_error(outcomes: Iterable[Outcome], bins: int = 10) -> tuple[float, list[tuple[float, float, int]]]:
    """Expected calibration error of the first match's score, and for each bin its mean score, share of right ones, and count."""
    seen = [(one.score, one.good) for one in outcomes if one.verdict.matches]
    rows, error = [], 0.0
    for number in range(bins):
        inside = [(score, good) for score, good in seen if min(int(score * bins), bins - 1) == number]
        if inside:
            score, right = sum(s for s, _ in inside) / len(inside), sum(g for _, g in inside) / len(inside)
            rows.append((score, right, len(inside)))
            error += abs(score - right) * len(inside) / len(seen)
    return error, rows


def curve(scored: Sequence[tuple[float, bool, bool]]) -> list[tuple[float, float]]:
    """Coverage and precision as the bar falls, from (score, right, positive): coverage is right answers among all positives."""
    positives = sum(positive for _, _, positive in scored)
    points: list[tuple[float, float]] = []
    right = 0
    ordered = sorted(scored, key=lambda one: -one[0])
    for said, (score, good, _) in enumerate(ordered, 1):
        right += good
        if said == len(ordered) or ordered[said][0] != score:
            points.append((right / max(positives, 1), right / said))
    return points


def coverage_at(points: Sequence[tuple[float, float]], precision: float) -> float:
    """The largest coverage at which the precision is still that."""
    return max((coverage for coverage, exact in points if exact >= precision), default=0.0)


def upper_bound(failures: int, count: int, sure: float = 0.95) -> float:
    """The largest rate of failures that is still likely (Clopper and Pearson, one-sided): at a higher one, so few would be seen less
    than once in twenty times. Without failures it is 1 - 0.05^(1/count), about 3/count."""
    if failures >= count:
        return 1.0
    low, high = failures / count, 1.0
    for _ in range(60):
        rate = (low + high) / 2
        terms = (
            lgamma(count + 1) - lgamma(k + 1) - lgamma(count - k + 1) + k * log(rate) + (count - k) * log1p(-rate)
            for k in range(failures + 1)
        )
        if sum(map(exp, terms)) > 1 - sure:
            low = rate
        else:
            high = rate
    return high
