"""Figures of a catalogue of all releases: `python tests/bench/releases.py [OWNER/NAME] [--anew]`.

Prints how long the history takes from download to catalogue (``--anew``: in an empty folder, so with all downloads), how long it takes
again with nothing changed, what was followed and lost between neighbouring releases, how the likeness from which a text is followed was
chosen, and the size, opening time and memory of the catalogue.
"""

from __future__ import annotations

import argparse
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rapidfuzz import fuzz

from bot.catalogue.cache import ScanCache
from bot.catalogue.catalogue import Catalogue
from bot.catalogue.refresh import Refreshed, refresh
from bot.catalogue.releases import Joined, Step, join_releases
from bot.catalogue.source_config import SourceConfig
from bot.catalogue.sources import load_source
from bot.catalogue.successors import LIKE, Place
from bot.config import Settings

THRESHOLDS = (50, 55, 60, 65, 70, 75, 80, 88)

FRAMES = 3000
"""Functions asked for when the look-up by frame is timed."""

LIMITS = {"file": 40e6, "open": 0.3, "memory": 100e6, "history": 360.0, "again": 0.05}
"""What issue 3 asks: bytes, seconds, bytes, seconds, share of the first time."""


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", nargs="?", default="sgl-project/sglang")
    parser.add_argument("--anew", action="store_true", help="in an empty folder, with all downloads")
    parser.add_argument("--pairs", action="store_true", help="every pair of neighbouring releases, not only the sum")
    options = parser.parse_args()
    settings = Settings()
    config = load_source(settings.errors_dir, options.repository)
    with _folder(settings.cache_dir, options.anew) as folder:
        made, first = _refresh(config, folder, "first")
        _, again = _refresh(config, folder, "again")
        if options.anew:
            print(f"history: {first:.0f} s of {LIMITS['history']:.0f}; again {again / first:.1%} of it, {LIMITS['again']:.0%} allowed")
        near: list[tuple[float, float]] = []
        chosen = random.Random(0)
        begun = time.monotonic()
        with ScanCache(folder / "scans.sqlite") as cache:
            joined = join_releases(config, made.history.listings, cache, lambda lost, new: near.extend(_likeness(lost, new, chosen)))
        print(f"joining alone: {time.monotonic() - begun:.1f} s")
        _say_texts(joined)
        _say_steps(joined.steps, options.pairs)
        _say_thresholds(near)
        _say_file(made.path, settings.errors_dir)


@contextmanager
def _folder(cache_dir: Path, anew: bool) -> Iterator[Path]:
    if not anew:
        yield cache_dir
        return
    with tempfile.TemporaryDirectory(prefix="releases-") as folder:
        yield Path(folder)


def _refresh(config: SourceConfig, folder: Path, what: str) -> tuple[Refreshed, float]:
    begun = time.monotonic()
    made = refresh(config, folder)
    seconds = time.monotonic() - begun
    history, spent = made.history, made.history.seconds
    print(
        f"{what}: {len(history.listings)} releases ({history.from_cache} known before, {len(history.absent)} absent), {seconds:.1f} s: "
        f"scan {spent.scan:.1f}, waiting for downloads {spent.waiting:.1f} (downloads {spent.download:.1f} beside it), "
        f"join {spent.join:.1f}, write {spent.write:.1f}; {sum(listing.fresh for _, listing in history.listings)} files scanned"
    )
    for release, reason in history.absent:
        print(f"  absent {release}: {' '.join(reason.split())[:200]}")
    return made, seconds


def _say_texts(joined: Joined) -> None:
    share = joined.followed / joined.gone if joined.gone else 0
    print(
        f"{len(joined)} distinct texts (type, template) at {joined.places} places; {joined.gone} are not in {joined.releases[-1]}, "
        f"of which {joined.followed} ({share:.0%}) have a successor"
    )


def _say_steps(steps: Sequence[Step], pairs: bool) -> None:
    if pairs:
        print(f"{'release':>16} {'files':>6} {'gone':>6} {'new':>6} {'lost':>6} {'followed':>9}")
        for step in steps:
            print(f"{step.release:>16} {step.files:>6} {step.gone:>6} {step.new:>6} {step.lost:>6} {step.followed:>9}")
    lost, followed, later = (sum(getattr(step, name) for step in steps) for name in ("lost", "followed", "later"))
    gone = sum(step.gone for step in steps)
    print(
        f"{len(steps) - 1} neighbouring pairs: {gone} places gone; {lost} texts gone from one to the next, {followed} followed"
        f" ({followed / max(lost, 1):.1%}), {later} more to a text of a later release, {lost - followed - later} lost"
    )


def _likeness(lost: Sequence[Place], new: Sequence[Place], chosen: random.Random) -> Iterator[tuple[float, float]]:
    """For each text that is gone: the best likeness among the new ones of its function, and among as many of other functions."""
    by_function: dict[tuple[str, str], list[Place]] = defaultdict(list)
    for place in new:
        by_function[place.path, place.function].append(place)
    for place in lost:
        same = by_function.get((place.path, place.function), [])
        others = [other for other in chosen.sample(list(new), min(len(new), 2 * len(same))) if other.function != place.function]
        if same and len(others) >= len(same):
            yield (
                max(fuzz.ratio(place.text, other.text) for other in same),
                max(fuzz.ratio(place.text, other.text) for other in others[: len(same)]),
            )


def _say_thresholds(near: Sequence[tuple[float, float]]) -> None:
    print(f"likeness of {len(near)} gone texts to the nearest new one in the same function, and by chance to as many from elsewhere:")
    for threshold in THRESHOLDS:
        real = sum(one >= threshold for one, _ in near) / max(len(near), 1)
        chance = sum(other >= threshold for _, other in near) / max(len(near), 1)
        mark = " <- taken" if threshold == LIKE else ""
        print(f"  from {threshold}: {real:6.1%} followed, {chance:6.1%} by chance ({chance / real if real else 0:.1%} of them){mark}")


OPENS = """
import re, sys, time
from pathlib import Path
from bot.catalogue.catalogue import Catalogue
begun = time.perf_counter()
catalogue = Catalogue.open(Path(sys.argv[1]), Path(sys.argv[2]))
seconds = time.perf_counter() - begun
status = Path("/proc/self/status").read_text()
print(seconds, int(re.search(r"Vm(?:HWM|RSS):\\s*([0-9]+)", status)[1]) * 1024)
"""
"""A process of its own; its peak is read from /proc, since what getrusage tells counts the process that started it."""


def _say_file(path: Path, errors_dir: Path) -> None:
    size = path.stat().st_size
    print(f"catalogue: {size / 1e6:.1f} MB of {LIMITS['file'] / 1e6:.0f}")
    runs = [subprocess.run([sys.executable, "-c", OPENS, path, errors_dir], capture_output=True, text=True, check=True) for _ in range(3)]
    opened, memory = min(tuple(map(float, run.stdout.split())) for run in runs)
    print(f"opens in {opened:.3f} s of {LIMITS['open']} (record files laid over)")
    print(f"{memory / 1e6:.0f} MB resident of {LIMITS['memory'] / 1e6:.0f}, with Python and all libraries")
    with sqlite3.connect(path) as database:
        frames = database.execute("SELECT DISTINCT file, tail FROM place").fetchall()
    asked = random.Random(0).sample(frames, min(FRAMES, len(frames)))
    seconds = []
    with Catalogue.open(path, errors_dir) as catalogue:
        for file, tail in asked:
            begun = time.perf_counter()
            catalogue.by_frame(f"/x/{file}", tail)
            seconds.append(time.perf_counter() - begun)
    seconds.sort()
    middle, most = seconds[len(seconds) // 2], seconds[int(len(seconds) * 0.95)]
    print(f"by_frame: {middle * 1e3:.2f} ms in the middle, {most * 1e3:.2f} ms for 95 of 100, of {len(frames)} functions")
    print(f"this process had {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at most")


if __name__ == "__main__":
    main()
