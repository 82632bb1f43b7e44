"""Does anything that a reporter or a record wrote act in what the bot says? Fuzzed messages, rendered by cmark-gfm, against one oracle.

    .venv/bin/python tests/bench/inert.py [--from SEED] [--messages N] [--seconds S]

Each seed is a whole answer in which some seven messages of hostile pieces (mentions, references, links, fences, tags, commands, controls)
stand where a reporter's text comes to stand: as errors, types and values. Every hundredth seed also makes answers, replies and reasons
in which all that anybody wrote is hostile. The oracle is that of ``tests/answering/test_comment.py``: no mention, reference, link, image,
HTML, heading or command that is not ours, all tags closed, the footer there, 8,000 characters at most. A run goes on at ``--from`` where
another one ended; failing seeds are printed (they are other texts once the lists of pieces have changed).
"""

# ruff: noqa: E402 - run as a script, its imports need the repository on the path first
from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from dataclasses import replace
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2])]

from bot.answering import answer, unknown_command_text, why_text
from bot.answering.language import CHINESE, ENGLISH
from bot.model import Capture, Earlier, Match, Occurrence, Reason, Verdict
from tests.answering.test_comment import HOSTILE, MATCH, Hostile, assert_inert, record_url, source_url

MORE = [
    "@org/team", "owner/repo#34", "gh-7", "HTTPS://E.EXAMPLE", "ftp://e.example", "a@.e", "mailto:a@e.example", "xmpp:a@e.example",
    "<script>", "<svg", "[^1]", "[^1]: x", "- [ ] x", "| a | b |\n|---|---|\n| c | d |", "```mermaid\n", "$$\nx\n$$", "```math\n",
    "&#64;octocat", "&commat;x", "&#35;1", "\u2069", "\u200d", "\ufeff", "\u0085/close", "\u2029@x", "\r", "\r\n/close", "\t/close",
    "\u3000/close", "bors r+", "!deploy", "/explain off", "Duplicate of https://github.com/o/r/issues/3", "duplicate of o/r#3", "closes #4",
    "Fixes GH-5", "[skip ci]", "@dependabot merge", "@rustbot label +x", "/lgtm cancel", "/approve no-issue", "\\@x", "\\`", "``@x``",
    "`` ` ``", "*", "**", "_", "__", "~~", "\n    @x", "\n\t#1", "\n1) x", "\n+ x", "\n***\n", "[x]: http://e\n", "[x][y]", "![x][y]",
    "<a@e.example>", "<x:y>", "<?php", "<!DOCTYPE", "<![CDATA[", "]]>", "\n<div>\n", "\n</sub>\n", "</summary>", "<br>", "&",
    "&amp;#35;1", "\x1b[31m", "\x07", "\udfff", "\U0001d54f", "\ufb01", "\u24d0", "\uff20octocat", "\uff0312", "/", "@", "#", "GH", "-",
    "www", ".", ":", "//", "http", "<", ">", "!", "[", "{", "}", "0" * 40, "abcdef1", "\n>", "\n#", "\n`", "\n~",
]  # fmt: skip

PIECES = [*HOSTILE, *MORE]


count = 0
"""Messages made so far."""


def message(chance: random.Random) -> str:
    """A text of hostile pieces, of words, and of any characters."""
    global count
    count += 1
    made = []
    for _ in range(chance.randint(1, 12)):
        draw = chance.random()
        if draw < 0.75:
            made.append(chance.choice(PIECES))
        elif draw < 0.9:
            made.append(chance.choice(("word", " ", "a", "\n", "1")))
        else:
            made.append(chr(chance.randrange(0x20, 0x3100)))
    return "".join(made)


def match_of(chance: random.Random, number: int) -> Match:
    """The written record of the tests under another id, with a reporter's text in each place where it comes to stand.

    Of all but the first match, only the line itself is shown.
    """
    text = message(chance)
    occurrence = Occurrence(message(chance) if chance.random() < 0.4 else "ValueError", text, (0, 1))
    match = replace(MATCH, record=replace(MATCH.record, id=f"{number:016x}"), occurrence=occurrence)
    if number:
        return match
    value = Capture("tp_size", message(chance) if chance.random() < 0.5 else text)
    return replace(match, captures=(value,), reasons=(Reason("text", 40.0, "100% of it"), Reason("odd", 5.0, message(chance))))


def try_message(seed: int) -> None:
    """An answer to an issue of four errors, plain or as a question, in one of the languages."""
    chance = random.Random(seed)
    decision, release = chance.choice(("answer", "cautious")), chance.choice(("0.5.23", None))
    verdict = Verdict(decision, tuple(match_of(chance, number) for number in range(4)), release)  # type: ignore[arg-type]
    language = chance.choice((ENGLISH, CHINESE))
    assert_inert(answer(verdict, source_url, record_url, None, ("0.5.22", "0.5.23"), language), footer=language == ENGLISH)


def try_everything(seed: int) -> None:
    """An answer, reasons and replies in which all that anybody wrote is hostile."""
    chance = random.Random(seed)
    verdict = Hostile(seed).verdict()
    earlier = [Earlier(chance.randrange(1, 10**6), message(chance), chance.random() < 0.5, message(chance))]
    for language in (ENGLISH, CHINESE):
        assert_inert(answer(verdict, source_url, record_url, None, (), language, earlier), footer=language == ENGLISH)
        assert_inert(why_text(verdict, record_url, language), footer=False)
        assert_inert(unknown_command_text(message(chance), message(chance), language), footer=False)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first seed")
    parser.add_argument("--messages", type=int, default=1_000_000, help="stop after so many")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    options = parser.parse_args()
    begun = time.perf_counter()
    failures: Counter[str] = Counter()
    seed = options.first
    while count < options.messages and time.perf_counter() - begun < options.seconds:
        for kind, attempt in (("message", try_message), *([("everything", try_everything)] if seed % 100 == 0 else [])):
            try:
                attempt(seed)
            except Exception as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                failures[f"{kind} {type(error).__name__} {where.name}:{where.lineno}"] += 1
                if sum(failures.values()) <= 20:
                    print(f"seed {seed}, {kind}: {type(error).__name__} in {where.name}: {str(error)[:200]!r}", flush=True)
        seed += 1
    print(f"{count} messages in {seed - options.first} answers (seeds {options.first} to {seed - 1})")
    print(f"{sum(failures.values())} failures {dict(failures)}")
    print(f"{time.perf_counter() - begun:.0f} s; go on with --from {seed}")


if __name__ == "__main__":
    main()
