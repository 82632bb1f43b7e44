"""Record files: read whole, every mistake named with its line, and written back without loss."""

import json
import textwrap
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.catalogue.form import schema_text
from bot.catalogue.records import Fault, dump_record, find_line, json_schema, line_of, load_records, parse_record
from bot.model import Example, Hole, PinnedSource, Provenance, Record, Sample, Template, Translation, record_id

ERRORS = Path(__file__).parents[2] / "errors"
REPOSITORY = "some/thing"
FILE = "some/thing/area/slug.yaml"

GOOD = """\
type: ValueError
template: "The cache holds {size} entries, and needs {want!r}"
meaning: It is too small.
solutions:
  - Make it larger
examples:
  - text: "ValueError: The cache holds 3 entries, and needs 4"
    captures: {size: 3, want: 4}
"""


def faults(text: str | bytes, file: str = FILE) -> tuple[Fault, ...]:
    record, found = parse_record(text if isinstance(text, bytes) else text.encode(), file, REPOSITORY)
    assert record is None
    assert found
    return found


def write(errors_dir: Path, name: str, text: str) -> Path:
    path = errors_dir / "some" / "thing" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# ------------------------------------------------------------------------------------------------------------- seeds


def test_the_seeds_are_whole() -> None:
    records, found = load_records(ERRORS, "sgl-project/sglang")
    assert found == ()
    seeds = {record.id: record for record in records}
    assert {"d0373910e10ff17b", "657237f826f98df5"} <= set(seeds)
    for seed in (seeds["d0373910e10ff17b"], seeds["657237f826f98df5"]):
        assert seed.meaning
        assert len(seed.solutions) >= 3
        assert seed.example
        assert seed.source
        assert seed.source.commit == "0132848349"
        assert seed.trigger
        assert seed.situations
        assert len(seed.related) == 5
        assert seed.provenance
        assert len(seed.samples) >= 2
        assert seed.confusers
        assert seed.status == "reviewed"
        for code in (seed.guard, seed.handler):
            compile(code, seed.file, "exec")
    flashinfer = seeds["657237f826f98df5"]
    short, long, _older = flashinfer.templates
    assert str(long).startswith(str(short) + " Stochastic")
    assert seeds["d0373910e10ff17b"].source == PinnedSource(
        "python/sglang/srt/layers/attention/linear/kernels/kda_helion.py", 41, "0132848349"
    )


def test_an_editor_finds_no_mistake_in_the_committed_files() -> None:
    text = (ERRORS / "record.schema.json").read_text()
    assert text == schema_text(), "run: .venv/bin/explainbot check --format schema > errors/record.schema.json"
    schema = json.loads(text)
    assert schema == json_schema()
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    files = [path for path in ERRORS.rglob("*.yaml") if path.name != "source.yaml"]
    assert files
    for path in files:
        text = path.read_text()
        first = text.split("\n", 1)[0]
        assert (path.parent / first.partition("$schema=")[2]).resolve() == ERRORS / "record.schema.json"
        assert list(validator.iter_errors(yaml.load(text, Loader=yaml.BaseLoader) | _numbers(text))) == []


def _numbers(text: str) -> dict[str, object]:
    """The parts in which YAML 1.2 sees no text; PyYAML's own loader would see others, as dates."""
    typed = yaml.load(text, Loader=yaml.CSafeLoader)
    return {key: typed[key] for key in ("source", "symptom", "seen_in") if key in typed}


# ---------------------------------------------------------------------------------------------------------- mistakes


def test_a_good_file_gives_its_record() -> None:
    record, found = parse_record(GOOD.encode(), FILE, REPOSITORY)
    assert found == ()
    assert record
    assert record.id == record_id(REPOSITORY, "ValueError", record.template)
    assert (record.repository, record.type, record.kind, record.status, record.file) == (
        REPOSITORY,
        "ValueError",
        "error",
        "draft",
        FILE,
    )
    assert record.template.holes == (Hole("size"), Hole("want", "!r"))
    assert record.samples == (Sample("ValueError: The cache holds 3 entries, and needs 4", (("size", "3"), ("want", "4"))),)


def test_scalars_stay_what_they_look_like() -> None:
    text = GOOD.replace("It is too small.", "no").replace("Make it larger", "1:30").replace("{size: 3, want: 4}", "{size: 012}")
    record, found = parse_record((text + "symptom: true\nseen_in: [12, 7]\nhandler: null\nguard:\n").encode(), FILE, REPOSITORY)
    assert found == ()
    assert record
    assert (record.meaning, record.solutions, record.samples[0].captures) == ("no", ("1:30",), (("size", "012"),))
    assert record.symptom is True
    assert (record.handler, record.guard) == ("", "")


MISTAKES = {
    "unknown key": (GOOD + "solution: Make it larger\n", 9, "`solution`", "`solutions`"),
    "unknown key inside": (
        GOOD + "source:\n  path: a.py\n  lime: 3\n  line: 3\n  commit: abcdef0\n",
        11,
        "`source.lime`",
        "`line`",
    ),
    "unlike any key": (GOOD + "zzzzzzzz: x\n", 9, "`zzzzzzzz`", "meaning"),
    "missing field": (GOOD.replace("meaning: It is too small.\n", ""), 1, "`meaning` is missing", "What the error means"),
    "missing inside": (GOOD + "\nsource:\n  path: a.py\n  line: 3\n", 10, "`source.commit` is missing", "commit"),
    "missing type": (GOOD.replace("type: ValueError\n", ""), 1, "`type` is missing", "type: ValueError"),
    "missing template": (
        GOOD.replace('template: "The cache holds {size} entries, and needs {want!r}"\n', ""),
        1,
        "`template`",
        "expression",
    ),
    "text for a list": (GOOD.replace("solutions:\n  - Make it larger", "solutions: Make it larger"), 4, "a list", "- "),
    "list for a text": (GOOD.replace("meaning: It is too small.", "meaning: [It, is]"), 3, "a list", "quotes"),
    "braces for a text": (GOOD.replace("meaning: It is too small.", "meaning: {flashinfer_error}"), 3, "a mapping", "quotes"),
    "no number": (GOOD + "seen_in: [12, twelve]\n", 9, "'twelve' is not a number", "number from 1"),
    "quoted number": (GOOD + "seen_in:\n  - 12\n  - '13'\n", 11, "'13' is not a number", "without quotes"),
    "no truth": (GOOD + "symptom: yes\n", 9, "'yes'", "true or false"),
    "no such status": (GOOD + "status: done\n", 9, "'done'", "'reviewed' or 'draft'"),
    "bad id": (GOOD + "id: XYZ\n", 9, "'XYZ'", "16 hex digits"),
    "bad type": (GOOD.replace("type: ValueError", "type: Value Error"), 1, "'Value Error'", "as printed"),
    "bad commit": (GOOD + "source: {path: a.py, line: 3, commit: main}\n", 9, "'main'", "hex digits"),
    "bad date": (GOOD + "provenance:\n  author: x\n  date: 2026-13-01\n", 11, "'2026-13-01'", "YYYY-MM-DD"),
    "path out of it": (GOOD + "source:\n  commit: abcdef0\n  path: ../a.py\n  line: 3\n", 11, "'../a.py'", "/"),
    "open brace": (GOOD.replace("{size}", "{size"), 2, "bad template", "{{"),
    "single brace": (GOOD.replace("{size}", "size}"), 2, "bad template", "}}"),
    "too few letters": (
        GOOD.replace("The cache holds {size} entries, and needs {want!r}", "TP {rank}: {size} {want}"),
        2,
        "2 letters",
        "list",
    ),
    "a hole alone": (GOOD.replace("The cache holds {size} entries, and needs {want!r}", "{size}{want}"), 2, "0 letters", "list"),
    "unknown capture": (GOOD.replace("{size: 3,", "{sise: 3,"), 1, "`sise`", "size, want"),
    "no solution": (GOOD.replace("solutions:\n  - Make it larger", "solutions: []"), 4, "`solutions` is empty", "at least one"),
    "empty text": (GOOD.replace("meaning: It is too small.", 'meaning: " "'), 3, "`meaning`: empty", "remove the key"),
    "key twice": (GOOD + "type: KeyError\n", 9, "`type` stands here again, first on line 1", "one of the two"),
    "bad yaml": (GOOD.replace("meaning: It is", "meaning: It: is"), 3, "not valid YAML", "quotes"),
    "tab": (GOOD.replace("  - Make", "\t- Make"), 5, "not valid YAML", "tabs"),
    "alias": (GOOD + "title: *name\n", 9, "alias", "quotes"),
    "anchor": (GOOD + "title: &name x\n", 9, "anchor", "quotes"),
    "tag": (GOOD + "title: !!python/object/apply:os.getcwd []\n", 9, "tag", "quotes"),
    "two documents": (GOOD + "---\n" + GOOD, 9, "second document", "file of its own"),
    "no mapping": ("- type: ValueError\n", 1, "the file should hold keys", "key: value"),
    "empty file": ("# nothing\n", 1, "empty", "remove the file"),
    "deep": (GOOD + "related: " + "[" * 20 + "]" * 20, 9, "inside each other", "quotes"),
    "far too deep": (GOOD + "related: " + "[" * 50_000, 9, "nesting", "quotes"),
    "control character": (GOOD + "title: a\x01b\n", 9, "control character", "remove"),
    "too large": (GOOD + "# " + "x" * 2**16, 1, "larger than", "shorten"),
}


@pytest.mark.parametrize(("text", "line", "problem", "mend"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named_with_line_and_mend(text: str, line: int, problem: str, mend: str) -> None:
    (found,) = faults(text)
    assert found.file == FILE
    assert problem in found.problem
    assert mend in found.mend
    assert found.line == line
    assert str(found).startswith(f"{FILE}:{line}: ")


def test_bytes_that_are_not_utf8_are_named_with_their_line() -> None:
    (found,) = faults(GOOD.replace("small", "small: café").encode("latin-1"))
    assert (found.line, "UTF-8" in found.problem) == (3, True)


def test_all_mistakes_of_a_file_are_named_at_once() -> None:
    text = GOOD.replace("meaning: It is too small.\n", "") + "status: done\nsolution: x\ntype: KeyError\n"
    assert {fault.line for fault in faults(text)} == {1, 8, 9, 10}


def test_a_file_made_on_another_system_is_read() -> None:
    record, found = parse_record(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode(), FILE, REPOSITORY)
    assert found == ()
    assert record
    assert record.meaning == "It is too small."


# ------------------------------------------------------------------------------------------------------------ folder


def test_one_bad_file_does_not_stop_the_others(tmp_path: Path) -> None:
    write(tmp_path, "source.yaml", "this: is no record")
    write(tmp_path, "a/one.yaml", GOOD)
    write(tmp_path, "a/bad.yaml", "type: [")
    write(tmp_path, "b/c/two.yaml", GOOD.replace("cache holds", "queue holds"))
    write(tmp_path, "b/three.yml", GOOD.replace("cache holds", "stack holds"))
    write(tmp_path, "b/source.yaml", "type: [")
    records, found = load_records(tmp_path, REPOSITORY)
    assert [record.file for record in records] == ["some/thing/a/one.yaml", "some/thing/b/c/two.yaml"]
    assert [fault.file for fault in found] == ["some/thing/a/bad.yaml", "some/thing/b/source.yaml", "some/thing/b/three.yml"]
    assert load_records(tmp_path, "some/other") == ((), ())


def test_the_same_id_or_text_in_two_files_is_a_mistake_of_the_second(tmp_path: Path) -> None:
    write(tmp_path, "a/first.yaml", GOOD + "id: 0123456789abcdef\n")
    write(tmp_path, "a/second.yaml", GOOD.replace("cache holds", "queue holds") + "id: 0123456789abcdef\n")
    write(tmp_path, "b/third.yaml", GOOD.replace("{size}", "{count}").replace("size:", "count:"))
    listed = 'template:\n  - "The queue is full of {size} things"\n  - "The cache holds {a} entries, and needs {b}"\n'
    write(
        tmp_path,
        "c/fourth.yaml",
        GOOD.replace(GOOD.split("\n")[1] + "\n", listed).replace("    captures: {size: 3, want: 4}\n", ""),
    )
    write(tmp_path, "d/fifth.yaml", GOOD.replace("ValueError", "KeyError"))
    records, found = load_records(tmp_path, REPOSITORY)
    assert [record.file for record in records] == ["some/thing/a/first.yaml", "some/thing/d/fifth.yaml"]
    assert [(fault.file, fault.line) for fault in found] == [
        ("some/thing/a/second.yaml", 9),
        ("some/thing/b/third.yaml", 2),
        ("some/thing/c/fourth.yaml", 4),
    ]
    assert all("some/thing/a/first.yaml" in fault.problem for fault in found)


def test_the_line_of_a_part_is_known_for_later_checks(tmp_path: Path) -> None:
    write(tmp_path, "a/one.yaml", GOOD)
    lines = [line_of(tmp_path, "some/thing/a/one.yaml", *where) for where in [("examples", 0), ("solutions", 9), ("type",), ()]]
    assert lines == [7, 4, 1, 1]
    assert line_of(tmp_path, "some/thing/a/missing.yaml", "type") == 1


def test_a_piece_of_text_is_found_below_its_part_and_never_in_the_next(tmp_path: Path) -> None:
    write(tmp_path, "a/one.yaml", GOOD.replace("It is too small.", ">-\n  It is\n  too small."))
    found = [find_line(tmp_path, "some/thing/a/one.yaml", needle, "meaning") for needle in ("too small", "Make", "ValueError", ">-")]
    assert found == [5, 3, 3, 3]
    assert find_line(tmp_path, "some/thing/a/one.yaml", "larger", "solutions", 0) == 7
    assert find_line(tmp_path, "some/thing/a/missing.yaml", "x", "type") == 1


def test_what_is_still_to_be_written_gives_no_record() -> None:
    (found,) = faults(GOOD.replace("It is too small.", "'TODO: what it means'"))
    assert (found.line, found.problem, found.mend) == (3, "`meaning`: a TODO is left: what it means", "write it")
    (found,) = faults(GOOD.replace("Make it larger", "TODO"))
    assert (found.line, found.problem) == (5, "`solutions`: a TODO is left: it says no more")
    record, _ = parse_record(GOOD.replace("It is too small.", "The TODO list is too small.").encode(), FILE, REPOSITORY)
    assert record is not None


def test_a_translation_and_the_issues_are_read() -> None:
    record, found = parse_record((GOOD + "seen_in: [7, 12]\nmeaning_zh: 太小了。\nsolutions_zh: [增大]\n").encode(), FILE, REPOSITORY)
    assert found == ()
    assert record is not None
    assert record.seen_in == (7, 12)
    assert record.translations == (Translation("zh", "", "太小了。", ("增大",)),)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.yaml"
    secret.write_text(GOOD)
    errors_dir = tmp_path / "errors"
    write(errors_dir, "a/one.yaml", GOOD)
    (errors_dir / "some/thing/a/link.yaml").symlink_to(secret)
    (errors_dir / "some/thing/folder").symlink_to(tmp_path)
    records, found = load_records(errors_dir, REPOSITORY)
    assert [record.file for record in records] == ["some/thing/a/one.yaml"]
    assert [(fault.file, "link" in fault.problem) for fault in found] == [("some/thing/a/link.yaml", True)]


@pytest.mark.parametrize("name", ["", "thing", "../thing", "some/..", "some/.", "some/a/b", "so me/thing", "some/th\0ing", "/etc"])
def test_only_names_that_github_allows_lead_to_a_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="OWNER/NAME"):
        load_records(tmp_path, name)


# ------------------------------------------------------------------------------------------------------- round trip

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t'\":#&*!|>%@`-{}"), min_size=1)
PROSE = TEXT.map(str.strip).filter(bool)
CODE = TEXT.map(lambda text: text.strip("\n").rstrip()).filter(lambda text: bool(text.strip()) and not text.startswith("\n"))
MESSAGES = st.builds(
    lambda start, hole, end: Template.of(start, hole, "enough letters in here" + end),
    TEXT,
    st.builds(Hole, st.sampled_from(["x", "self.y", "{1}"]), st.sampled_from(["", "!r", ":>3"])),
    TEXT.filter(lambda text: not text.endswith("\n")),
)


@st.composite
def written(draw: st.DrawFn) -> Record:
    templates = tuple(draw(st.lists(MESSAGES, min_size=1, max_size=3)))
    captures = tuple((hole.expression, draw(PROSE)) for hole in templates[0].holes[:1])
    return Record(
        id=draw(st.sampled_from([record_id(REPOSITORY, "KeyError", templates[0]), "0132848349000000", "0123456789abcdef"])),
        repository=REPOSITORY,
        type="KeyError",
        templates=templates,
        kind=draw(st.sampled_from(["error", "assert", "log"])),
        status=draw(st.sampled_from(["reviewed", "draft"])),
        title=draw(st.one_of(st.just(""), PROSE)),
        meaning=draw(st.one_of(PROSE, st.sampled_from(["null", "~", "no", "12", "0x1f", "1e3", "012", "2026-01-01", "=", "<<"]))),
        solutions=tuple(draw(st.lists(PROSE, min_size=1, max_size=2))),
        example=draw(st.one_of(st.none(), st.builds(Example, CODE, CODE))),
        guard=draw(st.one_of(st.just(""), CODE)),
        situations=draw(st.one_of(st.just(""), PROSE)),
        symptom=draw(st.booleans()),
        source=draw(st.sampled_from([None, PinnedSource("a/b.py", 3, "0132848349")])),
        provenance=draw(st.sampled_from([None, Provenance("somebody"), Provenance("x", "1234567", "2026-01-02")])),
        samples=(Sample(draw(PROSE), captures), Sample(draw(PROSE))),
        confusers=tuple(map(Sample, draw(st.lists(PROSE, max_size=2)))),
        file=FILE,
        seen_in=tuple(draw(st.lists(st.integers(1, 10**9 - 1), max_size=2))),
        translations=draw(st.one_of(st.just(()), st.tuples(st.builds(Translation, st.just("zh"), PROSE, PROSE, st.tuples(PROSE))))),
    )


@given(written())
def test_a_record_that_is_written_is_read_back(record: Record) -> None:
    text = dump_record(record)
    read, found = parse_record(text.encode(), FILE, REPOSITORY)
    assert found == ()
    assert read == record


def test_a_written_file_reads_well() -> None:
    template = Template.parse("The cache holds {size} entries")
    record = Record(
        record_id(REPOSITORY, "ValueError", template),
        REPOSITORY,
        "ValueError",
        (template,),
        status="reviewed",
        meaning="It is too small.",
        solutions=("Make it larger",),
        guard="if x:\n    y()",
        source=PinnedSource("a.py", 3, "0132848349"),
        samples=(Sample("ValueError: The cache holds 3 entries"),),
        file=FILE,
    )
    assert dump_record(record) == textwrap.dedent("""\
        # yaml-language-server: $schema=../../../record.schema.json
        type: ValueError
        template: The cache holds {size} entries
        meaning: It is too small.
        solutions:
          - Make it larger
        guard: |-
          if x:
              y()
        status: reviewed
        source:
          path: a.py
          line: 3
          commit: '0132848349'
        examples:
          - 'ValueError: The cache holds 3 entries'
        """)
