"""``explainbot scan``, ``check`` and ``triage backlog``: from a release on disk to counted issues."""

import json
import zipfile

import pytest
from typer.testing import CliRunner

from bot.cli.app import load_commands
from bot.demo.github import StandIn

GEARS = """
def turn(name, n):
    if n < 3:
        raise ValueError(f"The frobnicator {name} needs at least {n} sprockets before it can turn")

def check(gear):
    assert gear.size > 0
"""

SOURCE = """
repository: octo/engine
package: octo-engine
path_prefix:
  engine/: src/engine/
releases:
  - 1.0.0
"""

RECORD = """
type: ValueError
title: Too few sprockets
template: "The frobnicator {name} needs at least {n} sprockets before it can turn"
meaning: The frobnicator has too few sprockets.
solutions:
  - Add sprockets.
examples:
  - "ValueError: The frobnicator alpha needs at least 3 sprockets before it can turn"
  - "[12:00:01] ValueError: The frobnicator beta needs at least 3 sprockets before it can turn"
confusers:
  - "ValueError: The carburettor needs oil"
"""

ISSUE = "It stops: `ValueError: The frobnicator alpha needs at least 3 sprockets before it can turn`"


@pytest.fixture
def home(tmp_path):
    """Record files, and the release in the folder where it would be put after a download."""
    errors = tmp_path / "errors" / "octo" / "engine"
    (errors / "gears").mkdir(parents=True)
    (errors / "source.yaml").write_text(SOURCE)
    sources = tmp_path / "cache" / "sources"
    sources.mkdir(parents=True)
    with zipfile.ZipFile(sources / "octo_engine-1.0.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("engine/gears.py", GEARS)
        wheel.writestr("engine/broken.py", "def (:\n")
        wheel.writestr("octo_engine-1.0.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: octo-engine\nVersion: 1.0.0\n")
    return tmp_path


@pytest.fixture
def run(home):
    def call(*arguments, **more):
        settings = {"EXPLAINBOT_CACHE_DIR": str(home / "cache"), "EXPLAINBOT_ERRORS_DIR": str(home / "errors"), "COLUMNS": "120"}
        return CliRunner().invoke(load_commands(), list(arguments), env=settings | more)

    return call


def write_record(home, text=RECORD):
    (home / "errors" / "octo" / "engine" / "gears" / "sprockets.yaml").write_text(text)


def test_a_scan_builds_the_catalogue_that_explain_uses(home, run):
    result = run("scan", "octo/engine", "--report")
    assert result.exit_code == 0, result.output
    assert "octo/engine 1.0.0: 1 files, 2 raise sites, 2 records, 1 files skipped" in result.stdout
    assert "skipped src/engine/broken.py" in result.stdout
    issue = home / "issue.md"
    issue.write_text(ISSUE)
    answer = json.loads(run("explain", "--format", "json", str(issue)).stdout)
    assert answer["records"][0]["sites"][0]["path"] == "src/engine/gears.py"
    assert answer["records"][0]["status"] == "derived"


def test_the_index_is_built_with_the_catalogue(home, run):
    from bot.catalogue.catalogue import Catalogue, catalogue_path
    from bot.matching.verdict import INDEX_BLOB

    run("scan", "octo/engine")
    with Catalogue.open(catalogue_path(home / "cache", "octo/engine"), home / "errors") as catalogue:
        assert catalogue.blob(INDEX_BLOB) is not None


def test_one_bad_repository_does_not_stop_the_others(run):
    result = run("scan", "octo/other", "octo/engine")
    assert result.exit_code == 1
    assert "octo/engine 1.0.0" in result.stdout
    assert "octo/other" in result.stderr


def test_check_is_content_with_right_files(home, run):
    write_record(home)
    run("scan", "octo/engine")
    result = run("check")
    assert result.exit_code == 0, result.output
    assert "1 records, 0 faults" in result.stderr


def test_check_names_file_line_and_mend(home, run):
    write_record(home, RECORD.replace("meaning:", "meening:"))
    result = run("check")
    assert result.exit_code == 1
    assert "octo/engine/gears/sprockets.yaml:5:" in result.stdout.replace(str(home / "errors") + "/", "")
    assert "→" in result.stdout


def test_check_tries_examples_once_there_is_a_catalogue(home, run):
    write_record(home, RECORD.split("examples:")[0] + 'examples:\n  - "ValueError: unrelated"\n')
    before = run("check")
    assert "explainbot scan octo/engine" in before.stderr
    run("scan", "octo/engine")
    result = run("check", "--format", "json")
    assert result.exit_code == 1
    assert any("example" in fault["problem"] for fault in json.loads(result.stdout))


def test_check_holds_what_a_record_says_against_the_release_that_is_kept(home, run):
    path = home / "errors" / "octo" / "engine" / "gears" / "sprockets.yaml"
    path.write_text(RECORD.replace("  - Add sprockets.\n", "  - Add sprockets.\n  - Please start with `--sprockets 4`\n"))
    result = run("check")
    assert result.exit_code == 1
    assert [line.split("sprockets.yaml")[1] for line in result.stdout.splitlines()] == [
        ":8: `--sprockets` is no option in 1.0.0 → correct it; an option of another program goes with its command",
        ":8: “Please” says nothing → leave the word out",
    ]
    (home / "cache" / "sources" / "octo_engine-1.0.0-py3-none-any.whl").unlink()
    assert "options, environment variables and modules are not looked up; explainbot scan octo/engine" in run("check").stderr


def test_check_runs_the_guard_against_what_the_source_raises(home, run):
    guard = "guard: |-\n  def enough(n: int) -> bool:\n      return n {} 3\n"
    write_record(home, RECORD + guard.format(">="))
    run("scan", "octo/engine")
    assert "1 held against what the source raises" in run("check").stderr
    write_record(home, RECORD + guard.format("<="))
    (fault,) = json.loads(run("check", "--format", "json").stdout)
    assert fault["line"] == RECORD.count("\n") + 1
    assert fault["problem"].startswith("`guard` says True for n = ")


def test_check_looks_only_at_the_files_it_is_given(home, run):
    write_record(home)
    other = home / "errors" / "octo" / "engine" / "gears" / "other.yaml"
    other.write_text("nonsense: 1\n")
    assert run("check", str(other)).exit_code == 1
    assert run("check", str(other.parent / "sprockets.yaml")).exit_code == 0
    assert run("check", str(home / "missing.yaml")).exit_code == 1


def test_check_prints_the_schema(run):
    schema = json.loads(run("check", "--format", "schema").stdout)
    assert "template" in schema["properties"]


def test_the_backlog_is_counted_and_nothing_is_written(run):
    run("scan", "octo/engine")
    stand_in = StandIn()
    stand_in.add_repository("octo/engine")
    texts = [
        ISSUE,
        "Please add colours",
        f"again\n\n{ISSUE}",
        "```\nTypeError: unknown thing 12\n```",
        "```\nTypeError: unknown thing 7\n```",
    ]
    for text in texts:
        stand_in.open_issue("octo/engine", "It stops", text)
    with stand_in.serve():
        settings = {"EXPLAINBOT_TOKEN": stand_in.token("octocat")}
        result = run("triage", "backlog", "octo/engine", "--url", stand_in.url, "--json", **settings)
        table = run("triage", "backlog", "octo/engine", "--url", stand_in.url, **settings)
    counted = json.loads(result.stdout)
    assert counted["issues"] == 5
    assert [known["issues"] for known in counted["records"]] == [[1, 3]]
    assert [unknown["issues"] for unknown in counted["unmatched"]] == [[4, 5]]
    assert "#1 #3" in table.stdout
    assert {seen.method for seen in stand_in.seen} == {"GET"}


def release(home, version, text):
    with zipfile.ZipFile(home / "cache" / "sources" / f"octo_engine-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("engine/gears.py", text)


def test_a_scan_of_several_releases_reports_what_changed(home, run):
    assert run("scan", "octo/engine").exit_code == 0
    release(home, "2.0.0", GEARS.replace("at least {n} sprockets", "no less than {n} sprockets") + "\nraise KeyError('brand new here')\n")
    write_record(home)
    result = run("scan", "octo/engine", "--release", "2.0.0", "--release", "1.0.0", "--report")
    assert result.exit_code == 0, result.output
    assert "octo/engine 1.0.0 to 2.0.0 (2 releases): 1 files" in result.stdout
    assert "New: 1" in result.stdout
    assert "brand new here" in result.stdout
    assert "Changed: 1" in result.stdout
    assert "no less than" in result.stdout
    assert "Record files that need a person: 1" in result.stdout
    assert "2 releases, 1 of them known before" in result.stdout
    again = run("scan", "octo/engine", "--release", "2.0.0", "--release", "1.0.0", "--report")
    assert "nothing new" in again.stdout
    assert "made of the same as before" in again.stdout


def test_a_release_that_cannot_be_had_leaves_the_old_catalogue(home, run, monkeypatch):
    assert run("scan", "octo/engine").exit_code == 0
    built = home / "cache" / "catalogues" / "octo" / "engine.sqlite"
    before = built.read_bytes()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setattr("bot.catalogue.fetching.PYTHONS", ("3.11",))
    assert run("scan", "octo/engine", "--release", "9.9.9").exit_code != 0
    assert built.read_bytes() == before
    result = run("scan", "octo/engine", "--release", "1.0.0", "--release", "9.9.9")
    assert result.exit_code == 0
    assert "left out 9.9.9" in result.output


def test_options_that_do_not_go_together_are_refused(home, run):
    assert run("scan", "octo/engine", "--tags", "v*").exit_code != 0
    assert run("scan", "octo/engine", "--checkout", str(home), "--release", "1.0.0").exit_code != 0
