"""``explainbot draft`` against a server that answers well, badly, with malice, or not at all."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from bot.catalogue.catalogue import Catalogue, catalogue_path
from bot.catalogue.records import load_records
from bot.cli import draft
from bot.cli.app import load_commands

SOURCE = "repository: octo/engine\npackage: octo-engine\nreleases: 1.0.0\n"
GOOD = {
    "title": "The drive has no flux capacitor",
    "meaning": "The drive was started while slot {slot} was empty.",
    "solutions": ["Insert a flux capacitor before the start", "Use another slot"],
    "trigger": "Starting the drive.",
    "common_situations": "After a repair.",
}
KEY = "k-0123456789"


class Model:
    """A server on loopback: what it answers is set by the test, and what it was asked is kept."""

    def __init__(self) -> None:
        self.says: Callable[[BaseHTTPRequestHandler], None] = self.answer(GOOD)
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.over = threading.Event()
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                model.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                model.keys.append(self.headers["Authorization"])
                model.says(self)

            def log_message(self, *_: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def answer(self, content: object) -> Callable[[BaseHTTPRequestHandler], None]:
        """A reply with this content: as JSON unless it is text already."""
        text = content if isinstance(content, str) else json.dumps(content)
        return self.reply(200, json.dumps({"choices": [{"message": {"content": text}}]}).encode())

    @staticmethod
    def reply(status: int, data: bytes, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
        def say(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            for name, value in headers.items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(data)

        return say


@pytest.fixture
def model() -> Iterator[Model]:
    made = Model()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.over.set()
    made.server.shutdown()
    made.server.server_close()
    thread.join()


@pytest.fixture
def errors(tmp_path: Path, engine_catalogue: Path) -> Path:
    folder = tmp_path / "errors" / "octo" / "engine"
    folder.mkdir(parents=True)
    (folder / "source.yaml").write_text(SOURCE)
    built = catalogue_path(tmp_path / "cache", "octo/engine")
    built.parent.mkdir(parents=True)
    shutil.copy(engine_catalogue, built)
    return tmp_path / "errors"


@pytest.fixture
def flux(errors: Path) -> str:
    with Catalogue.open(catalogue_path(errors.parent / "cache", "octo/engine")) as catalogue:
        (found,), _ = catalogue.search("flux", "", 1, 1)
        return found.id


@pytest.fixture
def run(errors: Path, model: Model) -> Callable[..., Result]:
    settings = {
        "EXPLAINBOT_ERRORS_DIR": str(errors),
        "EXPLAINBOT_CACHE_DIR": str(errors.parent / "cache"),
        "EXPLAINBOT_DRAFT_URL": model.url,
        "EXPLAINBOT_DRAFT_MODEL": "small",
        "EXPLAINBOT_DRAFT_KEY": KEY,
    }
    return lambda *arguments, **more: CliRunner().invoke(load_commands(), arguments, env=settings | more)


def written(errors: Path) -> list[Path]:
    return [path for path in errors.rglob("*.yaml") if path.name != "source.yaml"]


def test_a_good_answer_becomes_a_file_that_is_no_record_yet(run: Callable[..., Result], errors: Path, flux: str, model: Model) -> None:
    result = run("draft", flux)
    assert result.exit_code == 0, result.output
    (path,) = written(errors)
    assert Path(result.stdout.strip()) == path
    text = path.read_text()
    for piece in (*GOOD["solutions"], GOOD["meaning"], "status: draft", "author: 'AI: small'", "commit: v1.0.0", "date: "):
        assert piece in text
    records, faults = load_records(errors, "octo/engine")
    assert records == ()
    assert all("TODO" in fault.problem for fault in faults)
    text = text.replace("TODO: a similar", "A similar").replace("TODO: the text as", "RuntimeError: the text as")
    path.write_text(text)
    records, (fault,) = load_records(errors, "octo/engine")
    assert records == ()
    assert "nobody has held it against the source" in fault.problem
    path.write_text(text.replace("status: draft", "status: reviewed"))
    (record,), faults = load_records(errors, "octo/engine")
    assert faults == ()
    assert (record.status, record.id, record.title) == ("reviewed", flux, GOOD["title"])
    assert model.keys == [f"Bearer {KEY}"]


def test_the_model_is_asked_with_what_the_source_says_and_a_schema(run: Callable[..., Result], flux: str, model: Model) -> None:
    run("draft", flux)
    (asked,) = model.asked
    said = asked["messages"][-1]["content"]
    assert "No flux capacitor was found in slot {slot}" in said
    assert "engine/drive.py, start" in said
    assert asked["response_format"]["json_schema"]["schema"] == draft.SCHEMA


def changed(**parts: object) -> dict[str, object]:
    return {**GOOD, **parts}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("no json", "another form"),
        ("[]", "another form"),
        ("null", "another form"),
        ("[" * 100_000, "another form"),
        ({"title": "x"}, "another form"),
        (changed(more="x"), "another form"),
        (changed(solutions="x"), "another form"),
        (changed(solutions=[]), "another form"),
        (changed(solutions=["x"] * 50), "another form"),
        (changed(meaning=3), "another form"),
        (changed(meaning=" "), "another form"),
        (changed(meaning="x" * 5000), "another form"),
        (changed(title="a\x1b[31m"), "another form"),
        (changed(title="a\u202eb"), "another form"),
        (changed(meaning="See https://evil.example/x."), "evil.example is not among the hosts"),
        (changed(solutions=["Just try again"]), "says nothing"),
        (changed(meaning="The slot {other} is empty."), "no hole {other}"),
        (changed(solutions=["TODO: think"]), "begins with TODO"),
    ],
)
def test_what_check_would_refuse_is_not_written(
    run: Callable[..., Result], errors: Path, flux: str, model: Model, content: object, why: str
) -> None:
    model.says = model.answer(content)
    result = run("draft", flux)
    assert result.exit_code == 1
    assert why in result.stderr
    assert written(errors) == []


def test_markup_in_an_answer_stays_text_of_the_file(run: Callable[..., Result], errors: Path, flux: str, model: Model) -> None:
    hostile = 'x"\nstatus: reviewed\nmeaning: |\n  y </details> @octocat'
    model.says = model.answer(changed(meaning=hostile))
    assert run("draft", flux).exit_code == 0
    (path,) = written(errors)
    assert path.read_text().count("\nstatus: ") == 1
    assert "\nstatus: draft" in path.read_text()


@pytest.mark.parametrize(
    ("status", "headers", "data", "why"),
    [
        (500, {}, b"", "status 500"),
        (302, {"Location": "http://127.0.0.1:1/"}, b"", "status 302"),
        (200, {}, b"x" * 2 * draft.MAX_ANSWER, "too much"),
        (200, {}, b"\xff", "another form"),
        (200, {"Content-Length": "9"}, b"x", "no answer"),
    ],
)
def test_a_server_that_fails_is_named_and_the_key_is_not(
    run: Callable[..., Result], errors: Path, flux: str, model: Model, status: int, headers: dict[str, str], data: bytes, why: str
) -> None:
    model.says = model.reply(status, data, **headers)
    result = run("draft", flux)
    assert result.exit_code == 1
    assert why in result.stderr
    assert KEY not in result.output
    assert written(errors) == []
    assert len(model.asked) == 1


def test_a_server_that_says_nothing_is_left(
    run: Callable[..., Result], errors: Path, flux: str, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draft, "SECONDS", (5.0, 0.1))
    model.says = lambda handler: model.over.wait(60) and None
    assert "no answer" in run("draft", flux).stderr
    assert written(errors) == []


def test_one_that_fails_keeps_no_other_from_being_drafted(run: Callable[..., Result], errors: Path, flux: str, model: Model) -> None:
    result = run("draft", "0123456789abcdef", flux)
    assert result.exit_code == 1
    assert "has no record 0123456789abcdef" in result.stderr
    assert len(written(errors)) == 1
    assert "is there already" in run("draft", flux).stderr


def test_it_is_off_unless_a_server_is_named(run: Callable[..., Result], flux: str, model: Model) -> None:
    result = run("draft", flux, EXPLAINBOT_DRAFT_URL="")
    assert result.exit_code == 1
    assert "EXPLAINBOT_DRAFT_URL" in str(result.exception)
    assert model.asked == []
