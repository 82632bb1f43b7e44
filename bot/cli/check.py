"""``explainbot check``: are the record files right? And ``explainbot documents``: are the documents what the code says?"""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bot.cli.app import FAILED, Problem, app, load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.catalogue.catalogue import Catalogue
    from bot.catalogue.prose import Remark
    from bot.catalogue.records import Fault
    from bot.catalogue.trials.trying import Trials
    from bot.config import Settings
    from bot.model import RaiseSite, Record

MAX_UNJUDGED = 5
"""Guards and handlers that are named because they could not be judged; the others are counted."""

PATHS = typer.Argument(None, metavar="[PATH]…", help="Record files, or folders of them; all records when left out.")


class Format(StrEnum):
    """How faults are printed."""

    text = "text"
    json = "json"
    schema = "schema"


FORMAT = typer.Option(Format.text, "--format", help="A line a fault, JSON, or the JSON Schema of record files for editors.")


ONLINE = typer.Option(False, "--online", help="Also ask the package index for each `pip install NAME==VERSION`.")


@app.command()
def check(paths: list[Path] | None = PATHS, format: Format = FORMAT, online: bool = ONLINE) -> None:
    """Check record files; each fault is named with file, line and mend.

    Keys, wording, placeholders, code, links; options, environment variables and modules are held against the newest release that a scan
    has kept. Guard and handler are run among stubs, in a process without rights; nothing of the project is run. Where the catalogue of the
    repository is built (`explainbot scan`), the examples of a record must be answered with it, and its confusers must not. Exits 1 when
    something is wrong.

    Examples:

    - `explainbot check`

    - `explainbot check errors/sgl-project/sglang/attention/helion-missing.yaml`

    - `explainbot check --format schema > record.schema.json`
    """
    if format is Format.schema:
        from bot.catalogue.records import json_schema

        typer.echo(json.dumps(json_schema(), indent=2))
        return
    settings = load_settings()
    wanted = [path.resolve() for path in paths or ()]
    for path in wanted:
        if not path.exists():
            raise Problem(f"{path}: no such file or folder")
    faults: list[Fault] = []
    number = 0
    for repository in repositories(settings.errors_dir):
        home = settings.errors_dir.joinpath(*repository.split("/")).resolve()
        if not wanted or any(path.is_relative_to(home) or home.is_relative_to(path) for path in wanted):
            found, records = _check(settings, repository, wanted, online)
            faults += found
            number += records
    if wanted and not number and not faults:
        raise Problem(f"no record files there; they are in {settings.errors_dir}/OWNER/NAME/")
    if format is Format.json:
        from dataclasses import asdict

        typer.echo(json.dumps([asdict(fault) for fault in faults], indent=2))
    else:
        for fault in faults:
            typer.echo(f"{_shown(settings.errors_dir / fault.file)}:{fault.line}: {fault.problem} → {fault.mend}")
        typer.echo(f"{number} records, {len(faults)} faults", err=True)
    if faults:
        raise typer.Exit(FAILED)


def repositories(errors_dir: Path) -> list[str]:
    """The repositories that have a folder with a ``source.yaml`` below ``errors/``, by name."""
    return sorted("/".join(file.parent.relative_to(errors_dir).parts) for file in errors_dir.glob("*/*/source.yaml"))


def _check(settings: Settings, repository: str, wanted: list[Path], online: bool) -> tuple[list[Fault], int]:
    from concurrent.futures import ThreadPoolExecutor

    from bot.catalogue.records import load_records
    from bot.catalogue.trials.trying import try_code
    from bot.cli.catalogues import Catalogues
    from bot.evaluation import check_samples

    def asked(file: str) -> bool:
        path = (settings.errors_dir / file).resolve()
        return not wanted or any(path.is_relative_to(one) for one in wanted)

    records, faults = load_records(settings.errors_dir, repository)
    records = tuple(record for record in records if asked(record.file))
    found = [fault for fault in faults if asked(fault.file)]
    if not records:
        return found, 0
    catalogue = Catalogues(settings).open_or_none(repository)
    with ThreadPoolExecutor(1) as beside:  # code runs in a process of its own while texts are matched in this one
        trials = beside.submit(try_code, [(record, _sites(record, catalogue)) for record in records])
        found += _check_texts(settings, repository, records, catalogue, online)
        if catalogue is None:
            typer.echo(f"{repository}: no catalogue is built, so examples are not tried; explainbot scan {repository}", err=True)
        else:
            found += check_samples(catalogue, records, settings.errors_dir)
        found += (_fault(settings, record, remark) for record, remark in trials.result().remarks)
    _tell(trials.result(), repository, settings)
    return sorted(found), len(records)


def _fault(settings: Settings, record: Record, said: Remark) -> Fault:
    from bot.catalogue.records import Fault, find_line

    return Fault(record.file, find_line(settings.errors_dir, record.file, said.needle, *said.where), said.problem, said.mend)


def _sites(record: Record, catalogue: Catalogue | None) -> tuple[RaiseSite, ...]:
    joined = catalogue.get(record.id) if catalogue is not None else None
    return joined.sites if joined is not None else ()


def _tell(trials: Trials, repository: str, settings: Settings) -> None:
    """What trials came to, apart from faults."""
    if trials.held or trials.ran or trials.unjudged:
        counts = f"{trials.held} held against what the source raises, {trials.ran} only run, {len(trials.unjudged)} not judged"
        typer.echo(f"{repository}: guards and handlers: {counts}", err=True)
    for record, part, why in trials.unjudged[:MAX_UNJUDGED]:
        typer.echo(f"{_shown(settings.errors_dir / record.file)}: `{part}` is not judged: {why}", err=True)


def _check_texts(
    settings: Settings, repository: str, records: tuple[Record, ...], catalogue: Catalogue | None, online: bool
) -> Iterator[Fault]:
    """What people wrote: wording, code, links, and what it says of the project."""
    from bot.answering.sanitise import LINK_HOSTS
    from bot.catalogue.claims import check_claims, check_packages, source_names
    from bot.catalogue.pins import check_pins
    from bot.catalogue.prose import check_prose
    from bot.catalogue.source_config import load_source

    config = load_source(settings.errors_dir, repository)
    names = source_names(config, settings.cache_dir)
    if names is None:
        say = f"{repository}: no release is kept, so options, environment variables and modules are not looked up"
        typer.echo(f"{say}; explainbot scan {repository}", err=True)
    for record in records:
        joined = catalogue.get(record.id) if catalogue is not None else None
        # A text that is gone is explained for those who run the releases that had it, with the options that those had.
        held = None if joined is not None and joined.status == "obsolete" else names
        yield from (_fault(settings, record, remark) for remark in (*check_prose(record), *check_claims(record, held, config, LINK_HOSTS)))
    unknown = 0
    releases = catalogue.releases if catalogue is not None else ()
    for record in records if releases else ():
        remarks, unscanned = check_pins(record, _sites(record, catalogue), config, releases)
        unknown += unscanned
        yield from (_fault(settings, record, remark) for remark in remarks)
    if unknown:
        typer.echo(f"{repository}: {unknown} lines are pinned to commits or tags that are not scanned, and not looked up", err=True)
    if online:
        yield from (_fault(settings, record, remark) for record, remark in check_packages(records))


def _shown(path: Path) -> Path:
    """The path as seen from the working folder, where it is below it."""
    try:
        return path.resolve().relative_to(Path.cwd())
    except ValueError:
        return path


@app.command(hidden=True)
def documents(
    root: str = typer.Argument(".", help="The checkout."),
    compare: bool = typer.Option(False, "--check", help="Write nothing; exit 1 when something would change."),
) -> None:
    """Write the tables of the README and deploy/env.example anew from the code."""
    from bot.cli.documents import render

    if not Path(root, "README.md").exists():
        raise Problem(f"{Path(root).resolve()} holds no README.md; run it in the checkout")
    stale = [(path, text) for path, text in render(Path(root)) if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path, text in stale:
        if not compare:
            path.write_text(text, encoding="utf-8")
        typer.echo(f"{path} is not what the code says" if compare else f"{path} written")
    if compare and stale:
        raise typer.Exit(FAILED)
