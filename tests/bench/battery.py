"""What the bot stands: hostile requests, replays, faults of GitHub under kill -9, floods, other bots. See README.md here.

.venv/bin/python tests/bench/battery.py [--quick] [--only SUITE]... [--seed N] [--n N] [--minutes M] [--into FOLDER] [--write]

Finished slices are kept in a folder, and a later run goes on from there. `--at INDEX` repeats the slice of one failure.
"""

# ruff: noqa: E402 - run as a script, its imports need the repository on the path first
from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT)]
for name in [
    name for name in os.environ if name.startswith("EXPLAINBOT_") and name not in ("EXPLAINBOT_CACHE_DIR", "EXPLAINBOT_NODE_PACKAGES")
]:
    del os.environ[name]  # the operator's settings are not ours

import structlog
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from bot.config import Settings
from tests.bench.measures import upper_bound
from tests.bench.suites import Found, Suite, load, slices

SEED = 20261207
RESULT = Path(__file__).with_suffix(".json")
SHOWN = 5
"""Failures of one suite that are printed."""


class Kept:
    """The finished slices of one suite under one seed, in a file."""

    def __init__(self, folder: Path, suite: Suite, seed: int) -> None:
        self.path = folder / f"{suite.name}-{seed}.json"
        self.slices: dict[str, dict[str, Any]] = json.loads(self.path.read_text("utf-8")) if self.path.exists() else {}

    def has(self, indices: range) -> bool:
        """Whether these cases were run."""
        return str(indices.start) in self.slices and self.slices[str(indices.start)]["stop"] == indices.stop

    def add(self, indices: range, found: Found, seconds: float, commit: str) -> None:
        """Keep what a slice found."""
        self.slices[str(indices.start)] = {
            "stop": indices.stop,
            "failures": [asdict(failure) for failure in found.failures],
            "counted": dict(found.counted),
            "seconds": round(seconds, 2),
            "commit": commit,
            "date": date.today().isoformat(),
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(self.slices), "utf-8")
        part.replace(self.path)

    def summary(self, suite: Suite, seed: int, n: int) -> dict[str, Any]:
        """The figures of the suite as far as it was run."""
        counted: Counter[str] = Counter()
        failures: list[dict[str, Any]] = []
        for one in self.slices.values():
            counted.update(one["counted"])
            failures += one["failures"]
        run = sum(one["stop"] - int(start) for start, one in self.slices.items())
        return {
            "about": suite.about,
            "passes": suite.passes,
            "seed": seed,
            "n": run,
            "of": n,
            "failures": len(failures),
            "bound": upper_bound(len(failures), run) if run else None,
            "counted": dict(sorted(counted.items())),
            "seconds": round(sum(one["seconds"] for one in self.slices.values())),
            "dates": sorted({one["date"] for one in self.slices.values()}),
            "commits": sorted({one["commit"] for one in self.slices.values()}),
            "first": sorted(failures, key=lambda failure: failure["index"])[:SHOWN],
        }


def main() -> int:
    """Run, and print the table; 1 when anything failed."""
    options = _options()
    for number in (signal.SIGTERM, signal.SIGINT):  # a run that is ended takes its servers and workers with it
        signal.signal(number, signal.default_int_handler)
    structlog.configure(processors=[lambda *_: (_ for _ in ()).throw(structlog.DropEvent)])
    logging.disable(logging.ERROR)
    suites = [suite for suite in load() if not options.only or suite.name in options.only]
    if unknown := set(options.only) - {suite.name for suite in suites}:
        sys.exit(f"no such suite: {', '.join(sorted(unknown))}; there are {', '.join(suite.name for suite in load())}")
    console = Console(width=None if sys.stdout.isatty() else 150)
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder) if options.quick or options.at is not None else options.into
        deadline = time.monotonic() + options.minutes * 60
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()
        with Progress(*columns, console=Console(stderr=True)) as progress:
            rows = {}
            for suite in suites:
                n = options.n or (suite.quick if options.quick else suite.full)
                kept = Kept(into, suite, options.seed)
                wanted = [part for part in slices(suite, n) if options.at is None or options.at in part]
                _run(suite, options.seed, wanted, kept, progress, deadline)
                rows[suite.name] = kept.summary(suite, options.seed, n)
    _print(rows, console)
    if options.write:
        RESULT.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    return int(any(row["failures"] for row in rows.values()))


def _run(suite: Suite, seed: int, wanted: Sequence[range], kept: Kept, progress: Progress, deadline: float) -> None:
    left = [part for part in wanted if not kept.has(part)]
    task = progress.add_task(suite.name, total=sum(map(len, wanted)), completed=sum(map(len, wanted)) - sum(map(len, left)))
    if not left or time.monotonic() > deadline:
        return
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    with suite.open(seed) as run:
        for part in left:
            if time.monotonic() > deadline:
                break
            begun = time.monotonic()
            found = run(part)
            kept.add(part, found, time.monotonic() - begun, commit.stdout.strip())
            progress.advance(task, len(part))


def _print(rows: dict[str, dict[str, Any]], console: Console) -> None:
    table = Table("suite", "seed", "N", "failures", "failure rate at most (95 %)", "counted", "s")
    for name, row in rows.items():
        n = f"{row['n']:,}" if row["n"] >= row["of"] else f"{row['n']:,} of {row['of']:,}"
        bound = "–" if row["bound"] is None else f"{row['bound']:.4%}"
        counted = ", ".join(f"{value:,} {what}" for what, value in row["counted"].items())
        table.add_row(name, str(row["seed"]), n, str(row["failures"]), bound, counted, str(row["seconds"]))
    console.print(table)
    for name, row in rows.items():
        for failure in row["first"]:
            console.print(
                f"{name}, seed {row['seed']}, index {failure['index']}: {failure['seen']}\n"
                f"  again: python tests/bench/battery.py --only {name} --seed {row['seed']} --at {failure['index']}",
                markup=False,
                highlight=False,
            )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few cases of each suite; nothing is kept")
    parser.add_argument("--only", action="append", default=[], metavar="SUITE", help="this suite alone; may be given again")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--n", type=int, default=0, help="number of cases of each suite")
    parser.add_argument("--at", type=int, help="the slice with the case of this index alone; nothing is kept")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no slice after so many minutes")
    default = Settings().cache_dir / "bench" / "battery"
    parser.add_argument("--into", type=Path, default=default, help="where finished slices are kept")
    parser.add_argument("--write", action="store_true", help=f"write the figures to {RESULT.name}, from which the README's table is made")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
