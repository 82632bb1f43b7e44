"""Do the templates of the scan say what the source prints? Messages of real raise statements, run, against the templates of their own site.

    .venv/bin/python tests/bench/truth.py [--messages N] [--projects A,B] [--show N] [--keep-scans]

Three shares: the literals of a template of the statement stand in the message in order and nothing else does (*fits*), the matcher's
alignment is exact (*aligns*), and the captures are the values that the f-string's fields printed (*captures*; of statements that are one
plain f-string, where the values are known). A capture that is ambiguous, since a value holds the literal that ends it, counts apart.
"""

# ruff: noqa: E402 - run as a script, its imports need the repository on the path first
from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2])]

from rich.console import Console
from rich.table import Table

from bot.matching.background import background
from bot.matching.template import MAX_WORDS, align, captures, pattern, split_words
from bot.model import Hole, Template
from tests.bench import projects, rendering
from tests.bench.measures import Share, _wilson
from tests.bench.rendering import Rendered

SEED = 20260102


def fits(template: Template, message: str) -> bool:
    """Whether a message is the template with its holes filled in some way: checked on whole characters, not words."""
    parts = template.parts
    if not any(isinstance(part, Hole) for part in parts):
        return "".join(map(str, (part for part in parts if isinstance(part, str)))) == message
    at = 0
    for number, part in enumerate(parts):
        if isinstance(part, Hole):
            continue
        if number == len(parts) - 1:
            return message.endswith(part) and len(message) - len(part) >= at
        found = message.find(part, at) if number else (0 if message.startswith(part) else -1)
        if found < 0:
            return False
        at = found + len(part)
    return True


def aligns(template: Template, message: str) -> bool:
    """Whether the matcher's alignment is exact; a template without a word has nothing to align."""
    pieces = pattern(template)
    if not any(pieces):
        return True
    found = align(pieces, split_words(message), background().weights(pieces))
    return found is not None and found.exact


def expected(template: Template, values: Sequence[str]) -> list[str] | None:
    """The captures that the values put in should give: neighbouring holes are one, empty ones are left out.

    A hole at the end takes the rest of its line. None where the values cannot be told apart by their number.
    """
    if len(template.holes) != len(values):
        return None
    left, wanted, last = list(values), [], len(template.parts) - 1
    at = 0
    seen_literal = False
    for is_hole, run in groupby(template.parts, key=lambda part: isinstance(part, Hole) or not str(part).strip()):
        some = list(run)
        at += len(some)
        if not is_hole:
            seen_literal = True
            continue
        value = "".join(left.pop(0) if isinstance(part, Hole) else part for part in some)
        if at > last:
            value = value.strip().split("\n")[0] if seen_literal else ""
        if value.strip():
            wanted.append(value.strip())
    return wanted


def ambiguous(template: Template, values: Sequence[str]) -> bool:
    """Whether a value holds a literal of the template, so that the message can be read in two ways."""
    literals = [" ".join(piece.split()).lower() for piece in template.literals if piece.strip()]
    return any(piece in " ".join(value.split()).lower() for piece in literals for value in values)


def check(rendered: Sequence[Rendered], shown: list[str]) -> dict[str, tuple[int, int]]:
    """Hits and counts of each share; what misses is shown."""
    counts: Counter[str] = Counter()
    for one in rendered:
        templates = [template for raised in one.statement.alternatives for template in (raised.template, *raised.also)]
        said = one.said[1:-1] if one.statement.type == "KeyError" and len(one.said) > 1 else one.said
        messages = {one.said, said, one.said.strip()}
        where = f"{one.statement.project} {one.statement.path}:{one.statement.line}"
        counts["fits of"] += 1
        if any(fits(template, message) for template in templates for message in messages):
            counts["fits"] += 1
        else:
            shown.append(f"fits      {where}\n  {[str(t) for t in templates]}\n  {one.said!r}")
        if len(split_words(one.said)) < MAX_WORDS:
            counts["aligns of"] += 1
            if any(aligns(template, one.said) for template in templates):
                counts["aligns"] += 1
            else:
                shown.append(f"aligns    {where}\n  {[str(t) for t in templates]}\n  {one.said!r}")
        if one.statement.plain and one.values and (wanted := expected(templates[0], one.values)) is not None:
            found = [capture.value for capture in captures(templates[0], one.said)]
            if found == wanted:
                counts["captures"] += 1
                counts["captures of"] += 1
            elif ambiguous(templates[0], one.values):
                counts["captures, ambiguous"] += 1
            else:
                counts["captures of"] += 1
                shown.append(f"captures  {where}\n  {templates[0]}\n  {one.said!r}\n  found {found}\n  put in {wanted}")
    return {name: (counts[name], counts[f"{name} of"]) for name in ("fits", "aligns", "captures")} | {
        "captures, ambiguous": (counts["captures, ambiguous"], counts["captures, ambiguous"] + counts["captures of"])
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--messages", type=int, default=5000)
    parser.add_argument("--projects", default="sglang,vllm,transformers")
    parser.add_argument("--show", type=int, default=10, help="how many of those that miss are shown, of each kind")
    parser.add_argument("--keep-scans", action="store_true", help="take scans from the cache although the scanner was edited since")
    options = parser.parse_args(arguments)
    out = Console(width=160, highlight=False)
    begun = time.perf_counter()
    table = Table(
        "project", "messages", "fits", "aligns", "captures", "ambiguous", "not run", title="Templates against what the source prints"
    )
    missed: list[str] = []
    names = options.projects.split(",")
    every: Counter[str] = Counter()
    of: Counter[str] = Counter()
    for name in names:
        project = projects.load(name, lambda text: out.print(text, style="dim"), keep=options.keep_scans)
        skipped: Counter[str] = Counter()
        failures: Counter[str] = Counter()
        found = [one for one in rendering.statements(project, skipped) if one.alternatives[0].template.parts]
        chosen = random.Random(SEED).sample(found, min(len(found), options.messages // len(names)))
        rendered = rendering.run(chosen, [], SEED, failures)
        shares = check(rendered, missed)
        for kind, (hits, count) in shares.items():
            every[kind] += hits
            of[kind] += count
        table.add_row(name, str(len(rendered)), *(_shown(*shares[kind]) for kind in shares), str(sum(failures.values())))
    table.add_section()
    table.add_row("all", str(of["fits"]), *(_shown(every[kind], of[kind]) for kind in every))
    out.print(table)
    for kind in ("fits", "aligns", "captures"):
        some = [text for text in missed if text.startswith(kind)]
        out.print(f"\n{kind}: {len(some)} miss")
        for text in some[: options.show]:
            out.print(text, markup=False)
    out.print(f"{time.perf_counter() - begun:.0f} s")


def _shown(hits: int, count: int) -> str:
    if not count:
        return "–"
    share = Share(hits / count, *_wilson(hits / count, count), count)
    return f"{share.value:.4f} [{share.low:.4f}, {share.high:.4f}]"


if __name__ == "__main__":
    main()
