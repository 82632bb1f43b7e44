"""A worker process for the tests that kill it: works until its standard input is closed."""

from __future__ import annotations

import sys
from pathlib import Path

from bot.catalogue.catalogue import Catalogue
from bot.config import Settings
from bot.trackers.github.app import connect
from bot.work import workflows
from bot.work.passes import Runtime


def main(catalogue: str, executor: str) -> None:
    """Start, say so, and wait."""
    settings = Settings()
    opened = Catalogue.open(Path(catalogue))
    runtime = Runtime(lambda repository, installation: connect(settings, repository, installation), lambda _: opened)
    workflows.start(settings, runtime, executor)
    print("started", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
