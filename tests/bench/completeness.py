"""How complete the Python scanner is: what share of the texts is literal, and what share is nothing but a hole.

    python tests/bench/completeness.py [PACKAGE ...] [--pure] [--into FOLDER]

Archives are fetched from the package index into a folder (kept between runs) and read as bytes; nothing of them is imported or run. One
table is printed: for each package the files, the places found, the share of texts with literal words, the share of pure holes before and
after data flow, what was skipped, and the processor time as a ratio to :func:`ast.parse` over the same files. ``--pure`` prints the holes.

Counted are the texts of raises, assertions and logs, each place once for each alternative; places that print no text at all (a bare class,
an assertion without a message) are left out of the shares. So are assertions that print values only (``assert n == 2, n``): as with those
that print nothing, it is the asserted expression that tells them apart. They are counted in a column of their own.
"""

# ruff: noqa: E402  (the folder of the program has to be found first)
from __future__ import annotations

import argparse
import ast
import gc
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2])]

from bot.catalogue.fetching import fetch
from bot.catalogue.scan import scan
from bot.catalogue.scanners import Raised, Unreadable
from bot.catalogue.scanners.python import scan_python
from bot.catalogue.sources import SourceConfig, SourceError, SourceFile, files
from bot.config import Settings

PACKAGES = {
    "sglang": ("sglang", "0.5.23"),
    "vllm": ("vllm", "0.33.0"),
    "transformers": ("transformers", "5.24.0"),
    "django": ("django", "5.2.19"),
    "pandas": ("pandas", "3.1.1"),
    "scikit-learn": ("sklearn", "1.9.1"),
    "scipy": ("scipy", "1.17.1"),
    "diffusers": ("diffusers", "0.42.1"),
    "ray": ("ray", "2.60.0"),
    "streamlit": ("streamlit", "1.67.0"),
    "homeassistant": ("homeassistant", "2026.2.3"),
}
"""Package name: its folder in the archive, and the release that is measured."""

MOST = {"sglang": 1.0, "scikit-learn": 1.5, "scipy": 1.5, "pandas": 5.0}
"""Pure holes, in percent, that a package may have."""

TESTS = ("*/tests/*", "*/test/*", "*/testing/*", "*/conftest.py")


@dataclass(frozen=True)
class Row:
    """What was measured of one package; shares are of texts, times in seconds of processor time."""

    package: str
    files: int
    places: int
    literal: float
    pure_before: float
    pure_after: float
    values: int
    skipped: int
    seconds: float
    parsing: float


def is_said(raised: Raised) -> bool:
    """Whether a place prints a text that should be known: not for bare classes, and warnings are no errors."""
    return bool(raised.template.parts) and raised.kind != "warning" and not is_value(raised)


def is_value(raised: Raised) -> bool:
    """Whether an assertion prints nothing but values."""
    return raised.kind == "assert" and bool(raised.template.parts) and is_pure(raised)


def is_pure(raised: Raised) -> bool:
    """Whether a text holds no letter and no digit of its own."""
    return not any(char.isalnum() for piece in raised.template.literals for char in piece)


def share(raised: Sequence[Raised], holds: Callable[[Raised], bool]) -> float:
    """Share of the texts, in percent."""
    said = [one for one in raised if is_said(one)]
    return 100 * sum(map(holds, said)) / max(len(said), 1)


def without_flow(found: Iterable[SourceFile]) -> list[Raised]:
    """The same files, each for itself, without following any variable, constant or function."""
    raised: list[Raised] = []
    for file in found:
        try:
            raised += scan_python(file, {}, flow=False).raised
        except Unreadable:
            continue
    return raised


def parsing_time(found: Iterable[SourceFile]) -> float:
    """Seconds of processor time that :func:`ast.parse` alone takes over the files."""
    begun = time.process_time()
    gc.disable()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for file in found:
            try:
                ast.parse(file.text)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
    gc.enable()
    return time.process_time() - begun


def measure(package: str, into: Path, show_pure: bool) -> Row:
    """Fetch, parse and scan one package. Raises SourceError when it cannot be had."""
    folder, release = PACKAGES[package]
    config = SourceConfig(
        repository=f"bench/{package}", package=package, path_prefix={f"{folder}/": f"{folder}/"}, releases=(release,), leave_out=TESTS
    )
    found = [file for file in files(fetch(config, release, into), config) if file.path.endswith(".py")]
    parsing = parsing_time(found)
    begun = time.process_time()
    scanned = scan(found, processes=1)
    seconds = time.process_time() - begun
    if show_pure:
        _print_pure(package, scanned.raised)
    for skipped in scanned.skipped:
        print(f"skipped {skipped.path}: {skipped.reason}", file=sys.stderr)
    return Row(
        package,
        scanned.files,
        len({(one.path, one.line, one.end_line) for one in scanned.raised}),
        share(scanned.raised, lambda one: not is_pure(one)),
        share(without_flow(found), is_pure),
        share(scanned.raised, is_pure),
        sum(map(is_value, scanned.raised)),
        len(scanned.skipped),
        seconds,
        parsing,
    )


def _print_pure(package: str, raised: Iterable[Raised]) -> None:
    pure = [one for one in raised if is_said(one) and is_pure(one)]
    print(f"{package}: {Counter(one.kind for one in pure)}")
    for one in pure:
        first = one.code.split("\n")[0][:70]
        through = f" through {one.through}" if one.through else ""
        print(f"  {one.path}:{one.line} {one.type}: {str(one.template)[:70]!r}{through} | {first}")


def main() -> int:
    """Print the table; 1 when a package has more pure holes than it may."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", help=f"of {', '.join(PACKAGES)}; all by default")
    parser.add_argument("--pure", action="store_true", help="print the places that are nothing but a hole")
    parser.add_argument("--into", type=Path, help="folder of the archives", default=Path(Settings().cache_dir) / "bench" / "sources")
    given = parser.parse_args()
    columns = (
        f"{'package':14}{'files':>7}{'places':>8}{'literal %':>11}{'pure %, no flow':>17}{'pure %':>8}{'assert values':>15}{'skipped':>9}"
    )
    rows = []
    print(f"{columns}{'seconds':>9}{'× ast.parse':>13}")
    for package in given.packages or PACKAGES:
        try:
            row = measure(package, given.into, given.pure)
        except SourceError as error:
            print(f"{package:14}left out: {str(error).splitlines()[0]}")
            continue
        rows.append(row)
        shares = f"{row.literal:>11.2f}{row.pure_before:>17.2f}{row.pure_after:>8.2f}"
        times = f"{row.seconds:>9.1f}{row.seconds / row.parsing:>13.2f}"
        print(f"{package:14}{row.files:>7,}{row.places:>8,}{shares}{row.values:>15}{row.skipped:>9}{times}", flush=True)
    failed = [row.package for row in rows if row.pure_after > MOST.get(row.package, 100)]
    if failed:
        print(f"too many pure holes: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
