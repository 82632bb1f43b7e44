"""The configuration of a target repository: what it takes, and how it says what it does not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.config import ConfigError, QuietHours, RepoConfig, parse_repo_config


def test_a_section_that_is_present_is_on() -> None:
    assert parse_repo_config("labels:").labels is not None
    assert parse_repo_config("labels: {}").labels is not None
    assert parse_repo_config("explain:").labels is None


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "   \n#\n"])
def test_an_empty_file_is_the_default(text: str) -> None:
    assert parse_repo_config(text) == RepoConfig()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("explain:\n  answer: x", "yml:2: explain.answer: unknown key; did you mean answers?"),
        ("explain:\n  answers: reviewed\nextra: 1", "yml:3: extra: unknown key"),
        ("explain:\n\n  minimum: 1.5", "yml:3: explain.minimum"),
        ("explain:\n  ignore:\n    - 0123456789abcdef\n    - ../../x", "yml:4: explain.ignore.1"),
        ("explain: {languages: [cobol]}", "yml:1: explain.languages.0"),
        ("labels: {}\nlabels: {}", "yml:2: `labels` stands here again"),
        ("- explain", "yml:1: file"),
        ("a: [", "yml:2: not valid YAML"),
        ("a: &x [1]\nb: *x", "anchor"),
        ("a: !!python/object/apply:os.system ['id']", "tag"),
        ("[" * 20, "inside each other"),
        ("[" * 5000, "nesting depth"),
        ("quiet_hours: {from: 25:00, to: 1:00}", "quiet_hours.from: write a time"),
        ("quiet_hours: {from: 22:00, to: 6:00, zone: ../../etc/passwd}", "quiet_hours.zone"),
        ("quiet_hours:", "quiet_hours.from"),
        ("skip: {title: ['']}", "skip.title.0"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_repo_config(text)
    assert said in str(raised.value)
    assert str(raised.value).startswith(".github/explainbot.yml:")


def test_every_mistake_is_named_at_once() -> None:
    with pytest.raises(ConfigError) as raised:
        parse_repo_config("explain:\n  answer: x\n  minimum: 2\nfoo: 1\n")
    assert str(raised.value).count("explainbot.yml:") == 3


@pytest.mark.parametrize(
    ("start", "end", "zone", "at", "seconds"),
    [
        ("22:00", "06:00", "UTC", (23, 0), 7 * 3600),
        ("22:00", "06:00", "UTC", (5, 59), 60),
        ("22:00", "6:00", "UTC", (6, 0), 0),
        ("22:00", "06:00", "UTC", (21, 59), 0),
        ("12:00", "13:30", "UTC", (12, 0), 5400),
        ("12:00", "12:00", "UTC", (12, 0), 0),
        ("22:00", "06:00", "Asia/Kolkata", (17, 0), 7.5 * 3600),
        ("22:00", "06:00", "Asia/Kolkata", (1, 0), 0),
    ],
)
def test_quiet_hours_end(start: str, end: str, zone: str, at: tuple[int, int], seconds: float) -> None:
    quiet = QuietHours.model_validate({"from": start, "to": end, "zone": zone})
    assert quiet.seconds_left(datetime(2026, 6, 1, *at, tzinfo=UTC)) == seconds


def test_quiet_hours_over_a_change_of_the_clock_last_as_long_as_they_do() -> None:
    quiet = QuietHours.model_validate({"from": "22:00", "to": "06:00", "zone": "Europe/Berlin"})
    # In the night to 29 March 2026 the clocks go forward: an hour less.
    assert quiet.seconds_left(datetime(2026, 3, 28, 21, 0, tzinfo=UTC)) == 7 * 3600
    assert quiet.seconds_left(datetime(2026, 3, 27, 21, 0, tzinfo=UTC)) == 8 * 3600


def test_of_a_thousand_mistakes_the_first_are_named():
    with pytest.raises(ConfigError) as raised:
        parse_repo_config("a:\n" * 9_000)
    assert ".yml:2: " in str(raised.value)
    assert len(str(raised.value)) < 4_000
