"""What a record says of the project, held against its source: options, environment variables, modules; and links, against a list.

The source is the newest release's archive that a scan has kept. Its names are read once and kept beside it.
"""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from bot.catalogue.fetching import lying_there
from bot.catalogue.prose import Part, Remark, parts
from bot.catalogue.source_config import ARCHIVES, SourceConfig, SourceError
from bot.catalogue.sources import files
from bot.model import Record

FORMAT = 2
"""Version of the file in which names are kept."""

KEPT = ".names.json"
"""How the name of that file goes on behind the archive's."""

SUFFIXES = (".py", ".pyi", ".rs", ".cpp", ".cc", ".cu", ".cuh", ".h", ".hpp", ".sh")

OTHER_PROGRAMS = frozenset(
    {
        "apt", "apt-get", "aws", "cargo", "cmake", "conda", "curl", "dmesg", "docker", "dpkg", "find", "free", "git", "grep", "helm",
        "hf", "huggingface-cli", "ibstat", "ibv_devinfo", "kill", "kubectl", "ldconfig", "ldd", "ls", "lsof", "make", "mamba",
        "mpirun", "ninja", "nproc", "nsys", "numactl", "nvcc", "nvidia-smi", "pip", "pip3", "pkill", "podman", "ps", "pytest", "ray",
        "rocm-smi", "rsync", "sbatch", "slurm", "srun", "ss", "sudo", "sysctl", "tar", "torchrun", "ulimit", "uv", "wget",
    }
)  # fmt: skip
"""Programs whose options are not the project's. In one command line, options belong to the program named last before them."""

_FLAG_LITERAL = re.compile(rb"[\"'](--[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*)[\"'=]")
_FIELD = re.compile(rb"^    ([a-z_][a-z0-9_]{1,80})\s{0,4}:", re.MULTILINE)
_ARGUMENTS = re.compile(rb"argparse|add_argument|\bArg\(|cli_arg|arg_utils|CliArg")
_DEFINED = re.compile(rb"^(?:class|def|async def)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]{1,200})?=", re.MULTILINE)
_IMPORTED = re.compile(rb"^(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+(\([^)]{0,20000}\)|[^\n(]{1,2000})", re.MULTILINE)
_INDENTED = re.compile(rb"^[ \t]+(?:class|def)[ \t]+(\w+)", re.MULTILINE)

_FLAG = re.compile(r"(?<![\w`-])--[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*(?![\w*])")
_TOKEN = re.compile(r"[^\s`'\"()]+")
_VARIABLE = re.compile(r"(?<![\w$])\$?\{?([A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]+)+)(?![\w*])")
_ADDRESS = re.compile(r"https?://[^\s<>\"'`\\{}|^\[\]()]{1,500}")
_PINNED = re.compile(r"(?<![\w-])(?:pip3?|uv pip) install\b([^\n`;&|]{1,400})")
_PACKAGE = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,100})(\[[A-Za-z0-9,._-]{1,80}\])?(==|>=|<=|~=|!=|<|>)?(.*)")
_CODE_SPAN = re.compile(r"(`{1,5})(?!`)([^`]{1,400})\1")


@dataclass(frozen=True, slots=True)
class SourceNames:
    """What a release's source names: command-line options, environment variables of the project, and its modules with their names."""

    release: str
    flags: frozenset[str]
    variables: frozenset[str]
    modules: Mapping[str, frozenset[str]]


def source_names(config: SourceConfig, cache_dir: Path) -> SourceNames | None:
    """The names of the newest archive that is kept below ``cache_dir``; None when there is none that can be read."""
    folder = cache_dir / "sources"
    found = [(version, kind == config.archive, path) for kind in ARCHIVES for version, path in lying_there(config, folder, kind)]
    if not found:
        return None
    version, _, archive = max(found)
    kept = archive.with_name(archive.name + KEPT)
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        data = json.loads(kept.read_text(encoding="utf-8"))
        if data["made"] == _made(archive, config):
            modules = {module: frozenset(names) for module, names in data["modules"].items()}
            return SourceNames(data["release"], frozenset(data["flags"]), frozenset(data["variables"]), modules)
    try:
        names = read_names(archive, config, str(version))
    except (SourceError, OSError):
        return None
    data = {
        "made": _made(archive, config),
        "release": names.release,
        "flags": sorted(names.flags),
        "variables": sorted(names.variables),
        "modules": {module: sorted(found) for module, found in names.modules.items()},
    }
    with contextlib.suppress(OSError):
        kept.write_text(json.dumps(data), encoding="utf-8")
        for other in archive.parent.glob(f"*{KEPT}"):
            if not other.with_name(other.name.removesuffix(KEPT)).exists():
                other.unlink(missing_ok=True)  # a scan removes the archives of older releases
    return names


def _made(archive: Path, config: SourceConfig) -> list[object]:
    stat = archive.stat()
    return [FORMAT, stat.st_size, stat.st_mtime_ns, config.model_dump_json()]


def read_names(archive: Path, config: SourceConfig, release: str) -> SourceNames:
    """Read the names out of a wheel, a source archive or a checkout.

    Raises SourceError for an archive that is none.
    """
    prefix = re.compile(rf"\b(?:{'|'.join(prefixes(config))})[A-Z0-9_]+".encode())
    flags: set[bytes] = set()
    variables: set[bytes] = set()
    modules: dict[str, frozenset[str]] = {}
    switches = False
    for file in files(archive, config, SUFFIXES):
        variables.update(prefix.findall(file.text))
        if not file.path.endswith(".py"):
            continue
        switches = switches or b"BooleanOptionalAction" in file.text
        flags.update(_FLAG_LITERAL.findall(file.text))
        if _ARGUMENTS.search(file.text):
            flags.update(b"--" + name.replace(b"_", b"-") for name in _FIELD.findall(file.text))
        modules[_module(file.path, config)] = frozenset(name.decode("ascii", "ignore") for name in _names(file.text))
    found = {flag.decode() for flag in flags}
    if switches:
        found |= {f"--no-{flag[2:]}" for flag in found}
    return SourceNames(release, frozenset(found), frozenset(name.decode() for name in variables), modules)


def _names(text: bytes) -> Iterator[bytes]:
    for one, other in _DEFINED.findall(text):
        yield one or other
    yield from _INDENTED.findall(text)
    for imported in _IMPORTED.findall(text):
        yield from re.findall(rb"\w+", imported)


def _module(path: str, config: SourceConfig) -> str:
    for archive, repository in config.path_prefix.items():
        if path.startswith(repository):
            path = archive + path[len(repository) :]
            break
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def prefixes(config: SourceConfig) -> tuple[str, ...]:
    """How the project's environment variables begin: its name, or the name's first three letters."""
    name = re.sub("[^A-Z0-9]", "_", config.package.upper())
    return tuple(dict.fromkeys((f"{name}_", f"{name[:3]}_")))


# ------------------------------------------------------------------------------------------------------------ check


def check_claims(record: Record, names: SourceNames | None, config: SourceConfig, hosts: Collection[str]) -> Iterator[Remark]:
    """What a record names and the source does not have; without ``names``, only what needs no source is checked.

    ``hosts`` are those that a record may link to.
    """
    for part in parts(record):
        yield from _check_links(part, hosts)
        yield from (remark for _, _, remark in pinned_packages(part) if remark is not None)
        if names is not None:
            yield from _check_flags(part, names, config)
            yield from _check_variables(part, names, config)
            yield from _check_modules(part, names, config)


def _check_flags(part: Part, names: SourceNames, config: SourceConfig) -> Iterator[Remark]:
    if part.where == ("example_fix", "before"):
        return  # what fails may be the very option that does not exist
    for flag in dict.fromkeys(own_flags(part, config.package)):
        if flag not in names.flags:
            near = next((other for other in names.flags if other.replace("_", "-") == flag.replace("_", "-")), "")
            mend = f"did you mean `{near}`?" if near else "correct it; an option of another program goes with its command"
            yield Remark(part.where, flag, f"`{flag}` is no option in {names.release}", mend)


def own_flags(part: Part, package: str) -> Iterator[str]:
    """The options in a text that are not those of another program, as far as the command line or code span that holds them says."""
    if part.code:
        lines = part.text.replace("\\\n", " ").split("\n")
    else:
        yield from _FLAG.findall(_ADDRESS.sub(" ", _CODE_SPAN.sub(" ", part.text)))
        lines = [found[2] for found in _CODE_SPAN.finditer(part.text)]
    for line in lines:
        other, before = False, ""
        for token in _TOKEN.findall(line):
            program = token.rsplit("/", 1)[-1]
            if before == "-m":
                other = program.split(".")[0] != package
            elif program in OTHER_PROGRAMS:
                other = True
            elif program in ("&&", "||", "|", ";", "python", "python3") or program.split(".")[0] == package:
                other = False
            before = token
            if not other:
                yield from _FLAG.findall(token)


def _check_variables(part: Part, names: SourceNames, config: SourceConfig) -> Iterator[Remark]:
    for name in dict.fromkeys(_VARIABLE.findall(part.text)):
        if name.startswith(prefixes(config)) and name not in names.variables:
            yield Remark(part.where, name, f"`{name}` does not occur in the source of {names.release}", "correct the name")


def _check_modules(part: Part, names: SourceNames, config: SourceConfig) -> Iterator[Remark]:
    package = next(iter(config.path_prefix), config.package).split("/")[0].replace("-", "_")
    dotted = re.compile(rf"(?<![\w/.@-]){re.escape(package)}(?:\.[A-Za-z_]\w*)+(?![\w/])")
    imports = re.compile(rf"from ({re.escape(package)}(?:\.\w+)*) import (\([^)]{{1,2000}}\)|[^\n(]{{1,400}})")
    wanted = [found[0] for found in dotted.finditer(part.text)]
    for module, what in imports.findall(part.text):
        wanted += [f"{module}.{name.split()[0]}" for name in what.strip("()").split(",") if name.split()]
    for path in dict.fromkeys(wanted):
        if not exists(path, names.modules) and not path.endswith((".py", ".git", ".io", ".ai", ".yaml", ".json")):
            yield Remark(part.where, path.rsplit(".", 1)[-1], f"`{path}` is nothing that {names.release} has", "correct the path")


def exists(path: str, modules: Mapping[str, frozenset[str]]) -> bool:
    """Whether a dotted path leads to a module, or to a name in one."""
    if path in modules:
        return True
    steps = path.split(".")
    for end in range(len(steps) - 1, 0, -1):
        known = modules.get(".".join(steps[:end]))
        if known is not None:
            if steps[end] in known:
                return True
            break
    return any(module.startswith(f"{path}.") for module in modules)


def _check_links(part: Part, hosts: Collection[str]) -> Iterator[Remark]:
    """Only what stands outside of code becomes a link; a name without a dot stands for a machine of the reader's."""
    shown_as_link = "" if part.code else _CODE_SPAN.sub(" ", part.text)
    for address in dict.fromkeys(_ADDRESS.findall(part.text)):
        host = urlsplit(address).hostname or ""
        if "." not in host or host in ("127.0.0.1", "0.0.0.0"):  # noqa: S104  named in an example, not bound
            continue
        if host not in hosts:
            yield Remark(part.where, address, f"{host} is not among the hosts that a record may name", "link to one that is, or use words")
        elif address in shown_as_link and not address.startswith("https://"):
            yield Remark(part.where, address, f"{address} is not https", "link to the https address")


def pinned_packages(part: Part) -> Iterator[tuple[str, str, Remark | None]]:
    """Name, version and fault of each package pinned as ``pip install NAME==VERSION``."""
    for command in _PINNED.findall(part.text):
        for word in command.split():
            found = _PACKAGE.fullmatch(word.strip("'\"().,"))
            if found is None or found[3] is None or word.startswith("-"):
                continue
            version = found[4]
            if found[3] != "==" or re.fullmatch(r"[A-Z][A-Z_]*|<[^>]+>|\.{3}|\{\w+\}", version):
                continue
            try:
                Version(version.removesuffix(".*"))
            except InvalidVersion:
                yield found[1], version, Remark(part.where, word, f"`{word}` is no version", "write it as in the package index")
            else:
                yield found[1], version, None


def check_packages(records: Iterable[Record], seconds: float = 60.0) -> Iterator[tuple[Record, Remark]]:
    """Ask the package index, through pip and its settings, for each pinned package of some records; each name is asked for once."""
    pinned: dict[str, list[tuple[Record, Part, str]]] = {}
    for record in records:
        for part in parts(record):
            for name, version, wrong in pinned_packages(part):
                if wrong is None:
                    pinned.setdefault(canonicalize_name(name), []).append((record, part, version))
    for name, uses in pinned.items():
        known = _index_versions(name, seconds)
        for record, part, version in uses:
            if known is None or not any(_fits(version, one) for one in known):
                problem = f"the package index has no {name}" + ("" if known is None else f" {version}")
                yield record, Remark(part.where, version, problem, "name a release that can be installed")


def _fits(wanted: str, version: str) -> bool:
    with contextlib.suppress(InvalidVersion):
        if wanted.endswith(".*"):
            return f"{version}.".startswith(wanted.removesuffix("*"))
        return Version(wanted) == Version(version)
    return False


def _index_versions(name: str, seconds: float) -> tuple[str, ...] | None:
    """The versions that pip finds, None when it finds no such package.

    Raises SourceError when pip does not answer in time.
    """
    command = [sys.executable, "-m", "pip", "index", "versions", "--disable-pip-version-check", "--pre", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as error:
        raise SourceError(f"the package index did not answer for {name} in {seconds:.0f} s; try again, or leave out --online") from error
    found = re.search(r"Available versions: ([^\n]{1,200000})", done.stdout)
    if found:
        return tuple(version.strip() for version in found[1].split(","))
    if "No matching distribution" in done.stderr:
        return None
    raise SourceError(f"the package index did not answer for {name}: {' '.join(done.stderr.split())[-300:]}")
