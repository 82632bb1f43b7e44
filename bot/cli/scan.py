"""``explainbot scan``: fetch releases, scan their source, build the catalogue."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bot.cli.app import FAILED, Problem, app, console, is_ours, load_settings, one_line, progress_console

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.table import Table

    from bot.catalogue.catalogue import Catalogue
    from bot.catalogue.changes import Changes
    from bot.catalogue.history import History
    from bot.catalogue.refresh import Refreshed
    from bot.config import Settings
    from bot.model import Record

REPOSITORIES = typer.Argument(..., metavar="OWNER/NAME…", help="Repositories with a source.yaml below errors/.")
RELEASE = typer.Option(
    [], "--release", metavar="VERSION", help="Only this release (or pattern, or latest), in place of those of source.yaml; may be repeated."
)
CHECKOUT = typer.Option(None, "--checkout", metavar="PATH", help="A git checkout to read in place of the package index.")
TAGS = typer.Option(
    None, "--tags", metavar="PATTERN", help="With --checkout: the tags that are releases, e.g. 'v*'; else the commit at HEAD."
)
REPORT = typer.Option(
    False, "--report", help="Also list new, changed and obsolete texts, record files that need a person, and files that were skipped."
)

SHOWN = 40
"""Rows of each list of a report; what is left out is counted."""


@dataclass(frozen=True, slots=True)
class Built:
    """What a scan has built, what differs from the catalogue before it (None where there was none), and the seconds that all took."""

    refreshed: Refreshed
    changes: Changes | None
    seconds: float

    def summary(self) -> str:
        """One line."""
        made, history = self.refreshed, self.refreshed.history
        listing = history.listings[-1][1]
        skipped = f", {len(listing.skipped)} files skipped" if listing.skipped else ""
        names = history.releases
        which = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]} ({len(names)} releases)"
        gone = f" ({made.gone} of them in older releases only)" if made.gone else ""
        same = ", nothing new" if made.unchanged else ""
        return (
            f"{made.config.repository} {which}: {listing.files} files, {made.places} raise sites, {made.records} records{gone}{skipped}"
            f"{same}, {self.seconds:.1f} s"
        )

    def instead(self) -> dict[str, list[str]]:
        """The releases that were read from another kind of archive than source.yaml asks for, by that kind."""
        found: dict[str, list[str]] = {}
        for release, listing in self.refreshed.history.listings:
            if listing.instead:
                found.setdefault(listing.instead, []).append(release)
        return found


@app.command()
def scan(
    repositories: list[str] = REPOSITORIES,
    release: list[str] = RELEASE,
    checkout: Path | None = CHECKOUT,
    tags: str | None = TAGS,
    report: bool = REPORT,
) -> None:
    """Fetch the releases that a repository's source.yaml names, scan their source, and build the catalogue.

    Releases come through pip with the settings of this machine; only files in the archive are read, nothing of it is installed or
    run. What was scanned is kept in the cache folder (`EXPLAINBOT_CACHE_DIR`): a release that is known costs nothing, a new one its changed
    files, and an interrupted scan goes on where it stopped. The built catalogue takes the place of an older one when it is complete.
    Running servers take it up with the next issue.

    Examples:

    - `explainbot scan sgl-project/sglang`

    - `explainbot scan sgl-project/sglang --release 0.5.23 --report`

    - `explainbot scan sgl-project/sglang --checkout ~/sglang --tags 'v0.5.*'`
    """
    settings = load_settings()
    if checkout is not None and (len(repositories) > 1 or release):
        raise Problem("--checkout goes with one repository and without --release; --tags chooses releases of a checkout")
    if tags is not None and checkout is None:
        raise Problem("--tags goes with --checkout")
    failed = False
    for repository in repositories:
        try:
            built = scan_repository(settings, repository, releases=tuple(release), checkout=checkout, tags=tags)
        except Exception as error:
            if not is_ours(error) or len(repositories) == 1:
                raise
            typer.secho(f"explainbot: {one_line(error)}", fg=typer.colors.RED, err=True)
            failed = True
            continue
        typer.echo(built.summary())
        for absent, reason in built.refreshed.history.absent:
            typer.secho(f"left out {absent}: {' '.join(reason.split())}", fg=typer.colors.YELLOW, err=True)
        for other, names in built.instead().items():
            said = f"read from their {other}, since they have no {built.refreshed.config.archive}: {', '.join(names)}"
            typer.secho(said, fg=typer.colors.YELLOW, err=True)
        if report:
            _report(built, settings)
    if failed:
        raise typer.Exit(FAILED)


def scan_repository(
    settings: Settings, repository: str, releases: tuple[str, ...] = (), checkout: Path | None = None, tags: str | None = None
) -> Built:
    """Fetch, scan and build, with progress on stderr; all steps of which can be repeated at any time.

    ``releases`` are meant in place of those of source.yaml; ``checkout`` is a git checkout to take them from (``tags``: pattern of its
    tags). Raises SourceError (no source.yaml, no such release, no network), CatalogueError, and Problem when the cache folder cannot
    be written.
    """
    from bot.catalogue.catalogue import Catalogue, catalogue_path
    from bot.catalogue.changes import compare
    from bot.catalogue.refresh import refresh
    from bot.catalogue.source_config import load_source

    begun = time.monotonic()
    try:
        config = load_source(settings.errors_dir, repository)
        path = catalogue_path(settings.cache_dir, config.repository)
    except ValueError as error:
        raise Problem(str(error)) from error
    before = _earlier(path)
    changes = None
    try:
        with _progress(config.package) as shown:
            made = refresh(
                config, settings.cache_dir, releases=releases, checkout=checkout, tags=tags, phase=shown.phase, watch=shown.watch
            )
            shown.phase("index")
            _save_index(Catalogue.open(path, settings.errors_dir))
            if before is not None and not made.unchanged:
                with Catalogue.open(path) as after:
                    changes = compare(before, after)
    except OSError as error:
        raise Problem(f"the catalogue cannot be written: {error.filename or path}: {error.strerror or error}") from error
    finally:
        if before is not None:
            before.close()
    return Built(made, changes, time.monotonic() - begun)


def _earlier(path: Path) -> Catalogue | None:
    """The catalogue that was there before. It stays readable when its file is replaced."""
    from bot.catalogue.catalogue import Catalogue, CatalogueError

    try:
        return Catalogue.open(path)
    except CatalogueError:
        return None


def _save_index(catalogue: Catalogue) -> None:
    """Keep the index over all texts with the catalogue, where it has none for what people wrote meanwhile."""
    from bot.matching import Matcher
    from bot.matching.verdict import INDEX_BLOB

    with catalogue:
        if catalogue.blob(INDEX_BLOB) is None:
            catalogue.save_blob(INDEX_BLOB, Matcher(catalogue).index.to_bytes())


class _Shown:
    """Progress: one line for the releases, one for the files of the release that is scanned."""

    def __init__(self, progress: Progress, package: str) -> None:
        self.progress, self.package = progress, package
        self.releases = progress.add_task(f"list releases of {package}", total=None)
        self.files = progress.add_task("", total=None, visible=False)

    def phase(self, name: str) -> None:
        said = {"scan": f"scan {self.package}", "join": "join the releases", "write": "write the catalogue", "index": "index its texts"}
        self.progress.update(self.releases, description=said.get(name, f"list releases of {self.package}"))
        self.progress.update(self.files, visible=False)

    def watch(self, release: str, releases: int, of: int, done: int, files: int) -> None:
        self.progress.update(self.releases, completed=releases, total=of)
        description = f"files of {release}" if files else f"fetch {release}"
        self.progress.update(self.files, description=description, completed=done, total=files or None, visible=True)


@contextmanager
def _progress(package: str) -> Iterator[_Shown]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description:<32}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=progress_console(), transient=True) as progress:
        yield _Shown(progress, package)


# --------------------------------------------------------------------------------------------------------- report


def _report(built: Built, settings: Settings) -> None:
    from bot.catalogue.catalogue import Catalogue

    out = console()
    if built.changes is None:
        said = "made of the same as before" if built.refreshed.unchanged else "no catalogue was there before to compare with"
        out.print(f"Nothing is new, changed or obsolete: {said}.", highlight=False)
    else:
        _say_changes(built.changes)
    with Catalogue.open(built.refreshed.path, settings.errors_dir) as catalogue:
        _say_files(catalogue)
    _say_skipped(built.refreshed.history)
    history, seconds = built.refreshed.history, built.refreshed.history.seconds
    out.print(
        f"{len(history.listings)} releases, {history.from_cache} of them known before; seconds: download {seconds.download:.1f}"
        f" (beside the rest), scan {seconds.scan:.1f}, join {seconds.join:.1f}, write {seconds.write:.1f}",
        highlight=False,
    )


def _say_changes(changes: Changes) -> None:
    from rich.text import Text

    for title, records in (("New", changes.new), ("Obsolete", changes.obsolete)):
        table = _table(f"{title}: {len(records)}", "type", "text", "place")
        for record in records[:SHOWN]:
            table.add_row(*map(Text, (record.type or "(not told)", record.heading, _place(record))))
        _print(table, len(records))
    table = _table(f"Changed: {len(changes.changed)}", "place", "old text", "new text")
    for old, new in changes.changed[:SHOWN]:
        table.add_row(*map(Text, (_place(new), f"{old.type}: {old.heading}", f"{new.type}: {new.heading}")))
    _print(table, len(changes.changed))


def _say_files(catalogue: Catalogue) -> None:
    from rich.text import Text

    out = console()
    for fault in catalogue.faults:
        out.print(Text(f"{fault.file}:{fault.line}: {fault.problem}; {fault.mend}"))
    waiting = [record for record in catalogue.written if record.status in ("changed", "obsolete")]
    table = _table(f"Record files that need a person: {len(waiting)}", "file", "status", "text now")
    for record in waiting[:SHOWN]:
        last = catalogue.last_release(record)
        status = f"{record.status} (last in {last})" if last else record.status
        table.add_row(*map(Text, (record.file, status, str(record.template) if record.status == "changed" else "")))
    _print(table, len(waiting))


def _say_skipped(history: History) -> None:
    from rich.text import Text

    skipped: dict[tuple[str, str], list[str]] = {}
    for release, listing in history.listings:
        for one in listing.skipped:
            skipped.setdefault((one.path, one.reason), []).append(release)
    out = console()
    for (path, reason), releases in list(skipped.items())[:SHOWN]:
        where = f" ({_span(releases)})" if len(history.listings) > 1 else ""
        out.print(Text(f"skipped {path}: {reason}{where}"))
    if len(skipped) > SHOWN:
        out.print(f"and {len(skipped) - SHOWN} more skipped files", highlight=False)
    for reason, number in Counter(reason.split(":")[0] for _, reason in skipped).most_common():
        out.print(Text(f"{number} files {reason}"), highlight=False)


def _span(releases: Sequence[str]) -> str:
    return releases[0] if len(releases) == 1 else f"{releases[0]} to {releases[-1]}"


def _place(record: Record) -> str:
    return f"{record.sites[0].path}:{record.sites[0].latest.line}" if record.sites else ""


def _table(title: str, *columns: str) -> Table:
    from rich.table import Table

    return Table(*columns, title=title, title_justify="left")


def _print(table: Table, number: int) -> None:
    if number:
        console().print(table)
        if number > SHOWN:
            console().print(f"and {number - SHOWN} more", highlight=False)
