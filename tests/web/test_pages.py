"""The pages and the JSON API over a real catalogue."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bot.web
from bot.catalogue.catalogue import Catalogue, CatalogueError
from bot.config import Settings
from bot.model import Template, record_id
from bot.web.app import create_app
from bot.web.pages import indented

REPOSITORY = "octo/engine"


def id_of(type: str, text: str) -> str:
    return record_id(REPOSITORY, type, Template.parse(text))


HEADS = id_of("ValueError", "tp_size {tp_size} must divide the {heads} heads")
MANY = id_of("KeyError", "said at many places")


class Page(HTMLParser):
    """Tags with their attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_endtag(self, tag: str) -> None:
        if tag in ("h2", "h3", "dt", "dd", "p", "figcaption"):
            self.text += " "

    def links(self) -> list[str]:
        return [attrs.get("href") or "" for tag, attrs in self.tags if tag == "a"]


def page(client: FlaskClient, path: str, status: int = 200) -> Page:
    answer = client.get(path)
    assert answer.status_code == status
    assert answer.mimetype == "text/html"
    return Page(answer.get_data(as_text=True))


def hostile(client: FlaskClient) -> str:
    return str(client.get("/api/errors?q=hostile&type=RuntimeError").json["records"][0]["id"])  # type: ignore[index]


def test_the_page_of_a_record_is_as_complete_as_the_record(client: FlaskClient) -> None:
    shown = page(client, f"/errors/{HEADS}")
    at = 0
    for piece in [
        "octo/engine · error · ValueError",
        "The heads cannot be spread evenly",
        "Error message tp_size {tp_size} must divide the {heads} heads",
        "What it means --tp is tp_size, but the model has heads heads <img src=x>.",
        "Source engine/args.py:20 in Args.check, 1.1, since 1.0 or earlier",
        "raise ValueError( ",
        "Reached when heads % tp_size != 0 holds.",
        "Explained from engine/args.py:77 (pinned to 0123456789)",
        "Solutions Take a --tp that divides heads Use fewer GPUs",
        "Example fix",
        "Before launch --tp 3",
        "After launch --tp 4",
        "Check for it beforehand assert heads % tp == 0",
        "Catch it try: launch() except ValueError: fall_back()",
        "When it happens Trigger Starting with a --tp that does not divide the heads",
        "Common situations Three GPUs in a machine",
        "中文说明 --tp 为 tp_size，而模型有 heads 个注意力头。",
        "Related errors RuntimeError this one is hostile",
        "Area arguments",
        "Seen in #12, #340",
        "AI-assisted, from octo/engine@0123456789 (2026-08-28).",
        "Data as JSON",
    ]:
        found = shown.text.find(piece, at)
        assert found >= 0, f"{piece!r} is not in {shown.text[at:]!r}"
        at = found
    assert "https://github.com/octo/engine/blob/v1.1/engine/args.py#L20-L22" in shown.links()
    assert "https://github.com/octo/engine/blob/0123456789/engine/args.py#L77" in shown.links()
    assert "https://docs.python.org/3/" in shown.links()
    assert f"/api/errors/{HEADS}" in shown.links()
    assert not [link for link in shown.links() if "evil" in link]


def test_a_derived_record_says_what_the_code_says(client: FlaskClient) -> None:
    shown = page(client, f"/errors/{hostile(client)}")
    assert "Nobody has explained this error in words yet" in shown.text
    assert "What the code says Raised in f when a < b > c holds." in shown.text


def test_many_sites_are_folded(client: FlaskClient) -> None:
    shown = page(client, f"/errors/{MANY}")
    assert "The text stands at 9 places." in shown.text
    assert "7 more" in shown.text
    assert len([link for link in shown.links() if "/blob/v1.1/engine/m" in link]) == 9


def test_the_json_has_every_field(client: FlaskClient) -> None:
    data = client.get(f"/api/errors/{HEADS}").json
    assert data is not None
    (site,) = data.pop("sites")
    assert (data.pop("wraps"), data.pop("wrapped_by")) == ([], [])
    (related,) = data.pop("related")
    assert related["type"] == "RuntimeError"
    assert site["url"] == "https://github.com/octo/engine/blob/v1.1/engine/args.py#L20-L22"
    assert [(lines["release"], lines["url"].rpartition("/")[2]) for lines in site["lines"]] == [
        ("1.0", "args.py#L10-L12"),
        ("1.1", "args.py#L20-L22"),
    ]
    assert site["conditions"] == [{"kind": "if", "text": "heads % tp_size != 0"}]
    meaning = data.pop("meaning")
    assert meaning.startswith("`--tp` is {tp_size}")
    assert data == {
        "id": HEADS,
        "repository": "octo/engine",
        "type": "ValueError",
        "kind": "error",
        "status": "reviewed",
        "title": "The heads cannot be spread evenly",
        "message": "tp_size {tp_size} must divide the {heads} heads",
        "url": f"https://errors.example/errors/{HEADS}",
        "api_url": f"https://errors.example/api/errors/{HEADS}",
        "templates": ["tp_size {tp_size} must divide the {heads} heads"],
        "expression": "",
        "solutions": ["Take a `--tp` that divides {heads}", "Use fewer GPUs"],
        "remedies": [],
        "example_fix": {"before": "launch --tp 3", "after": "launch --tp 4"},
        "guard": "assert heads % tp == 0",
        "handler": "try:\n    launch()\nexcept ValueError:\n    fall_back()",
        "trigger": "Starting with a `--tp` that does not divide the heads",
        "common_situations": "Three GPUs in a machine",
        "symptom": False,
        "source": {
            "path": "engine/args.py",
            "line": 77,
            "commit": "0123456789",
            "url": "https://github.com/octo/engine/blob/0123456789/engine/args.py#L77",
        },
        "provenance": {"author": "AI-assisted", "commit": "0123456789", "date": "2026-08-28"},
        "examples": [{"text": "ValueError: tp_size 3 must divide the 32 heads", "captures": {}}],
        "confusers": [],
        "seen_in": [
            {"issue": 12, "url": "https://github.com/octo/engine/issues/12"},
            {"issue": 340, "url": "https://github.com/octo/engine/issues/340"},
        ],
        "translations": {"zh": {"title": "", "meaning": "`--tp` 为 {tp_size}，而模型有 {heads} 个注意力头。", "solutions": []}},
        "file": "octo/engine/args/heads.yaml",
        "areas": ["arguments"],
        "releases": ["1.0", "1.1"],
    }


def test_the_search_finds_by_words_and_type_and_turns_pages(client: FlaskClient) -> None:
    data: dict[str, Any] = client.get("/api/errors?type=IndexError").json  # type: ignore[assignment]
    assert (data["total"], data["page"], data["pages"], len(data["records"])) == (60, 1, 3, 25)
    last: dict[str, Any] = client.get("/api/errors?type=IndexError&page=3").json  # type: ignore[assignment]
    assert len(last["records"]) == 10
    assert {record["id"] for record in last["records"]}.isdisjoint(record["id"] for record in data["records"])
    assert client.get("/api/errors?q=spread+evenly").json["records"][0]["id"] == HEADS  # type: ignore[index]
    assert client.get("/api/errors?q=heads&type=KeyError").json["total"] == 0  # type: ignore[index]
    assert client.get("/api/errors?repository=octo/none").json["total"] == 0  # type: ignore[index]


def test_the_search_page_lists_and_leads_on(client: FlaskClient) -> None:
    shown = page(client, "/errors?type=IndexError&page=2")
    assert "60 errors, page 2 of 3" in shown.text
    assert "/errors?type=IndexError&page=1" in shown.links()
    assert "/errors?type=IndexError&page=3" in shown.links()
    assert "There is no page 9" in page(client, "/errors?type=IndexError&page=9").text
    assert "No error holds these words" in page(client, "/errors?q=no+such+words").text
    assert f"/errors/{HEADS}" in page(client, "/errors?q=evenly").links()


def test_the_start_page_leads_to_everything(client: FlaskClient) -> None:
    shown = page(client, "/")
    assert "octo/engine 63 errors, releases 1.0 to 1.1" in shown.text
    assert {"/errors?repository=octo/engine", "/api/errors", "/healthz"} <= set(shown.links())
    assert client.get("/healthz").json["status"] == "ok"  # type: ignore[index]


@pytest.mark.parametrize(
    "path", ["/", "/errors", f"/errors/{HEADS}", f"/errors/{MANY}", "/nothing", "/errors?q=hostile", "/api/errors", "/hooks/github"]
)
def test_every_answer_forbids_what_it_does_not_need(client: FlaskClient, path: str) -> None:
    headers = client.get(path).headers
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; style-src 'self'; img-src 'self'")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in headers
    assert "Set-Cookie" not in headers


@pytest.mark.parametrize("path", ["/", "/errors?q=hostile", f"/errors/{HEADS}", "/nothing"])
def test_pages_load_nothing_from_elsewhere_and_fit_a_phone(client: FlaskClient, path: str) -> None:
    shown = Page(client.get(path).get_data(as_text=True))
    assert ("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}) in shown.tags
    for tag, attrs in shown.tags:
        assert tag not in ("script", "iframe", "style", "object")
        assert not [name for name in attrs if name.startswith("on") or name == "style"]
        if tag in ("img", "link"):
            assert (attrs.get("src") or attrs.get("href") or "").startswith(("/static/", "/api/"))
    for tag, attrs in shown.tags:
        if tag == "link" and attrs["rel"] != "alternate":
            assert client.get(attrs["href"] or "").status_code == 200


def test_hostile_text_is_shown_and_does_nothing(client: FlaskClient) -> None:
    for path in (f"/errors/{hostile(client)}", "/errors?q=hostile", '/errors?q="><script>alert(1)</script>&type=<b>', "/<script>"):
        shown = Page(client.get(path).get_data(as_text=True))
        assert not [tag for tag, _ in shown.tags if tag in ("script", "b")]


@pytest.mark.parametrize(
    "id",
    [
        "0" * 16,
        "0" * 15,
        "0" * 17,
        HEADS.upper(),
        "..%2f..%2fetc%2fpasswd",
        "%00",
        HEADS + "%00",
        HEADS + "%0a",
        "é" * 16,
        "%ff",
        "*",
        "%",
        "__init__",
    ],
)
def test_what_is_no_id_of_a_record_is_not_found(client: FlaskClient, id: str) -> None:
    if id == HEADS.upper() == HEADS:
        pytest.skip("this id has no letters")
    assert client.get(f"/errors/{id}").status_code == 404
    answer = client.get(f"/api/errors/{id}")
    assert (answer.status_code, answer.mimetype) == (404, "application/json")


@pytest.mark.parametrize("page", ["0", "-1", "x", "1e3", "9" * 40, "²", "1.5", "%00"])
def test_what_is_no_page_is_refused(client: FlaskClient, page: str) -> None:
    assert client.get(f"/api/errors?page={page}").status_code == 400
    assert client.get(f"/errors?page={page}").status_code == 404


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(max_size=30) | st.sampled_from(['"', "'", "%", "_", "NEAR(a b)", "a* OR b", "' OR 1=1 --", "\\", "\0", "x" * 5000]),
    st.text(max_size=8),
)
def test_no_search_makes_it_fail(client: FlaskClient, q: str, type: str) -> None:
    for path in ("/errors", "/api/errors"):
        assert client.get(path, query_string={"q": q, "type": type}).status_code == 200


def test_a_broken_catalogue_does_not_hide_the_others(catalogue: Catalogue) -> None:
    def open_one(name: str) -> Catalogue:
        if name != REPOSITORY:
            raise CatalogueError("broken")
        return catalogue

    app = create_app(Settings(webhook_secrets="x" * 40), lambda event: None, open_one, lambda: ("a/broken", REPOSITORY))  # type: ignore[arg-type]
    assert app.test_client().get(f"/errors/{HEADS}").status_code == 200


def test_pages_of_several_catalogues_follow_each_other(catalogue: Catalogue) -> None:
    app = create_app(Settings(webhook_secrets="x" * 40), lambda event: None, lambda name: catalogue, lambda: ("a/a", "b/b"))  # type: ignore[arg-type]
    client = app.test_client()
    pages: list[Any] = [client.get(f"/api/errors?type=IndexError&page={number}").json for number in range(1, 8)]
    assert [len(one["records"]) for one in pages] == [25, 25, 10, 25, 25, 10, 0]
    assert {one["total"] for one in pages} == {120}


def test_without_a_catalogue_the_start_page_says_what_to_do(make_app: Callable[[str], Flask]) -> None:
    app = create_app(Settings(webhook_secrets="x" * 40), lambda event: None, lambda name: None, lambda: ())  # type: ignore[arg-type]
    assert "explainbot scan OWNER/NAME" in page(app.test_client(), "/").text


def test_a_statement_is_set_in_by_its_open_brackets() -> None:
    assert indented('raise E(\n"a (",\nf(\n1,\n),\n) from None') == 'raise E(\n    "a (",\n    f(\n        1,\n    ),\n) from None'


def test_the_style_knows_both_schemes() -> None:
    style = (Path(bot.web.__file__).parent / "static" / "style.css").read_text()
    light, dark = (set_of_colours(part) for part in style.split("prefers-color-scheme: dark", 1))
    assert dark <= light
    assert len(dark) >= 20
    for ground, ink in (
        ("ground", "ink"),
        ("ground", "quiet"),
        ("raised", "link"),
        ("code", "comment"),
        ("code", "quiet"),
        ("mark", "mark-ink"),
    ):
        for scheme in style.split("prefers-color-scheme: dark", 1):
            assert contrast(colour(scheme, ground), colour(scheme, ink)) >= 4.5, (ground, ink)


def set_of_colours(css: str) -> set[str]:
    return {
        part.split(":")[0].strip()
        for part in css.split("}")[0].replace("{", ";").split(";")
        if part.strip().startswith("--") and "#" in part
    }


def colour(css: str, name: str) -> tuple[float, ...]:
    """The colour of that name as linear light (https://www.w3.org/TR/WCAG22/#dfn-relative-luminance)."""
    hex = css.split(f"--{name}: #", 1)[1][:6]
    parts = (int(hex[at : at + 2], 16) / 255 for at in (0, 2, 4))
    return tuple(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    low, high = sorted(0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05 for red, green, blue in (one, other))
    return high / low
