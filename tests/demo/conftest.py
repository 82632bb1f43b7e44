"""A running demo of octo/engine: the real server as a process, the stand-in for GitHub, the page."""

import shutil

import pytest

from bot.catalogue.catalogue import catalogue_path
from bot.config import Settings

ISSUE = """```
Traceback (most recent call last):
  File "/opt/engine/gears.py", line 10, in turn
    raise ValueError(text)
ValueError: The frobnicator alpha needs at least 3 sprockets before it can turn
```
"""


@pytest.fixture(scope="module")
def demo_settings(engine_catalogue, tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    path = catalogue_path(folder / "cache", "octo/engine")
    path.parent.mkdir(parents=True)
    shutil.copyfile(engine_catalogue, path)
    (folder / "errors").mkdir()
    return Settings(cache_dir=folder / "cache", errors_dir=folder / "errors", data_dir=folder / "data")


@pytest.fixture(scope="module")
def demo(demo_settings):
    from bot.demo import running

    with running.run("octo/engine", demo_settings) as running_demo:
        running_demo.await_server()
        yield running_demo


@pytest.fixture
def known_issue():
    return ISSUE
