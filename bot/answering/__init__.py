"""Matches to Markdown: what the bot says, and how nothing of anybody else's in it can act. Pure."""

from bot.answering.comment import (
    answer,
    not_allowed_text,
    nothing_found_text,
    unknown_command_text,
    why_text,
)
from bot.answering.report import as_json
from bot.answering.terminal import to_terminal

__all__ = [
    "answer",
    "as_json",
    "not_allowed_text",
    "nothing_found_text",
    "to_terminal",
    "unknown_command_text",
    "why_text",
]
