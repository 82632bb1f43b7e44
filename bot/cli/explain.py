"""``explainbot explain``: an issue's text in, the comment out; one or many."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from bot.cli.app import DONE, SILENT, Problem, app, console, load_settings, one_line

if TYPE_CHECKING:
    from bot.cli.catalogues import Catalogues
    from bot.handlers.explain import Explained
    from bot.model import Verdict


class Format(StrEnum):
    """How the comment is printed."""

    markdown = "markdown"
    json = "json"
    terminal = "terminal"


FILE = typer.Argument("-", metavar="[FILE|-]", help="The issue's text; standard input when left out.", show_default=False)
REPO = typer.Option(
    "", "--repo", metavar="OWNER/NAME", help="Whose catalogue to use; the only one built when left out.", show_default=False
)
FORMAT = typer.Option(Format.markdown, "--format", help="Markdown as posted, JSON for machines, or rendered here.")
WHY = typer.Option(False, "--why", help="Say on stderr what speaks for and against each candidate.")
JSONL = typer.Option(False, "--jsonl", help="Read and write JSON lines, one issue a line.")


@app.command()
def explain(
    file: str = FILE,
    repo: str = REPO,
    format: Format = FORMAT,
    why: bool = WHY,
    jsonl: bool = JSONL,
) -> None:
    """Print the comment that an issue with this text would get.

    A first line `# title` is the title, the rest the body. Exits 3 when the bot would stay silent.

    With `--jsonl` each line is `{"id", "repo", "title", "body"}`; a line of the answer has the same id, the verdict, the records
    with their sites, and the comment. A line that cannot be read is answered with its error, and the run goes on.

    Examples:

    - `explainbot explain issue.md`

    - `journalctl -u sglang | explainbot explain --repo sgl-project/sglang --format terminal`

    - `explainbot explain --jsonl issues.jsonl > answers.jsonl`
    """
    from bot.cli.catalogues import Catalogues
    from bot.cli.catalogues import explain as say

    settings = load_settings()
    catalogues = Catalogues(settings)
    if jsonl:
        with lines_of(file) as lines:
            for answered in answer_lines(lines, catalogues, repo):
                typer.echo(json.dumps(answered))
        return
    title, body = split_title(read_text(file))
    said = say(catalogues.open(repo or catalogues.only()), settings, title, body)
    if why:
        _print_reasons(said.verdict)
    if format is Format.json:
        from bot.answering import as_json

        typer.echo(json.dumps(as_json(said.verdict, said.comment, said.posted), indent=2))
    elif format is Format.terminal:
        from bot.answering import to_terminal

        console().print(to_terminal(said.verdict, said.comment))
    elif said.comment:
        typer.echo(said.comment)
    if not said.posted:
        typer.echo(f"explainbot: {_held_back(said)}", err=True)
    raise typer.Exit(DONE if said.comment else SILENT)


def _held_back(said: Explained) -> str:
    if said.comment:
        return "would be posted only when asked for: nobody has written this record, and no frame proves the line that raised"
    return f"silent: {said.verdict.why}"


@contextmanager
def lines_of(file: str) -> Iterator[Iterator[str]]:
    """Lines of a file, or of standard input for ``-``, read as they come."""
    if file == "-":
        sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
        yield sys.stdin
        return
    with _open(file) as stream:
        yield stream


def _open(file: str) -> TextIO:
    try:
        return Path(file).open(encoding="utf-8", errors="replace")
    except OSError as error:
        raise Problem(f"{file}: {error.strerror}") from error


def read_text(file: str) -> str:
    """The text of a file, or of standard input for ``-``; bytes that are no UTF-8 become replacement characters.

    Raises Problem when it cannot be read.
    """
    if file == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    with _open(file) as stream:
        return stream.read()


def split_title(text: str) -> tuple[str, str]:
    """Title and body of an issue file: a first line ``# title`` is the title, else there is none."""
    first, _, rest = text.partition("\n")
    if first.startswith("# "):
        return first[2:].strip(), rest.lstrip("\n")
    return "", text


def answer_lines(lines: Iterator[str], catalogues: Catalogues, repo: str = "") -> Iterator[dict[str, Any]]:
    """Answer issues given as JSON lines, in order; ``repo`` is used for lines without one."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _answer_line(line, number, catalogues, repo)


def _answer_line(line: str, number: int, catalogues: Catalogues, repo: str) -> dict[str, Any]:
    from bot.answering import as_json
    from bot.catalogue.catalogue import CatalogueError
    from bot.cli.catalogues import explain as say
    from bot.model import Verdict

    try:
        asked = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {"id": None, "error": f"line {number}: {one_line(error)}"}
    if not isinstance(asked, dict):
        return {"id": None, "error": f"line {number}: not an object"}
    id = asked.get("id")
    title, body, repository = (asked.get(key) or "" for key in ("title", "body", "repo"))
    if not (isinstance(title, str) and isinstance(body, str) and isinstance(repository, str)):
        return {"id": id, "error": f"line {number}: repo, title and body must be texts"}
    try:
        catalogue = catalogues.open(repository or repo or catalogues.only())
    except (Problem, CatalogueError) as error:
        return {"id": id, **as_json(Verdict("silent"), "", False), "error": one_line(error)}
    said = say(catalogue, catalogues.settings, title, body)
    return {"id": id, **as_json(said.verdict, said.comment, said.posted)}


def _print_reasons(verdict: Verdict) -> None:
    typer.echo(f"{verdict.decision}: {verdict.why}", err=True)
    for match in verdict.matches:
        typer.echo(f"  {match.record.id}  {match.score:.2f}  {match.record.type}: {match.record.heading[:100]}", err=True)
        for reason in sorted(match.reasons, key=lambda reason: -abs(reason.weight)):
            typer.echo(f"    {reason.weight:+6.2f}  {reason.name}: {reason.text}", err=True)
