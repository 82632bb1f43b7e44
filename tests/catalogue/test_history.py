"""All releases of a source, and what may be wrong with them: each fault is said, the rest goes on, the old catalogue stays in use."""

from __future__ import annotations

import http.server
import io
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.catalogue.catalogue import Catalogue
from bot.catalogue.changes import compare
from bot.catalogue.fetching import Unreachable, available, resolve
from bot.catalogue.refresh import Refreshed, refresh
from bot.catalogue.source_config import SourceConfig, SourceError
from bot.catalogue.sources import MAX_FILE_BYTES

VERSIONS = ("0.1.0", "0.1.1", "0.2.0", "0.2.0.post1", "0.10.0", "1.0.0rc1")


def config(*releases: str) -> SourceConfig:
    return SourceConfig(repository="some/project", package="project", path_prefix={"project/": "src/project/"}, releases=releases)


def wheel(folder: Path, version: str, **members: str | bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"project-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(f"project/{name}.py", text)
        archive.writestr(f"project-{version}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: project\nVersion: {version}\n")
        archive.writestr(f"project-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"project-{version}.dist-info/RECORD", "")
    return path


def sdist(folder: Path, version: str, **members: str) -> Path:
    """A source archive whose build script leaves a mark when it runs."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"project-{version}.tar.gz"
    said = {"setup.py": f"open({str(folder / 'ran')!r}, 'w')\n", "PKG-INFO": f"Metadata-Version: 2.1\nName: project\nVersion: {version}\n"}
    with tarfile.open(path, "w:gz") as archive:
        for name, text in {**said, **{f"src/project/{name}": text for name, text in members.items()}}.items():
            info = tarfile.TarInfo(f"project-{version}/{name}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return path


def raises(text: str) -> str:
    return f"def f(x):\n    raise ValueError({text!r})\n"


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands in for the package index."""
    folder = tmp_path / "shelf"
    for version in VERSIONS:
        wheel(folder, version, a=raises(f"the text of {version[0]}.{version[2]}"), b=raises("it stays"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setattr("bot.catalogue.fetching.PYTHONS", ("3.11",))
    return folder


@pytest.mark.parametrize(
    ("releases", "expected"),
    [
        (("all",), ("0.1.0", "0.1.1", "0.2.0", "0.2.0.post1", "0.10.0")),
        (("latest",), ("0.10.0",)),
        (("last-of-minor",), ("0.1.1", "0.2.0.post1", "0.10.0")),
        (("last-of-minor:2",), ("0.2.0.post1", "0.10.0")),
        (("0.1.*", "0.10.0"), ("0.1.0", "0.1.1", "0.10.0")),
        (("all", "!0.2.*", "!0.1.0"), ("0.1.1", "0.10.0")),
        (("1.0.0rc1", "0.2.0"), ("0.2.0", "1.0.0rc1")),
    ],
)
def test_which_releases_are_meant(releases: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert resolve(config(*releases), VERSIONS) == expected


def test_a_pattern_that_fits_nothing_names_what_there_is() -> None:
    with pytest.raises(SourceError, match=r"fits '7\.\*'.*0\.10\.0"):
        resolve(config("7.*"), VERSIONS)


def test_the_package_index_lists_releases(shelf: Path) -> None:
    assert available(config("all")) == VERSIONS[:-1]


def scan(tmp_path: Path, *releases: str) -> Refreshed:
    return refresh(config(*releases), tmp_path / "cache")


def wheels(tmp_path: Path) -> list[str]:
    return sorted(path.name.split("-")[1] for path in (tmp_path / "cache" / "sources").glob("*.whl"))


def test_a_history_keeps_only_the_newest_wheel_and_is_not_scanned_twice(tmp_path: Path, shelf: Path) -> None:
    first = scan(tmp_path, "all")
    assert first.history.releases == VERSIONS[:-1]
    assert wheels(tmp_path) == ["0.10.0"]
    assert not first.unchanged
    again = scan(tmp_path, "all")
    assert (again.history.from_cache, again.unchanged) == (len(VERSIONS) - 1, True)
    assert (again.records, again.places, again.gone) == (first.records, first.places, first.gone)
    with Catalogue.open(first.path) as catalogue:
        assert catalogue.releases == VERSIONS[:-1]
        (record,) = catalogue.search("it stays")[0]
        assert [at.release for at in record.sites[0].lines] == list(VERSIONS[:-1])


def test_a_release_without_a_wheel_is_read_from_its_source_archive(tmp_path: Path, shelf: Path) -> None:
    sdist(shelf, "0.11.0", **{"a.py": raises("from the source archive")})
    sdist(shelf, "0.10.0", **{"a.py": raises("not read: there is a wheel")})
    done = scan(tmp_path, "0.10.0", "0.11.0")
    assert [(release, listing.instead) for release, listing in done.history.listings] == [("0.10.0", ""), ("0.11.0", "sdist")]
    with Catalogue.open(done.path) as catalogue:
        found = {str(record.template): catalogue.source_url(record.sites[0]) for record in catalogue.search()[0]}
    assert found == {
        "the text of 0.1": "https://github.com/some/project/blob/v0.10.0/src/project/a.py#L2",
        "it stays": "https://github.com/some/project/blob/v0.10.0/src/project/b.py#L2",
        "from the source archive": "https://github.com/some/project/blob/v0.11.0/src/project/a.py#L2",
    }
    assert scan(tmp_path, "0.10.0", "0.11.0").history.listings[1][1].instead == "sdist"
    assert not (shelf / "ran").exists()


def test_a_source_archive_is_read_where_source_yaml_says_so_and_an_error_in_both_counts_once(tmp_path: Path, shelf: Path) -> None:
    cuda = 'void f(int n) {\n  TORCH_CHECK(n > 0, "n must be positive");\n}\n'
    wheel(shelf, "5.0.0", a=raises("in both"))
    sdist(shelf, "5.0.0", **{"a.py": raises("in both"), "kernel.cu": cuda})
    wanted = config("5.0.0", "0.1.0").model_copy(update={"archive": "sdist"})
    done = refresh(wanted, tmp_path / "cache")
    assert [(release, listing.instead) for release, listing in done.history.listings] == [("0.1.0", "wheel"), ("5.0.0", "")]
    with Catalogue.open(done.path) as catalogue:
        sites = {str(record.template): [(site.path, site.latest.release) for site in record.sites] for record in catalogue.search()[0]}
    assert sites["in both"] == [("src/project/a.py", "5.0.0")]
    assert sites["n must be positive"] == [("src/project/kernel.cu", "5.0.0")]
    assert not (shelf / "ran").exists()


def test_a_release_that_does_not_exist_is_told_and_the_others_go_on(tmp_path: Path, shelf: Path) -> None:
    done = scan(tmp_path, "0.1.0", "0.3.0", "0.10.0")
    assert done.history.releases == ("0.1.0", "0.10.0")
    ((release, reason),) = done.history.absent
    assert release == "0.3.0"
    assert "no release 0.3.0" in reason
    with pytest.raises(SourceError, match=r"no release 0\.3\.0"):
        scan(tmp_path, "0.3.0")


def test_a_broken_archive_is_told_and_the_others_go_on(tmp_path: Path, shelf: Path) -> None:
    sources = tmp_path / "cache" / "sources"
    sources.mkdir(parents=True)
    (sources / "project-0.1.1-py3-none-any.whl").write_bytes(b"PK\x03\x04 and no more")
    done = scan(tmp_path, "0.1.0", "0.1.1")
    assert done.history.releases == ("0.1.0",)
    assert "no readable archive" in done.history.absent[0][1]


def test_bad_files_are_told_and_the_others_scanned(tmp_path: Path, shelf: Path) -> None:
    bomb = "x = " + "(" * 20_000 + ")" * 20_000
    wheel(
        shelf,
        "2.0.0",
        good=raises("it is good"),
        latin=b"# -*- coding: utf-8 -*-\nraise ValueError('\xff\xfe')\n",
        nul=b"x = 1\0\n",
        bomb=bomb,
        deep="x = " + "-" * 200_000 + "1\n",
        sum="x = " + "+".join(["1"] * 200_000) + "\n",
        large=b"x = 1\n" * (20_000_000 // 6),
        **{"../../../up": "raise ValueError('out')", "net/a": raises("below")},
    )
    done = scan(tmp_path, "2.0.0")
    (_, listing), *_ = done.history.listings
    skipped = {one.path.rpartition("/")[2]: one.reason for one in listing.skipped}
    assert "cannot be decoded" in skipped["latin.py"]
    assert f"more than {MAX_FILE_BYTES:,}" in skipped["large.py"]
    assert "leaves the source" in skipped["up.py"]
    assert "bomb.py" in skipped
    assert not listing.passing
    with Catalogue.open(done.path) as catalogue:
        assert {"it is good", "below"} <= {str(record.template) for record in catalogue.search()[0]}
        assert all(site.path.startswith("src/project/") for record in catalogue.search()[0] for site in record.sites)


# ------------------------------------------------------------------------------------------------ a network that is cut


class Cut(http.server.BaseHTTPRequestHandler):
    """A package index that breaks off in the middle of a wheel, once it has served as many as it should."""

    shelf: Path
    whole: int

    def do_GET(self) -> None:
        if self.path.endswith("/project/"):
            names = sorted(path.name for path in self.shelf.glob("*.*"))
            body = "".join(f'<a href="/files/{name}">{name}</a>' for name in names).encode()
            self.answer(body, "text/html", len(body))
            return
        data = (self.shelf / self.path.rpartition("/")[2]).read_bytes()
        cut = type(self).whole <= 0
        type(self).whole -= 1
        self.answer(data[: len(data) // 2] if cut else data, "application/octet-stream", len(data))

    def answer(self, body: bytes, kind: str, length: int) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def index(shelf: Path, monkeypatch: pytest.MonkeyPatch, use_index: Callable[[str], None]) -> Iterator[type[Cut]]:
    handler = type("Handler", (Cut,), {"shelf": shelf, "whole": 100})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        use_index(f"http://127.0.0.1:{server.server_port}/simple")
        monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield handler
        server.shutdown()


def test_a_cut_network_keeps_the_old_catalogue_and_what_was_scanned(tmp_path: Path, index: type[Cut]) -> None:
    old = scan(tmp_path, "0.1.0")
    before = old.path.read_bytes()
    index.whole = 1
    with pytest.raises(Unreachable, match="scanned and kept") as raised:
        scan(tmp_path, "all")
    assert "check the network" in str(raised.value)
    assert old.path.read_bytes() == before
    assert all(zipfile.is_zipfile(path) for path in (tmp_path / "cache" / "sources").glob("*.whl"))
    index.whole = 100
    done = scan(tmp_path, "all")
    assert done.history.from_cache >= 2
    assert done.history.releases == VERSIONS[:-1]


def test_a_source_archive_that_was_cut_off_is_fetched_again(tmp_path: Path, index: type[Cut]) -> None:
    sdist(index.shelf, "6.0.0", **{"a.py": raises("it came whole")})
    wanted = config("6.0.0").model_copy(update={"archive": "sdist"})
    index.whole = 0
    with pytest.raises(Unreachable, match=r"incomplete|cannot be reached"):
        refresh(wanted, tmp_path / "cache")
    assert not list((tmp_path / "cache" / "sources").iterdir())
    index.whole = 100
    with Catalogue.open(refresh(wanted, tmp_path / "cache").path) as catalogue:
        assert [str(record.template) for record in catalogue.search()[0]] == ["it came whole"]


# ------------------------------------------------------------------------------------------------------------ changes


def test_what_is_new_changed_and_obsolete_between_two_single_releases(tmp_path: Path, shelf: Path) -> None:
    wheel(shelf, "3.0.0", a=raises("The cache holds too few entries"), b=raises("it stays"), c=raises("short lived"))
    wheel(shelf, "3.1.0", a=raises("The cache holds too few entries for it"), b=raises("it stays"), d=raises("Not seen before"))
    with Catalogue.open(scan(tmp_path, "3.0.0").path) as before, Catalogue.open(scan(tmp_path, "3.1.0").path) as after:
        changes = compare(before, after)
    assert [str(record.template) for record in changes.new] == ["Not seen before"]
    assert [str(record.template) for record in changes.obsolete] == ["short lived"]
    assert [(str(old.template), str(new.template)) for old, new in changes.changed] == [
        ("The cache holds too few entries", "The cache holds too few entries for it")
    ]


# ----------------------------------------------------------------------------------------------------------- checkouts


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "checkout"
    (root / "src" / "project").mkdir(parents=True)
    for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"):
        monkeypatch.setenv(name, "n")
    for name in ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "n@example.invalid")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    git(root, "init", "-q")
    (root / "src/project/loop").symlink_to(root / "src")
    (root / "src/project/link.py").symlink_to("/etc/hostname")
    for version, text in (("v1.9", "the first"), ("v1.10", "the second"), ("v2.0rc1", "too early"), ("nightly", "no version")):
        (root / "src/project/a.py").write_text(raises(text))
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", version)
        git(root, "tag", *(("-a", "-m", "annotated") if version == "v1.10" else ()), version)
    (root / "src/project/a.py").write_text(raises("not committed"))
    return root


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True).stdout


def test_tags_of_a_checkout_are_releases(tmp_path: Path, checkout: Path) -> None:
    status = git(checkout, "status", "--porcelain")
    done = refresh(config("all"), tmp_path / "cache", checkout=checkout, tags="v*")
    assert done.history.releases == ("1.9", "1.10")
    assert git(checkout, "status", "--porcelain") == status
    with Catalogue.open(done.path) as catalogue:
        found = {str(record.template): catalogue.source_url(record.sites[0]) for record in catalogue.search()[0]}
    assert found == {
        "the first": "https://github.com/some/project/blob/v1.9/src/project/a.py#L2",
        "the second": "https://github.com/some/project/blob/v1.10/src/project/a.py#L2",
    }


def test_without_tags_it_is_the_commit_at_head(tmp_path: Path, checkout: Path) -> None:
    done = refresh(config("all"), tmp_path / "cache", checkout=checkout)
    commit = git(checkout, "rev-parse", "HEAD").strip()
    with Catalogue.open(done.path) as catalogue:
        (record,) = catalogue.search()[0]
        assert str(record.template) == "no version"
        assert catalogue.source_url(record.sites[0]) == f"https://github.com/some/project/blob/{commit}/src/project/a.py#L2"
    assert refresh(config("all"), tmp_path / "cache", checkout=checkout).unchanged


@pytest.mark.parametrize(("tags", "words"), [("x*", "no tag fits"), ("nightly", "looks like v")])
def test_tags_that_are_no_releases(tmp_path: Path, checkout: Path, tags: str, words: str) -> None:
    with pytest.raises(SourceError, match=words):
        refresh(config("all"), tmp_path / "cache", checkout=checkout, tags=tags)


def test_a_folder_that_is_no_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    (tmp_path / "plain").mkdir()
    with pytest.raises(SourceError, match="git cannot read it"):
        refresh(config("all"), tmp_path / "cache", checkout=tmp_path / "plain")
    with pytest.raises(SourceError, match="no such folder"):
        refresh(config("all"), tmp_path / "cache", checkout=tmp_path / "nowhere")


def test_nothing_of_a_wheel_is_imported(tmp_path: Path, shelf: Path) -> None:
    mark = tmp_path / "ran"
    wheel(shelf, "4.0.0", __init__=f"open({str(mark)!r}, 'w')\n", a=raises("never run"))
    scan(tmp_path, "4.0.0")
    assert not mark.exists()
    assert "project" not in sys.modules
