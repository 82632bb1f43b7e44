"""What frames and types are worth."""

import pytest

from bot.matching.evidence import common_tail, same_code, short_type, weigh_type
from bot.model import Occurrence


@pytest.mark.parametrize(
    ("printed", "source", "same"),
    [
        ("raise ValueError(", 'raise ValueError(\n"text"\n)', True),
        ('raise ValueError(\n    "text"\n)', 'raise ValueError(\n"text"\n)', True),
        ("assert a == b", "assert a == b", True),
        ("assert a == b, f", "assert a == b", False),
        ("x = f(y)", "raise ValueError(y)", False),
        ("raise", "raise ValueError(y)", False),
    ],
)
def test_a_printed_line_is_the_statement_or_its_first_line(printed: str, source: str, same: bool) -> None:
    assert same_code(printed, source) is same


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("/usr/lib/python3.12/site-packages/pkg/a/b.py", "python/pkg/a/b.py", 3),
        ("C:\\x\\pkg\\a\\b.py", "pkg/a/b.py", 3),
        (".../b.py", "python/pkg/a/b.py", 1),
        ("/opt/other/b.py", "python/pkg/a/b.py", 1),
    ],
)
def test_paths_agree_from_their_end(one: str, other: str, equal: int) -> None:
    assert common_tail(one, other) == equal


def test_types_are_compared_as_python_prints_them() -> None:
    assert short_type("EnvironmentError") == short_type("builtins.OSError") == "OSError"


def test_a_rare_type_says_more_than_a_common_one_and_another_type_speaks_against() -> None:
    def weight(printed: str, share: float) -> float:
        return sum(reason.weight for reason in weigh_type(Occurrence(printed, "m", (0, 1)), "KVTransferError", share))

    assert weight("pkg.KVTransferError", 0.001) > weight("KVTransferError", 0.3) > 0 > weight("ValueError", 0.3)


def test_no_type_says_nothing() -> None:
    assert weigh_type(Occurrence(None, "m", (0, 1)), "ValueError", 0.3) == []
