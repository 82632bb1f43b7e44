"""``explainbot explain`` and ``evaluate`` as a person and a program call them."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from bot.catalogue.catalogue import catalogue_path
from bot.cli.app import load_commands

ISSUE = """# The drive stops

```
Traceback (most recent call last):
  File "/opt/engine/gears.py", line 10, in turn
    raise ValueError(text)
ValueError: The frobnicator alpha needs at least 3 sprockets before it can turn
```
"""


@pytest.fixture
def cache(tmp_path, engine_catalogue):
    path = catalogue_path(tmp_path / "cache", "octo/engine")
    path.parent.mkdir(parents=True)
    shutil.copyfile(engine_catalogue, path)
    return tmp_path / "cache"


@pytest.fixture
def run(cache, tmp_path):
    def call(*arguments, input=None, cache_dir=cache):
        settings = {"EXPLAINBOT_CACHE_DIR": str(cache_dir), "EXPLAINBOT_ERRORS_DIR": str(tmp_path)}
        return CliRunner().invoke(load_commands(), list(arguments), input=input, env=settings)

    return call


def test_a_known_error_gets_its_comment(run, tmp_path):
    file = tmp_path / "issue.md"
    file.write_text(ISSUE)
    result = run("explain", str(file))
    assert result.exit_code == 0
    assert "The frobnicator has too few sprockets." in result.stdout
    assert "https://github.com/octo/engine/blob/v1.0.0/engine/gears.py#L10" in result.stdout


def test_standard_input_is_read(run):
    assert run("explain", input=ISSUE).stdout == run("explain", "-", "--repo", "octo/engine", input=ISSUE).stdout != ""


def test_silence_is_exit_code_3_and_says_why_on_stderr(run):
    result = run("explain", input="# Please add colours\n\nIt is so grey.")
    assert result.exit_code == 3
    assert result.stdout == ""
    assert "silent" in result.stderr


def test_why_goes_to_stderr(run):
    plain, why = run("explain", input=ISSUE), run("explain", "--why", input=ISSUE)
    assert why.stdout == plain.stdout
    assert "frame" in why.stderr


def test_json_has_the_record_and_where_it_stands(run):
    answer = json.loads(run("explain", "--format", "json", input=ISSUE).stdout)
    (record,) = answer["records"]
    assert answer["verdict"] == "answer"
    assert answer["posted"] is True
    assert record["captures"] == {"name": "alpha", "n": "3"}
    assert record["sites"] == [{"path": "engine/gears.py", "line": 10, "function": "turn", "release": "1.0.0"}]


def test_the_first_line_is_a_title_only_with_its_mark(run):
    message = "ValueError: The frobnicator alpha needs at least 3 sprockets before it can turn"
    with_mark = json.loads(run("explain", "--format", "json", input=f"# {message}\n\nsee title").stdout)
    without = json.loads(run("explain", "--format", "json", input=f"{message}\n").stdout)
    assert with_mark["records"][0]["id"] == without["records"][0]["id"]


def test_json_lines_go_on_after_a_bad_one(run):
    lines = [
        json.dumps({"id": 1, "repo": "octo/engine", "title": "x", "body": ISSUE}),
        "{not json",
        "",
        json.dumps(["no", "object"]),
        json.dumps({"id": "no repo", "title": None, "body": ISSUE}),
        json.dumps({"id": "elsewhere", "repo": "octo/other", "title": "x", "body": ISSUE}),
        json.dumps({"id": "wrong", "repo": "octo/engine", "title": 5, "body": ISSUE}),
        json.dumps({"id": "path", "repo": "../../etc", "title": "x", "body": ISSUE}),
        json.dumps({"id": "\ud800", "repo": "octo/engine", "title": "\ud800", "body": "\x00" + ISSUE}),
    ]
    result = run("explain", "--jsonl", input="\n".join(lines))
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 0
    assert [answer["id"] for answer in answers] == [1, None, None, "no repo", "elsewhere", "wrong", "path", "\ud800"]
    assert [answer.get("verdict") for answer in answers] == ["answer", None, None, "answer", "silent", None, "silent", "answer"]
    assert "explainbot scan octo/other" in answers[4]["error"]
    assert all("error" in answers[at] for at in (1, 2, 4, 5, 6))
    assert answers[0]["comment"] == answers[3]["comment"] != ""


def test_evaluate_counts_as_json_and_as_tables(run, tmp_path):
    cases = tmp_path / "cases.jsonl"
    expected = {"type": "ValueError", "path": "a.py", "line": 1, "version": "0", "latest": ["engine/gears.py:10"]}
    cases.write_text(
        "\n".join(
            json.dumps({"id": id, "repo": repo, "title": "", "body": ISSUE, "kind": "traceback", "expect": expect, "root": 0})
            for id, repo, expect in (("a", "octo/engine", [expected]), ("b", "octo/engine", []), ("c", "octo/other", []))
        )
    )
    counts = json.loads(run("evaluate", "--json", str(cases)).stdout)
    assert counts["all"]["answer"]["recall"] == 1.0
    assert counts["all"]["answer"]["precision"] == 0.5
    assert [(one["id"], one["result"]) for one in counts["cases"]] == [("a", "right"), ("b", "false")]
    assert counts["skipped"] == [{"id": "c", "repo": "octo/other"}]
    table = run("evaluate", str(cases))
    assert "1/1 1.00" in table.stdout
    assert "explainbot scan octo/other" in table.stdout


def command(*arguments, **environment):
    settings = {name: value for name, value in os.environ.items() if not name.startswith("EXPLAINBOT_")} | environment
    return subprocess.run(
        [sys.executable, "-m", "bot.cli", *arguments], env=settings, capture_output=True, text=True, input=ISSUE, timeout=60
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["explain"], "explainbot scan sgl-project/sglang"),
        (["explain", "--repo", "octo/other"], "explainbot scan octo/other"),
        (["explain", "--repo", "../etc/passwd"], "OWNER/NAME"),
        (["explain", "missing.md"], "missing.md"),
        (["scan", "octo/other"], "source.yaml"),
        (["scan", "nonsense"], "nonsense"),
        (["serve"], "EXPLAINBOT_WEBHOOK_SECRETS"),
        (["work"], "EXPLAINBOT_WEBHOOK_SECRETS"),
        (["serve", "--processes", "2"], "--receiver-only"),
        (["triage", "backlog", "octo/other"], "explainbot scan octo/other"),
    ],
)
def test_errors_are_one_line_on_stderr_and_exit_code_1(tmp_path, arguments, says):
    result = command(*arguments, EXPLAINBOT_CACHE_DIR=str(tmp_path / "none"), EXPLAINBOT_DATA_DIR=str(tmp_path / "data"))
    assert result.returncode == 1
    assert result.stdout == ""
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    assert says in result.stderr


def test_a_wrong_setting_is_named(tmp_path):
    result = command("explain", EXPLAINBOT_APP_ID="x", EXPLAINBOT_CACHE_DIR=str(tmp_path))
    assert result.returncode == 1
    assert "EXPLAINBOT_APP_ID" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_wrong_option_is_exit_code_2(tmp_path):
    assert command("explain", "--colour").returncode == 2


HEAVY = ("dbos", "flask", "github", "sqlalchemy", "gunicorn", "numpy", "pydantic", "pygments", "requests")


def test_commands_start_without_heavy_libraries():
    code = f"import sys; from bot.cli.app import load_commands; load_commands(); print([m for m in {HEAVY} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert shown.stdout.strip() == "[]"


def all_commands():
    app = load_commands()
    names = [[info.name or info.callback.__name__] for info in app.registered_commands if not info.hidden]
    return [*names, *([g.name, i.name or i.callback.__name__] for g in app.registered_groups for i in g.typer_instance.registered_commands)]


@pytest.mark.parametrize("name", all_commands(), ids=" ".join)
def test_help_has_an_example_of_the_command(name):
    shown = CliRunner().invoke(load_commands(), [*name, "--help"], env={"COLUMNS": "200"}).stdout
    assert f"explainbot {' '.join(name)}" in shown


def test_all_commands_of_the_issue_are_there():
    names = {" ".join(name) for name in all_commands()}
    assert names >= {"demo", "explain", "evaluate", "scan", "check", "serve", "work", "replay", "triage backlog"}
