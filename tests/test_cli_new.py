"""``explainbot new``: a record file started from an id, a message or an issue, and what ``check`` says of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from bot.catalogue.catalogue import Catalogue, catalogue_path
from bot.catalogue.records import load_records
from bot.cli.app import load_commands
from bot.cli.new import slugged

SOURCE = "repository: octo/engine\npackage: octo-engine\nreleases: 1.0.0\n"
FLUX = "RuntimeError: No flux capacitor was found in slot 7; insert one before starting the drive"


@pytest.fixture
def errors(tmp_path: Path, engine_catalogue: Path) -> Path:
    folder = tmp_path / "errors" / "octo" / "engine"
    folder.mkdir(parents=True)
    (folder / "source.yaml").write_text(SOURCE)
    built = catalogue_path(tmp_path / "cache", "octo/engine")
    built.parent.mkdir(parents=True)
    shutil.copy(engine_catalogue, built)
    return tmp_path / "errors"


@pytest.fixture
def run(errors: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.setenv("EXPLAINBOT_ERRORS_DIR", str(errors))
    monkeypatch.setenv("EXPLAINBOT_CACHE_DIR", str(errors.parent / "cache"))
    return lambda *arguments, **more: CliRunner().invoke(load_commands(), arguments, **more)


def test_a_message_starts_a_file_with_all_that_is_known(run: Callable[..., Result], errors: Path) -> None:
    result = run("new", FLUX)
    path = Path(result.stdout.strip())
    assert path == errors / "octo/engine/gears/no-flux-capacitor-was-found-in-slot-insert-one-before.yaml"
    text = path.read_text()
    for piece in [
        "# Raised at https://github.com/octo/engine/blob/v1.0.0/engine/drive.py#L20",
        "type: RuntimeError",
        "No flux capacitor was found in slot {slot};",
        "meaning: 'TODO: ",
        "trigger: Raised in `start`.",
        "status: draft",
        "slot: '7'",
        "confusers:",
    ]:
        assert piece in text
    assert f"explainbot check {path}" in result.stderr


def test_check_names_every_gap_and_none_is_ever_shown(run: Callable[..., Result], errors: Path) -> None:
    path = Path(run("new", FLUX).stdout.strip())
    lines = path.read_text().split("\n")
    gaps = {number for number, line in enumerate(lines, 1) if "TODO" in line}
    result = run("check", str(path))
    assert result.exit_code == 1
    named = {int(line.split(".yaml:")[1].split(":")[0]) for line in result.stdout.splitlines()}
    assert named == gaps
    assert len(result.stdout.splitlines()) == len(gaps)
    assert load_records(errors, "octo/engine")[0] == ()


def test_a_filled_file_is_right(run: Callable[..., Result]) -> None:
    path = Path(run("new", FLUX).stdout.strip())
    text = path.read_text()
    for number in range(text.count("TODO")):
        start = text.index("'TODO")
        end = text.index("'\n", start) + 1
        said = f"Written in words, {number}"
        if text[:start].count("examples:") and not text[:start].count("confusers:"):
            said = "'[12:00:01] RuntimeError: No flux capacitor was found in slot 8; insert one before starting the drive'"
        text = text[:start] + said + text[end:]
    path.write_text(text)
    result = run("check", str(path))
    assert result.stdout == ""
    assert result.exit_code == 0


def test_nothing_is_overwritten(run: Callable[..., Result]) -> None:
    path = Path(run("new", FLUX).stdout.strip())
    path.write_text("mine")
    result = run("new", FLUX)
    assert "is there already" in str(result.exception)
    assert path.read_text() == "mine"


def test_an_id_and_an_issue_lead_to_the_same_file(run: Callable[..., Result], tmp_path: Path, engine_catalogue: Path) -> None:
    with Catalogue.open(engine_catalogue) as catalogue:
        (record,) = catalogue.search(q="flux")[0]
    by_id = Path(run("new", record.id).stdout.strip())
    assert "'TODO: the text as a traceback prints it'" in by_id.read_text()
    by_id.rename(by_id.with_suffix(".bak"))
    issue = tmp_path / "issue.md"
    issue.write_text(f"# The drive stops\n\nIt says:\n\n```\n{FLUX}\n```\n")
    by_issue = Path(run("new", str(issue), "--repo", "octo/engine").stdout.strip())
    assert by_issue == by_id
    assert "slot 7; insert one" in " ".join(by_issue.read_text().split())
    by_issue.unlink()
    assert Path(run("new", "-", input=issue.read_text()).stdout.strip()) == by_id


def test_a_secret_in_the_message_is_not_kept(run: Callable[..., Result]) -> None:
    secret = "hf_" + "abcDEF0123456789" * 2
    path = Path(run("new", FLUX.replace("7", secret)).stdout.strip())
    assert secret not in path.read_text()


@pytest.mark.parametrize(
    ("what", "said"),
    [("0123456789abcdef", "has no record"), ("all is well", "no error of octo/engine is recognised"), ("x" * 5_000 + "\0", "recognised")],
)
def test_what_is_not_known_is_told(run: Callable[..., Result], errors: Path, what: str, said: str) -> None:
    result = run("new", what)
    assert said in str(result.exception)
    assert [path.name for path in errors.rglob("*.yaml")] == ["source.yaml"]


def test_names_of_files_are_short_and_plain() -> None:
    assert slugged("../../etc/passwd; The `Größe` is {wrong}!") == "etc-passwd-the-gr-e-is-wrong"
    assert set(slugged("word " * 40).split("-")) == {"word"}
    assert 50 < len(slugged("word " * 40)) <= 60
    assert slugged("错误") == ""
