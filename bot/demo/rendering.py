"""An issue's or comment's Markdown as HTML, close to what GitHub shows, and safe: only a few exact tags pass."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

LONGEST = 70_000
"""Characters that are rendered; GitHub takes 65,536."""

ALLOWED = frozenset(
    f"<{slash}{tag}>" for tag in ("details", "summary", "sub", "sup", "kbd", "b", "i", "em", "strong", "code") for slash in ("", "/")
) | {"<br>", "<br/>", "<details open>"}
"""HTML that passes, letter for letter; all other is shown as text."""

_PIECE = re.compile(r"<!--.*?-->|</?[a-z][^<>]{0,80}>", re.DOTALL)


def render(text: str) -> str:
    """Markdown as HTML."""
    return str(_parser().render(text[:LONGEST]))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable(["table", "strikethrough"])
    parser.options["highlight"] = _highlight
    parser.add_render_rule("html_block", _html)
    parser.add_render_rule("html_inline", _html)
    parser.add_render_rule("image", _image)
    parser.add_render_rule("link_open", _link)
    return parser


def _html(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    content, done, out = tokens[at].content, 0, []
    for piece in _PIECE.finditer(content):
        out.append(html.escape(content[done : piece.start()]))
        if not piece[0].startswith("<!--"):
            out.append(piece[0] if piece[0] in ALLOWED else html.escape(piece[0]))
        done = piece.end()
    return "".join(out) + html.escape(content[done:])


def _image(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    # Nothing is loaded from elsewhere: an image is its link.
    source, text = str(tokens[at].attrGet("src") or ""), tokens[at].content or "image"
    return f'<a href="{html.escape(source)}" rel="nofollow noopener noreferrer">🖼 {html.escape(text)}</a>'


def _link(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    tokens[at].attrSet("rel", "nofollow noopener noreferrer")
    return self.renderToken(tokens, at, options, env)


def _highlight(code: str, language: str, _: str) -> str:
    try:
        lexer = get_lexer_by_name(language.strip() or "text", stripnl=False)
    except ClassNotFound:
        return ""
    return str(highlight(code, lexer, HtmlFormatter(nowrap=True)))
