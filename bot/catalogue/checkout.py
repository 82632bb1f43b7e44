"""A git checkout as a source of releases: tags, or the commit at HEAD, read through git's object database.

The work tree is neither read nor changed, no hook runs, and nothing is fetched.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, cast

from packaging.version import InvalidVersion, Version

from bot.catalogue.scanners import suffixes
from bot.catalogue.source_config import SourceConfig, SourceError
from bot.catalogue.sources import MAX_FILE_BYTES, MAX_FILES, SourceFile, leaves_the_source

GIT_SECONDS = 300
"""How long git may take to name tags or files."""

PRE = re.compile(r"a|b|rc|dev|alpha|beta|pre")


def checkout_releases(root: Path, config: SourceConfig, tags: str | None) -> tuple[tuple[str, str], ...]:
    """Releases of a checkout and the commit of each, oldest first: those of the tags that fit a pattern, or the commit at HEAD.

    A tag must look as ``tag`` of source.yaml says, and name a version; pre-releases are left out unless the pattern speaks of them. Raises
    SourceError for a folder that is no checkout, or when no tag is left.
    """
    if tags is None:
        commit = _git(root, "rev-parse", "--verify", "--end-of-options", "HEAD^{commit}").strip()
        return ((commit, commit),)
    before, _, behind = config.tag.partition("{version}")
    found: list[tuple[Version, str, str]] = []
    seen = 0
    for line in _git(root, "for-each-ref", "--format=%(refname:strip=2) %(objectname) %(*objectname)", "refs/tags").splitlines():
        name, commit, *peeled = line.split(" ")
        if not fnmatchcase(name, tags):
            continue
        seen += 1
        if len(name) <= len(before) + len(behind) or not (name.startswith(before) and name.endswith(behind)):
            continue
        release = name[len(before) : len(name) - len(behind)]
        try:
            version = Version(release)
        except InvalidVersion:
            continue
        if not version.is_prerelease or PRE.search(tags):
            found.append((version, release, next((one for one in peeled if one), commit)))
    if not found:
        raise SourceError(
            f"{root}: none of {seen} tags that fit {tags!r} looks like {config.tag}" if seen else f"{root}: no tag fits {tags!r}"
        )
    return tuple((release, commit) for _, release, commit in sorted(found))


def checkout_files(root: Path, config: SourceConfig, commit: str) -> Iterator[SourceFile]:
    """The wanted files of a commit, as :func:`bot.catalogue.sources.files` gives those of an archive.

    Links and submodules are no files. Raises SourceError when git cannot read it.
    """
    endings = suffixes()
    folders = tuple(config.path_prefix.values()) or ("",)
    listed = _git(root, "ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", commit)
    wanted: list[tuple[str, str, int]] = []
    for count, entry in enumerate(part for part in listed.split("\0") if part):
        if count >= MAX_FILES:
            raise SourceError(f"{root}: holds more than {MAX_FILES:,} files; is it the right one?")
        facts, _, path = entry.partition("\t")
        mode, kind, blob, size = facts.split()
        if kind == "blob" and mode != "120000" and path.endswith(endings) and path.startswith(folders) and config.wants(path):
            wanted.append((path, blob, int(size)))
    if not wanted:
        raise SourceError(
            f"{root}: {commit[:12]} holds no file that is scanned in {', '.join(folders)}: correct `path_prefix` in source.yaml"
        )
    with _objects(root) as (ask, answer):
        for path, blob, length in wanted:
            if leaves_the_source(path):
                yield SourceFile(path, b"", "its path leaves the source")
            elif length > MAX_FILE_BYTES:
                yield SourceFile(path, b"", f"has {length:,} bytes, more than {MAX_FILE_BYTES:,}")
            else:
                yield SourceFile(path, _object(ask, answer, blob, root))


def _object(ask: IO[bytes], answer: IO[bytes], name: str, root: Path) -> bytes:
    """One file, as https://git-scm.com/docs/git-cat-file#_batch_output describes the answer."""
    ask.write(name.encode() + b"\n")
    ask.flush()
    head = answer.readline().split()
    if len(head) != 3 or head[1] != b"blob":
        raise SourceError(f"{root}: git cannot read object {name}: is the checkout whole? `git fsck` tells")
    text = answer.read(int(head[2]))
    answer.read(1)
    return text


@contextlib.contextmanager
def _objects(root: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    command = _command(root, "cat-file", "--batch")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment()) as process:
        try:
            yield cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
        finally:
            process.kill()


def _git(root: Path, *arguments: str) -> str:
    if not root.is_dir():
        raise SourceError(f"{root}: there is no such folder; give a git checkout")
    try:
        done = subprocess.run(_command(root, *arguments), capture_output=True, timeout=GIT_SECONDS, check=False, env=_environment())
    except FileNotFoundError as error:
        raise SourceError("git is not installed: install it, or scan releases of the package index") from error
    except subprocess.TimeoutExpired as error:
        raise SourceError(f"{root}: git did not answer within {GIT_SECONDS} seconds") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise SourceError(f"{root}: git cannot read it: {said[0][:300] if said else f'exit code {done.returncode}'}")
    return done.stdout.decode("utf-8", "surrogateescape")


def _command(root: Path, *arguments: str) -> list[str]:
    return ["git", "-C", str(root), "--no-pager", "--no-replace-objects", *arguments]


def _environment() -> dict[str, str]:
    """No lock is taken in the checkout, nothing is fetched that it lacks, and nobody is asked for a password."""
    return {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8"}
