"""The comment in a terminal: the same text, drawn by rich."""

from __future__ import annotations

import re

from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.text import Text

from bot.answering.sanitise import BREAK
from bot.model import Verdict

_SUMMARY = re.compile(r"<summary>(.{0,200})</summary>")
_DIFF = {"+": "green", "-": "red"}


def to_terminal(verdict: Verdict, comment: str) -> RenderableType:
    """What ``rich.console.Console.print`` draws for a comment; for a silent verdict, one line that says why."""
    if not comment:
        return Text(f"silent: {verdict.why}" if verdict.why else "silent", style="dim")
    drawn: list[RenderableType] = []
    for kind, text in _blocks(comment.replace(BREAK, "")):
        if kind == "diff":
            drawn.append(_diff(text))
        elif text.strip():
            drawn.append(Markdown(text, code_theme="ansi_dark", hyperlinks=True))
    return Group(*drawn)


def _blocks(comment: str) -> list[tuple[str, str]]:
    """Split off the diff blocks, which get colours of their own; folds become headings. Nothing inside a fence is touched."""
    blocks: list[tuple[str, list[str]]] = [("markdown", [])]
    fence = ""
    for line in comment.split("\n"):
        marks = line[: len(line) - len(line.lstrip("`"))]
        if fence:
            if line == fence:
                blocks, fence = _close(blocks, line), ""
            else:
                blocks[-1][1].append(line)
        elif len(marks) >= 3:
            fence = marks
            if line[len(marks) :] == "diff":
                blocks.append(("diff", []))
            else:
                blocks[-1][1].append(line)
        else:
            blocks[-1][1].append(_unfolded(line))
    return [(kind, "\n".join(lines)) for kind, lines in blocks]


def _close(blocks: list[tuple[str, list[str]]], line: str) -> list[tuple[str, list[str]]]:
    if blocks[-1][0] == "diff":
        return [*blocks, ("markdown", [])]
    blocks[-1][1].append(line)
    return blocks


def _unfolded(line: str) -> str:
    if line in ("<details>", "</details>"):
        return ""
    if found := _SUMMARY.fullmatch(line):
        return f"**{found.group(1)}**"
    return line.removeprefix("<sub>").removesuffix("</sub>")


def _diff(text: str) -> Text:
    drawn = Text("\n")
    for line in text.split("\n"):
        drawn.append(f" {line}\n", style=_DIFF.get(line[:1], ""))
    return drawn
