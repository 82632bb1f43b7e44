"""Nothing of the reporter's, and nothing of the scanned source, can act in what we post.

Untrusted text is only ever shown as code: :func:`fence` for lines, :func:`code` for short values. There GitHub acts on nothing;
but a reply by e-mail quotes us as plain text and is parsed anew, so what could act there is broken as well: a zero-width space,
set after all invisible characters of the text were removed, stands behind the character that would make it act. It looks the
same on the page. (Dependabot and Renovate, whose release notes carry other people's text, break mentions the same way.)

What the authors of records write is a small subset of Markdown (:func:`prose`): code in backticks, and links to hosts on a list.
Everything else in it is shown as written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from bot.answering.secrets import mask

BREAK = "\u200b"
"""Zero-width space: breaks what would act, and cannot be seen."""

MAX_QUOTED = 6_000
"""Characters of an untrusted text that are looked at; what is shown of it is shorter still."""

LINK_HOSTS = frozenset(
    {
        "github.com",
        "redirect.github.com",
        "docs.github.com",
        "docs.python.org",
        "packaging.python.org",
        "pip.pypa.io",
        "pypi.org",
        "docs.sglang.ai",
        "docs.sglang.io",
        "docs.vllm.ai",
        "docs.flashinfer.ai",
        "pytorch.org",
        "docs.pytorch.org",
        "huggingface.co",
        "docs.nvidia.com",
        "developer.nvidia.com",
        "rocm.docs.amd.com",
        "docs.docker.com",
        "kubernetes.io",
        "docs.ray.io",
        "triton-lang.org",
    }
)
"""Hosts that a record may link to; a link to another host is shown as code."""

MAX_RUN = 20
"""Backticks in a row inside inline code. cmark closes no code span with more than 80 of them, and what follows would act."""

_LONG_RUN = re.compile("`" * MAX_RUN + "`+")
_ANSI = re.compile(r"\x1b(?:\[[0-9;:?<=>]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)?|[@-Z\\-_])")
_LINE_ENDS = re.compile("\r\n|[\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_REMOVED = ("Cc", "Cf", "Cs", "Co", "Cn")
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u2800\u3164\uffa0") | {
    chr(point) for block in (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)) for point in block
}
"""Characters that show nothing though their category says letter or mark."""


# What acts wherever it stands: (pattern, replacement).
_ACTING: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"@(?=[\w.-])"), "@" + BREAK),  # cmark-gfm links ``a@.b`` as an e-mail address
    (re.compile(r"#(?=[0-9])"), "#" + BREAK),
    (re.compile(r"(?i)(gh-)(?=[0-9])"), r"\1" + BREAK),
    (re.compile(r"(?i)((?:https?|ftp):)(?=//)"), r"\1" + BREAK),
    (re.compile(r"(?i)(www)(?=\.)"), r"\1" + BREAK),
    (re.compile(r"(?i)(mailto:|xmpp:)"), r"\1" + BREAK),
    (re.compile(r"(?i)(?<![0-9a-z])([0-9a-f]{6})(?=[0-9a-f]{34}(?![0-9a-z]))"), r"\1" + BREAK),
)
# What other bots take for a command when a line starts with it.
_COMMAND = re.compile(r"(?m)^([ \t>*+-]{0,80}[/!])(?=\w)")
_PHRASE = re.compile(r"(?im)^([ \t>*+-]{0,80}(?:duplicate|bors|homu|jenkins|retest|ok to))(?=[ \t:,])")
_DECORATOR = re.compile(r"(?m)^([ \t>*+-]{0,80})@(?=[\w-])")
_SLASH = re.compile(r"(?m)^([ \t>*+-]{0,80}/)(?=\w)")
# A commit's short hash acts in running text only.
_SHORT_HASH = re.compile(r"(?<![0-9A-Za-z])(?=[0-9a-f]{0,40}[0-9])[0-9a-f]{7,64}(?![0-9A-Za-z])")

# The last character is escaped too when it would make an image of a link behind it.
_SPECIAL = re.compile(r"([\\`*_\[\]<>~|$]|!\Z)")
_LINE_START = re.compile(r"^([ \t]{0,80})(?:([#+=:>-])|([0-9]{1,9})([.)]))")
_URL = re.compile(r"https?://[^\s<>\"'`\\{}|^\[\]]{1,500}")
_BARE_URL = re.compile(r"(?i)(?<![A-Za-z0-9])https?://[^\s<>\"'`\\{}|^\[\]()]{1,500}")
_MARKED_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\((https?://[^\s()<>]{1,500})\)")
_NOISY_PATH = re.compile(r"^/[^/]{1,100}/[^/]{1,100}/(?:issues|pull|pulls|discussions|commit)/")


def clean(text: str) -> str:
    """The text without colours, control, invisible, bidirectional and unassigned characters; all line ends are newlines."""
    text = _LINE_ENDS.sub("\n", _ANSI.sub("", text[:MAX_QUOTED]))
    if text.isascii() and text.isprintable():
        return text
    return "".join(ch for ch in text if ch in "\n\t" or (unicodedata.category(ch) not in _REMOVED and ch not in _UNSEEN))


def quoted(text: str) -> str:
    """Untrusted text made harmless, still to be put in a fence or in backticks: cleaned, credentials masked, what acts broken."""
    return broken(mask(clean(text))[0])


def broken(text: str) -> str:
    """The text with a zero-width space inside everything that would act in running text or at the start of a line."""
    return _PHRASE.sub(r"\1" + BREAK, _COMMAND.sub(r"\1" + BREAK, _unlinked(text)))


def _unlinked(text: str) -> str:
    """The text with mentions, references and addresses broken."""
    for pattern, replacement in _ACTING:
        text = pattern.sub(replacement, text)
    return text


def fence(text: str, language: str = "text", *, most: int = 700, lines: int = 12) -> str:
    """Untrusted text as a fenced block of at most ``most`` characters and ``lines`` lines, which cannot be closed from inside."""
    return _fenced(cut(quoted(text).strip("\n"), most, lines), language)


def code_block(text: str, language: str = "python", *, most: int = 1_500, lines: int = 40) -> str:
    """Code of a record as a fenced block that can be copied as it is.

    A decorator at the start of a line gets a blank (``@ cache``, which Python reads the same), so that it is no mention. An
    invisible character is put in only where a line starts like a command: ``/word``, ``Duplicate of``.
    """
    text = _DECORATOR.sub(r"\1@ ", clean(text).strip("\n"))
    text = _SLASH.sub(r"\1" + BREAK, _PHRASE.sub(r"\1" + BREAK, text))
    return _fenced(cut(text, most, lines), language)


def code(text: str, *, most: int = 120) -> str:
    """A short untrusted value as inline code, on one line; ``(empty)`` when nothing is left of it.

    Not for the start of a line in what is sent as plain text: a value that is a command stays one there, behind its backtick.
    """
    return ticked(_unlinked(mask(clean(text))[0]), most=most)


def ticked(text: str, *, most: int = 300) -> str:
    """Cleaned text of our own, or of a record's author, as inline code that can be copied as it is."""
    text = " ".join(cut_line(_LONG_RUN.sub("`" * MAX_RUN, " ".join(text.split())), most).split())
    if not text:
        return "(empty)"
    ticks = "`" * (_longest_run(text) + 1)
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def plain(text: str) -> str:
    """Text within a line, shown as written: nothing in it is Markdown, a mention, a reference or an address."""
    return _inline(" ".join(clean(text).split()))


def prose(text: str, values: Mapping[str, str | None] | None = None, *, most: int = 900, links: bool = True) -> str:
    """What a record's author wrote, as one paragraph of Markdown: code in backticks, and links to the hosts of ``LINK_HOSTS``.

    ``values`` says what filled the holes of the message: ``{name}`` becomes the value as code. A hole that was not seen (None)
    drops the parenthesis that it stands in, and is shown by its name elsewhere. Braces around anything else are shown as written.
    Without ``links``, for a text that is a link itself, addresses are shown as code.
    """
    known = values or {}
    text = _drop_unfilled(" ".join(clean(text).split()), known)
    text = cut_line(text, most)
    out: list[str] = []
    room = 2 * most + 200
    for kind, piece in _pieces(text):
        for part in [ticked(_fill_code(piece, known))] if kind == "code" else _running(piece, known, links):
            room -= len(part)
            if room < 0:
                return start_of_line("".join(out)).strip() + "…"
            if part:
                # Two code spans side by side would be read as one with longer delimiters.
                beside = bool(out) and out[-1].endswith("`") and part.startswith("`")
                out.append(BREAK + part if beside else part)
    return start_of_line("".join(out)).strip()


def paragraphs(text: str, values: Mapping[str, str | None] | None = None, *, most: int = 900) -> str:
    """Prose of several paragraphs, which blank lines part in the record."""
    parts = (" ".join(part.split()) for part in re.split(r"\n[ \t]*\n", _LINE_ENDS.sub("\n", text)))
    shown, left = [], most
    for part in parts:
        if part and left > 0:
            shown.append(prose(part, values, most=left))
            left -= len(part)
    return "\n\n".join(part for part in shown if part)


def link(label: str, url: str) -> str:
    """A link of ours. ``label`` is Markdown made by this module; an address that is none, or too long, leaves the label alone.

    Issues, pull requests and commits on GitHub are linked through its redirecting host, which leaves no mark on their timeline
    (Dependabot and Renovate link the same way).
    """
    url = quote(url.strip(), safe=":/?#$&+,;=%~-._", errors="replace")
    if len(url) > 700 or not _URL.fullmatch(url[:500]):
        return label
    parts = urlsplit(url)
    if parts.hostname == "github.com" and _NOISY_PATH.match(parts.path):
        url = url.replace("://github.com/", "://redirect.github.com/", 1)
    return f"[{label}]({url.replace('&', '&amp;')})"


def allowed(url: str) -> bool:
    """Whether a record may link there: an https address without user, port or odd characters, on a host of the list."""
    if not url.isascii() or not _URL.fullmatch(url):
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme == "https" and parts.netloc.lower() in LINK_HOSTS
    except ValueError:
        return False


def start_of_line(text: str) -> str:
    """Text of a line whose first words must not make it a heading, list, quotation or command."""
    text = _PHRASE.sub(r"\1" + BREAK, _COMMAND.sub(r"\1" + BREAK, text))
    return _LINE_START.sub(_escape_start, text)


def cut(text: str, most: int, lines: int) -> str:
    """At most so many lines and characters; a sign of what was left out stands at the end."""
    kept = text.split("\n")
    shortened = len(kept) > lines
    text = "\n".join(line.rstrip() for line in kept[:lines])
    if len(text) > most:
        text, shortened = text[: most - 1].rstrip(), True
    return text + ("\n…" if shortened and "\n" in text else "…" if shortened else "")


def cut_line(text: str, most: int) -> str:
    """At most so many characters, ending in ``…`` when something was left out."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _fenced(text: str, language: str) -> str:
    marks = "`" * max(3, _longest_run(text) + 1)
    return f"{marks}{language}\n{text}\n{marks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)


def _escape_start(match: re.Match[str]) -> str:
    blank, mark, digits, dot = match.groups()
    return f"{blank}\\{mark}" if mark else f"{blank}{digits}\\{dot}"


def _pieces(text: str) -> list[tuple[str, str]]:
    """Split at code spans: a run of backticks up to the next run of the same length; a run without partner is text."""
    runs = [(match.start(), match.end()) for match in re.finditer(r"`+", text)]
    pieces, at, index = [], 0, 0
    while index < len(runs):
        start, end = runs[index]
        partner = next((j for j in range(index + 1, min(len(runs), index + 40)) if runs[j][1] - runs[j][0] == end - start), None)
        if partner is None:
            index += 1
            continue
        pieces += [("text", text[at:start]), ("code", text[end : runs[partner][0]])]
        at, index = runs[partner][1], partner + 1
    pieces.append(("text", text[at:]))
    return [(kind, piece) for kind, piece in pieces if piece]


def _running(text: str, values: Mapping[str, str | None], links: bool) -> list[str]:
    """Running text: links and addresses first, then the placeholders between them."""
    out, at = [], 0
    for match in _MARKED_LINK.finditer(text):
        out += [*_addresses(text[at : match.start()], values, links), _author_link(match.group(1), match.group(2), links)]
        at = match.end()
    return [*out, *_addresses(text[at:], values, links)]


def _addresses(text: str, values: Mapping[str, str | None], links: bool) -> list[str]:
    out, at = [], 0
    for match in _BARE_URL.finditer(text):
        url = match.group().rstrip(".,;:!?")
        out += [*_placeholders(text[at : match.start()], values), _author_link(url.partition("://")[2], url, links)]
        at = match.start() + len(url)
    return [*out, *_placeholders(text[at:], values)]


def _author_link(label: str, url: str, links: bool) -> str:
    if links and allowed(url):
        return link(_inline(label), url)
    return code(url) if url.endswith(label) else f"{_inline(label)} ({code(url)})"


def _placeholders(text: str, values: Mapping[str, str | None]) -> list[str]:
    out, at = [], 0
    for start, end, name in _holes(text, values):
        value = values[name]
        out += [_inline(text[at:start]), code(value if value is not None else name)]
        at = end
    return [*out, _inline(text[at:])]


def _inline(text: str) -> str:
    """Cleaned text with everything escaped or broken that would act."""
    text = _SPECIAL.sub(r"\\\1", broken(text).replace("&", "&amp;"))
    return _SHORT_HASH.sub(_in_pieces, text)


def _in_pieces(match: re.Match[str]) -> str:
    """A hash in pieces that are too short to be one."""
    whole = match.group()
    return whole if whole.isdigit() else BREAK.join(whole[at : at + 6] for at in range(0, len(whole), 6))


def _fill_code(text: str, values: Mapping[str, str | None]) -> str:
    out, at = [], 0
    for start, end, name in _holes(text, values):
        value = values[name]
        out += [text[at:start], f"<{name}>" if value is None else _unlinked(mask(clean(value))[0])]
        at = end
    return "".join([*out, text[at:]])


def _holes(text: str, values: Mapping[str, str | None]) -> list[tuple[int, int, str]]:
    """Where ``{name}``, ``{name!r}`` or ``{name:…}`` stands, for the names that are known."""
    found, at = [], text.find("{")
    while at >= 0:
        name = next((name for name in values if text.startswith(name, at + 1) and text[at + 1 + len(name) :][:1] in ("}", "!", ":")), None)
        end = text.find("}", at + 1 + len(name), at + len(name) + 40) if name is not None else -1
        if name is not None and end >= 0:
            found.append((at, end + 1, name))
            at = end
        at = text.find("{", at + 1)
    return found


def _drop_unfilled(text: str, values: Mapping[str, str | None]) -> str:
    """Without the parentheses that speak of a value that was not seen."""
    missing = {name: None for name, value in values.items() if value is None}
    for start, end, _ in reversed(_holes(text, missing)):
        before, after = text.rfind("(", 0, start), text.find(")", end)
        if before >= 0 and after >= 0 and ")" not in text[before:start] and "(" not in text[end:after]:
            text = text[:before].rstrip() + text[after + 1 :]
    return text
