"""Logs for machines: one JSON object a line on standard error, without a word that a reporter wrote."""

from __future__ import annotations

import logging
import sys

import structlog
from structlog.types import EventDict, Processor, WrappedLogger


def log_as_json() -> None:
    """Write our logs as JSON from now on; leaves it as it is where structlog was configured before."""
    if structlog.is_configured():
        return
    structlog.configure(
        processors=[*_shared(), structlog.processors.JSONRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=lambda *_: structlog.WriteLogger(sys.stderr),  # looked up at each line: the stream may have been replaced
    )


def log_library_as_json(name: str) -> None:
    """Give the handlers of a library's logger the same form; of an exception they say the type alone."""
    form = structlog.stdlib.ProcessorFormatter(
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, structlog.processors.JSONRenderer()],
        foreign_pre_chain=[*_shared(), structlog.stdlib.ExtraAdder([]), _name_only],
    )
    for handler in logging.getLogger(name).handlers:
        handler.setFormatter(form)


def _shared() -> list[Processor]:
    return [structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso", utc=True)]


def _name_only(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Put the type of an exception in place of the exception: its message may quote what it was about."""
    error = event.pop("exc_info", None)
    if error:
        found = error if isinstance(error, tuple) else sys.exc_info()
        event["error"] = found[0].__name__ if found[0] else "unknown"
    return event
