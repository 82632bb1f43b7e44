"""Markdown of issues as HTML: what GitHub shows, and nothing that acts."""

from html.parser import HTMLParser

import pytest

from bot.demo.page import title
from bot.demo.rendering import render

TAGS = {
    "a", "blockquote", "br", "code", "del", "details", "em", "h1", "h2", "hr", "li", "ol", "p", "pre", "s", "span", "strong", "sub",
    "summary", "table", "tbody", "td", "th", "thead", "tr", "ul", "b", "i", "kbd", "sup",
}  # fmt: skip
ATTRIBUTES = {"href", "rel", "class", "title", "start", "style", "open"}


class Seen(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a <b onclick=alert(1)>b</b>",
    "<details ontoggle=alert(1) open>",
    "<DETAILS ONTOGGLE=alert(1)>",
    "<!-- <script> --><script>alert(1)</script><!-- -->",
    "[x](javascript:alert(1))",
    "[x](JAVASCRIPT&colon;alert(1))",
    "![x](data:image/svg+xml;base64,AAAA)",
    "![x](javascript:alert(1))",
    "<a href=javascript:alert(1)>x</a>",
    "<div>\n<iframe src=//x></iframe>\n</div>",
    "```<script>\n<script>alert(1)</script>\n```",
    '```python" onload="alert(1)\nx\n```',
    "</div></article></main><form action=//x>",
    "<svg/onload=alert(1)>",
    "<style>*{display:none}</style>",
    "<sub\nonclick=x>y</sub>",
    "| <script> |\n|---|\n| <img src=x> |",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_hostile_passes(text):
    seen = Seen()
    seen.feed(render(text))
    assert seen.tags <= TAGS
    assert {name for name, _ in seen.attributes} <= ATTRIBUTES
    for name, value in seen.attributes:
        if name == "href":
            assert value.startswith(("http://", "https://", "data:image/"))


def test_what_the_bot_writes_is_shown():
    shown = render("<details>\n<summary>Why</summary>\n\n- a `b`\n\n</details>\n\n<!-- eb:v1 -->\n<sub>[x](https://example.org)</sub>")
    assert "<details>" in shown
    assert "<summary>Why</summary>" in shown
    assert "<code>b</code>" in shown
    assert "eb:v1" not in shown
    assert '<sub><a href="https://example.org"' in shown


def test_code_is_coloured():
    assert '<span class="gi">+ b</span>' in render("```diff\n- a\n+ b\n```")


def test_a_title_shows_code_and_escapes():
    assert title("`--x` <b> ` y") == "<code>--x</code> &lt;b&gt; ` y"
