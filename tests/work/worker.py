"""Starts workers that are there to be killed: each is a process of its own, forked from this one, which has imported everything.

Reads one order a line from standard input, and answers with one line: ``start {"executor": …, "catalogue": …, "environment": {…}}``
with ``started PID`` once that worker works; ``kill PID`` with ``ended PID STATUS`` once it is gone, where ``STATUS`` is 9 when the kill
ended it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

from bot import trackers
from bot.catalogue.catalogue import Catalogue
from bot.config import Settings
from bot.registry import HANDLERS, load
from bot.trackers.github.app import connect
from bot.work import workflows
from bot.work.passes import Runtime


def main() -> None:
    """Take orders until standard input is closed; all workers end then."""
    load(HANDLERS.package)
    workers: set[int] = set()
    for line in sys.stdin:
        order, _, about = line.strip().partition(" ")
        if order == "start":
            pid = os.fork()
            if pid == 0:
                _work(**json.loads(about))
            workers.add(pid)
        else:
            pid = int(about)
            workers.discard(pid)
            os.kill(pid, signal.SIGKILL)
            status = os.waitpid(pid, 0)[1]
            print("ended", pid, os.WTERMSIG(status) if os.WIFSIGNALED(status) else -os.WEXITSTATUS(status), flush=True)
    for pid in workers:
        os.kill(pid, signal.SIGKILL)


def _work(executor: str, catalogue: str, environment: dict[str, str], pause: float | None = None) -> None:
    """Work until the parent is gone. ``pause`` shortens the minute after a refusal that names no time."""
    parent = os.getppid()
    os.environ.update(environment)
    if pause is not None:
        trackers.PAUSE = pause
    settings = Settings()
    opened = Catalogue.open(Path(catalogue))
    runtime = Runtime(lambda repository, installation: connect(settings, repository, installation), lambda _: opened)
    workflows.start(settings, runtime, executor)
    print("started", os.getpid(), flush=True)
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(0)


if __name__ == "__main__":
    main()
