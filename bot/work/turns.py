"""Taking turns: whoever puts much in line stands behind those who put in little."""

from __future__ import annotations

import threading
import time

SECONDS = 1.0
"""After so long, one event of a person is forgotten."""
MOST_KNOWN = 10_000
"""People that are remembered; then those are forgotten who did nothing lately."""


class Turns:
    """How many events each person has put in line lately, in this process. Safe to use from several threads.

    It only orders work, so that nothing is lost with it: a restart, or a second process, begins to count anew.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], tuple[float, float]] = {}

    def take(self, line: str, actor: str, now: float | None = None) -> int:
        """Count an event of somebody in a line; says how many of theirs came before it lately."""
        now = time.monotonic() if now is None else now
        with self._lock:
            if len(self._known) >= MOST_KNOWN:
                self._known = {key: (count, at) for key, (count, at) in self._known.items() if count > (now - at) / SECONDS}
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            count, at = self._known.get((line, actor), (0.0, now))
            count = max(0.0, count - (now - at) / SECONDS)
            self._known[line, actor] = count + 1.0, now
            return int(count)
