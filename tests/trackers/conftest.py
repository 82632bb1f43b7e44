from collections.abc import Iterator

import pytest

from bot.demo.github import StandIn
from bot.trackers.github.app import connect
from bot.trackers.github.client import GitHubTracker

REPOSITORY = "octo-org/octo-repo"


@pytest.fixture(scope="session")
def app_key() -> str:
    """One key for all stand-ins of a run: making one takes a while."""
    return StandIn().private_key


@pytest.fixture
def github(app_key: str) -> Iterator[StandIn]:
    """A GitHub with one repository, over HTTP."""
    standin = StandIn(private_key=app_key)
    standin.add_repository(REPOSITORY, {"maintainer": "maintain", "helper": "triage"})
    with standin.serve():
        yield standin


@pytest.fixture
def tracker(github: StandIn) -> GitHubTracker:
    """The repository, as the App's installation sees it."""
    return connect(github.settings(), REPOSITORY, github.installation(REPOSITORY))
