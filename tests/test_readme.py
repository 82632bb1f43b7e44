"""The documents are what the code says: the tables, the real comment, the commands, the links."""

import os
import re
from pathlib import Path

import pytest

from bot.catalogue.catalogue import CatalogueError
from bot.cli.catalogues import Catalogues
from bot.cli.documents import BLOCKS, COMMENT_RELEASE, comment_settings, fill, render
from bot.config import Settings

ROOT = Path(__file__).parent.parent
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "deploy/README.md"]


def test_documents_are_what_the_code_says(monkeypatch, tmp_path):
    # Without a catalogue the comment is left as it is: the test below looks at it.
    monkeypatch.setenv("EXPLAINBOT_CACHE_DIR", str(tmp_path))
    stale = [str(path.relative_to(ROOT)) for path, text in render(ROOT) if path.read_text("utf-8") != text]
    assert stale == [], "run `explainbot documents`"


def test_every_made_block_is_in_the_readme():
    names = re.findall(r"<!-- made: (\w+) -->", (ROOT / "README.md").read_text("utf-8"))
    assert sorted(names) == sorted(BLOCKS)


def test_a_stale_block_is_found():
    text = "<!-- made: languages -->\n| cobol |\n<!-- end -->\nother"
    made = fill(text)
    assert "cobol" not in made
    assert "python" in made
    assert made.endswith("<!-- end -->\nother")


@pytest.mark.registry
def test_the_comment_in_the_readme_is_what_the_bot_posts():
    settings = comment_settings()
    try:
        Catalogues(settings).open("sgl-project/sglang")
    except CatalogueError:
        from bot.cli.scan import scan_repository

        scan_repository(settings, "sgl-project/sglang", releases=(COMMENT_RELEASE,))
    shown = re.search(r"<!-- made: comment -->\n(.*?)\n<!-- end -->", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert shown is not None
    assert shown[1] == BLOCKS["comment"](), "run `explainbot documents`"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name):
    text = (ROOT / name).read_text("utf-8")
    text = re.sub(r"<!-- made: comment -->.*?<!-- end -->", "", text, flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)]{1,300})\)", text):
        path, _, fragment = target.partition("#")
        if path.startswith("https://"):
            continue
        file = (ROOT / name).parent / path if path else ROOT / name
        assert file.exists(), target
        if fragment:
            headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert fragment in slugs, target


@pytest.mark.parametrize("name", DOCUMENTS)
def test_commands_named_in_documents_exist(name):
    from bot.cli.app import load_commands

    app = load_commands()
    known = {info.name or info.callback.__name__ for info in app.registered_commands} | {g.name for g in app.registered_groups}
    text = (ROOT / name).read_text("utf-8")
    named = set(re.findall(r"(?:`|bin/)explainbot ([a-z]+)", text))
    assert named <= known


@pytest.mark.parametrize("name", DOCUMENTS)
def test_settings_and_targets_named_in_documents_exist(name):
    text = (ROOT / name).read_text("utf-8")
    settings = {field.upper() for field in Settings.model_fields}
    assert set(re.findall(r"EXPLAINBOT_([A-Z_]+[A-Z])", text)) <= settings
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:^|`|&& )make ([a-z-]+)", text, re.MULTILINE)) <= targets


def test_documents_name_no_registry_host_and_no_machine():
    for name in DOCUMENTS:
        text = (ROOT / name).read_text("utf-8")
        assert "pypi" not in text.lower()
        assert os.path.expanduser("~") + "/" not in text
