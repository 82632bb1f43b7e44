"""The steps of the Containerfile, run in a clean folder, since no container engine is needed to run the tests.

COPY and RUN are carried out in their order with the paths of the image moved below a folder; the result is started as the image
would. What this does not show: the base images, the user, the volumes.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
CLEAN = ("PATH", "LANG", "PIP_CONFIG_FILE", "PIP_INDEX_URL", "PIP_CERT", "SSL_CERT_FILE", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")


def instructions():
    text = re.sub(r"\\\n", " ", (ROOT / "deploy" / "Containerfile").read_text("utf-8"))
    return [line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#")]


class Image:
    """A folder that stands for the file system of the image."""

    def __init__(self, root):
        self.root = root
        self.workdir = "/"
        self.environment = {name: os.environ[name] for name in CLEAN if name in os.environ} | {"HOME": str(root / "home")}
        self.environment["PATH"] = f"{Path(sys.executable).resolve().parent}:{self.environment['PATH']}"

    def place(self, path):
        return self.root / (path if path.startswith("/") else f"{self.workdir}/{path}").lstrip("/")

    def move(self, text):
        """A command with the image's absolute paths moved below the folder."""
        return re.sub(r"(?<![\w./])/(?=(opt|src|data)\b)", f"{self.root}/", text)

    def run(self, command):
        folder = self.place(".")
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            ["bash", "-euc", self.move(command)], cwd=folder, env=self.environment, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return done.stdout

    def copy(self, words):
        *sources, target = [word for word in words if not word.startswith("--")]
        if any(word.startswith("--from=") for word in words):
            return  # all stages share one folder here
        for source in sources:
            into = self.place(target) / ("" if Path(target).name == Path(source).name else Path(source).name)
            into.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, into, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copyfile(ROOT / source, into)


@pytest.mark.registry
def test_the_steps_of_the_containerfile_make_a_program_that_starts(tmp_path):
    image = Image(tmp_path)
    entry, command = [], []
    for word, rest in instructions():
        match word:
            case "WORKDIR":
                image.workdir = rest
            case "COPY":
                image.copy(shlex.split(rest))
            case "RUN":
                image.run(rest)
            case "ENV":
                name, value = rest.split("=", 1)
                image.environment[name] = image.move(value)
            case "ENTRYPOINT":
                entry = json.loads(rest)
            case "CMD":
                command = json.loads(rest)
            case "FROM" | "USER" | "VOLUME" | "EXPOSE":
                pass
            case _:
                pytest.fail(f"the test does not know {word}")
    assert "demo" in image.run(shlex.join([*entry, "--help"]))
    # The records are packed into the installed program; the checkout is not looked at.
    shutil.rmtree(image.place("/src"))
    assert image.run(shlex.join([*entry, "check"]) + " 2>&1").strip().split("\n")[-1].endswith("0 faults")
    refused = subprocess.run(
        [image.move(entry[0]), *command], env=image.environment, capture_output=True, text=True, timeout=60, cwd=tmp_path
    )
    assert refused.returncode == 1
    assert "EXPLAINBOT_WEBHOOK_SECRETS" in refused.stderr
