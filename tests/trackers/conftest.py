from collections.abc import Iterator
from itertools import count

import pytest

from bot.demo.github import StandIn
from bot.trackers.github.app import connect
from bot.trackers.github.client import GitHubTracker

REPOSITORY = "octo-org/octo-repo"

APP_IDS = count(5000)
"""An App of its own for each stand-in: one that gets the port of an earlier one must not be shown the earlier one's token."""


@pytest.fixture(scope="session")
def app_key() -> str:
    """One key for all stand-ins of a run: making one takes a while."""
    return StandIn().private_key


@pytest.fixture
def github(app_key: str) -> Iterator[StandIn]:
    """A GitHub with one repository, over HTTP."""
    standin = StandIn(private_key=app_key, app_id=next(APP_IDS))
    standin.add_repository(REPOSITORY, {"maintainer": "maintain", "helper": "triage"})
    with standin.serve():
        yield standin


@pytest.fixture
def tracker(github: StandIn) -> GitHubTracker:
    """The repository, as the App's installation sees it."""
    return connect(github.settings(), REPOSITORY, github.installation(REPOSITORY))
