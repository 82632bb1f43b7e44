"""What a scan finds and what people wrote become one catalogue, and nothing that people wrote is lost."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bot.catalogue.merge import merge
from bot.model import PinnedSource, RaiseSite, Record, SiteLines, Status, Template, record_id

REPOSITORY = "some/thing"


def site(path: str = "a.py", line: int = 1, function: str = "f") -> RaiseSite:
    return RaiseSite(path, function, (SiteLines("1.0", line, line),))


def scanned(text: str, type: str = "ValueError", sites: tuple[RaiseSite, ...] = (site(),), expression: str = "") -> Record:
    template = Template.parse(text)
    id = record_id(REPOSITORY, type, template, expression)
    return Record(id, REPOSITORY, type, (template,) if text else (), sites, "error" if text else "assert", expression)


def written(*texts: str, type: str = "ValueError", id: str = "", status: Status = "reviewed", expression: str = "") -> Record:
    templates = tuple(map(Template.parse, texts))
    id = id or record_id(REPOSITORY, type, templates[0] if templates else Template(()), expression)
    kind = "error" if texts else "assert"
    return Record(id, REPOSITORY, type, templates, (), kind, expression, status=status, meaning="Told.", file=f"{id}.yaml")


def test_a_written_record_gets_the_sites_of_its_text_and_keeps_what_people_wrote() -> None:
    found = scanned("no file {path}", sites=(site("a.py", 3), site("b.py", 1)))
    (record,) = merge([found], [written("no file {name!r}", id="0123456789abcdef", status="draft")])
    assert record.id == "0123456789abcdef"
    assert record.sites == found.sites
    assert record.meaning == "Told."
    assert record.status == "draft"
    assert record.templates == found.templates  # the names of the holes are the source's


def test_without_an_older_id_the_record_has_the_scans() -> None:
    found = scanned("no file {path}")
    (record,) = merge([found], [written("no file {name}")])
    assert record.id == found.id


def test_one_record_for_several_texts_joins_their_sites_in_order_of_place() -> None:
    shared = site("b.py", 7)
    short = scanned("no file", sites=(shared, site("c.py", 2)))
    long = scanned("no file. Give one", sites=(shared, site("a.py", 9)))
    other = scanned("something else")
    (record, left) = merge([short, other, long], [written("no file", "no file. Give one")])
    assert [(at.path, at.latest.line) for at in record.sites] == [("a.py", 9), ("b.py", 7), ("c.py", 2)]
    assert record.templates == (short.template, long.template)
    assert left is other


def test_other_forms_that_the_source_has_are_kept() -> None:
    also = Template.parse("Error: no file {path}")
    found = replace(scanned("no file {path}"), templates=(Template.parse("no file {path}"), also))
    (record,) = merge([found], [written("no file {p}")])
    assert record.templates == (*found.templates,)


def test_a_line_break_makes_no_other_text() -> None:
    found = scanned("no file\n  of this name")
    (record,) = merge([found], [written("no file of this name")])
    assert (record.status, record.sites) == ("reviewed", found.sites)


def test_the_same_text_of_another_type_is_claimed_only_when_the_type_has_none() -> None:
    value, key = scanned("no file {path}"), scanned("no file {path}", type="KeyError", sites=(site("k.py"),))
    (record, left) = merge([key, value], [written("no file {path}")])
    assert (record.sites, left) == (value.sites, key)
    (record,) = merge([key], [written("no file {path}")])
    assert (record.type, record.sites, record.status) == ("KeyError", key.sites, "reviewed")


def test_an_edited_text_is_joined_to_its_successor_and_still_found_by_the_old_one() -> None:
    new = scanned("The cache holds only {size} entries, which is too few for {model}")
    old = written("The cache holds {size} entries, which is too few for {model}")
    (record, left) = merge([new, scanned("The cache is broken")], [old])
    assert record.status == "changed"
    assert record.templates == (new.template, old.template)
    assert (record.id, record.sites, record.meaning) == (old.id, new.sites, "Told.")
    assert left.sites


def test_many_edited_texts_find_each_its_own_successor() -> None:
    names = [f"{n * 7919 % 10007:05} " * 4 for n in range(200)]
    old = [written(f"Cannot load layer {name} of the model {{x}}") for name in names]
    new = [scanned(f"Cannot load layer {name} of a model {{x}}", sites=(site(line=n + 1),)) for n, name in enumerate(names)]
    merged = merge(list(reversed(new)), old)
    assert [(record.status, record.templates[0]) for record in merged] == [("changed", found.template) for found in new]


def test_an_edited_text_of_another_type_is_not_taken_for_it() -> None:
    new = scanned("The cache holds only {size} entries, which is too few for {model}", type="KeyError")
    (record, left) = merge([new], [written("The cache holds {size} entries, which is too few for {model}")])
    assert (record.status, left) == ("obsolete", new)


def test_a_text_that_another_record_has_is_no_successor() -> None:
    new = scanned("The cache holds only {size} entries, which is too few for {model}")
    old = written("The cache holds {size} entries, which is too few for {model}")
    own = written("The cache holds only {n} entries, which is too few for {m}")
    lost, kept = merge([new], [old, own])
    assert (lost.status, kept.status, kept.sites) == ("obsolete", "reviewed", new.sites)


def test_the_likest_of_two_goes_first_and_each_successor_goes_once() -> None:
    new = scanned("The cache holds only {size} entries, which is too few for {model}")
    near = written("The cache holds only {size} entries, which are too few for {model}")
    far = written("The cache holds {size} entries, which are too few for {model}")
    first, second = merge([new], [far, near])
    assert (first.status, second.status) == ("obsolete", "changed")


def test_of_two_equally_like_the_one_in_the_pinned_file_is_the_successor() -> None:
    old = replace(written("Cannot load the weights of layer AA"), source=PinnedSource("b.py", 4, "0123456"))
    here = scanned("Cannot load the weights of layer AB", sites=(site("b.py"),))
    there = scanned("Cannot load the weights of layer AC", sites=(site("a.py"),))
    for found in ([here, there], [there, here]):
        assert merge(found, [old])[0].sites == here.sites


def test_a_text_that_is_gone_stays_with_its_pin() -> None:
    pin = PinnedSource("gone.py", 4, "0123456")
    (record,) = merge([], [replace(written("no file {path}"), source=pin)])
    assert (record.status, record.sites, record.source, record.meaning) == ("obsolete", (), pin, "Told.")
    assert record.templates


def test_an_assert_without_a_message_is_joined_by_its_expression_alone() -> None:
    same = scanned("", "AssertionError", expression="len(names_of_layers) == len(weights_of_layers)")
    other = scanned("", "AssertionError", expression="len(names_of_layers) == len(weights_of_layer)")
    note = written(type="AssertionError", expression="len(names_of_layers) == len(weights_of_layers)")
    (record, left) = merge([other, same], [note])
    assert (record.sites, record.expression, left) == (same.sites, same.expression, other)
    (record, _) = merge([other], [note])
    assert record.status == "obsolete"


WORD = st.sampled_from(["the", "cache", "holds", "only", "{n}", "entries", "too", "few", "for", "{m}", "of", "this", "model", "now"])
WORDS = st.lists(WORD, min_size=1, max_size=9)
TYPES = st.sampled_from(["ValueError", "KeyError"])
SCANS = st.lists(st.builds(lambda words, type: scanned(" ".join(words), type), WORDS, TYPES), max_size=8, unique_by=lambda r: r.id)
NOTES = st.lists(st.builds(lambda words, type: written(" ".join(words), type=type), WORDS, TYPES), max_size=5, unique_by=lambda r: r.id)


@given(SCANS, NOTES)
def test_nothing_is_lost_and_nothing_is_doubled(found: list[Record], notes: list[Record]) -> None:
    merged = merge(found, notes)
    assert [record.file for record in merged[: len(notes)]] == [note.file for note in notes]
    assert all(
        {*note.templates} & {*record.templates} or _skeletons(note) <= _skeletons(record)
        for note, record in zip(notes, merged, strict=False)
    )
    assert all(record in found for record in merged[len(notes) :])
    claimed = [record for record in merged[: len(notes)] if record.status != "obsolete"]
    assert len(merged) - len(notes) <= len(found) - len(claimed)
    assert {site for record in merged for site in record.sites} == {site for record in found for site in record.sites}
    assert merge(found, notes) == merged


@given(SCANS)
def test_without_records_the_scan_stays_as_it_is(found: list[Record]) -> None:
    assert merge(found, []) == tuple(found)


@given(SCANS)
def test_a_record_for_each_scanned_one_claims_it(found: list[Record]) -> None:
    notes = [replace(record, sites=(), status="reviewed", file="f.yaml") for record in found]
    assert [(r.id, r.sites, r.status) for r in merge(found, notes)] == [(r.id, r.sites, "reviewed") for r in found]


def _skeletons(record: Record) -> set[str]:
    return {template.skeleton for template in record.templates}


# ------------------------------------------------------------------------------------------------------- many releases


def standing(text: str, *releases: str, successor: str = "", path: str = "a.py", type: str = "ValueError") -> Record:
    """A scanned record that stands in these releases."""
    place = RaiseSite(path, "f", tuple(SiteLines(release, 1, 1) for release in releases))
    return replace(scanned(text, type=type, sites=(place,)), successor=successor)


def test_a_text_of_older_releases_only_is_obsolete_and_keeps_its_sites() -> None:
    old = standing("no such file", "1.0", "1.1")
    (record,) = merge([old, standing("quite another thing", "2.0")][:1], [written("no such file")], "2.0")
    assert record.status == "obsolete"
    assert record.sites == old.sites


def test_a_text_that_became_another_is_changed_and_has_all_texts_of_the_chain() -> None:
    third = standing("The folder holds nothing at all", "2.0")
    second = standing("There is no file in the folder", "1.1", successor=third.id)
    first = standing("no such file", "1.0", successor=second.id)
    (record,) = merge([second, third, first], [written("no such file", id="0123456789abcdef")], "2.0")
    assert record.status == "changed"
    assert [str(template) for template in record.templates] == [
        "The folder holds nothing at all",
        "There is no file in the folder",
        "no such file",
    ]
    assert record.sites[0].latest.release == "2.0"
    assert {site.latest.release for site in record.sites} == {"2.0", "1.1", "1.0"}
    assert record.id == "0123456789abcdef"


def test_a_chain_that_ends_before_the_newest_release_is_obsolete() -> None:
    second = standing("There is no file in the folder", "1.1")
    first = standing("no such file", "1.0", successor=second.id)
    (record,) = merge([first, second], [written("no such file")], "2.0")
    assert record.status == "obsolete"
    assert {site.latest.release for site in record.sites} == {"1.0", "1.1"}


def test_what_another_file_describes_is_not_taken_from_it() -> None:
    new = standing("There is no file in the folder", "2.0")
    old = standing("no such file", "1.0", successor=new.id)
    first, second = merge([old, new], [written("no such file"), written("There is no file in the folder")], "2.0")
    assert (first.status, first.successor) == ("obsolete", new.id)
    assert (second.status, second.sites) == ("reviewed", new.sites)


def test_one_text_that_still_stands_is_enough() -> None:
    old, new = standing("no such file", "1.0", path="b.py"), standing("no file {name}", "1.0", "2.0")
    (record,) = merge([old, new], [written("no such file", "no file {name}", status="draft")], "2.0")
    assert record.status == "draft"
    assert [site.path for site in record.sites] == ["a.py", "b.py"]


def test_a_gone_text_without_known_successor_goes_to_the_nearest_that_stands() -> None:
    old = standing("The table of the model has too many rows", "1.0")
    decoy = standing("The table of the model has too many rows!", "1.1", path="b.py")
    new = standing("The table of that model has too many rows", "2.0", path="c.py")
    record, left = merge([old, decoy, new], [written("The table of the model has too many rows")], "2.0")
    assert record.status == "changed"
    assert record.sites == (*new.sites, *old.sites)
    assert left is decoy
