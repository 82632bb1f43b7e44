"""``explainbot new``: start a record file from what the machine knows, with the gaps marked."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bot.cli.app import Problem, app, load_settings

if TYPE_CHECKING:
    from bot.catalogue.catalogue import Catalogue
    from bot.config import Settings
    from bot.model import Match, Record, Sample

WHAT = typer.Argument(..., metavar="ID|MESSAGE|FILE", help="A record's id, an error message, or a file with an issue's text (- for stdin).")
REPO = typer.Option(
    "", "--repo", metavar="OWNER/NAME", help="Whose catalogue to use; the only one built when left out.", show_default=False
)

MAX_SLUG = 60
"""Characters of a file's name, so that it can be read in a list."""

MAX_CONDITIONS = 3
"""Conditions told in the trigger: the innermost, which say most."""

_ID = re.compile("[0-9a-f]{16}")


@app.command()
def new(what: str = WHAT, repo: str = REPO) -> None:
    """Start a record file: all that the source says is filled in, each gap is marked TODO.

    The file is written to `errors/OWNER/NAME/AREA/`; one that is there is never overwritten. It counts as no record until no TODO is
    left, and `explainbot check` names each.

    Examples:

    - `explainbot new 4f1d0c6e2a9b8d37`

    - `explainbot new "ValueError: Unknown attention backend: fa9"`

    - `explainbot new issue.md --repo sgl-project/sglang`
    """
    from bot.cli.catalogues import Catalogues

    settings = load_settings()
    catalogues = Catalogues(settings)
    catalogue = catalogues.open(repo or catalogues.only())
    record, match = find(what, catalogue)
    if record.file and (settings.errors_dir / record.file).exists():
        raise Problem(f"{settings.errors_dir / record.file} explains this error already; edit that file")
    begun = started(replace(record, file=file_of(record, catalogue)), match, catalogue)
    path = write(begun, catalogue, settings)
    typer.echo(path)
    gaps = len(re.findall(r"\bTODO\b", path.read_text(encoding="utf-8")))
    typer.echo(f"{gaps} gaps to fill, each marked TODO; then run: explainbot check {path}", err=True)


def file_of(record: Record, catalogue: Catalogue) -> str:
    """Where the file of a record goes, relative to the folder of all record files."""
    return f"{catalogue.repository}/{area_of(record, catalogue)}/{slug(record)}.yaml"


def write(record: Record, catalogue: Catalogue, settings: Settings) -> Path:
    """Write a record's file, which must not be there yet. Raises Problem."""
    path = settings.errors_dir / record.file
    text = render(record, catalogue)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise Problem(f"{path} is there already and is left as it is; edit it, or rename it and run this again") from error
    except OSError as error:
        raise Problem(f"{path} cannot be written: {error.strerror}") from error
    return path


def find(what: str, catalogue: Catalogue) -> tuple[Record, Match | None]:
    """The record of an id; or that of the error which a message, or the text in a file, shows best, with how it was recognised.

    Raises Problem when there is none, with the nearest that there are.
    """
    from bot.cli.explain import read_text, split_title
    from bot.matching import match
    from bot.reading import read

    if _ID.fullmatch(what):
        record = catalogue.get(what)
        if record is None:
            raise Problem(f"{catalogue.repository} has no record {what}; `explainbot explain --why FILE` shows the ids of candidates")
        return record, None
    title, body = split_title(read_text(what)) if what == "-" or _is_file(what) else ("", what)
    verdict = match(read(title, body), catalogue)
    if verdict.decision == "silent":
        near = "; ".join(f"{one.record.id} {one.record.type}: {one.record.heading[:70]}" for one in verdict.matches[:3])
        raise Problem(f"no error of {catalogue.repository} is recognised in it ({verdict.why})" + (f". Give an id: {near}" if near else ""))
    return verdict.matches[0].record, verdict.matches[0]


def _is_file(what: str) -> bool:
    try:
        return Path(what).is_file()
    except (OSError, ValueError):  # a message may be too long for a name, or hold a zero byte
        return False


def area_of(record: Record, catalogue: Catalogue) -> str:
    """The folder of a record: the first area of ``source.yaml`` that it belongs to, or ``general``."""
    areas = catalogue.areas(record)
    return slugged(areas[0]) if areas else "general"


def slug(record: Record) -> str:
    """The name of a record's file, from the words of its heading outside the holes."""
    literal = " ".join(record.template.literals).strip().split("\n")[0]
    return slugged(record.title or literal or record.expression) or slugged(record.type) or record.id


def slugged(text: str) -> str:
    """Small letters and digits with hyphens between, cut at a word."""
    name = ""
    for word in re.findall("[a-z0-9]+", text.lower()):
        if len(name) + len(word) >= MAX_SLUG:
            break
        name += f"-{word}" if name else word
    return name


def started(record: Record, match: Match | None, catalogue: Catalogue) -> Record:
    """The record with what the source says of it, and marks where a person has to write."""
    from bot.catalogue import derive
    from bot.catalogue.form import TODO
    from bot.model import Sample

    return replace(
        record,
        status="draft",
        title=f"{TODO}: the error in a few words",
        meaning=f"{TODO}: what it means, in two or three sentences; {{name}} of a hole is filled in",
        solutions=(*record.remedies, f"{TODO}: what helps, the most likely first"),
        trigger=_trigger(record) or f"{TODO}: what somebody does to get it",
        situations=f"{TODO}: where it is met in practice",
        guard=_guard(record),
        handler=derive.handler(record.type, record.sites, catalogue.source),
        related=tuple(other.heading for other in catalogue.related(record)),
        samples=_samples(record, match),
        confusers=(Sample(f"{TODO}: a similar text that is another error"),),
        source=None,
        provenance=None,
    )


def render(record: Record, catalogue: Catalogue) -> str:
    """The file of a record that was started, with notes on where to read the source."""
    from bot.catalogue.records import dump_record

    header, _, body = dump_record(record).partition("\n")
    notes = [f"# {note}" for note in _notes(record, catalogue)]
    return "\n".join([header, *notes, body])


def _notes(record: Record, catalogue: Catalogue) -> list[str]:
    """Where to read the source, for the person who writes."""
    notes = [f"Raised at {catalogue.source_url(site)}" for site in record.sites[:5]]
    if len(record.sites) > 5:
        notes.append(f"and at {len(record.sites) - 5} more places")
    since, until = catalogue.first_release(record), catalogue.last_release(record)
    if since or until:
        notes.append("Releases: " + " ".join(([f"since {since}"] if since else []) + ([f"until {until}"] if until else [])))
    return notes


def _trigger(record: Record) -> str:
    """The conditions of the newest site in words."""
    from bot.answering.sanitise import BREAK
    from bot.answering.words import circumstances, options_of, verb

    if not record.sites:
        return ""
    site = max(record.sites, key=lambda one: len(one.lines))
    told = circumstances([condition for condition in site.conditions if condition.kind != "assert"], MAX_CONDITIONS)
    what = f"`{record.expression}` does not hold" if record.expression else verb(record)
    said = f"{what} in `{site.function}`"
    flags = f" Options that lead there: {options_of(site.flags)}." if site.flags else ""
    return f"{said}{f' when {told}' if told else ''}.{flags}".replace(BREAK, "")


def _guard(record: Record) -> str:
    """The check that the source shows, as code that stands by itself."""
    from bot.catalogue import derive
    from bot.catalogue.prose import undefined_names

    check = derive.guard(record.sites)
    try:
        needed = undefined_names(check)
    except SyntaxError:
        return ""
    if not needed:
        return check
    body = check.replace("\n", "\n    ")
    return f"def is_fine({', '.join(needed)}) -> bool:\n    return {body}" if "\n" not in check else ""


def _samples(record: Record, match: Match | None) -> tuple[Sample, ...]:
    from bot.answering.secrets import mask
    from bot.catalogue.form import TODO
    from bot.model import Sample

    gap = Sample(f"{TODO}: the text as it occurs: with the prefix of a log line, in a title, or as another release prints it")
    if match is None:
        whole = "" if record.template.holes else "".join(record.template.literals)
        first = Sample(f"{record.type}: {whole}".removeprefix(": ")) if whole else Sample(f"{TODO}: the text as a traceback prints it")
        return first, gap
    found = match.occurrence
    text, hidden = mask(f"{found.type}: {found.message}" if found.type and not found.type.startswith("log:") else found.message)
    captures = () if hidden else tuple((capture.expression, capture.value) for capture in match.captures if capture.value)
    return Sample(text, captures), gap
