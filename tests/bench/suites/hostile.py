"""The front door: forged and malformed requests over raw connections, and signed JSON that is not what it should be."""

from __future__ import annotations

import json
import random
import re
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

from bot.config import Settings
from bot.demo.github import StandIn
from bot.trackers.github.receive import sign
from tests.bench.suites import Found, Run, chance, suite
from tests.bench.suites.payloads import There, mutated
from tests.bench.suites.scene import SECRET, UNLIMITED, cache_folder, database, real_payloads, server, unfinished, work_engine
from tests.engine import REPOSITORY, SPROCKETS

_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})")
CLIENTS = 4
PATIENCE = 20.0


def exchange(port: int, sent: bytes, patience: float = PATIENCE) -> bytes:
    """Send bytes on a connection of their own, end it, and return all that comes back."""
    with socket.create_connection(("127.0.0.1", port), timeout=patience) as connection:
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # refused before all was sent
        received = b""
        try:
            while part := connection.recv(65536):
                received += part
        except ConnectionError:
            pass
        return received


# ------------------------------------------------------------------------------------------------- signature and HTTP


def _hex(draw: random.Random, length: int) -> str:
    return "".join(draw.choice("0123456789abcdefABCDEF") for _ in range(length))


def _flip(draw: random.Random, text: str) -> str:
    at = draw.randrange(len(text))
    return text[:at] + chr(ord(text[at]) ^ (1 << draw.randrange(7))) + text[at + 1 :]


_SIGNATURES: tuple[Callable[[random.Random, str, bytes], str | None], ...] = (
    lambda draw, good, body: None,
    lambda draw, good, body: "",
    lambda draw, good, body: good[: draw.randrange(len(good))],
    lambda draw, good, body: good + _hex(draw, draw.randrange(1, 5)),
    lambda draw, good, body: "sha256=" + _flip(draw, good[7:]),
    lambda draw, good, body: "sha256=" + _hex(draw, draw.choice((0, 1, 40, 63, 64, 65, 128, 5000))),
    lambda draw, good, body: "sha1=" + _hex(draw, 40),
    lambda draw, good, body: draw.choice(("SHA256=", "sha512=", "sha256 ", "sha256:", "", "=", "sha256==")) + good[7:],
    lambda draw, good, body: sign(body, b""),
    lambda draw, good, body: sign(body, SECRET[:-1]),
    lambda draw, good, body: sign(body, SECRET + b" "),
    lambda draw, good, body: sign(body + b" ", SECRET),
    lambda draw, good, body: sign(body[:-1], SECRET),
    lambda draw, good, body: sign(b"", SECRET),
    lambda draw, good, body: "sha256=" + "".join(chr(draw.randrange(128, 256)) for _ in range(64)),
    lambda draw, good, body: "sha256=" + draw.choice((" ", "0", "f", "\t", "%00", "g")) * 64,
    lambda draw, good, body: f"{sign(b'x', SECRET)}, {good}",
    lambda draw, good, body: "sha256=" + good[7:39] + " " * 32,
)


def _request(draw: random.Random, index: int) -> tuple[bytes, bool]:
    """The bytes of a request, and whether it is a genuine delivery, which has to be taken."""
    event, payload = draw.choice([each for each in real_payloads()[:6] if each[0] == "issues"])
    body = json.dumps(payload | {"n": index}).encode()
    headers = {
        "Host": "bot.test",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": f"signature-{index}",
        "X-Hub-Signature-256": sign(body, SECRET),
        "Connection": "close",
    }
    line, kind = "POST /hooks/github HTTP/1.1", index % 10
    if kind == 0:
        return _packed(line, headers, body), payload["action"] in ("opened", "edited", "reopened")
    if kind <= 5:
        forged = draw.choice(_SIGNATURES)(draw, headers["X-Hub-Signature-256"], body)
        if forged is None:
            del headers["X-Hub-Signature-256"]
            if draw.random() < 0.5:
                headers[draw.choice(("X-Hub-Signature", "X_Hub_Signature_256", "X-Hub-Signature-256 "))] = sign(body, SECRET)
        else:
            headers["X-Hub-Signature-256"] = forged
        return _packed(line, headers, body), False
    if draw.random() < 0.8:
        headers["X-Hub-Signature-256"] = "sha256=" + _hex(draw, 64)  # or a right one: then only 5xx is looked for
    raw = draw.choice(_BREAKS)(draw, line, headers, body)
    return raw, False


def _packed(line: str, headers: dict[str, str], body: bytes) -> bytes:
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{line}\r\n{head}\r\n".encode("latin-1", "replace") + body


def _garbage(draw: random.Random, line: str, headers: dict[str, str], body: bytes) -> bytes:
    raw = bytearray(_packed(line, headers, body))
    for _ in range(draw.randrange(1, 6)):
        at = draw.randrange(min(len(raw), 600))
        raw[at : at + draw.randrange(3)] = draw.randbytes(draw.randrange(4))
    return bytes(raw)


def _cut(draw: random.Random, line: str, headers: dict[str, str], body: bytes) -> bytes:
    raw = _packed(line, headers, body)
    return raw[: draw.randrange(1, len(raw))]


def _length(draw: random.Random, line: str, headers: dict[str, str], body: bytes) -> bytes:
    wrong = draw.choice(
        ("", "-1", "0", "x", "1e3", "+5", " 7", "0x10", "26214401", str(2**64), "9" * 400, f"{len(body)}, {len(body)}", "٣")
    )
    return _packed(line, headers | {"Content-Length": wrong}, body)


def _chunked(draw: random.Random, line: str, headers: dict[str, str], body: bytes) -> bytes:
    coding = draw.choice(("chunked", "Chunked", "identity", "chunked, chunked", "xchunked", " chunked", "chunked;q=1"))
    changed = headers | {"Transfer-Encoding": coding}
    if draw.random() < 0.5:
        del changed["Content-Length"]
    size = draw.choice((f"{len(body):x}", f"{len(body):x};x=y", "0", "-1", "g", "f" * 17, ""))
    second = _packed(line, headers | {"X-Hub-Signature-256": "sha256=" + "0" * 64}, body) if draw.random() < 0.3 else b""
    return _packed(line, changed, f"{size}\r\n".encode() + body + b"\r\n0\r\n\r\n" + second)


def _line(draw: random.Random, line: str, headers: dict[str, str], body: bytes) -> bytes:
    method = draw.choice(("GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT", "post", "P\0ST", "", "PRI", "A" * 300))
    path = draw.choice(
        ("/hooks/github", "/hooks/github/", "//hooks/github", "/hooks/./github", "/hooks/%67ithub", "*", "", "/%00", "/%ff%fe")
    )
    path = draw.choice(
        (path, "http://x/hooks/github", "/" + "a" * draw.choice((10, 9000)), "/hooks/github?" + "a=b&" * 50, "/hooks/github#x")
    )
    version = draw.choice(("HTTP/1.1", "HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/9.9", "HTP/1.1", "HTTP/1.1 x", ""))
    return _packed(f"{method} {path} {version}", headers, body)


def _header(draw: random.Random, line: str, headers: dict[str, str], body: bytes) -> bytes:
    name = draw.choice(
        ("X-GitHub-Event", "X-GitHub-Delivery", "Content-Type", "Host", "Expect", "Content-Encoding", "Cookie", "X-" + "a" * 200)
    )
    value = draw.choice(
        (
            "",
            "\0",
            "a\rb",
            "a\nb: c",
            "a\r\nX-Hub-Signature-256: sha256=" + "0" * 64,
            "é" * 50,
            "a" * 9000,
            "100-continue",
            "gzip",
            "*/*",
            "../..",
        )
    )
    more = {f"X-Filler-{n}": "x" for n in range(draw.choice((0, 0, 50, 150)))}
    return _packed(line, headers | {name: value} | more, body)


_BREAKS = (_garbage, _garbage, _cut, _length, _chunked, _line, _header)


def _is_signed(raw: bytes) -> bool:
    """Whether the body of a request stands there with its signature; hex digits may be written large."""
    head, _, body = raw.partition(b"\r\n\r\n")
    return f"x-hub-signature-256: {sign(body, SECRET)}".encode() in head.lower()


def _is_rightly_501(raw: bytes, statuses: list[int]) -> bool:
    """Whether it is gunicorn that names a transfer coding unknown, as HTTP asks (https://www.rfc-editor.org/rfc/rfc9112#section-6.1)."""
    return statuses == [501] and b"transfer-encoding" in raw.lower()


@suite("signature", "signature and HTTP fuzz", "0 × 5xx, 0 forgeries accepted", full=100_000, quick=1_000, slice=5_000)
@contextmanager
def signature(seed: int) -> Iterator[Run]:
    """Forged signatures and broken HTTP, each on a connection of its own, at gunicorn; every tenth case is genuine and must be taken."""
    with ExitStack() as stack:
        url = stack.enter_context(database("sqlite"))
        settings = Settings(webhook_secrets=SECRET.decode(), token="none", database_url=url, github_url="http://127.0.0.1:9")  # type: ignore[arg-type]
        serving = stack.enter_context(server(settings, "--receiver-only", "--processes", "2", "--threads", "4"))
        pool = stack.enter_context(ThreadPoolExecutor(CLIENTS))

        def check(index: int) -> tuple[str, str]:
            draw = chance(seed, "signature", index)
            raw, genuine = _request(draw, index)
            answer = exchange(serving.port, raw)
            statuses = [int(found) for found in _STATUS.findall(answer)]
            if any(status >= 500 for status in statuses) and not _is_rightly_501(raw, statuses):
                return "refused", f"{statuses} for {raw[:300]!r}"
            if genuine and statuses != [202]:
                return "refused", f"a genuine delivery was answered {statuses}"
            if 202 in statuses and not _is_signed(raw):
                return "accepted", f"accepted without a right signature: {statuses} for {raw[:400]!r}"
            if not statuses and index % 10 <= 5:
                return "silent", "no answer to a well-formed request"
            return "genuine accepted" if genuine else "accepted" if 202 in statuses else "refused" if statuses else "hung up on", ""

        def run(indices: range) -> Found:
            found = Found()
            for index, (ended, wrong) in zip(indices, pool.map(check, indices), strict=True):
                found.counted[ended] += 1
                if wrong:
                    found.fail(index, wrong)
            if serving.process.poll() is not None:
                found.fail(indices.stop - 1, "the server ended")
            return found

        yield run


# -------------------------------------------------------------------------------------------------- signed hostile JSON


@suite("json", "signed hostile JSON", "0 × 5xx, 0 worker deaths", full=50_000, quick=150, slice=2_500)
@contextmanager
def hostile_json(seed: int) -> Iterator[Run]:
    """Mutations of real payloads, rightly signed, at the whole program: what is taken is worked on, and has to come to its end."""
    with ExitStack() as stack:
        url = stack.enter_context(database("sqlite"))
        hub = StandIn(secret=SECRET)
        hub.add_repository(REPOSITORY, collaborators={"helper": "write"})
        for number in range(20):
            hub.open_issue(REPOSITORY, "It fails", SPROCKETS.format(number) if number % 2 else "\0 \x1b[31m ```\n" + "#" * 3000)
            hub.comment(REPOSITORY, number + 1, "/explain why" if number % 3 else "/explain \0 \u202e <!--")
        stack.enter_context(hub.serve())
        cache = stack.enter_context(cache_folder())
        more = {**UNLIMITED, "database_url": url, "cache_dir": cache, "settle_seconds": 0.3}
        settings = hub.settings(private_key=hub.private_key, webhook_secrets=SECRET.decode(), **more)
        serving = stack.enter_context(server(settings, "--threads", "4"))
        pool = stack.enter_context(ThreadPoolExecutor(CLIENTS))
        work = work_engine(url)
        repository = hub.state.repository(REPOSITORY)
        there = There(REPOSITORY, repository.id, hub.installation(REPOSITORY), 20, tuple(repository.comments))

        def check(index: int) -> tuple[str, str]:
            event, body = mutated(chance(seed, "json", index), there)
            headers = {
                "Host": "bot.test",
                "Content-Type": "application/json",
                "Content-Length": str(len(body)),
                "X-GitHub-Event": event,
                "X-GitHub-Delivery": f"json-{index}",
                "X-Hub-Signature-256": sign(body, SECRET),
                "Connection": "close",
            }
            statuses = [
                int(found) for found in _STATUS.findall(exchange(serving.port, _packed("POST /hooks/github HTTP/1.1", headers, body)))
            ]
            wrong = "" if statuses and statuses[0] in (200, 202, 400, 411) else f"answered {statuses} to {event} {body[:300]!r}"
            return {200: "ignored", 202: "worked on", 400: "refused"}.get(statuses[0] if statuses else 0, "other"), wrong

        def run(indices: range) -> Found:
            found = Found()
            before = sum(1 for _ in serving.lines())
            for index, (ended, wrong) in zip(indices, pool.map(check, indices), strict=True):
                found.counted[ended] += 1
                if wrong:
                    found.fail(index, wrong)
            deadline = time.monotonic() + 300
            while serving.process.poll() is None and (left := unfinished(work)):
                if time.monotonic() > deadline:
                    found.fail(indices.stop - 1, f"{left} works came to no end")
                    break
                time.sleep(0.2)
            if serving.process.poll() is not None:
                found.fail(indices.stop - 1, "the worker died")
            for line in list(serving.lines())[before:]:
                if line["event"] in ("a pass failed", "given up") or line["level"] == "error":
                    at = re.search(r"json-(\d+)", json.dumps(line))
                    found.fail(int(at[1]) if at else indices.stop - 1, line)
            return found

        yield run
        work.dispose()
