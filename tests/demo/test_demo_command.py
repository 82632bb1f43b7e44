"""``explainbot demo --once`` as a process: the whole way, and its exit codes."""

import os
import subprocess
import sys

import pytest


@pytest.fixture
def once(demo_settings, tmp_path):
    def run(text):
        file = tmp_path / "issue.md"
        file.write_text(text)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("EXPLAINBOT_")} | {
            "EXPLAINBOT_CACHE_DIR": str(demo_settings.cache_dir),
            "EXPLAINBOT_ERRORS_DIR": str(demo_settings.errors_dir),
        }
        command = [sys.executable, "-m", "bot.cli", "demo", "--repo", "octo/engine", "--once", str(file)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)

    return run


def test_the_comment_is_printed(once, known_issue):
    result = once(f"# The drive stops\n\n{known_issue}")
    assert result.returncode == 0, result.stderr
    assert "The frobnicator has too few sprockets." in result.stdout
    assert "/blob/v1.0.0/engine/gears.py#L10" in result.stdout


def test_silence_is_exit_code_3(once):
    result = once("# Please add colours\n\nIt is so grey.")
    assert result.returncode == 3, result.stderr
    assert result.stdout == ""


def test_without_catalogue_and_source_it_says_what_is_missing(demo_settings, tmp_path):
    file = tmp_path / "issue.md"
    file.write_text("# x\n")
    environment = os.environ | {
        "EXPLAINBOT_CACHE_DIR": str(tmp_path / "none"),
        "EXPLAINBOT_ERRORS_DIR": str(demo_settings.errors_dir),
    }
    command = [sys.executable, "-m", "bot.cli", "demo", "--repo", "octo/engine", "--once", str(file)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert result.returncode == 1
    assert "source.yaml" in result.stderr
    assert "Traceback" not in result.stderr
