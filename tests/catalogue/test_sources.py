"""source.yaml, archives, checkouts, and downloads that fail."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.catalogue.fetching import fetch
from bot.catalogue.sources import MAX_FILE_BYTES, SourceConfig, SourceError, SourceFile, files, is_whole, load_source

GOOD = """\
repository: some/project
package: project
path_prefix:
  project/: python/project/
releases: [1.0, 1.10]
leave_out: ["*/tests/*"]
areas:
  python/project/net/*: network
  python/project/*: core
"""


def write(folder: Path, text: str, repository: str = "some/project") -> Path:
    path = folder / repository / "source.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return folder


def config(folder: Path, text: str = GOOD) -> SourceConfig:
    return load_source(write(folder, text), "some/project")


def test_what_source_yaml_says(tmp_path: Path) -> None:
    found = config(tmp_path)
    assert found.releases == ("1.0", "1.10")  # not numbers: 1.10 is no 1.1
    assert found.tag_of("1.10") == "v1.10"
    assert found.area_of("python/project/net/a/b.py") == "network"
    assert found.area_of("python/project/x.py") == "core"
    assert found.area_of("docs/x.py") is None
    assert not found.wants("python/project/a/tests/b.py")
    assert found.repository_path("project/a.py") == "python/project/a.py"
    assert found.repository_path("other/a.py") is None


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (("package: project", "package: project\nbranch: main"), 3, "unknown key"),
        (("package: project\n", ""), 1, "package: this key is missing"),
        (("package: project", "package: -e.git"), 2, "package"),
        (("project/: python/project/", "project: python/project"), 3, "slash"),
        (("project/: python/project/", "../: python/project/"), 3, "no folder inside"),
        (("repository: some/project", "repository: some/other"), 1, "make them equal"),
        (("package: project", "package: *there"), 2, "alias"),
        (("package: project", "package: project\npackage: again"), 3, "again"),
        (("package: project", "package: project\ntag: release"), 3, "{version}"),
        (("releases: [1.0, 1.10]", "releases: ['1.0; rm']"), 5, "releases"),
        (("package: project", "package: project\narchive: tarball"), 3, "'wheel' or 'sdist'"),
    ],
)
def test_faults_name_file_line_and_mend(tmp_path: Path, change: tuple[str, str], line: int, words: str) -> None:
    with pytest.raises(SourceError) as raised:
        config(tmp_path, GOOD.replace(*change))
    message = str(raised.value)
    assert f"source.yaml:{line}: " in message
    assert words in message


def test_a_missing_file_and_a_name_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="write one"):
        load_source(tmp_path, "some/project")
    with pytest.raises(SourceError, match="owner/name"):
        load_source(tmp_path, "../project")


def test_the_projects_own_source_yaml_is_right() -> None:
    errors = Path(__file__).parents[2] / "errors"
    for path in errors.glob("*/*/source.yaml"):
        assert load_source(errors, f"{path.parts[-3]}/{path.parts[-2]}").releases


def test_the_example_in_the_guide_is_right(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[2] / "errors" / "README.md").read_text()
    (example,) = (block.partition("```")[0] for block in guide.split("```yaml\n")[1:] if block.startswith("repository:"))
    found = load_source(write(tmp_path, example, "OWNER/NAME"), "OWNER/NAME")
    assert set(SourceConfig.model_fields) == found.model_fields_set


def wheel(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def listed(found: list[SourceFile]) -> dict[str, bytes | str]:
    return {file.path: file.problem or file.text for file in found}


def test_files_of_a_wheel(tmp_path: Path) -> None:
    archive = wheel(
        tmp_path / "project-1.0-py3-none-any.whl",
        {
            "project/b.py": b"b",
            "project/a.py": b"a",
            "project/x.so": b"no",
            "project/net/tests/c.py": b"no",
            "other/d.py": b"no",
            "../evil.py": b"no",
            "/root.py": b"no",
            "project/../../up.py": b"no",
            "project/large.py": b" " * (MAX_FILE_BYTES + 1),
        },
    )
    found = list(files(archive, config(tmp_path)))
    assert listed(found) == {
        "../evil.py": "its path leaves the source",
        "/root.py": "its path leaves the source",
        "project/../../up.py": "its path leaves the source",
        "python/project/a.py": b"a",
        "python/project/b.py": b"b",
        "python/project/large.py": f"has {MAX_FILE_BYTES + 1:,} bytes, more than {MAX_FILE_BYTES:,}",
    }


def test_a_broken_member_is_named(tmp_path: Path) -> None:
    archive = wheel(tmp_path / "project-1.0-py3-none-any.whl", {"project/a.py": b"a" * 5000, "project/b.py": b"b"})
    data = bytearray(archive.read_bytes())
    data[60:64] = b"\xff\xff\xff\xff"
    archive.write_bytes(data)
    found = listed(list(files(archive, config(tmp_path))))
    assert str(found["python/project/a.py"]).startswith("cannot be read")
    assert found["python/project/b.py"] == b"b"


def sdist(path: Path, members: dict[str, bytes], *more: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
        for info in more:
            archive.addfile(info)
    return path


def linked(name: str, to: str, kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, to
    return info


def test_files_of_a_source_archive(tmp_path: Path) -> None:
    path = sdist(
        tmp_path / "project-1.0.tar.gz",
        {
            "project-1.0/project/a.py": b"a",
            "project-1.0/project/net/tests/c.py": b"no",
            "project-1.0/setup.py": b"no",
            "project-1.0/../up.py": b"no",
            "/root.py": b"no",
            "project-1.0/project/large.py": b" " * 20_000_000,
            "./project-1.0/project/b.py": b"b",
            "project-1.0/project/b.py/../a.py": b"no",
        },
        linked("project-1.0/project/link.py", "/etc/passwd", tarfile.SYMTYPE),
        linked("project-1.0/project/hard.py", "project-1.0/setup.py", tarfile.LNKTYPE),
    )
    assert listed(list(files(path, config(tmp_path)))) == {
        "python/project/a.py": b"a",
        "python/project/b.py": b"b",
        "python/project/large.py": f"has 20,000,000 bytes, more than {MAX_FILE_BYTES:,}",
        "../up.py": "its path leaves the source",
        "/root.py": "its path leaves the source",
        "project/b.py/../a.py": "its path leaves the source",
    }


def test_a_source_archive_laid_out_as_the_repository_is_read_as_it_lies(tmp_path: Path) -> None:
    members = {"project-1.0/python/project/a.py": b"a", "project-1.0/setup.py": b"no", "project-1.0/project/c.py": b"no"}
    assert listed(list(files(sdist(tmp_path / "project-1.0.tar.gz", members), config(tmp_path)))) == {"python/project/a.py": b"a"}
    assert listed(list(files(wheel(tmp_path / "project-1.0.zip", members), config(tmp_path)))) == {"python/project/a.py": b"a"}


def test_top_level_modules_of_a_source_archive_leave_its_build_script_out(tmp_path: Path) -> None:
    bare = SourceConfig(repository="some/project", package="project", path_prefix={"": "src/"}, releases=("1.0",))
    path = sdist(tmp_path / "project-1.0.tar.gz", {"project-1.0/src/a.py": b"a", "project-1.0/setup.py": b"no"})
    assert listed(list(files(path, bare))) == {"src/a.py": b"a"}


def test_a_file_that_stands_twice_is_read_once(tmp_path: Path) -> None:
    path = sdist(tmp_path / "project-1.0.tar.gz", {"p/project/a.py": b"first", "q/project/a.py": b"second"})
    first, second = files(path, config(tmp_path))
    assert (first.text, second.text) == (b"first", b"")
    assert "twice" in second.problem


def test_links_in_a_wheel_are_no_files(tmp_path: Path) -> None:
    path = wheel(tmp_path / "project-1.0-py3-none-any.whl", {"project/a.py": b"a"})
    with zipfile.ZipFile(path, "a") as archive:
        info = zipfile.ZipInfo("project/link.py")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    assert listed(list(files(path, config(tmp_path)))) == {"python/project/a.py": b"a"}


def test_a_source_archive_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.catalogue.sources.MAX_UNPACKED_BYTES", 50_000_000)
    path = sdist(tmp_path / "project-1.0.tar.gz", {"p/zeros.bin": b"\0" * 60_000_000, "p/project/a.py": b"a"})
    assert path.stat().st_size < 100_000
    with pytest.raises(SourceError, match="unpacks to more than 50,000,000 bytes"):
        list(files(path, config(tmp_path)))


def test_a_header_that_claims_gigabytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    header = tarfile.TarInfo("p/x")
    header.type, header.size = tarfile.XHDTYPE, 3_000_000_000
    path = tmp_path / "project-1.0.tar.gz"
    path.write_bytes(gzip.compress(header.tobuf(tarfile.USTAR_FORMAT) + b"\0" * 20_000_000))
    with pytest.raises(SourceError, match="has a header of more than"):
        list(files(path, config(tmp_path)))


def test_more_source_than_any_project_has_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.catalogue.sources.MAX_SOURCE_BYTES", 1000)
    path = wheel(tmp_path / "project-1.0-py3-none-any.whl", {f"project/{n}.py": b" " * 400 for n in range(3)})
    with pytest.raises(SourceError, match="more than 1,000 bytes of source"):
        list(files(path, config(tmp_path)))


@pytest.mark.parametrize("left", [20, 400])
def test_a_source_archive_that_was_cut_off_is_told_from_a_whole_one(tmp_path: Path, left: int) -> None:
    path = sdist(tmp_path / "project-1.0.tar.gz", {"p/project/a.py": bytes(range(256)) * 40})
    assert is_whole(path)
    path.write_bytes(path.read_bytes()[:left])
    assert not is_whole(path)
    with pytest.raises(SourceError, match="no readable archive"):
        list(files(path, config(tmp_path)))


def test_files_of_a_checkout_follow_no_links(tmp_path: Path) -> None:
    root = tmp_path / "checkout"
    (root / "python/project/net").mkdir(parents=True)
    (root / "docs").mkdir()
    (root / "python/project/a.py").write_bytes(b"a")
    (root / "docs/conf.py").write_bytes(b"no")
    (root / "python/project/net/loop").symlink_to(root / "python")
    (root / "python/project/link.py").symlink_to(root / "docs/conf.py")
    assert listed(list(files(root, config(tmp_path)))) == {"python/project/a.py": b"a"}
    with pytest.raises(SourceError, match="root of a checkout"):
        list(files(root / "docs", config(tmp_path)))


def test_no_archive_at_all(tmp_path: Path) -> None:
    path = tmp_path / "project.whl"
    path.write_bytes(b"this is no archive")
    with pytest.raises(SourceError, match="no readable archive"):
        list(files(path, config(tmp_path)))


def test_a_wheel_that_lies_there_is_taken(tmp_path: Path) -> None:
    path = wheel(tmp_path / "project-1.10-cp311-cp311-manylinux_2_34_x86_64.whl", {"project/a.py": b"a"})
    assert fetch(config(tmp_path), "1.10", tmp_path) == path


def test_an_archive_of_the_kind_that_is_not_wanted_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel of the release lies there, and source.yaml asks for the source archive, which the index has."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    ran = tmp_path / "ran"
    sdist(shelf / "project-1.0.tar.gz", {"project-1.0/setup.py": f"open({str(ran)!r}, 'w')".encode(), "project-1.0/csrc/a.cu": b"a"})
    wheel(tmp_path / "project-1.0-py3-none-any.whl", {"project/a.py": b"a"})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    wanted = config(tmp_path, GOOD.replace("package: project", "package: project\narchive: sdist"))
    assert fetch(wanted, "1.0", tmp_path) == tmp_path / "project-1.0.tar.gz"
    assert not ran.exists()


def test_without_network_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, use_index: Callable[[str], None]) -> None:
    use_index("http://127.0.0.1:9")  # nothing listens on the discard port
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(SourceError, match=r"cannot be reached.*check the network"):
        fetch(config(tmp_path), "1.0", tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_release_that_does_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    wheel(shelf / "project-1.0-py3-none-any.whl", {})
    wheel(shelf / "project-1.2-py3-none-any.whl", {})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    monkeypatch.setattr("bot.catalogue.fetching.PYTHONS", ("3.11",))
    with pytest.raises(SourceError, match=r"no release 9\.9.*1\.0, 1\.2"):
        fetch(config(tmp_path), "9.9", tmp_path / "cache")
