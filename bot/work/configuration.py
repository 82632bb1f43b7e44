"""The configuration of a target repository, as it is now or as it was when it was last good."""

from __future__ import annotations

import time
from collections.abc import Callable

import sqlalchemy as sa
import structlog

from bot import store
from bot.config import CONFIG_PATH, OWNER_CONFIG_PATH, ConfigError, RepoConfig, parse_repo_config
from bot.trackers import Tracker, Unavailable

CONFIG_SECONDS = 60.0
"""How long a repository's configuration is used without reading it again."""

log = structlog.get_logger("bot.work")


def repository_config(
    tracker: Tracker,
    engine: sa.Engine,
    repository_id: int,
    cache: dict[int, tuple[float, RepoConfig]],
    owner: Callable[[], Tracker] | None = None,
) -> RepoConfig:
    """The configuration of a repository: read at most once a minute; when it is wrong or cannot be read, the last good one.

    Without a file of its own, that of its ``owner`` holds. Raises Unavailable when it cannot be read and none is known.
    """
    now = time.monotonic()
    if (kept := cache.get(repository_id)) and kept[0] > now:
        return kept[1]
    try:
        text, path = tracker.file(CONFIG_PATH), CONFIG_PATH
        if text is None and owner is not None:
            at = owner()
            text, path = at.file(OWNER_CONFIG_PATH), f"{at.repository}/{OWNER_CONFIG_PATH}"
    except Unavailable:
        known = store.last_config(engine, repository_id)
        if known is None:
            raise
        return _good(known[0])
    try:
        config = parse_repo_config(text or "", path)
        store.remember_config(engine, repository_id, text)
    except ConfigError as error:
        store.remember_config(engine, repository_id, text, str(error))
        log.warning("configuration is wrong", repository_id=repository_id)
        known = store.last_config(engine, repository_id)
        config = _good(known[0] if known else None)
    cache[repository_id] = (now + CONFIG_SECONDS, config)
    return config


def _good(text: str | None) -> RepoConfig:
    """A configuration that was good once; the default when a newer version of ours does not take it any more."""
    try:
        return parse_repo_config(text or "")
    except ConfigError:
        return RepoConfig()
