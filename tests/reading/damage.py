"""What happens to a traceback on its way into an issue: functions from text to text.

Each keeps what a reader needs to find type, message and last frame again, unless its docstring says what it takes away.
"""

from __future__ import annotations

import html
import random
import re
import textwrap
from collections.abc import Callable

Damage = Callable[[str, random.Random], str]

DAMAGES: dict[str, Damage] = {}


def damage(function: Damage) -> Damage:
    """Register a damage under its name."""
    DAMAGES[function.__name__] = function
    return function


def _each_line(text: str, prefix: Callable[[int], str]) -> str:
    return "\n".join(prefix(number) + line for number, line in enumerate(text.split("\n")))


@damage
def sglang_first_line(text: str, chance: random.Random) -> str:
    """sglang's log prefix, on the first line of the record only."""
    return f"[2025-08-08 09:09:09 DP{chance.randrange(8)} TP{chance.randrange(32)}] Scheduler hit an exception: {text}"


@damage
def sglang_every_line(text: str, chance: random.Random) -> str:
    """A stamp in brackets on every line."""
    rank = chance.randrange(8)
    return _each_line(text, lambda _: f"[2025-08-08 09:09:09 TP{rank}] ")


@damage
def vllm_every_line(text: str, chance: random.Random) -> str:
    """vLLM's prefix: process, level, stamp and source line."""
    pid = chance.randrange(1000, 99999)
    return _each_line(text, lambda _: f"(EngineCore_DP0 pid={pid}) ERROR 10-25 13:08:43 [core.py:708] ")


@damage
def old_vllm_every_line(text: str, chance: random.Random) -> str:
    """vLLM's older prefix, behind compose's."""
    line = chance.randrange(20, 900)
    return _each_line(text, lambda _: f"vllm-1  | ERROR 11-18 18:07:28 engine.py:{line}] ")


@damage
def compose(text: str, chance: random.Random) -> str:
    """docker compose's name column."""
    return _each_line(text, lambda _: "svc-1  | ")


@damage
def kubernetes(text: str, chance: random.Random) -> str:
    """A container runtime's stamp with nanoseconds and stream, another one on each line."""
    return _each_line(text, lambda n: f"2025-11-06T02:08:{n % 60:02d}.{chance.randrange(10**9):09d}Z stderr F ")


@damage
def github_actions(text: str, chance: random.Random) -> str:
    """The stamps of GitHub Actions' logs."""
    return _each_line(text, lambda n: f"2025-11-06T02:08:{n % 60:02d}.{chance.randrange(10**7):07d}Z ")


@damage
def ray(text: str, chance: random.Random) -> str:
    """Ray's process tag in colour, with its note of repetition at the end."""
    pid = chance.randrange(1000, 99999)
    tagged = _each_line(text, lambda _: f"\x1b[36m(RayWorkerWrapper pid={pid}, ip=10.0.0.1)\x1b[0m ")
    return tagged + " [repeated 7x across cluster]"


@damage
def torchrun(text: str, chance: random.Random) -> str:
    """The rank tag of torch's exception hook."""
    rank = chance.randrange(8)
    return _each_line(text, lambda _: f"[rank{rank}]: ")


@damage
def unknown_prefix(text: str, chance: random.Random) -> str:
    """A prefix of a form that nobody foresaw, on every line, with a running number."""
    start = chance.randrange(100)
    return _each_line(text, lambda n: f"node7.gpu{n + start:03d} :: ")


@damage
def colours(text: str, chance: random.Random) -> str:
    """Colours around words."""

    def paint(word: re.Match[str]) -> str:
        return f"\x1b[{chance.choice((31, 32, 35, 1))}m{word.group()}\x1b[0m" if chance.random() < 0.3 else word.group()

    return re.sub(r"\w+", paint, text)


@damage
def quoting(text: str, chance: random.Random) -> str:
    """Markdown's or a mail's quoting."""
    return _each_line(text, lambda _: "> ")


@damage
def borders(text: str, chance: random.Random) -> str:
    """The borders of a terminal pane, padded to its width."""
    lines = text.split("\n")
    width = max(map(len, lines)) + chance.randrange(1, 9)
    return "\n".join(f"│ {line:<{width}} │" for line in lines)


@damage
def carriage_returns(text: str, chance: random.Random) -> str:
    """Line ends of Windows."""
    return text.replace("\n", "\r\n")


@damage
def html_escapes(text: str, chance: random.Random) -> str:
    """HTML escapes, as copied from a page's source."""
    return html.escape(text)


@damage
def smart_quotes(text: str, chance: random.Random) -> str:
    """Typographic quotation marks, as word processors and chat programs make."""
    text = re.sub(r'"([^"\n]*)"', "“\\1”", text)
    return re.sub(r"'([^'\n]*)'", "‘\\1’", text)


@damage
def lost_indentation(text: str, chance: random.Random) -> str:
    """No indentation left, and no marks under the source."""
    return "\n".join(line.strip() for line in text.split("\n") if line.strip("~^ ") or not line)


@damage
def one_blank(text: str, chance: random.Random) -> str:
    """One blank before each line."""
    return _each_line(text, lambda _: " ")


@damage
def nul_bytes(text: str, chance: random.Random) -> str:
    """NUL bytes of a truncated log file, written as ``^@``."""
    return "^@^@" + text


@damage
def double_spacing(text: str, chance: random.Random) -> str:
    """An empty line after each line, for tracebacks whose message has one line."""
    return text.replace("\n", "\n\n")


@damage
def folded(text: str, chance: random.Random) -> str:
    """The repr of a string: line breaks as backslash and n."""
    return "error: " + repr(text)[1:-1].replace('"', '\\"')


@damage
def head_cut(text: str, chance: random.Random) -> str:
    """The first lines are gone: the header and all frames but the last, which is cut before its source line at worst."""
    lines = text.split("\n")
    last = max(number for number, line in enumerate(lines) if line.lstrip().startswith('File "'))
    return "\n".join(lines[chance.randrange(1, last + 1) :])


def tail_cut(text: str, chance: random.Random) -> str:
    """The error line is gone; what is left ends with the last frame and its source line."""
    lines = text.split("\n")
    last = max(number for number, line in enumerate(lines) if line.lstrip().startswith('File "'))
    return "\n".join(lines[: last + 2])


def wrapped(text: str, chance: random.Random) -> str:
    """Words wrapped by hand at a width that keeps each path whole, also in the message."""
    width = chance.randrange(90, 121)
    return "\n".join(
        line
        if line.lstrip().startswith('File "') or len(line) <= width
        else "\n".join(textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False))
        for line in text.split("\n")
    )


def fenced(text: str, chance: random.Random) -> str:
    """In a code block, one of the ways that people write it."""
    opening, closing = chance.choice((("```", "```"), ("```bash", "```"), ("~~~", "~~~"), ("````", "````"), ("```", "````"), ("```", "")))
    return f"{opening}\n{text}\n{closing}"


def in_report(text: str, chance: random.Random) -> str:
    """Within a form with headings, a checklist and an environment."""
    return (
        "### Checklist\n\n- [x] I searched related issues but found no solution.\n- [ ] The bug persists in the latest version.\n\n"
        f"### Describe the bug\n\nThe server stops after a while.\n\n{text}\n\n### Reproduction\n\npython -m server --port 30000\n\n"
        "### Environment\n\nPython: 3.10.12\nCUDA available: True\nsglang: 0.5.3\ntorch: 2.8.0\nflashinfer_python: 0.4.0\n"
    )
