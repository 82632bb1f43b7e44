"""The pages: one for each error, the search, and the start page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flask import Blueprint, Response, abort, render_template, request
from markdown_it import MarkdownIt
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.util import ClassNotFound

from bot.answering.passages import code_says
from bot.answering.sanitise import paragraphs, prose
from bot.answering.words import circumstances, language_of, last_release, options_of, printed_type
from bot.catalogue.catalogue import Catalogue
from bot.model import Hole, RaiseSite, Record, Template
from bot.web.lookup import Found, Lookup, page_number

OPEN_SITES = 2
"""Raise sites shown with their code; the others are folded."""

MAX_SITES = 200

_MARKDOWN = MarkdownIt("commonmark", {"html": False})
_FORMATTER = HtmlFormatter(nowrap=True)

_STATUS = {
    "reviewed": "Explained, and held against the source.",
    "draft": "Explained, but not yet held against the source.",
    "derived": "Nobody has explained this error in words yet: what stands here is read from the source code.",
    "changed": "The text of this error has changed in a newer release since it was explained.",
    "obsolete": "The newest release no longer has this text.",
}


@dataclass(frozen=True, slots=True)
class SiteView:
    """A raise site as the page shows it."""

    path: str
    line: int
    function: str
    release: str
    since: str
    url: str
    code: Markup
    conditions: Markup
    through: str
    flags: Markup
    entry: str
    documented: tuple[tuple[str, str], ...]


def blueprint(lookup: Lookup) -> Blueprint:
    """``/``, ``/errors`` and ``/errors/<id>``."""
    routes = Blueprint("pages", __name__)

    @routes.get("/")
    def home() -> str:
        return render_template("home.html", catalogues=tuple(lookup.catalogues()))

    @routes.get("/errors")
    def search() -> str:
        number = page_number(request.args.get("page", ""))
        if number is None:
            abort(404)
        asked = {name: request.args.get(name, "").strip()[:200] for name in ("q", "type", "repository")}
        page = lookup.search(asked["q"], asked["type"], asked["repository"], number)
        return render_template("search.html", page=page, asked=asked)

    @routes.get("/errors/<id>")
    def one(id: str) -> Response:
        found = lookup.get(id)
        if found is None:
            abort(404)
        response = Response(render_template("record.html", **_view(found)), mimetype="text/html")
        response.headers["Cache-Control"] = "public, max-age=300"
        return response

    @routes.app_template_filter("type")
    def type_filter(record: Record) -> str:
        return printed_type(record.type) or record.type.removeprefix("log:")

    routes.add_app_template_filter(prose_html, "prose")
    routes.add_app_template_filter(line_html, "line")
    return routes


def message_html(template: Template) -> Markup:
    """A template with its holes marked, escaped."""
    return Markup("").join(
        Markup('<mark title="filled in at run time">{}</mark>').format(str(part)) if isinstance(part, Hole) else part
        for part in template.parts
    )


def prose_html(text: str, record: Record) -> Markup:
    """What a record's author wrote, as HTML: the same subset of Markdown as in a comment, holes shown by their names."""
    names: dict[str, str | None] = {hole.expression: None for template in record.templates for hole in template.holes}
    return Markup(_MARKDOWN.render(paragraphs(text, names, most=4_000)))  # noqa: S704  made by a renderer that escapes


def line_html(text: str, record: Record) -> Markup:
    """Prose of one line, without a paragraph around it."""
    names: dict[str, str | None] = {hole.expression: None for template in record.templates for hole in template.holes}
    return Markup(_MARKDOWN.renderInline(prose(text, names, most=1_000)))  # noqa: S704


def code_html(text: str, language: str = "", file: str = "", first: int = 0) -> Markup:
    """Code with classes for its colours, one span a line; ``first`` is the number of its first line, 0 for no numbers."""
    try:
        lexer = get_lexer_for_filename(file) if file else get_lexer_by_name(language or language_of(text))
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    lines = highlight(text.strip("\n"), lexer, _FORMATTER).rstrip("\n").split("\n")
    if not first:
        return Markup("\n".join(lines))  # noqa: S704  Pygments escapes
    return Markup("\n").join(
        Markup('<span class="line" data-line="{}">').format(number) + Markup(line) + Markup("</span>")  # noqa: S704
        for number, line in enumerate(lines, first)
    )


def indented(text: str) -> str:
    """A statement whose lines were stripped, with each line set in by the brackets that are open where it begins."""
    lines, depth, quote = [], 0, ""
    for line in text.split("\n"):
        closing = len(line) - len(line.lstrip(")]}"))
        lines.append(" " * 4 * max(depth - closing, 0) + line)
        skip = False
        for char in line:
            if skip:
                skip = False
            elif char == "\\":
                skip = True
            elif quote:
                quote = "" if char == quote else quote
            elif char in "'\"":
                quote = char
            elif char == "#":
                break
            else:
                depth += (char in "([{") - (char in ")]}")
        quote = ""
    return "\n".join(lines)


def _view(found: Found) -> dict[str, object]:
    record, catalogue = found.record, found.catalogue
    example = record.example
    sites = [_site(site, found) for site in record.sites[:MAX_SITES]]
    return {
        "record": record,
        "catalogue": catalogue,
        "status": _STATUS[record.status],
        "until": last_release(record) if record.status == "obsolete" else None,
        "messages": [message_html(template) for template in record.templates if template.parts],
        "asserted": code_html(f"assert {record.expression}", "python") if record.expression else None,
        "meaning": prose_html(record.meaning, record) if record.meaning else _derived_meaning(record),
        "solutions": [line_html(text, record) for text in record.solutions or record.remedies],
        "example": (code_html(example.before), code_html(example.after)) if example else None,
        "guard": code_html(record.guard) if record.guard else None,
        "handler": code_html(record.handler) if record.handler else None,
        "trigger": prose_html(record.trigger, record) if record.trigger else None,
        "situations": prose_html(record.situations, record) if record.situations else None,
        "open_sites": sites[:OPEN_SITES],
        "more_sites": sites[OPEN_SITES:],
        "unshown": len(record.sites) - len(sites),
        "pinned": catalogue.pinned_url(record),
        "areas": catalogue.areas(record),
        "releases": _releases(record),
        "lists": [(heading, others) for heading, others in _others(record, catalogue) if others],
    }


def _others(record: Record, catalogue: Catalogue) -> Iterable[tuple[str, Sequence[Record]]]:
    """Other errors under their headings, each of them once."""
    wrapped, wrappers = catalogue.wrapped(record), catalogue.wrapped_by(record)
    named = {other.id for other in (*wrapped, *wrappers)}
    yield "Raised in place of", wrapped
    yield "Reported to callers as", wrappers
    yield "Related errors", [other for other in catalogue.related(record) if other.id not in named]


def _derived_meaning(record: Record) -> Markup:
    said = code_says(record, None)
    return Markup(_MARKDOWN.render(said)) if said else Markup("")  # noqa: S704  every value in it stands in backticks


def _site(site: RaiseSite, found: Found) -> SiteView:
    at = site.latest
    told = circumstances(site.conditions, most=12)
    return SiteView(
        path=site.path,
        line=at.line,
        function=site.function,
        release=at.release,
        since=site.lines[0].release if len(site.lines) > 1 else "",
        url=found.catalogue.source_url(site),
        code=code_html(indented(site.code), file=site.path.rsplit("/", 1)[-1], first=at.line) if site.code else Markup(""),
        conditions=Markup(_MARKDOWN.renderInline(told)),  # noqa: S704
        through=site.through,
        flags=Markup(_MARKDOWN.renderInline(options_of(site.flags))),  # noqa: S704
        entry=site.entry,
        documented=site.documented,
    )


def _releases(record: Record) -> str:
    """The span of releases that have the record, as far as they were scanned."""
    seen = list(dict.fromkeys(at.release for site in record.sites for at in site.lines))
    if not seen:
        return ""
    return seen[0] if len(seen) == 1 else f"{seen[0]} to {last_release(record)}"
