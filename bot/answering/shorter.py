"""A comment made shorter after it was written, for a tracker that refused it for its length."""

from __future__ import annotations

import re

MAX_SHORT = 2_000
"""Characters of the shorter form, at most; addresses count too."""

_BLOCK_START = re.compile(r"(?P<fence>`{3,}|~{3,})|<details>")
_LINK = re.compile(r"\[[^\]\n]{1,300}\]\(https?://[^\s()]{1,700}\)")


def shorten(body: str, room: int = MAX_SHORT) -> str:
    """The shorter form of a comment: what it says first, and its last line; folds, code and what else has no room go whole.
    A single block stays as it is: nothing is cut in its middle.

    The links of what was left out are kept, in a line before the last one, as far as they have room.
    """
    blocks = _blocks(body)
    first, last = blocks[0], blocks[-1] if len(blocks) > 1 else ""
    kept, links = [first], dict[str, None]()
    left = room - len(first) - len(last)
    for block in blocks[1:-1]:
        if not _BLOCK_START.match(block) and len(block) + 2 <= left // 2:
            kept.append(block)
            left -= len(block) + 2
        elif not block.startswith(("```", "~~~")):
            links |= dict.fromkeys(_LINK.findall(block))
    shown: list[str] = []
    for link in links:
        if len(link) + 3 <= left and link not in last:
            shown.append(link)
            left -= len(link) + 3
    return "\n\n".join(part for part in (*kept, " · ".join(shown), last) if part)


def _blocks(body: str) -> list[str]:
    """The paragraphs of a comment of ours; a fenced block and a fold are one each, with all that is in them."""
    blocks: list[str] = []
    lines: list[str] = []
    fence, folds = "", 0
    for line in body.strip().split("\n"):
        if fence:
            fence = "" if line.strip() == fence else fence
        elif found := _BLOCK_START.match(line):
            fence = found["fence"] or ""
        if not fence:
            folds = max(0, folds + line.count("<details>") - line.count("</details>"))
        if line.strip() or fence or folds:
            lines.append(line)
        elif lines:
            blocks.append("\n".join(lines))
            lines = []
    return [*blocks, "\n".join(lines)]
