"""What ``explainbot documents`` writes: the tables of the README and ``deploy/env.example``, made from the code.

A block in a document stands between ``<!-- made: NAME -->`` and ``<!-- end -->``; what is between is replaced.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

from bot.cli.app import app, load_commands
from bot.config import RepoConfig, Settings
from bot.registry import COMMANDS, DIALECTS, SCANNERS, Registry

RESULTS = Path(__file__).parent.parent.parent / "tests" / "bench" / "battery.json"
"""What the battery of hostile input found when its figures were last written."""

EXAMPLE = Path(__file__).parent.parent / "demo" / "examples" / "1-helion-missing.md"
"""The issue whose answer the README shows."""


def render(root: Path) -> Iterator[tuple[Path, str]]:
    """Each document below the checkout with the text it should have."""
    readme = root / "README.md"
    yield readme, fill(readme.read_text(encoding="utf-8"))
    yield root / "deploy" / "env.example", env_example()


def fill(text: str) -> str:
    """A document with its made blocks made anew; the block ``comment`` stays when the catalogue that it needs is not built."""

    def replace(found: re.Match[str]) -> str:
        made = BLOCKS[found[1]]()
        return found[0] if made is None else f"<!-- made: {found[1]} -->\n{made}\n<!-- end -->"

    return re.sub(r"<!-- made: (\w+) -->\n.*?<!-- end -->", replace, text, flags=re.DOTALL)


def env_example() -> str:
    """``deploy/env.example``: every setting with what it is and its default, all commented out."""
    lines = ["# Every setting of explainbot, with its default. Made by `explainbot documents`.", ""]
    for name, field in Settings.model_fields.items():
        lines += [f"# {field.description}", f"#{variable(name)}={default(field)}", ""]
    return "\n".join(lines).rstrip() + "\n"


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return f"{Settings.model_config['env_prefix']}{name.upper()}"


def default(field: Any) -> str:
    """A setting's default as it would be written; empty where it depends on the machine or there is none."""
    value = field.default
    if field.default_factory is not None or value is None:
        return ""
    return value.get_secret_value() if hasattr(value, "get_secret_value") else str(value)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(_cell, row)) + " |" for row in rows])


def _cell(text: str) -> str:
    """A table's cell: a bar is no border, and ``<name>`` outside of code no HTML."""
    parts = text.replace("|", "\\|").split("`")
    return "`".join(part if at % 2 else part.replace("<", "&lt;") for at, part in enumerate(parts))


def _registered(registry: Registry[Any], head: str, name: str = "", fact: str = "", fact_head: str = "") -> str:
    rows: list[tuple[str, ...]] = []
    for entry in registry:
        row = (f"`{entry.facts.get(name) or entry.name}`", entry.summary.removesuffix("."), entry.facts.get(fact, ""))
        rows.append(row if fact else row[:2])
    return _table((head, "", fact_head) if fact else (head, ""), rows)


def _commands() -> str:
    load_commands()
    named = [("", info) for info in app.registered_commands]
    for group in app.registered_groups:
        assert group.typer_instance is not None  # noqa: S101
        named += [(f"{group.name} ", info) for info in group.typer_instance.registered_commands]
    return _table(
        ("command", ""),
        [
            (f"`explainbot {prefix}{info.name or info.callback.__name__}`", _first_line(info.callback).removesuffix("."))
            for prefix, info in named
            if not info.hidden and info.callback is not None
        ],
    )


def _first_line(thing: object) -> str:
    return (thing.__doc__ or "").strip().split("\n")[0]


def _settings() -> str:
    rows = [
        (f"`{variable(name)}`", field.description or "", f"`{default(field)}`" if default(field) else "")
        for name, field in Settings.model_fields.items()
    ]
    return _table(("variable", "", "default"), rows)


def _repository() -> str:
    rows = []
    for name, section in RepoConfig.model_fields.items():
        model = section.annotation if isinstance(section.annotation, type) else get_args(section.annotation)[0]
        for key, field in model.model_fields.items():
            shown = "" if field.is_required() else f"`{json.dumps(field.get_default(call_default_factory=True))}`"
            rows.append((f"`{name}.{field.alias or key}`", field.description or "", shown))
    return _table(("key", "", "default"), rows)


def _tree() -> str:
    """The folders and what each is for: the first line of the package's docstring."""
    package = Path(__file__).parent.parent
    rooms = []
    for path in sorted(package.iterdir()):
        source = path / "__init__.py" if path.is_dir() else path
        if source.exists() and path.name != "__init__.py":
            module = ast.parse(source.read_text(encoding="utf-8"))
            says = re.sub(r"(:\w+:)?`+", "", (ast.get_docstring(module) or "").split("\n")[0])
            rooms.append((f"{path.name}/" if path.is_dir() else path.name, says))
    width = max(len(name) for name, _ in rooms)
    lines = ["bot/", *(f"    {name:<{width}}  {says}" for name, says in rooms)]
    lines += [f"{name:<{width + 4}}  {says}" for name, says in AROUND.items()]
    return "\n".join(f"    {line}" for line in lines)


def _layers() -> str:
    """Who may import whom, from the contract that the tests hold."""
    project = tomllib.loads((Path(__file__).parent.parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    return "    " + " → ".join(layer.replace(" | ", ", ") for layer in layers)


def _battery() -> str:
    """What the battery last found, from its result file; a suite that was not run to its end says so."""
    rows = []
    for name, row in json.loads(RESULTS.read_text(encoding="utf-8")).items():
        if row["n"]:
            run = f"{row['n']:,}" if row["n"] >= row["of"] else f"{row['n']:,} of {row['of']:,}"
            bound = f"{row['bound']:.3%}" if row["bound"] < 1 else ""
            rows.append((f"`{name}`", f"{row['about']}: {row['passes']}", str(row["seed"]), run, str(row["failures"]), bound))
    return _table(("suite", "", "seed", "cases", "failures", "rate at most (95 %)"), rows)


AROUND = {
    "errors/": "source.yaml and the records that people write, by owner and repository",
    "deploy/": "the operator's guide, settings, Containerfile, compose file",
    "tests/": "as bot/, room by room",
}


COMMENT_RELEASE = "0.5.23"
"""The release of sglang whose catalogue makes the README's comment."""


def comment_settings() -> Settings:
    """The settings under which the README's comment is made."""
    folder = Settings().cache_dir / f"comment-{COMMENT_RELEASE}"
    return Settings(public_url=Settings.model_fields["public_url"].default, cache_dir=folder)


def comment() -> str | None:
    """The comment on the example issue, as the bot posts it; None when its catalogue is not built.

    The catalogue is that of one release, in a folder of its own, so that the comment is the same on every machine.
    """
    from bot.cli.catalogues import Catalogues, explain
    from bot.cli.explain import read_text, split_title

    settings = comment_settings()
    catalogue = Catalogues(settings).open_or_none("sgl-project/sglang")
    if catalogue is None:
        return None
    made = explain(catalogue, settings, *split_title(read_text(str(EXAMPLE)))).comment
    return "\n".join(f"> {line}".rstrip() for line in made.strip().split("\n"))


BLOCKS: dict[str, Callable[[], str | None]] = {
    "comment": comment,
    "commands": _commands,
    "slash": lambda: _registered(COMMANDS, "in a comment", "usage", "who", "who may"),
    "repository": _repository,
    "dialects": lambda: _registered(DIALECTS, "form"),
    "languages": lambda: _registered(SCANNERS, "language", "", "suffixes", "files"),
    "tree": _tree,
    "layers": _layers,
    "battery": _battery,
    "settings": _settings,
}
"""What each made block holds."""
