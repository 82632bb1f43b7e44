"""What a record says of the project, held against a small wheel."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bot.catalogue import claims
from bot.catalogue.claims import check_claims, check_packages, own_flags, read_names, source_names
from bot.catalogue.prose import Part
from bot.catalogue.source_config import SourceConfig
from bot.model import Example, Record, Template

CONFIG = SourceConfig(repository="octo/engine", package="engine", path_prefix={"engine/": "python/engine/"}, releases=("latest",))

FILES = {
    "engine/__init__.py": "from engine.core import (\n    Engine,\n    run,\n)\n",
    "engine/core.py": "import os\n\nclass Engine:\n    pass\n\ndef run():\n    os.getenv('ENGINE_TRACE_DIR')\n\nLIMIT: int = 3\n",
    "engine/args.py": "import argparse\n\nclass Args:\n    cache_size: int = 3\n\nparser.add_argument('--tp', \"--tp-size\", dest='x')\n",
    "engine/plain.py": "class Point:\n    abscissa: int\n",
    "engine/sub/__init__.py": "",
    "engine/sub/kernel.cu": 'getenv("ENG_FAST_PATH");\n',
}

RECORD = Record(id="0" * 16, repository="octo/engine", type="ValueError", templates=(Template.parse("a text of some length"),))


def wheel(folder: Path, version: str = "1.2", files: dict[str, str] = FILES) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"engine-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> claims.SourceNames:
    return read_names(wheel(tmp_path_factory.mktemp("sources")), CONFIG, "1.2")


def test_names_are_read_from_the_source(names: claims.SourceNames) -> None:
    assert names.flags == {"--cache-size", "--tp", "--tp-size"}
    assert names.variables == {"ENGINE_TRACE_DIR", "ENG_FAST_PATH"}
    assert set(names.modules) == {"engine", "engine.core", "engine.args", "engine.plain", "engine.sub"}
    assert {"Engine", "run"} <= names.modules["engine"]


def problems(names: claims.SourceNames | None, **changed: object) -> list[str]:
    record = replace(RECORD, **changed)  # type: ignore[arg-type]
    return [remark.problem for remark in check_claims(record, names, CONFIG, {"docs.example.org"})]


def test_what_the_source_has_is_no_fault(names: claims.SourceNames) -> None:
    told = (
        "Start with `--cache-size 4`, `python -m engine.core --tp 2`, and set `ENGINE_TRACE_DIR` or ENG_FAST_PATH. `engine.core.Engine` "
        "and `engine.Engine` are the same; `NCCL_DEBUG` is another's. See https://docs.example.org/x and `http://HOST:8000/health`."
    )
    guard = "from engine.core import Engine, LIMIT as most\nfrom engine import run\n"
    assert problems(names, meaning=told, guard=guard) == []


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("Start with `--cache-sise 4`", "`--cache-sise` is no option in 1.2"),
        ("Start with --abscissa", "`--abscissa` is no option in 1.2"),
        ("Set `ENGINE_TRACE_DIRS=x`", "`ENGINE_TRACE_DIRS` does not occur in the source of 1.2"),
        ("See `engine.core.Motor`", "`engine.core.Motor` is nothing that 1.2 has"),
        ("See `engine.cores`", "`engine.cores` is nothing that 1.2 has"),
        ("See https://evil.example/x", "evil.example is not among the hosts that a record may name"),
        ("See http://docs.example.org/x", "http://docs.example.org/x is not https"),
        ("Run `pip install engine==one`", "`engine==one` is no version"),
    ],
)
def test_what_the_source_does_not_have_is_told(names: claims.SourceNames, told: str, said: str) -> None:
    assert problems(names, meaning=told) == [said]


def test_imports_of_guard_and_handler_must_exist(names: claims.SourceNames) -> None:
    assert problems(names, guard="from engine.core import Motor") == ["`engine.core.Motor` is nothing that 1.2 has"]


def test_without_a_source_only_the_rest_is_checked() -> None:
    assert problems(None, meaning="`--nothing` and https://evil.example/x") == [
        "evil.example is not among the hosts that a record may name"
    ]


def test_what_fails_may_be_an_option_that_does_not_exist(names: claims.SourceNames) -> None:
    assert problems(names, example=Example("engine --cache_size 3", "engine --cache-size 3")) == []
    assert problems(names, example=Example("engine", "engine --cache_size 3")) == ["`--cache_size` is no option in 1.2"]


def test_the_mend_names_the_spelling_that_there_is(names: claims.SourceNames) -> None:
    (remark,) = check_claims(replace(RECORD, meaning="Use `--cache_size`"), names, CONFIG, ())
    assert remark.mend == "did you mean `--cache-size`?"


@pytest.mark.parametrize(
    ("line", "own"),
    [
        ("docker run --gpus all IMAGE python3 -m engine.core --tp 2", ["--tp"]),
        ("pip install --upgrade engine", []),
        ("pip install --upgrade engine && engine serve --tp 2", ["--tp"]),
        ("/usr/bin/nvidia-smi --list-gpus", []),
        ("python -m other.tool --odd", []),
        ("docker run \\\n  --ipc=host IMAGE \\\n  engine --tp=2", ["--tp"]),
    ],
)
def test_options_of_other_programs_are_theirs(line: str, own: list[str]) -> None:
    assert list(own_flags(Part(("guard",), line, code=True), "engine")) == own


def test_names_are_kept_beside_the_newest_wheel(tmp_path: Path) -> None:
    assert source_names(CONFIG, tmp_path) is None
    wheel(tmp_path / "sources", "1.2")
    newest = wheel(tmp_path / "sources", "1.10", {"engine/new.py": "parser.add_argument('--new')"})
    first = source_names(CONFIG, tmp_path)
    assert first is not None
    assert (first.release, first.flags) == ("1.10", {"--new"})
    kept = newest.with_name(newest.name + ".names.json")
    kept.write_text(kept.read_text().replace("--new", "--kept"))
    again = source_names(CONFIG, tmp_path)
    assert again is not None
    assert again.flags == {"--kept"}
    kept.write_text("{")
    assert source_names(CONFIG, tmp_path) == first
    newest.unlink()
    older = source_names(CONFIG, tmp_path)
    assert older is not None
    assert older.release == "1.2"
    assert not kept.exists()


def test_a_pinned_package_is_asked_for_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, use_index: Callable[[str], None]) -> None:
    """pip's own look-up, over an index that is a folder."""
    page = tmp_path / "simple" / "engine"
    page.mkdir(parents=True)
    (page / "index.html").write_text('<a href="engine-1.2-py3-none-any.whl">engine-1.2-py3-none-any.whl</a>')
    use_index((tmp_path / "simple").as_uri())
    record = replace(
        RECORD, solutions=("`pip install engine==1.2`", "`pip install 'engine==1.3' engine==1.2.*`", "`pip install engine>=1`")
    )
    assert [remark.problem for _, remark in check_packages([record])] == ["the package index has no engine 1.3"]
