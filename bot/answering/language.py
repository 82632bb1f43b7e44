"""Every sentence that the bot says in an answer, in each language it speaks; and which of them an issue is written in.

``{name}`` is filled with Markdown that is safe already. What people wrote of an error is translated in its record file.
"""

from __future__ import annotations

import re
from typing import Final

ENGLISH: Final = "en"
CHINESE: Final = "zh"

CHINESE_SHARE = 0.3
"""Share of Chinese words in prose from which an issue counts as written in Chinese."""

MAX_PROSE = 20_000
"""Characters of an issue that are looked at; its author's language shows earlier."""

SENTENCES: dict[str, tuple[str, str]] = {
    # heads and folds
    "code says": ("What the code says of this {type}", "源代码对此 {type} 的说明"),
    "message": ("message", "消息"),
    "nobody explained": (" (nobody has explained it in words yet)", "（尚无人工撰写的解释）"),
    "what to do": ("What to do", "解决办法"),
    "message advises": ("What the message itself advises", "报错信息本身的建议"),
    "if so": ("If so: what it means and what to do", "如果是：含义与解决办法"),
    "could be": ("Could this be {what}{raised}?", "这是否就是 {what}{raised}？"),
    "the type": ("the {type} ", "{type} 错误："),
    "raised at": (" raised at {at}", "（抛出于 {at}）"),
    "related": ("Related: {items}", "相关错误：{items}"),
    "page": ("Everything known about this error", "关于此错误的全部信息"),
    "footer": (
        "{page} · Wrong? Reply `/explain wrong` · Not wanted on this issue? Reply `/explain off`",
        "{page} · 有误？回复 `/explain wrong` · 不需要？回复 `/explain off`",
    ),
    # the quoted error
    "secret": (
        "**The quoted text held what looks like a secret ({kinds}).** It is hidden here, but still stands in the issue: revoke it.",
        "**引用的文本中疑似含有密钥（{kinds}）。** 此处已隐藏，但 issue 中仍可见：请立即吊销。",
    ),
    # what the code says
    "Raised": ("Raised", "抛出"),
    "Asserted": ("Asserted", "断言"),
    "Logged": ("Logged", "记录到日志"),
    "Warned of": ("Warned of", "发出警告"),
    "assertion failed": ("The assertion {asserted} failed {where}{through}{when}.", "断言 {asserted} {where}{through}失败{when}。"),
    "told": ("{verb} {where}{through}{when}.", "{where}{through}{verb}{when}。"),
    "in function": ("in {function}", "在 {function} 中"),
    "at top": ("at the top level of its module", "在模块顶层"),
    "through": (" through {helper}", "通过 {helper} "),
    "when": (" when {conditions}", "，条件：{conditions}"),
    "options": (" Command-line options that lead there: {flags}.", "相关命令行选项：{flags}。"),
    # where
    "source at": ("Source: {at}, {release}.", "源代码：{at}，{release}。"),
    "raised": ("{verb} at {at}{where}, {release}.", "{verb}位置：{at}{where}，{release}。"),
    "where": (" in {function}", "（函数 {function}）"),
    "places": ("{verb} in {number} places: {links}.", "共有 {number} 处会{verb}：{links}。"),
    "many places": ("{verb} in {number} places, e.g. {links}.", "共有 {number} 处会{verb}，例如 {links}。"),
    "traceback tells": (" A full traceback would say which of them.", "完整的 traceback 可以确定是哪一处。"),
    "in release": ("in {release}", "版本 {release}"),
    "in your release": ("in {release}, the release of this issue", "版本 {release}（即此 issue 使用的版本）"),
    "not in your release": ("in {release} (it was not found in {asked})", "版本 {release}（在 {asked} 中未找到）"),
    "since": (", since {release}", "，自 {release} 起"),
    # what became of it
    "gone after": (
        "This text existed until {last} and is gone since: an upgrade ends this message, though not always what caused it.",
        "此报错文本存在于 {last} 及更早版本，之后已移除：升级后不再出现此信息，但未必消除其原因。",
    ),
    "gone": (
        "This text existed in older releases and is gone: an upgrade ends this message, though not always what caused it.",
        "此报错文本仅存在于旧版本：升级后不再出现此信息，但未必消除其原因。",
    ),
    "reads now": ("This is the text of an older release. Since {release} it reads:", "这是旧版本的文本。自 {release} 起改为："),
    "reads newer": ("This is the text of an older release. In newer ones it reads:", "这是旧版本的文本。新版本中改为："),
    "explanation is older": (
        "The text of this error has changed since this explanation was written: hold it against the linked line.",
        "撰写此解释之后报错文本有改动：请对照链接处的代码。",
    ),
    # code that checks and catches
    "check and catch": ("Check for it, or catch it, in code", "在代码中预先检查或捕获"),
    "check": ("Check for it in code", "在代码中预先检查"),
    "catch": ("Catch it in code", "在代码中捕获"),
    "check before": ("Check for it beforehand:", "预先检查："),
    "catch it": ("Catch it and go on:", "捕获并继续："),
    # other errors of the same text
    "also": ("Also in this log: {one}.", "此日志中还有：{one}。"),
    "also these": ("Also in this log:", "此日志中还有："),
    "more": ("and {number} more", "以及另外 {number} 个"),
    "explained here": (" ({link})", "（{link}）"),
    "explanation": ("explained here", "说明"),
    "is symptom": (", which only says that something else failed", "，它只表明别处出错"),
    # why
    "why": ("Why this matched ({sure} sure)", "匹配依据（置信度 {sure}）"),
    "why maybe": ("Why it may be this ({sure} sure):", "为何可能是它（置信度 {sure}）："),
    "over 99%": ("over 99%", "99% 以上"),
    "all words": ("The whole text of this error stands there, in order.", "该错误的全部文字按顺序出现。"),
    "some words": ("{share} of this error's text stands there, in order.", "该错误的文字有 {share} 按顺序出现。"),
    "missing words": ("Some of its words are missing.", "其中缺少一些词。"),
    "cut": ("The end of the message is missing.", "报错信息的结尾缺失。"),
    "other end": ("The message goes on with other words.", "报错信息后续用词不同。"),
    "fragment": ("Only its beginning is quoted, amid other words.", "只引用了开头，且夹在其他文字中。"),
    "gaps": ("Its pieces stand apart.", "各部分不相邻。"),
    "other words": ("Other words stand between its words.", "其文字之间夹有其他词。"),
    "words before": ("Other words stand before it.", "其前面还有其他文字。"),
    "runs on": ("The message goes on where this text ends.", "此文本结束后，报错信息仍在继续。"),
    "type": ("The exception type is the same, {type}.", "异常类型相同：{type}。"),
    "other type": ("The exception type is another, {type}.", "异常类型不同：{type}。"),
    "frame": ("The traceback ends in {place}.", "traceback 结束于 {place}。"),
    "frame of it": ("The traceback ends in a function that raises it.", "traceback 结束于会抛出此错误的函数。"),
    "place": ("{function} of {file}", "{file} 的 {function}"),
    "raises": ("Its last line is a raise of this project.", "最后一行是本项目的 raise 语句。"),
    "source line": ("The traceback prints the very line that raises it.", "traceback 打印的正是抛出此错误的那一行。"),
    "near line": ("The traceback prints nearly the line that raises it.", "traceback 打印的几乎就是抛出此错误的那一行。"),
    "other line": ("The traceback prints another line of that function.", "traceback 打印的是该函数的另一行。"),
    "line": ("The line number fits.", "行号吻合。"),
    "earlier frame": (
        "An earlier frame of the traceback shows the line that raises it.",
        "traceback 中较早的一帧显示了抛出此错误的那一行。",
    ),
    "foreign frame": ("The traceback ends outside of this project.", "traceback 结束于本项目之外。"),
    "no raise": ("The last line of the traceback raises nothing by itself.", "traceback 的最后一行本身不会抛出异常。"),
    "elsewhere": ("The traceback ends in a function that does not raise this.", "traceback 结束于不会抛出此错误的函数。"),
    # conditions
    "one more condition": ("one more condition holds, {rest}", "另有一个条件成立，{rest}"),
    "more conditions": ("{number} more conditions hold, {rest}", "另有 {number} 个条件成立，{rest}"),
    "failed with": ("{tried} failed with {types}", "{tried} 因 {types} 失败"),
    "is none": ("{0} is `None`", "{0} 为 `None`"),
    "is not none": ("{0} is not `None`", "{0} 不为 `None`"),
    "is a": ("{0} is a {1}", "{0} 是 {1}"),
    "is no": ("{0} is not a {1}", "{0} 不是 {1}"),
    "is": ("{0} is {1}", "{0} 为 {1}"),
    "is not": ("{0} is not {1}", "{0} 不为 {1}"),
    "is in": ("{0} is in {1}", "{0} 在 {1} 中"),
    "is not in": ("{0} is not in {1}", "{0} 不在 {1} 中"),
    "is true": ("{0} is true", "{0} 为真"),
    "is false": ("{0} is false", "{0} 为假"),
    "is set": ("{0} is set", "{0} 已设置"),
    "is not set": ("{0} is not set", "{0} 未设置"),
    "holds": ("{0} holds", "{0} 成立"),
    "does not hold": ("{0} does not hold", "{0} 不成立"),
    "was caught": ("{types} was caught", "捕获到 {types}"),
    "any exception": ("any exception", "任意异常"),
    "is tried": ("{0} is tried", "尝试 {0}"),
    "going through": ("going through {0}", "遍历 {0}"),
    "while": ("while {0}", "在 {0} 期间"),
    "inside": ("inside {0}", "在 {0} 内"),
    "fails": ("the assertion {0} fails", "断言 {0} 失败"),
}
"""Each sentence in English and in Chinese."""

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_NO_PROSE = re.compile(
    r"^\s{0,3}(?:#|>|[-*+] \[[ xX]\]|\||<!--|https?://|Traceback|File \"|\[\d{4}-|\d{4}-\d\d-\d\d|[\w.]{1,60}(?:Error|Exception)\b)"
    r"|^ {4}|^\t"
)
_INLINE = re.compile(r"`[^`\n]{0,300}`|https?://\S{1,500}")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_WORD = re.compile(r"[A-Za-z]{2,}")


def say(language: str, key: str, /, *values: object, **named: object) -> str:
    """The sentence of that key, in that language (English where the bot does not speak it), with its values filled in."""
    english, chinese = SENTENCES[key]
    return (chinese if language == CHINESE else english).format(*values, **named)


def spoken(title: str, body: str) -> str:
    """The language that the bot answers in: Chinese where the title or the prose of an issue is mainly written so, else English.

    Logs, code, quotations, headings and boxes to tick are no prose: they are English in every issue. A Chinese word has two
    characters.
    """
    return CHINESE if _is_chinese(_INLINE.sub(" ", title[:1_000])) or _is_chinese(_prose(body[:MAX_PROSE])) else ENGLISH


def _is_chinese(text: str) -> bool:
    han = len(_HAN.findall(text))
    if han < 4 or len(_KANA.findall(text)) * 4 > han:  # a few signs are a name or a quotation, and with kana it is Japanese
        return False
    return han / (han + 2 * len(_WORD.findall(text))) > CHINESE_SHARE


def _prose(body: str) -> str:
    """The lines that a person wrote."""
    kept: list[str] = []
    fence = ""
    for line in body.split("\n"):
        opened = _FENCE.match(line)
        if opened and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else opened[1]
        elif not fence and not _NO_PROSE.match(line):
            kept.append(_INLINE.sub(" ", line))
    return "\n".join(kept)
