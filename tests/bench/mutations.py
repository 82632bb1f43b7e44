"""What happens to an error on its way into an issue, one row of the table each: functions from a rendered error to title and body.

Most are the damages of ``tests/reading/damage.py``, done to a whole traceback; those here are done to the line with type and message,
where no frame helps.
"""

from __future__ import annotations

import importlib.util
import random
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from tests.bench.rendering import Rendered

WIDE_LOG_LINES = 5000
"""Lines of the log around an error in the row that is named after them."""


@dataclass(frozen=True)
class Issue:
    """An issue's text with its right answer: the ids of the records, none for a text of which nothing may be said.

    ``skeletons`` are the texts of the right records; ``others`` are the ids of further errors that the issue shows as well. ``site`` is
    ``path:line`` of the raise. ``typed``: the exception type stands in the text; ``framed``: frames do.
    """

    row: str
    title: str
    body: str
    right: frozenset[str] = frozenset()
    skeletons: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    site: str = ""
    typed: bool = True
    framed: bool = False
    about: str = ""


Text = Callable[[str, random.Random], str]


def _load_damage() -> ModuleType:
    path = Path(__file__).parents[1] / "reading" / "damage.py"
    spec = importlib.util.spec_from_file_location("bench_damage", path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_damage"] = module
    spec.loader.exec_module(module)
    return module


damage = _load_damage()

# ----------------------------------------------------------------------------------------------- on the message line


def cut(share: float) -> Text:
    """The message ends after this share of its characters."""
    return lambda text, chance: text[: max(12, int(len(text) * share))]


def drop_words(share: float) -> Text:
    """So many of the words are gone, at least one."""

    def drop(text: str, chance: random.Random) -> str:
        parts = re.split(r"(\s+)", text)
        words = [at for at, part in enumerate(parts) if part.strip()][1:]  # the type stays
        gone = set(chance.sample(words, min(len(words) - 1, max(1, round(len(words) * share)))) if len(words) > 2 else ())
        return "".join(part for at, part in enumerate(parts) if at not in gone and at - 1 not in gone)

    return drop


OTHER_WORDS = ("value", "request", "currently", "please", "invalid", "given", "input", "server", "cannot", "option", "supported", "when")


def change_words(share: float) -> Text:
    """So many of the words are others, at least one."""

    def change(text: str, chance: random.Random) -> str:
        parts = re.split(r"(\s+)", text)
        words = [at for at, part in enumerate(parts) if part.strip()][1:]
        for at in chance.sample(words, min(len(words), max(1, round(len(words) * share)))) if len(words) > 2 else ():
            parts[at] = chance.choice(OTHER_WORDS)
        return "".join(parts)

    return change


def confuse_letters(text: str, chance: random.Random) -> str:
    """What reading a screenshot makes of l, 1, O, 0 and rn: each of them with a chance of a third."""
    swaps = {"l": "1", "1": "l", "O": "0", "0": "O", "m": "rn"}
    return "".join(swaps[char] if char in swaps and chance.random() < (0.33 if char != "m" else 0.05) else char for char in text)


def lower_case(text: str, chance: random.Random) -> str:
    return text.lower()


def backticks(text: str, chance: random.Random) -> str:
    """Quoted words in backticks, as people format them by hand."""
    return re.sub(r"['\"]([^'\"\n]{1,60})['\"]", r"`\1`", text)


def hard_wrap(text: str, chance: random.Random) -> str:
    """Wrapped at 40 to 120 characters, quoted or with a pane's border."""
    width, mark = chance.randrange(40, 121), chance.choice(("> ", "│ ", ""))
    return "\n".join(mark + line[at : at + width] for line in text.split("\n") for at in range(0, max(len(line), 1), width))


def word_wrap(text: str, chance: random.Random) -> str:
    """Wrapped at 40 to 120 characters between words."""
    width, lines = chance.randrange(40, 121), [""]
    for word in text.split(" "):
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return "\n".join(lines)


LINE: dict[str, Text] = {
    "log prefix": lambda text, c: c.choice(_PREFIXES)(text, c),
    "cut to 80 %": cut(0.8),
    "cut to 60 %": cut(0.6),
    "cut to 40 %": cut(0.4),
    "5 % of words dropped": drop_words(0.05),
    "15 % of words dropped": drop_words(0.15),
    "30 % of words dropped": drop_words(0.30),
    "10 % of words changed": change_words(0.10),
    "screenshot (l/1, O/0)": confuse_letters,
    "lower case": lower_case,
    "smart quotes": damage.smart_quotes,
    "backticks": backticks,
    "wrapped hard, quoted": hard_wrap,
    "wrapped between words": word_wrap,
    "HTML escapes": damage.html_escapes,
    "colours": damage.colours,
}
"""Mutations of the line with type and message."""

_PREFIXES: Sequence[Text] = [
    damage.DAMAGES[name]
    for name in (
        "sglang_first_line", "sglang_every_line", "vllm_every_line", "old_vllm_every_line", "compose", "kubernetes", "github_actions",
        "ray", "torchrun", "unknown_prefix",
    )
]  # fmt: skip


# --------------------------------------------------------------------------------------------------- on the traceback

WINDOWS = "C:\\Users\\me\\AppData\\Local\\Programs\\Python\\Python311\\Lib\\site-packages\\"
PLACES = (
    "/usr/lib/python3.12/site-packages/",
    WINDOWS,
    "/opt/conda/lib/python3.10/site-packages/",
    "/app/.venv/lib/python3.13/site-packages/",
    ".../",
)


def rewrite_path(text: str, chance: random.Random) -> str:
    """The source is installed elsewhere, also on Windows, or only the end of each path is left."""
    place = chance.choice(PLACES)

    def moved(found: re.Match[str]) -> str:
        inside = re.split(r"(?:site|dist)-packages/|/python/|/workspace/\w+/(?:src/)?", found[1])[-1].lstrip("/")
        return f'File "{place}{inside.replace("/", chr(92)) if place == WINDOWS else inside}"'

    return re.sub(r'File "([^"\n]+)"', moved, text)


def shift_lines(text: str, chance: random.Random) -> str:
    """Another release: all lines stand elsewhere."""
    by = chance.randrange(3, 400)
    return re.sub(r'(File "[^"\n]+", line )(\d+)', lambda found: f"{found[1]}{int(found[2]) + by}", text)


def no_source_lines(text: str, chance: random.Random) -> str:
    """The frames without the source lines below them."""
    return "\n".join(line for line in text.split("\n") if not line.startswith("    "))


TRACEBACK: dict[str, Text] = {
    **{name.replace("_", " "): function for name, function in damage.DAMAGES.items()},
    "tail cut (no error line)": damage.tail_cut,
    "wrapped": damage.wrapped,
    "path rewritten": rewrite_path,
    "line numbers shifted": shift_lines,
    "no source lines": no_source_lines,
}
"""Mutations of a whole traceback."""


# -------------------------------------------------------------------------------------------------------------- issues

LEADS = (
    "The server stops after a while.", "I get this error when I start it on 8 GPUs:", "Hello, any idea what this means?",
    "升级之后启动报错，请问怎么解决？", "После обновления сервер не запускается:", "Works with the previous version, fails with this one.",
)  # fmt: skip


def issue(one: Rendered, row: str, text: str, chance: random.Random, framed: bool, others: frozenset[str] = frozenset()) -> Issue:
    """An issue that holds this text in a code block, sometimes within a form."""
    body = damage.fenced(text, chance)
    body = damage.in_report(body, chance) if chance.random() < 0.3 else f"{chance.choice(LEADS)}\n\n{body}\n"
    return labelled(one, row, "[Bug] it does not work", body, framed, others)


def labelled(
    one: Rendered, row: str, title: str, body: str, framed: bool, others: frozenset[str] = frozenset(), typed: bool = True
) -> Issue:
    """An issue with the right answer of a rendered error."""
    statement = one.statement
    skeletons = frozenset(raised.template.skeleton for raised in statement.alternatives)
    about = f"{statement.path}:{statement.line}"
    return Issue(row, title, body, statement.ids, skeletons, others, about, typed, framed, str(statement.alternatives[0].template))


def log_lines(count: int, chance: random.Random) -> list[str]:
    """Lines of a server's log without errors."""
    forms = (
        lambda: (
            f"[2025-11-06 02:08:{chance.randrange(60):02d} TP{chance.randrange(8)}] Decode batch, #running-req: {chance.randrange(90)}, "
            f"#token: {chance.randrange(9000)}, token usage: 0.31, gen throughput (token/s): {chance.randrange(4000)}.7"
        ),
        lambda: f'INFO:     127.0.0.1:{chance.randrange(9999)} - "POST /v1/chat/completions HTTP/1.1" 200 OK',
        lambda: f"(EngineCore_DP0 pid={chance.randrange(9999)}) INFO 10-25 13:08:43 [gpu_model_runner.py:2602] Starting to load model x...",
        lambda: f"Loading safetensors checkpoint shards: {chance.randrange(100)}% Completed | {chance.randrange(9)}/9 [00:05<00:00]",
        lambda: f"Capturing batches (bs={chance.randrange(160)} avail_mem={chance.randrange(60)}.1 GB): {chance.randrange(100)}%|##  |",
    )  # fmt: skip
    return [chance.choice(forms)() for _ in range(count)]


def in_long_log(one: Rendered, chance: random.Random) -> Issue:
    """The traceback in the middle of a log of thousands of lines."""
    lines = log_lines(WIDE_LOG_LINES, chance)
    at = chance.randrange(len(lines))
    return labelled(
        one, f"{WIDE_LOG_LINES:,}-line log", "[Bug] crash", "```\n" + "\n".join([*lines[:at], one.text, *lines[at:]]) + "\n```", True
    )


def two_errors(one: Rendered, other: Rendered, chance: random.Random) -> Issue:
    """Two errors of the project in one issue: either may be named first."""
    body = f"{chance.choice(LEADS)}\n\n```\n{one.text}\n```\n\nand then\n\n```\n{other.text}\n```\n"
    return labelled(one, "two errors in one issue", "[Bug] two errors", body, True, other.statement.ids)


def padded(one: Rendered, size: int, chance: random.Random) -> Issue:
    """The traceback in a log, ``size`` characters together."""
    room = max(0, size - len(one.text) - 120)
    lines: list[str] = []
    while sum(map(len, lines)) + len(lines) < room:
        lines += log_lines(20, chance)
    half = len(lines) // 2
    body = "```\n" + "\n".join([*lines[:half], one.text, *lines[half:]])
    return labelled(one, "time", "[Bug] crash", body[: size - 4] + "\n```", True)


def titles(one: Rendered, chance: random.Random) -> Issue:
    """The error in the title alone, cut at GitHub's 256 characters; sometimes without its type."""
    typed = chance.random() < 0.6
    text = one.line if typed else one.said
    title = chance.choice(("[Bug] ", "[Bug]: ", "", "Qwen3: ")) + " ".join(text.split())
    return labelled(one, "title alone", title[:256], f"{chance.choice(LEADS)}\n", False, typed=typed)


def prose(one: Rendered, chance: random.Random) -> Issue:
    """The message quoted in a sentence, without its type."""
    said = " ".join(one.said.split())[:300]
    before, after = chance.choice(
        (("It fails with `", "` on my machine."), ('The server says "', '" and stops.'), ("I see **", "** in the log."))
    )
    return labelled(one, "quoted in prose", "[Bug] it does not work", f"{before}{said}{after}\n", False, typed=False)
