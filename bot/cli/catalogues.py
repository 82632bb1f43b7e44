"""The built catalogues of the cache folder: opened once, opened anew when a scan has replaced one."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from bot.catalogue.catalogue import Catalogue, CatalogueError, catalogue_path
from bot.cli.app import Problem
from bot.config import RepoConfig, Settings

if TYPE_CHECKING:
    from bot.handlers.explain import Explained


class Catalogues:
    """Catalogues by repository. Safe to use from several threads."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._opened: dict[Path, tuple[tuple[int, int], Catalogue]] = {}

    def open(self, repository: str) -> Catalogue:
        """The catalogue of a repository.

        Raises Problem when ``repository`` is not owner/name, CatalogueError when none is built or it cannot be used.
        """
        path = self._path(repository)
        try:
            stat = path.stat()
        except OSError as error:
            raise CatalogueError(f"there is no catalogue of {repository}: run `explainbot scan {repository}`") from error
        version = (stat.st_mtime_ns, stat.st_ino)
        with self._lock:
            # A replaced catalogue is not closed: others may still read from it. It goes with its last reader.
            if path not in self._opened or self._opened[path][0] != version:
                self._opened[path] = (version, Catalogue.open(path, self.settings.errors_dir))
            return self._opened[path][1]

    def open_or_none(self, repository: str) -> Catalogue | None:
        """The catalogue of a repository, None where none is built.

        Raises CatalogueError when there is one that cannot be used.
        """
        try:
            return self.open(repository) if self._path(repository).exists() else None
        except Problem:
            return None

    def built(self) -> tuple[str, ...]:
        """The repositories whose catalogue is built, by name."""
        files = sorted(self.settings.cache_dir.glob("catalogues/*/*.sqlite"))
        names = (f"{file.parent.name}/{file.stem}" for file in files)
        return tuple(catalogue.repository for name in names if (catalogue := self._usable(name)))

    def only(self) -> str:
        """The repository whose catalogue is the only one.

        Raises Problem when there is none, or more than one.
        """
        built = self.built()
        if not built:
            raise Problem("no catalogue is built: run `explainbot scan sgl-project/sglang`")
        if len(built) > 1:
            raise Problem(f"say with --repo whose catalogue to use: {', '.join(built)}")
        return built[0]

    def _usable(self, repository: str) -> Catalogue | None:
        try:
            return self.open_or_none(repository)
        except CatalogueError:
            return None

    def _path(self, repository: str) -> Path:
        try:
            return catalogue_path(self.settings.cache_dir, repository)
        except ValueError as error:
            raise Problem(str(error)) from error


def explain(catalogue: Catalogue, settings: Settings, title: str, body: str) -> Explained:
    """What the bot would say to an issue with this text, in a repository without settings of its own."""
    from bot.handlers.explain import explain_text

    public = settings.public_url.rstrip("/")
    return explain_text(title, body, catalogue, RepoConfig(), lambda id: f"{public}/errors/{id}")
