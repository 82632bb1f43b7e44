"""Count the words of other projects' error messages anew, and write ``bot/matching/background.tsv``.

    .venv/bin/python tests/bench/background.py [PACKAGE…]

Fetches a wheel of each package through pip (nothing of it is installed or run), scans its source and that of the standard library, and
counts how many distinct messages hold each word, and each pair of neighbouring words. What occurs in one package only is its own and is
left out: only what several projects say proves nothing. The file holds counts, no text.
"""

from __future__ import annotations

import random
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from rich.progress import track

from bot.catalogue.scanners import Unreadable, scan_alone
from bot.catalogue.sources import SourceConfig, SourceFile, files
from bot.matching.template import pattern

PACKAGES = (
    "accelerate aiohttp bokeh boto3 botocore celery click cryptography dask datasets diffusers django fastapi flask google-auth gradio "
    "httpx huggingface_hub jinja2 jsonschema langchain langchain-core lightgbm lightning matplotlib mlflow networkx nltk numpy onnx openai "
    "outlines pandas paramiko peft pip polars pydantic ray requests rich safetensors scikit-learn scipy setuptools sqlalchemy starlette "
    "streamlit sympy timm tokenizers torch torchmetrics tornado transformers triton twisted uvicorn xarray xgrammar"
)

FILES_OF_EACH = 900
"""Files that are read of one package, chosen by a fixed seed: enough for its way of speaking."""

MOST_OF_ONE = 25
"""How often a pair counts in one package at the most: a package that says one thing a thousand times is one voice."""

LEAST = 4
"""Sightings below which a word or pair is left out."""

TARGET = Path(__file__).parents[2] / "bot" / "matching" / "background.tsv"


def main(packages: Iterable[str]) -> None:
    """Count, and write the file."""
    words: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    word_homes: Counter[str] = Counter()
    pair_homes: Counter[str] = Counter()
    for name in track(["", *packages], description="packages"):
        own_words: Counter[str] = Counter()
        own_pairs: Counter[str] = Counter()
        for pieces in messages(name):
            for piece in pieces:
                listed = piece.split()
                own_words.update(listed)
                own_pairs.update(f"{one} {other}" for one, other in pairwise(listed))
        words.update(own_words)
        pairs.update({pair: min(count, MOST_OF_ONE) for pair, count in own_pairs.items()})
        word_homes.update(own_words.keys())
        pair_homes.update(own_pairs.keys())
    lines = [f"{word}\t{n}" for word, n in sorted(words.items()) if n >= LEAST and word_homes[word] > 1 and not word.isdigit()]
    lines += [f"{pair}\t{n}" for pair, n in sorted(pairs.items()) if n >= LEAST and pair_homes[pair] > 1]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} lines from {sum(words.values())} words")


def messages(name: str) -> set[tuple[str, ...]]:
    """The patterns of all messages of a package; of the standard library for an empty name."""
    sources = list(wheel(name) if name else standard_library())
    random.Random(name).shuffle(sources)
    found: set[tuple[str, ...]] = set()
    for source in sources[:FILES_OF_EACH]:
        try:
            raised = scan_alone(source).raised
        except Unreadable:
            continue
        found.update(pattern(one.template) for one in raised if one.template.parts)
    return found


def wheel(name: str) -> Iterator[SourceFile]:
    """The files of a package's newest wheel, without its tests; none, and a word on stderr, when there is no wheel for this machine."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", folder, name]
        if subprocess.run(command, check=False).returncode:
            print(f"{name}: left out", file=sys.stderr)
            return
        config = SourceConfig(repository=f"packages/{name}", package=name, releases=("0",), leave_out=("*/test/*", "*/tests/*"))
        for archive in Path(folder).iterdir():
            yield from list(files(archive, config, (".py",)))


def standard_library() -> Iterator[SourceFile]:
    """The files of the standard library."""
    root = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py")):
        if not {"site-packages", "test", "tests"} & set(path.relative_to(root).parts):
            yield SourceFile(str(path.relative_to(root)), path.read_bytes())


if __name__ == "__main__":
    main(sys.argv[1:] or PACKAGES.split())
