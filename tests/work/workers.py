"""Workers that come and go: started in processes of their own, and killed with SIGKILL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from bot.config import Settings


def environment_of(settings: Settings) -> dict[str, str]:
    """The environment variables that give another process these settings."""

    def text(name: str) -> str:
        value = getattr(settings, name)
        return str(value.get_secret_value() if isinstance(value, SecretStr) else value)

    return {f"EXPLAINBOT_{name.upper()}": text(name) for name in sorted(settings.model_fields_set)}


@dataclass
class Workers:
    """The process that starts them (``worker.py``)."""

    process: subprocess.Popen[str]
    catalogue: Path

    def start(self, settings: Settings, executor: str = "worker-0", pause: float | None = None) -> int:
        """Start a worker and wait until it works: its process id."""
        order = {"executor": executor, "catalogue": str(self.catalogue), "environment": environment_of(settings), "pause": pause}
        return int(self._ask(f"start {json.dumps(order)}", "started")[0])

    def kill(self, pid: int) -> bool:
        """Kill a worker with SIGKILL; False when it had ended by itself."""
        return self._ask(f"kill {pid}", "ended")[1] == "9"

    @contextmanager
    def working(self, settings: Settings, executor: str = "worker-0") -> Iterator[int]:
        """A worker that is killed at the end."""
        pid = self.start(settings, executor)
        try:
            yield pid
        finally:
            self.kill(pid)

    def _ask(self, order: str, answer: str) -> list[str]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(order + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            word, *rest = line.split()
            if word == answer:
                return rest
        raise RuntimeError("the process that starts workers ended")


@contextmanager
def workers(catalogue: Path, log: Path | None = None) -> Iterator[Workers]:
    """Be able to start workers; all that still run are killed at the end. Their logs go to ``log``, else to our standard error."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("EXPLAINBOT_")}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    command = [sys.executable, str(Path(__file__).with_name("worker.py"))]
    with (
        log.open("a") if log else open(os.dup(2), "a") as err,
        subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err, text=True) as process,
    ):
        try:
            yield Workers(process, catalogue)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait()
