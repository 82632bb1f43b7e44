"""The packages that these tests need; without EXPLAINBOT_NODE_PACKAGES they are skipped, with it they must be there."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """The folder of the installed packages (see install.sh)."""
    folder = os.environ.get("EXPLAINBOT_NODE_PACKAGES")
    if not folder:
        pytest.skip("needs Node packages: tests/contract/install.sh FOLDER, then EXPLAINBOT_NODE_PACKAGES=FOLDER")
    found = Path(folder).absolute() / "node_modules"
    if not found.is_dir():
        pytest.fail(f"EXPLAINBOT_NODE_PACKAGES names {folder}, which has no node_modules: run tests/contract/install.sh")
    return found
