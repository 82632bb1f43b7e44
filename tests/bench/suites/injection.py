"""Paths, SQL and YAML that try to get out: through the pages, the API and the commands, and through configuration and record files."""

from __future__ import annotations

import contextlib
import random
import string
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import werkzeug
from flask.testing import FlaskClient

from bot.catalogue import built
from bot.catalogue.catalogue import Catalogue, catalogue_path
from bot.catalogue.records import parse_record
from bot.catalogue.source_config import SourceError, load_source
from bot.config import ConfigError, Settings, parse_repo_config
from bot.web.app import create_app
from tests.bench.suites import Found, Run, chance, suite
from tests.bench.suites.scene import ROOT, SECRET, cache_folder, folder
from tests.engine import REPOSITORY

LONGEST = 2.0
"""Seconds after which an answer counts as a failure."""

_DANGEROUS = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "subprocess.Popen",
    "socket.connect",
    "ctypes.dlopen",
    "os.remove",
    "os.rename",
)


class Watch:
    """Looks through Python's audit events at what a thread opens and starts (https://docs.python.org/3/library/audit_events.html)."""

    def __init__(self, *allowed: Path) -> None:
        paths = sysconfig.get_paths()
        libraries = (
            Path(paths["stdlib"]),
            Path(paths["purelib"]),
            Path(werkzeug.__file__).parents[1],
            ROOT / "bot",
            Path("/usr/share/zoneinfo"),
        )
        self.allowed = tuple(f"{path.resolve()}/" for path in (*allowed, *libraries))
        self.escapes: list[str] = []
        self._mine = threading.local()
        sys.addaudithook(self._hear)

    @contextmanager
    def watching(self) -> Iterator[list[str]]:
        """What this thread does that it must not, while the block runs."""
        self.escapes = []
        self._mine.on = True
        try:
            yield self.escapes
        finally:
            self._mine.on = False

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not getattr(self._mine, "on", False):
            return
        if event in _DANGEROUS:
            self.escapes.append(event)
        elif event in ("open", "sqlite3.connect", "os.listdir", "os.scandir") and isinstance(arguments[0], str | bytes | Path):
            self._mine.on = False  # resolving a path opens nothing, but asks
            path = arguments[0].decode("utf-8", "replace") if isinstance(arguments[0], bytes) else str(arguments[0])
            if not f"{Path(path).resolve()}/".startswith(self.allowed):
                self.escapes.append(f"{event} {path}")
            self._mine.on = True


# ------------------------------------------------------------------------------------------------------- what is tried

_STEPS = (
    "..", "%2e%2e", "..%2f", "..%5c", "....//", "..;", "%252e%252e", ".%00.", "..\\", "%c0%ae%c0%ae", "．．", ".", "~", "//", "%2f",
    "file:",
)  # fmt: skip
_TARGETS = (
    "etc/passwd", "proc/self/environ", "bot/config.py", "pyproject.toml", "app.py", "explainbot.sqlite", "engine.sqlite", "%00", "CON", "",
)  # fmt: skip
_PLACES = ("/errors/{}", "/api/errors/{}", "/static/{}", "/{}", "/hooks/{}", "/api/{}", "/errors/{}/", "/healthz/{}")

_SQL = (
    "'", '"', "''", "' OR 1=1 --", "' OR '1'='1", '" OR ""="', "'; DROP TABLE record; --",
    "1; ATTACH DATABASE '/etc/x' AS x", "' UNION SELECT * FROM blob --", "%", "_", "\\", "%_%", "*", "NEAR(a b)", "a AND b",
    'a" OR "b', "a NOT b", "-a", "^a", "col:a", "{a b}: c", "(((", "\0", "a\0b", "\ud800", "NULL", "0x27", "load_extension('x')",
    "json_each('[')", "[", "]", "{", "}", "$.a", "?", "?1", ":a", "@a", "1e999", "-1", "randomblob(1000000000)", "char(39)", ";",
    "--", "/*",
)  # fmt: skip

_YAML = (
    "!!python/object/apply:os.system ['touch x']", "!!python/name:os.system", "!!python/object/new:subprocess.Popen [[id]]",
    "!!binary aGk=", "!!timestamp 2001", "!<tag:yaml.org,2002:python/module:os> x", "&a [*a]", "&a {x: *a}", "*nobody",
    "<<: {explain: {}}", "[" * 300, "{a: " * 300, "- " * 300, "? x", "? [a, b]\n: c", "%YAML 9.9\n---\na: b",
    "%TAG ! tag:x,2000:\n---\n!y z", "---\na: 1\n---\nb: 2", "a: 1\na: 2", "\t- x", "a: \x00", "a: \x07", "a: 'x",
    "a: |\n x\n  y\n z", "no", "012", "1:30", "~", "null", "", "#", "...", "---", "a: !!int x", "a: .inf", "a: 0x1F", "\ufeffa: b",
    "a: \ud800", "a: \u2028b", "=", "a: 2001-01-01", "a" * 70_000, "a:\n" * 9_000, "include: /etc/passwd", "template: '{x'",
    "template: '" + "{}" * 5_000 + "'", "explain: {answers: all}", "quiet_hours: {from: 25:00, to: 1}",
    "quiet_hours: {from: '1:00', to: '2:00', zone: ../../../etc/passwd}", "skip: {title: ['" + "(a+)+" * 40 + "']}",
    "labels: {areas: {'" + "*a" * 60 + "': x}}",
)  # fmt: skip

_GOOD = (
    "explain:\n  answers: proven\n  minimum: 0.5\n  ignore: [0123456789abcdef]\n"
    "labels:\n  prefix: 'area: '\n  areas: {'a/*': b}\nskip:\n  authors: [x]\n",
    "type: ValueError\ntemplate: \"a {b} c\"\ntitle: x\nmeaning: >-\n  y\nsolutions:\n  - z\n"
    "status: reviewed\nexamples:\n  - 'ValueError: a 1 c'\n",
    "package: engine\nreleases: ['1.0']\nareas:\n  'engine/*': e\n",
)  # fmt: skip


def _path(draw: random.Random) -> str:
    steps = "/".join(draw.choice(_STEPS) for _ in range(draw.randrange(1, 9)))
    tail = draw.choice((*_TARGETS, "".join(draw.choice(string.printable) for _ in range(8))))
    return draw.choice(_PLACES).format(f"{steps}/{tail}" if draw.random() < 0.9 else f"{tail}{steps}")


def _sql(draw: random.Random) -> str:
    return "".join(
        draw.choice((draw.choice(_SQL), draw.choice(_SQL), draw.choice(("sprockets", "flux", " ", "ValueError"))))
        for _ in range(draw.randrange(1, 5))
    )


def _yaml(draw: random.Random) -> str:
    text = draw.choice((*_GOOD, draw.choice(_GOOD) + draw.choice(_YAML), draw.choice(_YAML)))
    for _ in range(draw.choice((0, 0, 1, 2, 5))):
        at = draw.randrange(len(text) + 1)
        part = draw.choice((draw.choice(_YAML)[:300], draw.choice(string.printable), "\n", "  ", ": ", "- ", chr(draw.randrange(0x3000))))
        text = text[:at] + part + text[at + draw.choice((0, 0, 1, 9)) :]
    return text


# ---------------------------------------------------------------------------------------------------------- the checks


def _get(client: FlaskClient, address: str, statuses: tuple[int, ...]) -> tuple[str, Any]:
    answer = client.get(address)
    wrong = "" if answer.status_code in statuses else f"{answer.status_code} for GET {address[:300]!r}"
    return wrong, answer


def _try_path(client: FlaskClient, draw: random.Random) -> str:
    path = _path(draw)
    wrong, answer = _get(client, path if draw.random() < 0.5 else quote(path, safe="/%", errors="replace"), (200, 301, 308, 400, 404, 405))
    if (
        not wrong
        and answer.status_code == 200
        and any(sign in answer.data for sign in (b"root:", b"[project]", b"SQLite format", b"import "))
    ):
        return f"a file came back for {path!r}"
    return wrong


def _try_sql(client: FlaskClient, draw: random.Random) -> str:
    values = {name: _sql(draw) for name in ("q", "type", "repository", "page") if draw.random() < 0.5}
    query = "&".join(f"{name}={quote(value, errors='surrogatepass')}" for name, value in values.items())
    wrong, answer = _get(client, f"/api/errors?{query}", (200, 400))
    if wrong or answer.status_code == 400:
        return wrong
    for record in answer.json["records"]:
        said = f"{record['message']} {record['type']} {record['title']}".lower()
        for word in built.clean(values.get("q", "")).lower().split():
            if word.isalnum() and word not in said and word not in ("null",):
                return f"a record without {word!r} came back for {values!r}"
        if (type := values.get("type", "").strip()) and record["type"].lower() != type.lower():
            return f"a record of another type came back for {values!r}"
    return _get(client, f"/errors?{query}", (200, 400))[0]


def _try_yaml(folder: Path, draw: random.Random) -> str:
    text = _yaml(draw)
    data = text.encode("utf-8", "surrogatepass")
    with contextlib.suppress(ConfigError):
        parse_repo_config(text)
    parse_record(data, "octo/engine/x.yaml", REPOSITORY)
    path = folder / "octo" / "engine" / "source.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    with contextlib.suppress(SourceError):
        load_source(folder, REPOSITORY)
    return ""


@suite("injection", "traversal, SQL, YAML", "0 escapes", full=30_000, quick=1_500, slice=3_000)
@contextmanager
def injection(seed: int) -> Iterator[Run]:
    """One third each. Python's own audit events tell what is opened, started and connected to meanwhile."""
    with ExitStack() as stack:
        cache, records = stack.enter_context(cache_folder()), stack.enter_context(folder())
        file = catalogue_path(cache, REPOSITORY)
        before = file.read_bytes()
        catalogue = stack.enter_context(Catalogue.open(file))
        settings = Settings(webhook_secrets=SECRET.decode())  # type: ignore[arg-type]
        app = create_app(settings, lambda event: None, lambda name: catalogue if name == REPOSITORY else None, lambda: (REPOSITORY,))
        app.config["PROPAGATE_EXCEPTIONS"] = False
        client = app.test_client()
        for address in ("/", "/errors?q=flux", "/api/errors", "/errors/x"):
            client.get(address)  # templates are loaded
        watch = Watch(cache, records)
        with watch.watching() as seen, open("/etc/hosts"):
            pass
        if not seen:
            raise RuntimeError("the watch sees nothing")
        tries: tuple[tuple[str, Callable[[random.Random], str]], ...] = (
            ("paths", lambda draw: _try_path(client, draw)),
            ("SQL", lambda draw: _try_sql(client, draw)),
            ("YAML", lambda draw: _try_yaml(records, draw)),
        )

        def run(indices: range) -> Found:
            found = Found()
            for index in indices:
                name, attempt = tries[index % 3]
                found.counted[name] += 1
                begun = time.thread_time()  # processor time: other programs on the machine do not count
                with watch.watching() as escapes:
                    try:
                        wrong = attempt(chance(seed, "injection", index))
                    except Exception as error:
                        wrong = f"{type(error).__name__}: {error}"
                seconds = time.thread_time() - begun
                if wrong or escapes or seconds > LONGEST:
                    found.fail(index, f"{name}: {wrong or escapes or f'{seconds:.1f} s'}")
            if file.read_bytes() != before:
                found.fail(indices.stop - 1, "the catalogue was changed")
            return found

        yield run
