"""``errors/<owner>/<repository>/source.yaml``: where the source of a repository is, and what of it belongs to the catalogue."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from bot.catalogue.strict_yaml import YamlMistake, read_yaml

REPOSITORY = r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+"
"""owner/name, as GitHub allows them."""


Archive = Literal["wheel", "sdist"]
"""A kind of archive of a release: a wheel as it is installed, or a source archive ("sdist")."""

ARCHIVES: tuple[Archive, ...] = get_args(Archive)


def archive_kind(path: Path) -> Archive | None:
    """The kind of an archive by its name; None for another file. Older source archives are ``.zip`` (https://peps.python.org/pep-0527/)."""
    name = path.name.lower()
    return "wheel" if name.endswith(".whl") else "sdist" if name.endswith((".tar.gz", ".zip")) else None


class SourceError(Exception):
    """A source that cannot be described, fetched or read; the message says where, what, and what to do."""


class SourceConfig(BaseModel):
    """``errors/<owner>/<repository>/source.yaml``: where the source of a repository is, and what of it belongs to the catalogue."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    repository: Annotated[str, Field(pattern=f"^{REPOSITORY}$", description="owner/name on the tracker")]
    package: Annotated[
        str,
        Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$", description="Name of the distribution in the package index"),
    ]
    archive: Archive = Field(
        "wheel",
        description="Which archive of a release is read: its wheel, or its source archive (sdist), which also holds what is compiled into"
        " the wheel; a release without the one is read from the other",
    )
    path_prefix: dict[str, str] = Field(
        default_factory=dict,
        description="Folder in the wheel to folder in the repository, both with a slash at the end; files elsewhere are left out. In a"
        " source archive, folders may lie as in the repository",
    )
    tag: str = Field("v{version}", description="Tag of a release in the repository, with {version} in it")
    releases: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9.+!*_:-]+$")], ...] = Field(
        min_length=1,
        description="Releases that the catalogue holds: versions, patterns (0.5.*), all, latest, last-of-minor (the last of each minor"
        " version; last-of-minor:5 of the newest five); !0.4.* leaves some out",
    )
    leave_out: tuple[str, ...] = Field((), description="Patterns of repository paths that are left out; * also stands for slashes")
    areas: dict[str, str] = Field(default_factory=dict, description="Pattern of repository paths to area; the first that fits wins")

    @field_validator("releases", mode="before")
    @classmethod
    def _one_or_many(cls, releases: object) -> object:
        return (releases,) if isinstance(releases, str) else releases

    @field_validator("tag")
    @classmethod
    def _names_version(cls, tag: str) -> str:
        if "{version}" not in tag:
            raise ValueError("needs {version} where the release's version stands")
        return tag

    @field_validator("path_prefix")
    @classmethod
    def _are_folders(cls, prefixes: dict[str, str]) -> dict[str, str]:
        for folder in (part for pair in prefixes.items() for part in pair if part):
            if not folder.endswith("/") or folder.startswith("/") or ".." in PurePosixPath(folder).parts:
                raise ValueError(f"{folder!r} is no folder inside the source: write it with a slash at the end, and none before")
        return prefixes

    def tag_of(self, version: str) -> str:
        """The tag of a release in the repository."""
        return self.tag.replace("{version}", version)

    def area_of(self, path: str) -> str | None:
        """The area that a repository path belongs to, or None."""
        return next((area for pattern, area in self.areas.items() if fnmatchcase(path, pattern)), None)

    def wants(self, path: str) -> bool:
        """Whether a repository path belongs to the catalogue, as far as ``leave_out`` says."""
        return not any(fnmatchcase(path, pattern) for pattern in self.leave_out)

    def repository_path(self, path: str) -> str | None:
        """The repository path of a file in a wheel; None for a file that belongs to none of the folders named."""
        for archive, repository in self._prefixes:
            if path.startswith(archive):
                return repository + path[len(archive) :]
        return None if self.path_prefix else path

    @cached_property
    def _prefixes(self) -> tuple[tuple[str, str], ...]:
        """The longest folder first, so that a folder inside another one may go elsewhere."""
        return tuple(sorted(self.path_prefix.items(), key=lambda pair: -len(pair[0])))


def load_source(errors_dir: Path, repository: str) -> SourceConfig:
    """Read ``source.yaml`` of a repository.

    Raises SourceError that names file, line and mend for a file that is missing or wrong.
    """
    if not re.fullmatch(REPOSITORY, repository) or ".." in repository:
        raise SourceError(f"{repository!r} is no repository: write it as owner/name")
    path = errors_dir / repository / "source.yaml"
    try:
        document = read_yaml(path.read_bytes())
    except FileNotFoundError as error:
        raise SourceError(f"{path}: there is no such file; write one to say where the source of {repository} is") from error
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror}") from error
    except YamlMistake as error:
        raise SourceError(f"{path}:{error.mistake.line}: {error.mistake.problem}; {error.mistake.mend}") from error
    faults = [f"{path}:{mistake.line}: {mistake.problem}; {mistake.mend}" for mistake in document.mistakes]
    try:
        config = SourceConfig.model_validate(document.value)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            where = [part for part in fault["loc"] if isinstance(part, int | str)]
            faults.append(f"{path}:{document.line(*where)}: {_named(where)}{_mend(fault['type'], fault['msg'])}")
        raise SourceError("\n".join(faults)) from error
    if config.repository.lower() != repository.lower():
        faults.append(
            f"{path}:{document.line('repository')}: repository is {config.repository}, but the folder is {repository}; make them equal"
        )
    if faults:
        raise SourceError("\n".join(faults))
    return config


def _named(where: list[int | str]) -> str:
    return f"{'.'.join(map(str, where))}: " if where else ""


def _mend(kind: str, message: str) -> str:
    """What a fault of pydantic means to somebody who writes the file."""
    known = ", ".join(SourceConfig.model_fields)
    return {
        "extra_forbidden": f"unknown key; remove it, or take one of: {known}",
        "missing": "this key is missing; add it",
    }.get(kind, f"{message[0].lower()}{message[1:]}; correct it")
