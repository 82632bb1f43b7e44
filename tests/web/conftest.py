"""The web application over a small real catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from flask import Flask
from flask.testing import FlaskClient

from bot.catalogue.catalogue import Catalogue, build
from bot.catalogue.sources import SourceConfig
from bot.config import Settings
from bot.model import Condition, Event, RaiseSite, Record, SiteLines, Template, record_id
from bot.web.app import create_app

REPOSITORY = "octo/engine"
SECRET = b"the first secret which is long enough"
OTHER_SECRET = b"the second secret also long enough....."
HOSTILE = "<script>alert(1)</script> {x} \"quoted\" 'text' & <b>bold</b> and a lot of words"

WRITTEN = """\
type: ValueError
template: "tp_size {tp_size} must divide the {heads} heads"
title: The heads cannot be spread evenly
meaning: >-
  `--tp` is {tp_size}, but the model has {heads} heads <img src=x>.


  See [the docs](https://docs.python.org/3/) and [not these](https://evil.example/).
solutions:
  - Take a `--tp` that divides {heads}
  - Use fewer GPUs
example_fix:
  before: launch --tp 3
  after: launch --tp 4
guard: "assert heads % tp == 0"
handler: |-
  try:
      launch()
  except ValueError:
      fall_back()
trigger: Starting with a `--tp` that does not divide the heads
common_situations: Three GPUs in a machine
related:
  - "this one is hostile <script>alert(1)</script>"
status: reviewed
source: {path: engine/args.py, line: 77, commit: "0123456789"}
provenance: {author: AI-assisted, commit: "0123456789", date: 2026-08-28}
examples:
  - "ValueError: tp_size 3 must divide the 32 heads"
seen_in: [12, 340]
meaning_zh: "`--tp` 为 {tp_size}，而模型有 {heads} 个注意力头。"
"""


def scanned(type: str, text: str, *sites: RaiseSite) -> Record:
    template = Template.parse(text)
    return Record(record_id(REPOSITORY, type, template), REPOSITORY, type, (template,), sites)


RECORDS = (
    scanned(
        "ValueError",
        "tp_size {tp_size} must divide the {heads} heads",
        RaiseSite(
            "engine/args.py",
            "Args.check",
            (SiteLines("1.0", 10, 12), SiteLines("1.1", 20, 22)),
            'raise ValueError(\nf"tp_size {tp_size} must divide the {heads} heads"\n)',
            (Condition("if", "heads % tp_size != 0"),),
        ),
    ),
    scanned(
        "RuntimeError",
        "this one is hostile " + HOSTILE,
        RaiseSite("engine/<b>.py", "f", (SiteLines("1.1", 5, 5),), "raise RuntimeError('<script>')", (Condition("if", "a < b > c"),)),
    ),
    scanned("KeyError", "said at many places", *(RaiseSite(f"engine/m{n}.py", "g", (SiteLines("1.1", n + 1, n + 1),)) for n in range(9))),
    *(scanned("IndexError", f"filler number {number} of the catalogue") for number in range(60)),
)


@pytest.fixture(scope="session")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalogue]:
    folder = tmp_path_factory.mktemp("catalogue")
    records = folder / "errors" / "octo" / "engine" / "args"
    records.mkdir(parents=True)
    (records / "heads.yaml").write_text(WRITTEN)
    config = SourceConfig(repository=REPOSITORY, package="engine", releases=("1.0", "1.1"), areas={"engine/args*": "arguments"})
    build(folder / "engine.sqlite", config, RECORDS, ("1.0", "1.1"))
    with Catalogue.open(folder / "engine.sqlite", folder / "errors") as opened:
        assert opened.faults == ()
        yield opened


@dataclass
class Queue:
    """What was put in line; refuses everything while it is full."""

    events: list[Event] = field(default_factory=list)
    full: bool = False

    def submit(self, event: Event) -> str:
        if self.full:
            raise RuntimeError("the disk is full: canary")
        self.events.append(event)
        return event.delivery


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def make_app(catalogue: Catalogue, queue: Queue) -> Callable[[str], Flask]:
    def make(secrets: str) -> Flask:
        settings = Settings(webhook_secrets=secrets, public_url="https://errors.example/")  # type: ignore[arg-type]
        return create_app(settings, queue.submit, lambda name: catalogue if name == REPOSITORY else None, lambda: (REPOSITORY, "octo/none"))

    return make


@pytest.fixture
def client(make_app: Callable[[str], Flask]) -> FlaskClient:
    app = make_app(f"{SECRET.decode()},{OTHER_SECRET.decode()}")
    app.config["TESTING"] = False
    app.config["PROPAGATE_EXCEPTIONS"] = False
    return app.test_client()
