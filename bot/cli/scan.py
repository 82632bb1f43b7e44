"""``explainbot scan``: fetch a release, scan its source, build the catalogue."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from bot.cli.app import FAILED, Problem, app, console, is_ours, load_settings, one_line, progress_console

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from bot.catalogue.catalogue import Catalogue
    from bot.catalogue.scan import Skipped
    from bot.config import Settings
    from bot.model import Record

REPOSITORIES = typer.Argument(..., metavar="OWNER/NAME…", help="Repositories with a source.yaml below errors/.")
REPORT = typer.Option(False, "--report", help="Also list skipped files, and count records by kind and type.")

TYPES_SHOWN = 15


@dataclass(frozen=True, slots=True)
class Built:
    """What a scan has built: counts, and the seconds that fetching, scanning and writing took."""

    repository: str
    release: str
    files: int
    sites: int
    records: tuple[Record, ...]
    skipped: tuple[Skipped, ...]
    seconds: float

    def summary(self) -> str:
        """One line."""
        skipped = f", {len(self.skipped)} files skipped" if self.skipped else ""
        return (
            f"{self.repository} {self.release}: {self.files} files, {self.sites} raise sites, {len(self.records)} records{skipped}, "
            f"{self.seconds:.1f} s"
        )


@app.command()
def scan(repositories: list[str] = REPOSITORIES, report: bool = REPORT) -> None:
    """Fetch the release that a repository's source.yaml names, scan its source, and build the catalogue.

    The release comes through pip with the settings of this machine; only files in the archive are read, nothing of it is installed or
    run. The built catalogue goes to the cache folder (`EXPLAINBOT_CACHE_DIR`) and takes the place of an older one when it is
    complete. Running servers take it up with the next issue.

    Examples:

    - `explainbot scan sgl-project/sglang`

    - `explainbot scan sgl-project/sglang --report`
    """
    settings = load_settings()
    failed = False
    for repository in repositories:
        try:
            built = scan_repository(settings, repository)
        except Exception as error:
            if not is_ours(error) or len(repositories) == 1:
                raise
            typer.secho(f"explainbot: {one_line(error)}", fg=typer.colors.RED, err=True)
            failed = True
            continue
        typer.echo(built.summary())
        if report:
            _report(built)
    if failed:
        raise typer.Exit(FAILED)


def scan_repository(settings: Settings, repository: str) -> Built:
    """Fetch, scan and build, with progress on stderr; all steps of which can be repeated at any time.

    Raises SourceError (no source.yaml, no such release, no network), CatalogueError, and Problem when the cache folder cannot be written.
    """
    from bot.catalogue.catalogue import Catalogue, build, catalogue_path
    from bot.catalogue.fetching import fetch
    from bot.catalogue.scan import scan as scan_files
    from bot.catalogue.scan import to_records
    from bot.catalogue.source_config import load_source
    from bot.catalogue.sources import files

    begun = time.monotonic()
    try:
        config = load_source(settings.errors_dir, repository)
        path = catalogue_path(settings.cache_dir, config.repository)
    except ValueError as error:
        raise Problem(str(error)) from error
    release = config.releases[-1]
    try:
        with _progress() as progress:
            _step(progress, f"fetch {config.package} {release}")
            archive = fetch(config, release, settings.cache_dir / "sources")
            _step(progress, f"read {config.package} {release}")
            found = list(files(archive, config))
            task = _step(progress, f"scan {config.package} {release}", len(found))
            scanned = scan_files(iter(found), lambda done, of: progress.update(task, completed=done), total=len(found))
            _step(progress, "build the catalogue")
            records = to_records(scanned, config, release)
            build(path, config, records, (release,))
            _save_index(Catalogue.open(path, settings.errors_dir))
    except OSError as error:
        raise Problem(f"the catalogue cannot be written: {error.filename or path}: {error.strerror or error}") from error
    sites = sum(len(record.sites) for record in records)
    return Built(config.repository, release, scanned.files, sites, records, scanned.skipped, time.monotonic() - begun)


def _save_index(catalogue: Catalogue) -> None:
    from bot.matching import Matcher
    from bot.matching.verdict import INDEX_BLOB

    with catalogue:
        catalogue.save_blob(INDEX_BLOB, Matcher(catalogue).index.to_bytes())


@contextmanager
def _progress() -> Iterator[Progress]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description:<28}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=progress_console(), transient=True) as progress:
        yield progress


def _step(progress: Progress, description: str, total: int | None = None) -> TaskID:
    """Show a new step in place of the one before."""
    for task in progress.task_ids:
        progress.remove_task(task)
    return progress.add_task(description, total=total)


def _report(built: Built) -> None:
    from rich.table import Table
    from rich.text import Text

    out = console()
    for skipped in built.skipped:
        out.print(Text(f"skipped {skipped.path}: {skipped.reason}"))
    kinds = Counter(record.kind for record in built.records)
    out.print("By kind: " + ", ".join(f"{number} {kind}" for kind, number in kinds.most_common()), highlight=False)
    bare = sum(not record.template.literals and not record.expression for record in built.records)
    many = sum(len(record.sites) > 1 for record in built.records)
    out.print(f"{bare} records have no literal text, {many} stand at more than one place", highlight=False)
    table = Table("type", title="By type", title_justify="left")
    table.add_column("records", justify="right")
    for type, number in Counter(record.type for record in built.records).most_common(TYPES_SHOWN):
        table.add_row(Text(type or "(not told)"), str(number))
    out.print(table)
