"""How often reading and matching find the right error, and how often they answer where nothing may be said. See README.md here.

.venv/bin/python tests/bench/accuracy.py [--quick] [--positives N] [--plot FILE] [--json FILE] [--wrong FILE] [--drift VERSION]
"""

# ruff: noqa: E402 - run as a script, its imports need the repository on the path first
from __future__ import annotations

import argparse
import gc
import json
import pickle
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2])]

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bot.catalogue.catalogue import Catalogue
from bot.matching.verdict import INDEX_BLOB
from tests.bench import mutations, negatives, projects, rendering, report
from tests.bench.baselines import Compared, baselines, compare
from tests.bench.measures import Outcome, Watched, calibration_error, judge
from tests.bench.mutations import Issue
from tests.bench.projects import FOREIGN, INSTALLED, OWN, Project
from tests.bench.rendering import Rendered, Statement, words_of

MAIN = "sglang"
"""The project whose catalogue the negatives and the baselines are held against."""

SEED = 20260101
ISSUE_CHARACTERS = 16 << 10
TIMED = 300

LOADING = """
import sys, time
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 1e6
from pathlib import Path
from bot.catalogue.catalogue import Catalogue
from bot.matching import Matcher
from bot.reading import read
before = resident(); begun = time.perf_counter()
catalogue = Catalogue.open(Path(sys.argv[1]))
matcher = Matcher(catalogue)
loaded = time.perf_counter() - begun; after = resident()
matcher.match(read("RuntimeError: nothing of this is known", "..."))
print(loaded, time.perf_counter() - begun, after - before, resident() - before)
"""


class Run:
    """One run: what was asked for, the progress shown, and what was found."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.console = Console(stderr=True)
        columns = (TextColumn("{task.description:<44}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self.progress = Progress(*columns, console=self.console, transient=True)
        self.facts: dict[str, str] = {}
        self.failures: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.matchers: dict[str, Watched] = {}

    def say(self, text: str) -> None:
        """A step that begins."""
        for task in self.progress.task_ids:
            self.progress.remove_task(task)
        self.progress.add_task(text, total=None)

    def track(self, items: Sequence[Any], text: str) -> Iterable[Any]:
        """Items, with progress."""
        self.say(text)
        task = self.progress.task_ids[0]
        self.progress.update(task, total=len(items))
        for item in items:
            yield item
            self.progress.advance(task)

    def load(self, name: str, release: str = "") -> Project:
        """A scanned project."""
        return projects.load(name, self.say, release, self.options.keep_scans)

    def statements(self, project: Project) -> list[Statement]:
        """The statements of a project that can be run; kept in the cache."""
        kept = projects.cache_folder() / "scans" / f"{project.key}.{rendering.DIGEST}.statements"
        if kept.is_file():
            with kept.open("rb") as file:
                found, skipped = pickle.load(file)  # our own file
        else:
            self.say(f"find the statements of {project.name}")
            skipped = Counter()
            found = rendering.statements(project, skipped)
            with kept.open("wb") as out:
                pickle.dump((found, skipped), out)
        if project.name in OWN:
            self.skipped.update(skipped)
        return list(found)

    def render(self, chosen: Sequence[Statement], frames: list[dict[str, Any]], count: int, what: str) -> list[Rendered]:
        """So many texts, as evenly over the statements as can be."""
        found: list[Rendered] = []
        chance = random.Random(f"{SEED} {what}")
        for turn in range(20):
            if len(found) >= count or not chosen:
                break
            some = chance.sample(list(chosen), min(len(chosen), count - len(found)))
            self.say(f"run the messages of {what}")
            found += rendering.run(some, frames, SEED + turn, self.failures)
        return found[:count]

    def matcher(self, project: Project) -> Watched:
        """The matcher of an own project; what building its catalogue takes is noted."""
        if project.name not in self.matchers:
            catalogue, seconds = projects.catalogue_of(project, self.say)
            self.say(f"build the index of {project.name}")
            begun = time.perf_counter()
            matcher = Watched(catalogue)
            index = time.perf_counter() - begun
            catalogue.save_blob(INDEX_BLOB, matcher.index.to_bytes())
            said = f"{len(catalogue):,} records, {len(matcher.index.ids):,} indexed texts; built in {seconds:.1f} s, index {index:.2f} s"
            self.facts[f"{project.name} {project.release}"] = f"{said}, {_loading(catalogue)}"
            self.matchers[project.name] = matcher
        return self.matchers[project.name]

    def judge(self, issues: Sequence[Issue], project: Project) -> list[Outcome]:
        """Verdicts on issues, judged."""
        matcher = self.matcher(project)
        gc.collect()
        gc.freeze()  # what this program keeps is not what a server would have to look through
        return [judge(matcher, issue) for issue in self.track(issues, f"match against {project.name}")]


def _loading(catalogue: Catalogue) -> str:
    """Seconds and memory of opening catalogue and index in a new process."""
    root = str(Path(__file__).parents[2])
    done = subprocess.run([sys.executable, "-c", LOADING, str(catalogue.path)], capture_output=True, text=True, cwd=root, check=True)
    loaded, first, resident, used = map(float, done.stdout.split())
    took = f"loaded in {loaded:.2f} s (first verdict after {first:.2f} s)"
    return f"{took}, {resident:.0f} MB resident more ({used:.0f} MB after the first verdict)"


# ------------------------------------------------------------------------------------------------------------ issues


def positives(rendered: Sequence[Rendered], chance: random.Random) -> list[Issue]:
    """Each text in one of the ways in which people show an error."""
    found = []
    for number, one in enumerate(rendered):
        way = number % 6
        if way < 2:
            found.append(mutations.issue(one, "whole traceback", one.text, chance, True))
        elif way < 4:
            found.append(mutations.issue(one, "message line", one.line, chance, False))
        else:
            found.append((mutations.titles if way == 4 else mutations.prose)(one, chance))
    return found


def mutated(rendered: Sequence[Rendered], count: int, chance: random.Random) -> list[Issue]:
    """Rows of damage, ``count`` issues each."""
    found = []
    for name, change in mutations.LINE.items():
        for one in chance.sample(list(rendered), min(count, len(rendered))):
            found.append(mutations.issue(one, name, change(one.line, chance), chance, False))
    for name, change in mutations.TRACEBACK.items():
        for one in chance.sample(list(rendered), min(count, len(rendered))):
            found.append(mutations.issue(one, f"tb: {name}", change(one.text, chance), chance, True))
    for one in chance.sample(list(rendered), min(max(count // 4, 10), len(rendered))):
        found.append(mutations.in_long_log(one, chance))
    pairs = chance.sample(list(rendered), min(2 * count, len(rendered) // 2 * 2))
    by_project: dict[str, list[Rendered]] = {}
    for one in pairs:
        by_project.setdefault(one.statement.project, []).append(one)
    for some in by_project.values():
        found += [mutations.two_errors(one, other, chance) for one, other in zip(some[::2], some[1::2], strict=False)]
    return found


def hard(rendered: Sequence[Rendered], words: frozenset[str], count: int, chance: random.Random) -> list[Issue]:
    """Own errors whose text has a near twin, or stands at the start of another one, or holds another message."""
    found = []
    twins, heads = negatives.near_twins(words), negatives.prefixes(words)
    groups: dict[str, Callable[[Rendered], bool]] = {
        "hard: near twins": lambda one: words_of(one.statement.alternatives[0].template) in twins,
        "hard: prefix of another": lambda one: words_of(one.statement.alternatives[0].template) in heads,
        "hard: another message inside": lambda one: bool(one.nested),
    }
    for row, fits in groups.items():
        some = [one for one in rendered if fits(one)]
        found += [mutations.issue(one, row, one.line, chance, False) for one in chance.sample(some, min(count, len(some)))]
    return found


def nothing(run: Run, main: Project, sister: Sequence[Rendered], count: int, quick: bool) -> tuple[list[Issue], list[Rendered]]:
    """Issues of which nothing may be said, and the foreign errors among them."""
    chance = random.Random(SEED + 2)
    ours = frozenset(words_of(raised.template) for raised in main.raised)
    names = [INSTALLED[0], "keras"] if quick else [*FOREIGN, *INSTALLED]
    found = projects.load_all(names, run.say, run.options.keep_scans)
    every: list[Rendered] = []
    frames = rendering.callers(main, chance)
    for project in found:
        chosen = [one for one in run.statements(project) if one.has_text]
        own = rendering.callers(project, chance)
        share = count // len(found)
        every += run.render(chosen, own, share, project.name)
        if len(every) < count:
            under = run.render(chosen, frames, share // 8, f"{project.name} under our frames")
            every += under
    issues = list(negatives.foreign_errors(every, ours, chance))
    if sister:
        for issue in negatives.foreign_errors(sister, ours, chance):
            near = ", near ours" if issue.row.endswith("near ours") else ""
            issues.append(Issue(f"foreign, sister project (vllm){near}", issue.title, issue.body, framed=issue.framed, about=issue.about))
    few = max(count // 40, 40)
    issues += negatives.prose(few, chance)
    issues += negatives.logs(few, chance)
    issues += negatives.configurations(few, main, chance)
    for whose, some in (("foreign", found), ("own", [main])):
        issues += negatives.source(few, some, whose, chance)
        issues += negatives.diffs(few, some, whose, chance)
    return issues, every


# --------------------------------------------------------------------------------------------------------- the parts


def against_baselines(
    run: Run, project: Project, outcomes: Sequence[Outcome], rendered: Sequence[Rendered], foreign: Sequence[Rendered]
) -> list[Compared]:
    """The baselines on lines of the main project and as many foreign ones; explainbot first, on issues with the same texts."""
    count = run.options.baseline
    chance = random.Random(SEED + 3)
    changes: dict[str, mutations.Text] = {"message line": lambda text, _: text, **mutations.LINE}
    own = [one for one in rendered if one.statement.project == project.name]
    ours = frozenset(words_of(raised.template) for raised in project.raised)
    lines: list[tuple[str, str, frozenset[str]]] = []
    issues: list[Issue] = []
    for row in report.BASELINE_ROWS:
        for one in chance.sample(own, min(count, len(own))):
            text = changes[row](one.line, chance)
            lines.append((row, text, frozenset(raised.template.skeleton for raised in one.statement.alternatives)))
            issues.append(mutations.issue(one, row, text, chance, False))
    others = [one for one in foreign if not any(words_of(raised.template) in ours for raised in one.statement.alternatives)]
    for one in chance.sample(others, min(len(lines), len(others))):
        lines.append(("", one.line, frozenset()))
        issues.append(Issue("", "[Bug] it does not work", f"```\n{one.line}\n```"))
    order = chance.sample(range(len(lines)), len(lines))
    lines, issues = [lines[at] for at in order], [issues[at] for at in order]
    found = run.judge(issues, project)
    right: dict[str, tuple[int, int]] = {}
    for outcome in found:
        if not outcome.negative:
            hits, of = right.get(outcome.issue.row, (0, 0))
            right[outcome.issue.row] = (hits + outcome.text, of + 1)
    scored = [(one.score, one.text, not one.negative) for one in found]
    compared = [Compared("explainbot (whole issue)", right, scored, [one.seconds for one in found], 0.0)]
    templates = [raised.template for raised in project.raised if raised.kind in ("error", "assert")]
    for one in baselines(templates):
        run.say(f"baseline {one.name}")
        compared.append(compare(one, lines))
    return compared


def timing(run: Run, project: Project, rendered: Sequence[Rendered]) -> None:
    """Milliseconds for issues of 16 KiB, read and matched."""
    chance = random.Random(SEED + 4)
    issues = [mutations.padded(one, ISSUE_CHARACTERS, chance) for one in chance.sample(list(rendered), min(TIMED, len(rendered)))]
    seconds = [outcome.seconds * 1000 for outcome in run.judge(issues, project)]
    p50, p99, p100 = np.percentile(seconds, (50, 99, 100))
    run.facts["16 KiB issue, read and matched"] = f"p50 {p50:.1f} ms, p99 {p99:.1f} ms, p100 {p100:.1f} ms (n {len(seconds)})"


def real_cases(run: Run, path: Path, own: Sequence[Project]) -> None:
    """The issues whose right answers people have written down."""
    from bot.evaluation import evaluate, read_cases, score

    if not path.is_file():
        run.facts["real cases"] = f"skipped: there is no {path}"
        return
    catalogues = {project.config.repository: run.matcher(project).catalogue for project in own}
    run.say("real cases")
    with path.open(encoding="utf-8") as lines:
        result = evaluate(read_cases(lines), lambda repository: catalogues.get(repository))
    said = []
    for level in ("answer", "cautious"):
        scores = score(result.outcomes, level)  # type: ignore[arg-type]
        false = sum(one.posted(level) and one.case.group == "negative" and one.result != "excused" for one in result.outcomes)  # type: ignore[arg-type]
        shown = [f"{value:.2f}" if value is not None else "–" for value in (scores.recall, scores.precision)]
        said.append(f"{level}: recall@1 {shown[0]}, precision {shown[1]}, on negatives {false}")
    run.facts["real cases (newest release only)"] = f"{len(result.outcomes)} of {len(result.outcomes) + len(result.skipped)}; " + "; ".join(
        said
    )


def drift(run: Run, main: Project, release: str) -> list[Outcome]:
    """Messages of another release against the catalogue of this one; ``gone`` are texts that it does not have."""
    other = run.load(main.name, release)
    chosen = [one for one in run.statements(other) if one.half == "report" and one.has_text]
    chance = random.Random(SEED + 5)
    catalogue = run.matcher(main).catalogue
    issues = []
    for one in run.render(chosen, rendering.callers(other, chance), run.options.per_row * 4, f"{main.name} {release}"):
        framed = chance.random() < 0.5
        issue = mutations.issue(one, "", one.text if framed else one.line, chance, framed)
        kept = any(catalogue.get(id) for id in one.statement.ids)
        row = f"drift {release}: {'kept' if kept else 'gone or edited'}{' (traceback)' if framed else ''}"
        # Its lines are those of the other release, so the site is not judged.
        issues.append(Issue(row, issue.title, issue.body, issue.right, issue.skeletons, site=issue.site, about=issue.about))
    return run.judge(issues, main)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run and print."""
    options = _options(arguments)
    run = Run(options)
    begun = time.perf_counter()
    with run.progress:
        own = [run.load(name) for name in options.projects.split(",")]
        main_project = next((project for project in own if project.name == MAIN), own[0])
        chance = random.Random(SEED)
        texts: list[Rendered] = []
        bare: list[Rendered] = []
        sister: list[Rendered] = []
        halves = ("report", "tune") if options.half == "both" else (options.half,)
        found = {project.name: [one for one in run.statements(project) if one.half in halves] for project in own}
        total = sum(map(len, found.values()))
        for project in own:
            frames = rendering.callers(project, chance)
            share = len(found[project.name]) / total
            chosen = [one for one in found[project.name] if one.has_text]
            texts += run.render(chosen, frames, int(options.positives * share), project.name)
            rest = [one for one in found[project.name] if not one.has_text]
            bare += run.render(rest, frames, int(options.per_row * 4 * share), f"{project.name}, no text")
            if project.name == "vllm":
                sister = [one for one in texts if one.statement.project == "vllm"][: options.foreign // 20]
        issues = positives(texts, chance) + mutated(texts, options.per_row, chance)
        for project in own:
            words = frozenset(words_of(raised.template) for raised in project.raised)
            some = [one for one in texts if one.statement.project == project.name]
            issues += hard(some, words, options.per_row, chance)
        issues += [mutations.issue(one, "tb: no text of its own", one.text, chance, True) for one in bare]
        where = {id: project.name for project in own for one in found[project.name] for id in one.ids}
        outcomes: list[Outcome] = []
        for project in own:
            outcomes += run.judge([issue for issue in issues if where[next(iter(issue.right))] == project.name], project)
        order = {issue.row: number for number, issue in reversed(list(enumerate(issues)))}
        outcomes.sort(key=lambda one: order[one.issue.row])
        silent, foreign = nothing(run, main_project, sister, options.foreign, options.quick)
        outcomes += run.judge(silent, main_project)
        timing(run, main_project, [one for one in texts if one.statement.project == main_project.name])
        for release in options.drift:
            outcomes += drift(run, main_project, release)
        real_cases(run, options.cases, own)
        compared = against_baselines(run, main_project, outcomes, texts, foreign) if options.baseline else []
    for name, some in (
        ("calibration, all issues above", outcomes),
        ("calibration, as many own as foreign", report.halves(outcomes, SEED + 6)),
    ):
        error, bins = calibration_error(some)
        run.facts[name] = f"ECE {error:.3f}; " + ", ".join(f"{score:.2f}→{right:.2f} ({count})" for score, right, count in bins)
    run.facts |= report.breakdowns(outcomes, where)
    run.facts["not run"] = ", ".join(f"{name} {count}" for name, count in [*run.skipped.most_common(8), *run.failures.most_common(8)])
    run.facts["whole run"] = f"{time.perf_counter() - begun:.0f} s, half: {options.half}"
    report.print_all(outcomes, compared, run.facts)
    if options.plot is not None:
        report.plot(options.plot, outcomes, compared)
    if options.json is not None:
        options.json.write_text(json.dumps(report.as_json(outcomes, compared, run.facts), indent=1, ensure_ascii=False) + "\n", "utf-8")
    if options.wrong is not None:
        report.write_wrong(options.wrong, outcomes)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="500 of each, sglang alone: under 90 seconds once the scans are cached")
    parser.add_argument("--positives", type=int, help="own errors in the ways people show them (20,000)")
    parser.add_argument("--foreign", type=int, help="errors of other projects (20,000)")
    parser.add_argument("--per-row", type=int, help="issues of each mutation (400)")
    parser.add_argument("--baseline", type=int, help="lines of each row for the baselines, 0 for none (160)")
    parser.add_argument("--projects", help=f"own projects ({','.join(OWN)})")
    parser.add_argument("--half", choices=("report", "tune", "both"), default="report", help="which half of the templates")
    parser.add_argument("--drift", action="append", default=[], metavar="VERSION", help="also messages of that release of sglang")
    parser.add_argument("--cases", type=Path, default=Path("../shared/cases/dev.jsonl"), help="real issues with right answers")
    parser.add_argument("--keep-scans", action="store_true", help="take scans from the cache although the scanner was edited since")
    for name in ("plot", "json", "wrong"):
        parser.add_argument(f"--{name}", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    quick: dict[str, Any] = {"positives": 500, "foreign": 500, "per_row": 50, "baseline": 24, "projects": MAIN}
    usual: dict[str, Any] = {"positives": 20_000, "foreign": 20_000, "per_row": 400, "baseline": 160, "projects": ",".join(OWN)}
    for name, value in (quick if options.quick else usual).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    return options


if __name__ == "__main__":
    main()
