"""The JSON API: a record with all that is known of it, and the search."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, abort, jsonify, request

from bot.model import RaiseSite, Record, Sample
from bot.web.lookup import Found, Lookup, page_number


def blueprint(lookup: Lookup, public_url: str) -> Blueprint:
    """``/api/errors`` and ``/api/errors/<id>``."""
    routes = Blueprint("api", __name__, url_prefix="/api")
    root = public_url.rstrip("/")

    @routes.get("/errors/<id>")
    def one(id: str) -> Response:
        found = lookup.get(id)
        if found is None:
            abort(404)
        return jsonify(record_as_json(found, root))

    @routes.get("/errors")
    def search() -> Response:
        number = page_number(request.args.get("page", ""))
        if number is None:
            abort(400)
        page = lookup.search(request.args.get("q", ""), request.args.get("type", ""), request.args.get("repository", ""), number)
        return jsonify(
            page=page.number,
            pages=page.pages,
            total=page.total,
            records=[summary_as_json(found.record, root) for found in page.found],
        )

    return routes


def record_as_json(found: Found, root: str) -> dict[str, Any]:
    """Every field of a record, its sites with permalinks, and related records. ``root`` is our own address."""
    record, catalogue = found.record, found.catalogue
    source, provenance, example = record.source, record.provenance, record.example
    return {
        **summary_as_json(record, root),
        "templates": [str(template) for template in record.templates],
        "expression": record.expression,
        "meaning": record.meaning,
        "solutions": list(record.solutions),
        "remedies": list(record.remedies),
        "example_fix": {"before": example.before, "after": example.after} if example else None,
        "guard": record.guard or None,
        "handler": record.handler or None,
        "trigger": record.trigger,
        "common_situations": record.situations,
        "symptom": record.symptom,
        "wraps": [summary_as_json(other, root) for other in catalogue.wrapped(record)],
        "wrapped_by": [summary_as_json(other, root) for other in catalogue.wrapped_by(record)],
        "related": [summary_as_json(other, root) for other in catalogue.related(record)],
        "source": {"path": source.path, "line": source.line, "commit": source.commit, "url": catalogue.pinned_url(record)}
        if source
        else None,
        "provenance": {"author": provenance.author, "commit": provenance.commit, "date": provenance.date} if provenance else None,
        "examples": [_sample(sample) for sample in record.samples],
        "confusers": [_sample(sample) for sample in record.confusers],
        "seen_in": [{"issue": number, "url": f"https://github.com/{record.repository}/issues/{number}"} for number in record.seen_in],
        "translations": {
            told.language: {"title": told.title, "meaning": told.meaning, "solutions": list(told.solutions)} for told in record.translations
        },
        "file": record.file,
        "areas": list(catalogue.areas(record)),
        "releases": list(catalogue.releases),
        "sites": [_site(site, found) for site in record.sites],
    }


def summary_as_json(record: Record, root: str) -> dict[str, Any]:
    """What a list shows of a record."""
    return {
        "id": record.id,
        "repository": record.repository,
        "type": record.type,
        "kind": record.kind,
        "status": record.status,
        "title": record.heading,
        "message": str(record.template),
        "url": f"{root}/errors/{record.id}",
        "api_url": f"{root}/api/errors/{record.id}",
    }


def _sample(sample: Sample) -> dict[str, Any]:
    return {"text": sample.text, "captures": dict(sample.captures)}


def _site(site: RaiseSite, found: Found) -> dict[str, Any]:
    at = site.latest
    return {
        "path": site.path,
        "line": at.line,
        "end_line": at.end_line,
        "function": site.function,
        "release": at.release,
        "url": found.catalogue.source_url(site),
        "code": site.code,
        "conditions": [{"kind": condition.kind, "text": condition.text} for condition in site.conditions],
        "signature": site.signature,
        "through": site.through,
        "flags": list(site.flags),
        "entry": site.entry,
        "documented": [{"parameter": name, "text": text} for name, text in site.documented],
        "lines": [
            {
                "release": lines.release,
                "line": lines.line,
                "end_line": lines.end_line,
                "url": found.catalogue.source_url(site, lines.release),
            }
            for lines in site.lines
        ],
    }
