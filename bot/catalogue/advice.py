"""The advice in an error's own message: install commands, options to set, what to do instead; in its own words."""

from __future__ import annotations

import re

MAX_MESSAGE = 6_000
"""Characters of a message in which advice is looked for."""

MIN_ADVICE = 3
"""Words of advice; "please retry" says nothing."""

MAX_REMEDIES = 8
MAX_REMEDY = 400
"""More, or longer, is no advice but a manual."""

COMMAND = re.compile(
    r"(?:(?:uv|python3?|\$\{?PYTHON\}?) (?:-m )?)?(?:pip3?|conda|mamba|apt|apt-get|brew|npm) (?:install|uninstall|upgrade) "
    r"(?:'[^\s'`]{1,200}'|\"[^\s\"`]{1,200}\"|[^\s'\"`()<>;,]{1,200})"
    r"(?: (?:-{1,2}[A-Za-z][^\s'\"`();,]{0,100}|[A-Za-z0-9][A-Za-z0-9_.-]{0,100}[=<>~\[][^\s'\"`();,]{0,100})){0,8}"
)
"""An install command: what to install, then options and pinned packages; a plain word after it belongs to the sentence again."""

FLAG = re.compile(r"(?<![\w`-])(--[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*)(?![\w`])")
SETTING = re.compile(r"(?<![\w`])([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?:=[^\s'\"`,;()]{1,80})?)(?![\w`])")
LINK = re.compile(r"https?://[^\s'\"`<>()\[\]{}]{4,300}")

PIECES = re.compile(
    r"(?<=[.!?;:])\s+(?=[A-Z`'\"(]|please|try|use|set|pass|run|install|consider|either|upgrade|disable|enable)"
    r"|(?<=\.)\s+(?=[\w.]{1,60}(?:\(\))?=|\{)"
    r"|\n\s*(?:\d{1,2}[.)]\s+|[-*•]\s+)?|,\s+(?=please\b)|\s+[-–—]+\s+(?=\w)|\s+\((?=(?:use|set|try|pass|run|install|see)\s)|;\s+"
)
"""Where one piece of a message ends and another may begin that gives advice."""

VERBS = (
    "add avoid change check choose configure consider convert decrease disable downgrade enable ensure export increase install lower "
    "pass provide raise rebuild reduce reinstall remove rename replace restart retry run see select set shorten specify switch "
    "uninstall unset update upgrade use verify visit"
)
NOUNS = "build download limit move pin request reset start turn wait"
"""Verbs that are as often nouns at the beginning of a message: advice only after "please" and its like."""

NO_ADVICE = re.compile(r"\b(?:failed|must be|cannot|could not|is not supported|to allocate)\b", re.IGNORECASE)
"""What tells of a fault, whatever it begins with: "Reduce-scatter input must be …"."""

_POLITE = r"(?:please|you (?:can|may|should|need to|must|could)|try to|make sure|be sure to|either)"
_VERB = "|".join(VERBS.split())
ADVICE = re.compile(
    r"(?:\d{1,2}[.)]\s+)?(?:(?:or|and|then|instead|alternatively|to fix this|to resolve this|if so|otherwise)[,:]?\s+)?"
    rf"(?:(?:{_POLITE}\s+(?:also\s+|either\s+|try to\s+)?(?:{_VERB}|{'|'.join(NOUNS.split())})|{_VERB}|please|make sure|try)\s)",
    re.IGNORECASE,
)
"""A piece that begins like advice."""


def remedies(message: str) -> tuple[str, ...]:
    """What a message itself advises, in its own words, with commands, flags and settings in backticks.

    A sentence that only holds an install command is that command.
    """
    found: dict[str, None] = {}
    for piece in PIECES.split(message[:MAX_MESSAGE]):
        text = " ".join(piece.split())
        command = COMMAND.search(text)
        if command is not None and (not ADVICE.match(text) or text[: command.start()].rstrip(" :`'\"").lower() in _BEFORE_COMMAND):
            found[f"`{command[0].rstrip('.:')}`"] = None
        elif ADVICE.match(text) and len(text) <= MAX_REMEDY and len(text.split()) >= MIN_ADVICE and not NO_ADVICE.search(text):
            found[_marked(text)] = None
    return tuple(found)[:MAX_REMEDIES]


_BEFORE_COMMAND = frozenset(
    {"", "run", "please run", "try", "install it with", "install with", "please install it with", "install it using", "use", "try running"}
    | {"please install with", "install via", "you can install it with", "please install it via", "install it via", "please try"}
)


def _marked(text: str) -> str:
    """The text with commands, flags and settings in backticks, where it has no backticks of its own."""
    text = text.rstrip(" :;,(")
    if text.count("(") < text.count(")"):
        text = text.rstrip(")")
    if "`" in text:
        return text
    marked = re.compile("|".join(f"(?:{pattern.pattern})" for pattern in (LINK, COMMAND, FLAG, SETTING)))
    return marked.sub(_mark, text)


def _mark(match: re.Match[str]) -> str:
    if match[0].startswith("http"):
        return match[0]
    shown = match[0].rstrip(".:")
    return f"`{shown}`{match[0][len(shown) :]}"
