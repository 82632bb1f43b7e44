"""How many deliveries a second the receiver acknowledges, how soon, and whether one is lost when it is killed. See README.md here.

.venv/bin/python tests/bench/receiver.py [--seconds S] [--kills N] [--json FILE]
"""

# ruff: noqa: E402 - run as a script, its imports need the repository on the path first
from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2])]
for name in [name for name in os.environ if name.startswith("EXPLAINBOT_") and name != "EXPLAINBOT_NODE_PACKAGES"]:
    del os.environ[name]  # the operator's settings are not ours

import numpy as np
from rich.console import Console
from rich.table import Table

from bot.config import Settings
from bot.trackers.github.receive import sign
from tests.bench.suites.scene import SECRET, Server, database, real_payloads, server, work_engine

PROCESSES, THREADS = 2, 4
CONNECTIONS = 16
SEED = 20261207
WARM = 1.0
"""Seconds before the clock starts."""
AIM_SHARE, AIM_MS = 0.4, 50.0


@dataclass
class Load:
    """What a load was answered: seconds of each acknowledged delivery from when it was due, its ids, and the answers that were none."""

    taken: list[float] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    failed: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Acknowledged deliveries a second."""
        return len(self.taken) / self.seconds if self.seconds else 0.0

    def percentile(self, share: float) -> float:
        """Milliseconds within which this share of the deliveries was acknowledged."""
        return float(np.percentile(self.taken, share) * 1000) if self.taken else float("nan")


def deliveries() -> list[tuple[str, bytes]]:
    """Real payloads that lead to work, as events and bodies that end before their closing brace, so that each can be made another one."""
    found = []
    for event, payload in real_payloads():
        if event == "issues" and payload["action"] in ("opened", "edited", "reopened") and "installation" in payload:
            found.append((event, json.dumps(payload, separators=(",", ":")).encode()[:-1]))
    return found


# ---------------------------------------------------------------------------------------------------------- the clients


def _client(port: int, seed: int, connections: int, rate: float, seconds: float, ready: Any, results: Any) -> None:
    """A process of clients; ``rate`` 0: each sends its next delivery when the last is answered (closed loop), else so many a second are
    sent when they are due, whatever is still under way (open loop), and each is timed from when it was due."""
    bodies = deliveries()
    ready.set()
    end = time.monotonic() + seconds
    loads = [Load() for _ in range(connections)]

    def run(at: int) -> None:
        draw, load = random.Random(f"{seed}/{at}"), loads[at]
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        due, warm = time.monotonic() + draw.random() * (connections / rate if rate else 0.0), end - seconds + WARM
        while True:
            if rate:
                # Random gaps, as of many senders that know nothing of each other.
                due += draw.expovariate(rate / connections)
                time.sleep(max(0.0, due - time.monotonic()))
            else:
                due = time.monotonic()
            if due > end:
                break
            event, start = draw.choice(bodies)
            guid = str(uuid.UUID(int=draw.getrandbits(128)))
            body = start + f',"n":"{guid}"}}'.encode()
            headers = {
                "Content-Type": "application/json",
                "X-GitHub-Event": event,
                "X-GitHub-Delivery": guid,
                "X-Hub-Signature-256": sign(body, SECRET),
            }
            try:
                connection.request("POST", "/hooks/github", body, headers)
                answer = connection.getresponse()
                answer.read()
                good = answer.status == 202
            except (OSError, http.client.HTTPException):
                connection.close()
                good = False
            if good:
                load.ids.append(guid)
                if due >= warm:
                    load.taken.append(time.monotonic() - due)
            else:
                load.failed += 1
                time.sleep(0.05)
        connection.close()

    threads = [threading.Thread(target=run, args=(at,)) for at in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put(
        ([each for load in loads for each in load.taken], [id for load in loads for id in load.ids], sum(load.failed for load in loads))
    )


@contextmanager
def sending(port: int, seconds: float, rate: float = 0.0, connections: int = CONNECTIONS, seed: int = SEED) -> Iterator[Load]:
    """A load that runs beside the block, from another process; the result is complete after it."""
    load, context = Load(seconds=seconds - WARM), multiprocessing.get_context("spawn")
    ready, results = context.Event(), context.Queue()
    process = context.Process(target=_client, args=(port, seed, connections, rate, seconds, ready, results))
    process.start()
    ready.wait()
    yield load
    load.taken, load.ids, load.failed = results.get()
    process.join()


# ------------------------------------------------------------------------------------------------------------ the parts


@contextmanager
def receiver(url: str, port: int = 0) -> Iterator[Server]:
    """The program's receiver on a database."""
    settings = Settings(webhook_secrets=SECRET.decode(), token="none", database_url=url, github_url="http://127.0.0.1:9")  # type: ignore[arg-type]
    with server(settings, "--receiver-only", "--processes", str(PROCESSES), "--threads", str(THREADS), port=port) as serving:
        yield serving


@contextmanager
def bare() -> Iterator[Server]:
    """A Flask endpoint under the same gunicorn that checks the signature, and nothing else."""
    settings = Settings(webhook_secrets=SECRET.decode())  # type: ignore[arg-type]
    command = (str(Path(__file__).with_name("bare.py")), "--processes", str(PROCESSES), "--threads", str(THREADS))
    with server(settings, command=command) as serving:
        yield serving


def stored(url: str) -> set[str]:
    """The delivery ids of all work in a database."""
    engine = work_engine(url)
    table = "dbos.workflow_status" if engine.dialect.name == "postgresql" else "workflow_status"
    with engine.connect() as connection:
        found = {row[0].rsplit(":", 1)[1] for row in connection.exec_driver_sql(f"SELECT workflow_uuid FROM {table}")}
    engine.dispose()
    return found


def measure(serving: Server, seconds: float, rate: float = 0.0) -> Load:
    """Load a server for so long."""
    with sending(serving.port, seconds + WARM, rate) as load:
        pass
    return load


def kill_again_and_again(url: str, kills: int) -> tuple[int, int]:
    """Kill the receiver under load at random moments; how many deliveries were acknowledged, and how many of them are lost."""
    draw, acknowledged = random.Random(SEED), set()
    for number in range(kills):
        with receiver(url) as serving:
            with sending(serving.port, 3.2, seed=SEED + number) as load:
                time.sleep(draw.uniform(0.3, 3.0))
                serving.kill()
            acknowledged.update(load.ids)
    return len(acknowledged), len(acknowledged - stored(url))


def main() -> int:
    """Measure, and print the table; 1 when an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement")
    parser.add_argument("--kills", type=int, default=10, help="of the receiver under load, on each database")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT):  # a run that is ended takes its servers and workers with it
        signal.signal(number, signal.default_int_handler)
    rows: dict[str, dict[str, Any]] = {}
    with ExitStack() as stack:
        urls = {kind: stack.enter_context(database(kind)) for kind in ("sqlite", "postgresql")}
        servers = {"bare": stack.enter_context(bare())} | {kind: stack.enter_context(receiver(url)) for kind, url in urls.items()}
        # In turns, so that what else runs on the machine falls on all alike.
        peaks: dict[str, list[Load]] = {kind: [] for kind in servers}
        for _ in range(3):
            for kind, serving in servers.items():
                peaks[kind].append(measure(serving, options.seconds / 3))
        for kind, serving in servers.items():
            rate = float(np.median([load.rate for load in peaks[kind]]))
            half = measure(serving, options.seconds, rate / 2)
            all_peak = Load([each for load in peaks[kind] for each in load.taken])
            rows[kind] = {
                "peak": rate,
                "peak p50 ms": all_peak.percentile(50),
                "peak p99 ms": all_peak.percentile(99),
                "half": half.rate,
                "half p50 ms": half.percentile(50),
                "half p99 ms": half.percentile(99),
                "failed": half.failed + sum(load.failed for load in peaks[kind]),
            }
            if kind in urls:
                ids = {id for load in [*peaks[kind], half] for id in load.ids}
                rows[kind]["not stored"] = len(ids - stored(urls[kind]))
    for kind in ("sqlite", "postgresql"):
        with database(kind) as url:
            rows[kind]["acknowledged under kills"], rows[kind]["lost"] = kill_again_and_again(url, options.kills)
    return _say(rows, options)


def _say(rows: dict[str, dict[str, Any]], options: argparse.Namespace) -> int:
    table = Table(
        "", "peak /s", "of bare", "p50 ms", "p99 ms", "half /s", "p50 ms", "p99 ms", "failed", "lost", f"lost under {options.kills} kills"
    )
    for kind, row in rows.items():
        row["of bare"] = row["peak"] / rows["bare"]["peak"]
        under = f"{row['lost']} of {row['acknowledged under kills']:,}" if "lost" in row else ""
        shown = (row["peak p50 ms"], row["peak p99 ms"], row["half"], row["half p50 ms"], row["half p99 ms"])
        cells = [f"{row['peak']:.0f}", f"{row['of bare']:.0%}", *(f"{value:.1f}" for value in shown), str(row["failed"])]
        table.add_row(kind, *cells, str(row.get("not stored", "")), under)
    Console(width=150).print(table)
    if options.json:
        options.json.write_text(json.dumps({kind: {k: round(v, 3) for k, v in row.items()} for kind, row in rows.items()}, indent=1) + "\n")
    lost = sum(row.get("lost", 0) + row.get("not stored", 0) for row in rows.values())
    on_postgres = rows["postgresql"]
    return int(bool(lost) or on_postgres["of bare"] < AIM_SHARE or on_postgres["half p99 ms"] >= AIM_MS)


if __name__ == "__main__":
    sys.exit(main())
