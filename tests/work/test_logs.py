"""Logs for machines."""

import io
import json
import sys

import pytest
import structlog

from bot.work.logs import log_as_json


def test_logs_go_where_standard_error_is_now(monkeypatch: pytest.MonkeyPatch) -> None:
    structlog.reset_defaults()
    at_start = io.StringIO()
    monkeypatch.setattr(sys, "stderr", at_start)
    log_as_json()
    log = structlog.get_logger("bot.work")
    log.info("pass", issue=6)
    at_start.close()
    now = io.StringIO()
    monkeypatch.setattr(sys, "stderr", now)
    log.info("pass", issue=7)
    assert json.loads(now.getvalue())["issue"] == 7
