"""The operator's files hold what the program has: settings, commands, permissions."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from bot.cli.app import load_commands
from bot.config import Settings
from bot.trackers.github.app import PERMISSIONS

DEPLOY = Path(__file__).parent.parent.parent / "deploy"


def example_lines():
    return re.findall(r"^#(EXPLAINBOT_\w+)=(.*)$", (DEPLOY / "env.example").read_text("utf-8"), re.MULTILINE)


def test_env_example_holds_every_setting_and_no_other():
    assert [name for name, _ in example_lines()] == [f"EXPLAINBOT_{name.upper()}" for name in Settings.model_fields]


def test_the_defaults_in_env_example_are_the_defaults(monkeypatch):
    plain = Settings()
    for name, value in example_lines():
        if value:
            monkeypatch.setenv(name, value)
    assert Settings() == plain


def services():
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]


@pytest.mark.parametrize("name", ["receiver", "worker", "catalogue"])
def test_compose_runs_commands_that_exist(name):
    from typer.testing import CliRunner

    command = [str(part) for part in services()[name]["command"]]
    arguments = [command[0], *(part for part in command[1:] if part.startswith("-")), "--help"]
    # --help wins over what follows an option, so that only an unknown command or option fails.
    arguments = [part for part in arguments if part not in ("--host", "--port")]
    assert CliRunner().invoke(load_commands(), arguments).exit_code == 0


def test_compose_sets_only_settings_that_exist():
    for service in services().values():
        for name in service.get("environment", {}):
            if name.startswith("EXPLAINBOT_"):
                assert name.removeprefix("EXPLAINBOT_").lower() in Settings.model_fields


def test_compose_waits_for_a_healthy_database_and_checks_the_receiver():
    seen = services()
    assert "pg_isready" in str(seen["database"]["healthcheck"]["test"])
    for name in ("receiver", "worker"):
        assert seen[name]["depends_on"]["database"]["condition"] == "service_healthy"
    code = seen["receiver"]["healthcheck"]["test"][-1]
    compile(code, "healthcheck", "exec")
    assert "/healthz" in code


def test_the_guide_asks_for_the_permissions_that_the_bot_uses():
    text = (DEPLOY / "README.md").read_text("utf-8")
    (row,) = re.findall(r"^\| Repository permissions \|(.+)\|$", text, re.MULTILINE)
    words = {"read": "read-only", "write": "read and write"}
    for name, level in PERMISSIONS.items():
        assert f"{name.capitalize()}: {words[level]}" in row
    assert row.count("**") == 2 * len(PERMISSIONS)


def test_the_containerfile_ends_as_a_user_without_rights():
    lines = [shlex.split(line) for line in (DEPLOY / "Containerfile").read_text("utf-8").splitlines() if line.startswith("USER")]
    assert [line[1] for line in lines] == ["10001:10001"]


def action():
    return yaml.safe_load((DEPLOY / "action" / "action.yml").read_text("utf-8"))


def test_no_shell_of_the_action_reads_what_a_reporter_wrote():
    """An expression is put into a script before the shell reads it, so a title could run as code.

    https://docs.github.com/en/actions/security-for-github-actions/security-guides/security-hardening-for-github-actions
    """
    text = (DEPLOY / "action" / "action.yml").read_text("utf-8")
    assert "github.event" not in text
    scripts = [step["run"] for step in action()["runs"]["steps"] if "run" in step]
    assert scripts
    assert not any("${{" in script for script in scripts)


def test_the_action_uses_inputs_settings_and_commands_that_exist():
    from typer.testing import CliRunner

    said = action()
    text = (DEPLOY / "action" / "action.yml").read_text("utf-8")
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(said["inputs"])
    assert {name.lower() for name in re.findall(r"\bEXPLAINBOT_(\w+)", text)} <= set(Settings.model_fields)
    for command, rest in re.findall(r"/explainbot\" (\w+)(.*)$", text, re.MULTILINE):
        options = re.findall(r"--[\w-]+", rest)
        assert options, "each call of the action has an option"
        words = [command, *(word for option in options for word in (option, "x")), "--help"]
        assert CliRunner().invoke(load_commands(), words).exit_code == 0


def test_the_workflow_in_the_guide_gives_the_action_only_what_it_takes():
    text = (DEPLOY / "README.md").read_text("utf-8")
    (workflow,) = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if "runs-on" in block]
    (job,) = workflow["jobs"].values()
    assert workflow["permissions"] == {"issues": "write", "contents": "read"}
    (step,) = [step for step in job["steps"] if "deploy/action" in step.get("uses", "")]
    assert set(step["with"]) <= set(action()["inputs"])
    assert workflow[True] == {"issues": {"types": ["opened", "edited", "reopened"]}, "issue_comment": {"types": ["created", "edited"]}}
