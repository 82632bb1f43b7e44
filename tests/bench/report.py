"""The table, the plot and the list of wrong ones."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from rich.console import Console
from rich.table import Table

from bot.matching.background import background
from bot.matching.template import pattern
from bot.model import Template
from tests.bench.baselines import Compared
from tests.bench.measures import Outcome, Share, coverage_at, curve, share

BASELINE_ROWS = ("message line", "log prefix", "wrapped between words", "cut to 60 %", "15 % of words dropped", "10 % of words changed")
"""Rows in which the baselines are compared."""

CHOSEN = ("cut to 60 %", "15 % of words dropped", "10 % of words changed")


def by_row(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """Outcomes by their row, in the order in which rows first appear."""
    rows: dict[str, list[Outcome]] = {}
    for one in outcomes:
        rows.setdefault(one.issue.row, []).append(one)
    return rows


def figures(outcomes: Sequence[Outcome]) -> dict[str, Share]:
    """The figures of one row of positives."""
    return {
        "top-1 text": share(outcomes, lambda one: one.text),
        "top-1 record": share(outcomes, lambda one: one.record),
        "recall@5": share(outcomes, lambda one: one.five),
        "site": share(outcomes, lambda one: one.site is True, lambda one: one.issue.framed),
        "site wrong": share(outcomes, lambda one: one.site is False, lambda one: one.issue.framed),
        "precision": share(outcomes, lambda one: one.good, lambda one: one.posted(False)),
        "coverage": share(outcomes, lambda one: one.posted(False) and one.good),
        "precision with questions": share(outcomes, lambda one: one.good, lambda one: one.posted(True)),
        "coverage with questions": share(outcomes, lambda one: one.posted(True) and one.good),
    }


def print_all(
    outcomes: Sequence[Outcome],
    compared: Sequence[Compared],
    facts: Mapping[str, str],
    file: TextIO | None = None,
    width: int | None = None,
) -> None:
    """The one table, in its parts."""
    out = Console(file=file, width=width or 200, highlight=False)
    positives = Table("own errors", "n", title="Own errors: share [95 % interval]", title_justify="left")
    for column in ("top-1 text", "record", "recall@5", "site", "wrong", "precision", "coverage", "prec.+?", "cov.+?"):
        positives.add_column(column, no_wrap=True)
    negatives = Table("nothing may be said", "n", "answers", "answers and questions", title="False answers", title_justify="left")
    for row, some in by_row(outcomes).items():
        if some[0].negative:
            negatives.add_row(row, str(len(some)), *(_false(some, careful) for careful in (False, True)))
        else:
            found = figures(some)
            wide = {"top-1 text", "precision", "coverage"}
            positives.add_row(row, str(len(some)), *(_cell(value, name in wide) for name, value in found.items()))
    every = [one for one in outcomes if one.negative]
    if every:
        negatives.add_section()
        negatives.add_row("all", str(len(every)), *(_false(every, careful) for careful in (False, True)))
    out.print(positives)
    out.print(negatives)
    if compared:
        beside = Table(
            "way",
            title="On the message lines alone: top-1 text; share of right answers at precision .99 on a 50/50 mix",
            title_justify="left",
        )
        for row in BASELINE_ROWS:
            beside.add_column(row, justify="right")
        for column in ("at .99", "p50 ms", "p99 ms", "× ours", "build s"):
            beside.add_column(column, justify="right")
        for one in compared:
            shown = [f"{one.right[row][0] / one.right[row][1]:.3f}" if row in one.right else "–" for row in BASELINE_ROWS]
            ratio = one.percentile(50) / max(compared[0].percentile(50), 1e-9)
            times = [f"{one.percentile(50):.2f}", f"{one.percentile(99):.2f}", f"{ratio:.1f}", f"{one.build:.1f}"]
            beside.add_row(one.name, *shown, f"{coverage_at(curve(one.scored), 0.99):.3f}", *times)
        out.print(beside)
    for name, value in facts.items():
        out.print(f"{name}: {value}")


def _cell(value: Share, wide: bool) -> str:
    if not value.count:
        return "–"
    return f"{value.value:.3f} [{value.low:.2f}–{value.high:.3f}]" if wide else f"{value.value:.3f}"


def _false(some: Sequence[Outcome], careful: bool) -> str:
    found = share(some, lambda one: one.posted(careful))
    count = sum(one.posted(careful) for one in some)
    return f"{count}  {found.value:.3%} [{found.low:.3%}, {found.high:.3%}]"


def as_json(outcomes: Sequence[Outcome], compared: Sequence[Compared], facts: Mapping[str, Any]) -> dict[str, Any]:
    """All figures, for ``--json``."""
    rows: dict[str, Any] = {}
    for row, some in by_row(outcomes).items():
        if some[0].negative:
            rows[row] = {
                "answers": share(some, lambda one: one.posted(False)).as_json(),
                "answers and questions": share(some, lambda one: one.posted(True)).as_json(),
            }
        else:
            rows[row] = {name: value.as_json() for name, value in figures(some).items()}
    beside = {
        one.name: {
            "top-1": {row: hits / count for row, (hits, count) in one.right.items()},
            "coverage at precision .99": coverage_at(curve(one.scored), 0.99),
            "p50 ms": one.percentile(50),
            "p99 ms": one.percentile(99),
        }
        for one in compared
    }
    return {"rows": rows, "baselines": beside, "facts": dict(facts)}


BITS = (0, 10, 20, 30, 50, 1000)


def breakdowns(outcomes: Sequence[Outcome], where: Mapping[str, str]) -> dict[str, str]:
    """The two plain rows by project, and the message lines by how many bits of literal text the template has."""
    found: dict[str, str] = {}
    by_project: dict[str, list[bool]]
    lines = [one for one in outcomes if one.issue.row == "message line"]
    for row, some in (("whole traceback", [one for one in outcomes if one.issue.row == "whole traceback"]), ("message line", lines)):
        by_project = {}
        for one in some:
            by_project.setdefault(where[next(iter(one.issue.right))], []).append(one.text)
        found[f"{row}, top-1 text by project"] = ", ".join(
            f"{name} {sum(hits) / len(hits):.3f} ({len(hits)})" for name, hits in by_project.items()
        )
    by_project = {}
    for one in outcomes:
        if one.negative and one.issue.row.startswith("foreign") and "near ours" not in one.issue.row:
            by_project.setdefault(one.issue.about.split("/")[0].rsplit(" ", 1)[0], []).append(one.posted(False))
    shown = [f"{name} {sum(hits)}/{len(hits)}" for name, hits in sorted(by_project.items())]
    found["false answers on foreign errors by project, near ones left out"] = ", ".join(shown)
    shown = []
    for low, high in pairwise(BITS):
        some = [one for one in lines if low <= _bits(one.issue.about) < high]
        if some:
            right, said = sum(one.text for one in some) / len(some), sum(one.posted(False) for one in some) / len(some)
            shown.append(f"{low}–{high} bits: top-1 {right:.3f}, answered {said:.3f} ({len(some)})")
    found["message line by literal information"] = "; ".join(shown)
    return found


def _bits(template: str) -> float:
    return sum(background().weights(pattern(Template.parse(template))))


def write_wrong(file: Path, outcomes: Iterable[Outcome]) -> None:
    """Every issue that was answered wrongly or not at all, with the reasons, one JSON line each."""
    with file.open("w", encoding="utf-8") as out:
        for one in outcomes:
            said = one.posted(True)
            if (one.negative and not said) or (not one.negative and one.good and said):
                continue
            first = one.verdict.matches[0] if one.verdict.matches else None
            shown: dict[str, Any] = {
                "row": one.issue.row, "decision": one.verdict.decision, "good": one.good, "five": one.five, "where": one.issue.site,
                "right": one.issue.about, "title": one.issue.title, "body": one.issue.body[:6000], "why": one.verdict.why,
            }  # fmt: skip
            if first is not None:
                shown |= {
                    "found": str(first.record.template), "found type": first.record.type, "score": first.score,
                    "message": first.occurrence.message[:500], "dialect": first.occurrence.dialect, "printed type": first.occurrence.type,
                    "sites": [f"{site.path}:{site.latest.line}" for site in first.record.sites[:3]],
                    "reasons": [f"{reason.name} {reason.weight:+.1f}" for reason in first.reasons],
                }  # fmt: skip
            out.write(json.dumps(shown, ensure_ascii=False) + "\n")


def plot(file: Path, outcomes: Sequence[Outcome], compared: Sequence[Compared]) -> None:
    """Precision against coverage as SVG, readable on a light and on a dark page."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    grey = "#808890"
    pyplot.rcParams.update({"svg.hashsalt": "explainbot", "svg.fonttype": "none", "font.size": 10, "text.color": grey})
    figure, axes = pyplot.subplots(figsize=(7.2, 4.2))
    colours = ("#d6604d", "#4393c3", "#5aae61", "#9970ab", "#bf812d", "#35978f", "#c2a5cf", "#999999")
    for number, one in enumerate(compared):
        points = curve(one.scored)
        coverage, precision = zip(*points, strict=True)
        axes.plot(coverage, precision, color=colours[number % len(colours)], linewidth=2.4 if number == 0 else 1.1, label=one.name)
    framed = [one for one in outcomes if one.issue.framed or one.negative]
    if framed:
        coverage, precision = zip(*curve(even([(one.score, one.good, not one.negative) for one in framed])), strict=True)
        axes.plot(coverage, precision, color=colours[0], linewidth=2.4, linestyle=":", label="explainbot, tracebacks")
    axes.set(xlabel="coverage: right answers among all own errors", ylabel="precision of answers", xlim=(0, 1), ylim=(0.5, 1.005))
    axes.xaxis.label.set_color(grey)
    axes.yaxis.label.set_color(grey)
    axes.tick_params(colors=grey)
    for side in axes.spines.values():
        side.set_color(grey)
    axes.grid(color=grey, alpha=0.25)
    axes.legend(frameon=False, fontsize=8, labelcolor=grey, loc="lower left")
    figure.tight_layout()
    figure.savefig(file, transparent=True, metadata={"Date": None})
    pyplot.close(figure)


def even(scored: Sequence[tuple[float, bool, bool]]) -> list[tuple[float, bool, bool]]:
    """As many positives as negatives, drawn with a fixed seed."""
    chance = np.random.default_rng(3)
    sides = [[one for one in scored if one[2] is side] for side in (True, False)]
    size = min(map(len, sides))
    return [side[at] for side in sides for at in sorted(chance.choice(len(side), size, replace=False))]


def halves(outcomes: Sequence[Outcome], seed: int) -> list[Outcome]:
    """As many own errors as texts of which nothing may be said."""
    chance = random.Random(seed)
    own, other = [one for one in outcomes if not one.negative], [one for one in outcomes if one.negative]
    size = min(len(own), len(other))
    return chance.sample(own, size) + chance.sample(other, size)
