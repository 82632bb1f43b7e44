"""Which package index pip asks."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest


@pytest.fixture
def use_index(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let pip ask the index at this URL and nothing else, whatever this machine has set."""

    def use(url: str) -> None:
        for name in ("EXTRA_INDEX_URL", "FIND_LINKS", "NO_INDEX"):
            monkeypatch.delenv(f"PIP_{name}", raising=False)
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX_URL", url)

    return use
