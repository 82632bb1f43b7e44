"""A made-up repository, octo/engine, and its catalogue: one error that people wrote a record for, two that nobody did."""

from __future__ import annotations

from pathlib import Path

from bot.catalogue.catalogue import build
from bot.catalogue.sources import SourceConfig
from bot.model import RaiseSite, Record, SiteLines, Template, record_id

REPOSITORY = "octo/engine"

SPROCKETS = "ValueError: The frobnicator {} needs at least 3 sprockets before it can turn"
"""A line of the error with a record, for a name."""

FLUX = "No flux capacitor was found in slot {slot}; insert one before starting the drive"


def build_catalogue(path: Path) -> None:
    """Build the catalogue of octo/engine."""

    def site(path: str, line: int, function: str, code: str) -> RaiseSite:
        return RaiseSite(path, function, (SiteLines("1.0.0", line, line),), code=code)

    def record(type: str, text: str, *sites: RaiseSite, **said: object) -> Record:
        template = Template.parse(text)
        return Record(record_id(REPOSITORY, type, template), REPOSITORY, type, (template,), sites, **said)  # type: ignore[arg-type]

    records = [
        record(
            "ValueError",
            "The frobnicator {name} needs at least {n} sprockets before it can turn",
            site("engine/gears.py", 10, "turn", "raise ValueError(text)"),
            status="reviewed",
            meaning="The frobnicator has too few sprockets.",
            solutions=("Add sprockets.",),
        ),
        record(
            "RuntimeError",
            FLUX,
            site("engine/drive.py", 20, "start", f'raise RuntimeError(f"{FLUX}")'),
            site("engine/gears.py", 30, "shift", f'raise RuntimeError(f"{FLUX}")'),
        ),
        record("KeyError", "the ledger holds no entry named {entry} for this flight", site("engine/log.py", 5, "find", "raise x")),
    ]
    source = SourceConfig(
        repository=REPOSITORY,
        package="engine",
        releases=("1.0.0",),
        areas={"engine/gears*": "gears", "engine/drive*": "drive"},
    )
    build(path, source, records, ("1.0.0",))
