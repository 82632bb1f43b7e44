"""The production server: gunicorn with threads, the work in the same process unless it is done elsewhere."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]

from bot.config import Settings

if TYPE_CHECKING:
    from flask import Flask

GRACE_SECONDS = 20
"""How long requests and work may take to end after a signal; what has not ended goes on at the next start."""


class Server(BaseApplication):  # type: ignore[misc]  # gunicorn has no types; its way to be started by a program is this class
    """The web application under gunicorn. ``executor`` names the worker in this process; None leaves the work to others."""

    def __init__(self, settings: Settings, executor: str | None, options: dict[str, Any]) -> None:
        self.settings = settings
        self.executor = executor
        self.options = options
        super().__init__()

    def load_config(self) -> None:
        """Hand our options to gunicorn (its command line and files are not read)."""
        for name, value in self.options.items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        """Make the application; called in each process after it was forked, since threads do not survive a fork."""
        from bot.cli.serve import web_app

        return web_app(self.settings, self.executor)


def run(settings: Settings, bind: str, *, threads: int, processes: int, executor: str | None, with_parent: bool) -> None:
    """Serve until a signal ends the process. ``bind`` is gunicorn's: ``host:port`` or ``fd://N``."""
    options = {
        "bind": bind,
        "workers": processes,
        "worker_class": "gthread",
        "threads": threads,
        "graceful_timeout": GRACE_SECONDS,
        "timeout": 60,
        "keepalive": 15,
        "worker_exit": _stop_work,
        "when_ready": _ready(with_parent),
        "loglevel": "warning",
        "proc_name": "explainbot",
        "control_socket_disable": True,
    }
    Server(settings, executor, options).run()


def _ready(with_parent: bool) -> Any:
    parent = os.getppid()

    def when_ready(server: Any) -> None:
        if with_parent:
            threading.Thread(target=_end_with, args=(parent,), daemon=True, name="with-parent").start()

    return when_ready


def _end_with(parent: int) -> None:
    """End this process once its parent is gone, also when that was killed."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)


def _stop_work(server: Any, worker: Any) -> None:
    from bot.work.workflows import stop

    stop()
