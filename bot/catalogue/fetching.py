"""Releases from the package index, through pip's own client: the settings of the machine (index, proxy, certificates) hold.

Nothing that is scanned may ever run: pip is ended before it would run the build script of a source archive
(:mod:`bot.catalogue.download_sdist`).
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, canonicalize_name, parse_sdist_filename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from bot.catalogue import download_sdist
from bot.catalogue.source_config import ARCHIVES, Archive, SourceConfig, SourceError, archive_kind
from bot.catalogue.sources import is_whole

__all__ = ["Unreachable", "available", "fetch", "lying_there", "resolve"]

PIP_SECONDS = 900
"""How long one download may take; the largest wheels have several hundred megabytes."""

PYTHONS = ("3.11", "3.12", "3.10", "3.13", "3.14", "3.9", "3.8")
"""Pythons whose wheels are tried when the machine's own Python has none: the files inside are the same."""

GLIBCS = (39, 38, 35, 34, 31, 28, 27, 24, 17, 12, 5)
"""Minor versions of glibc 2 that projects build wheels for (https://peps.python.org/pep-0600/)."""

UNREACHABLE = re.compile(
    r"connection broken|NewConnectionError|Could not fetch URL|ProxyError|SSLError|Temporary failure in name resolution"
    r"|Network is unreachable|Connection refused|Read timed out|ConnectTimeout|IncompleteRead|ProtocolError|Connection reset",
    re.IGNORECASE,
)
INCOMPLETE = re.compile(r"is invalid\.|DO NOT MATCH THE HASHES|BadZipFile|not a zip file", re.IGNORECASE)
"""What pip says of a download that was cut off: it does not notice that bytes are missing, only that the archive is broken."""

LISTED = re.compile(r"^Available versions: ([^\n]{0,200000})$", re.MULTILINE)
PATTERN = re.compile(r"[*]|^(all|latest|last-of-minor(:[1-9][0-9]{0,3})?)$")
ABSENT = re.compile(r"from versions: ([^)\n]{0,20000})\)")


class Unreachable(SourceError):
    """The package index cannot be reached, or the connection was cut; another time it may work."""


def resolve(config: SourceConfig, listed: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """The releases that source.yaml means, oldest first.

    The package index is asked only where there is a pattern; ``listed`` is its answer when it is known already. Pre-releases are meant only
    where they are named in full. Raises Unreachable, and SourceError for a pattern that no release fits.
    """
    chosen: set[str] = set()
    left_out = [wanted[1:] for wanted in config.releases if wanted.startswith("!")]
    for wanted in config.releases:
        if wanted.startswith("!"):
            continue
        if not PATTERN.search(wanted):
            chosen.add(wanted)
            continue
        listed = available(config) if listed is None else listed
        found = _chosen(wanted, [version for version in listed if _order(version)[0] and not _order(version)[1].is_prerelease])
        if not found:
            raise SourceError(
                f"no release of {config.package} fits {wanted!r}; the newest are {', '.join(sorted(listed, key=_order)[-5:])}:"
                " correct `releases` in source.yaml"
            )
        chosen |= set(found)
    kept = [version for version in chosen if not any(fnmatchcase(version, pattern) for pattern in left_out)]
    if not kept:
        raise SourceError(f"`releases` in source.yaml of {config.repository} leaves no release: name one, or write `all`")
    return tuple(sorted(kept, key=_order))


def _chosen(wanted: str, versions: list[str]) -> list[str]:
    ordered = sorted(versions, key=_order)
    if wanted == "all":
        return ordered
    if wanted == "latest":
        return ordered[-1:]
    if wanted.startswith("last-of-minor"):
        lines = {(Version(version).epoch, Version(version).major, Version(version).minor): version for version in ordered}
        count = wanted.partition(":")[2]
        return list(lines.values())[-int(count) :] if count else list(lines.values())
    return [version for version in ordered if fnmatchcase(version, wanted)]


def available(config: SourceConfig) -> tuple[str, ...]:
    """The releases that the package index lists, oldest first, pre-releases left out; through pip's own client.

    Releases for another kind of machine or Python count as well. Raises Unreachable, and SourceError when there is none.
    """
    found: set[str] = set()
    said = ""
    # pip lists what fits one kind of machine: ask for this one, and for the one that most projects build for.
    for options in itertools.islice(_ways("wheel"), 2):
        more, said = _list(config, options)
        found |= more
        if not found and UNREACHABLE.search(said):
            raise _unreachable(f"list the releases of {config.package}", said)
    if not found:
        raise SourceError(
            f"the package index lists no release of {config.package}: correct `package` in source.yaml.\npip said: {_last_line(said)}"
        )
    return tuple(sorted(found, key=_order))


def _list(config: SourceConfig, options: Sequence[str]) -> tuple[frozenset[str], str]:
    """The releases that pip lists for a kind of machine, and all that it says."""
    command = ["index", "versions", config.package, "--ignore-requires-python", *(("--only-binary=:all:",) if options else ())]
    _, said = _pip(command + list(options), f"the list of releases of {config.package}")
    return frozenset(part.strip() for listed in LISTED.findall(said) for part in listed.split(",")) - {""}, said


Listed = dict[tuple[str, ...], frozenset[str]]
"""The releases with a wheel for each kind of machine, as far as they were asked for."""


def fetch(config: SourceConfig, version: str, into: Path, listed: Listed | None = None) -> Path:
    """Download an archive of a release into a folder and return its path; one that lies there already is taken.

    It is of the kind that source.yaml asks for (``archive``), or of the other where the release has none of that. Works whatever the
    machine's Python and platform, since only the files inside count; ``listed`` spares that many releases of one package ask for the same
    lists. Raises Unreachable when the package index cannot be reached, SourceError when the release doesn't exist, or the disk is full.
    """
    listed = {} if listed is None else listed
    into.mkdir(parents=True, exist_ok=True)
    answers: list[str] = []
    for kind in sorted(ARCHIVES, key=lambda kind: kind != config.archive):
        if found := [path for at, path in lying_there(config, into, kind) if (True, at) == _order(version)]:
            return found[0]
        with tempfile.TemporaryDirectory(dir=into, prefix=".download-") as folder:
            for options in _ways(kind):
                if options and options not in listed:
                    listed[options] = _list(config, ("--pre", *options))[0]
                if options and _order(version) not in map(_order, listed[options]):
                    continue
                if (archive := _download(config, version, kind, Path(folder), options, answers)) is not None:
                    # Another process may have been quicker: then this replaces the same file by the same.
                    return Path(shutil.move(archive, into / archive.name))
    raise SourceError(_why_absent(config, version, answers, set().union(*listed.values())))


def lying_there(config: SourceConfig, folder: Path, kind: Archive) -> Iterator[tuple[Version, Path]]:
    """The archives of a package that lie in a folder, with their versions; told by name, as
    https://packaging.python.org/en/latest/specifications/binary-distribution-format/ and …/source-distribution-format/ lay down."""
    for path in sorted(folder.glob("*")):
        if archive_kind(path) != kind:
            continue
        with suppress(InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
            name, version, *_ = parse_wheel_filename(path.name) if kind == "wheel" else parse_sdist_filename(path.name)
            if name == canonicalize_name(config.package):
                yield version, path


def _ways(kind: Archive) -> Iterator[tuple[str, ...]]:
    """Options of pip: first as this machine is, then, for wheels, as other machines are."""
    yield ()
    if kind == "sdist":
        return
    machines = ("x86_64", "aarch64")
    platforms = [f"manylinux_2_{minor}_{machine}" for machine in machines for minor in GLIBCS]
    platforms += [platform for machine in machines for platform in (f"manylinux2014_{machine}", f"linux_{machine}")] + ["any"]
    for python in PYTHONS:
        tag = "cp" + python.replace(".", "")
        options = [f"--python-version={python}", "--implementation=cp", f"--abi={tag}", "--abi=abi3", "--abi=none"]
        yield (*options, *(f"--platform={platform}" for platform in platforms))


def _download(config: SourceConfig, version: str, kind: Archive, folder: Path, options: Sequence[str], answers: list[str]) -> Path | None:
    """One way of pip's to get an archive; None, with what pip said added to ``answers``, when it leads to none."""
    requirement = f"{config.package}=={version}"
    said = ""
    for _ in range(2):  # a download that was cut off is tried once more
        code, said = _pip_download(requirement, kind, folder, options)
        found = [path for path in sorted(folder.iterdir()) if archive_kind(path) == kind]
        broken = [path for path in found if not is_whole(path)]
        if code == 0 and found and not broken:
            return found[0]
        for path in broken:
            path.unlink()
        if not broken and not (code and INCOMPLETE.search(said)):
            break
    else:
        raise Unreachable(
            f"{config.package} {version} came incomplete, twice: check the network and run this again; if it stays so, leave the"
            f" release out ('!{version}' among `releases` in source.yaml).\npip said: {_last_line(said)}"
        )
    answers.append(said)
    if UNREACHABLE.search(said):
        raise _unreachable(f"fetch {config.package} {version}", said)
    if "No space left on device" in said:
        raise SourceError(f"the disk is full: {config.package} {version} does not fit into {folder.parent}; make room and run this again")
    if "No module named pip" in said:
        raise SourceError(f"{sys.executable} has no pip to fetch with: run `{sys.executable} -m ensurepip`, then this again")
    return None


def _pip_download(requirement: str, kind: Archive, folder: Path, options: Sequence[str]) -> tuple[int, str]:
    command = ["download", "--no-deps", "--progress-bar=off", "--dest", str(folder)]
    if kind == "wheel":
        return _pip([*command, "--only-binary=:all:", *options, requirement], requirement)
    wanted = [*command, "--no-binary=:all:", "--ignore-requires-python", *options, requirement]
    return _pip(wanted, requirement, ("-P", str(download_sdist.__file__), str(folder)), TMPDIR=str(folder))


def _pip(arguments: list[str], wanted: str, pip: Sequence[str] = ("-m", "pip"), **variables: str) -> tuple[int, str]:
    """What pip answers: its exit code, and its output and errors."""
    command = [sys.executable, *pip, *arguments[:1], "--no-input", "--disable-pip-version-check", "--retries=2", "--timeout=20"]
    try:
        done = subprocess.run(
            [*command, *arguments[1:]],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PIP_SECONDS,
            check=False,
            env={**os.environ, **variables},
        )
    except subprocess.TimeoutExpired as error:
        raise Unreachable(f"pip did not fetch {wanted} within {PIP_SECONDS} seconds; check the network and run this again") from error
    return done.returncode, done.stdout + done.stderr


def _unreachable(what: str, said: str) -> Unreachable:
    return Unreachable(
        f"the package index cannot be reached to {what}: check the network, and the index and "
        f"proxy that pip uses (`{sys.executable} -m pip config list`), then run this again.\npip said: {_last_line(said)}"
    )


def _why_absent(config: SourceConfig, version: str, answers: list[str], known: set[str]) -> str:
    """Why no way worked; each answer of pip lists the releases that it found for one kind of machine, ``known`` are those of others."""
    listed = [found[1] for answer in answers if (found := ABSENT.search(answer))]
    versions = known | {part.strip() for versions in listed for part in versions.split(",")} - {"none", ""}
    if version in versions:
        return f"{config.package} {version} has no archive that pip can fetch; give a checkout of the source instead"
    if versions:
        near = ", ".join(sorted(versions, key=_order)[-5:])
        return f"{config.package} has no release {version}; the newest are {near}: correct `releases` in source.yaml"
    if listed:
        return f"the package index has no archive of {config.package}: correct `package` in source.yaml, or give a checkout of the source"
    return f"{config.package} {version} could not be fetched.\npip said: {_last_line(answers[-1])}"


def _order(version: str) -> tuple[bool, Version]:
    try:
        return True, Version(version)
    except InvalidVersion:
        return False, Version("0")


def _last_line(said: str) -> str:
    """The line of pip's answer that says what went wrong."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    unreachable = [line for line in lines if UNREACHABLE.search(line)]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (unreachable or errors or lines or ["nothing"])[-1][:500]
