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
    "earlier": ("Earlier issues with this error: {items}", "此前出现同样错误的 issue：{items}"),
    "ended": ("{issue} ({how})", "{issue}（{how}）"),
    "open": ("still open", "未关闭"),
    "closed": ("closed", "已关闭"),
    "completed": ("closed as completed", "已解决并关闭"),
    "not_planned": ("closed as not planned", "已关闭，不计划处理"),
    "duplicate": ("closed as a duplicate", "作为重复问题关闭"),
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
    # why an issue got its answer, or none
    "why answer": ("**Why this answer was given**", "**为何给出此答复**"),
    "why cautious": ("**Why this was asked as a question**", "**为何以提问的方式答复**"),
    "why silent": ("**Why there is no answer**", "**为何没有答复**"),
    "probability": ("{type} matches with probability {score}", "{type} 的匹配概率为 {score}"),
    "only symptoms of another error were found": (
        "only symptoms of another error were found",
        "只找到了其他错误引起的表象",
    ),
    "nothing matches well enough": ("nothing matches well enough", "没有足够匹配的错误"),
    "a maintainer said so": ("a maintainer said so", "由维护者指定"),
    "somebody asked for it by its id": ("somebody asked for it by its id", "有人按其 id 查询"),
    "nothing near": (
        "Nothing in the text comes near an error that this repository's source can raise.",
        "文本中没有任何内容接近本仓库源代码可能抛出的错误。",
    ),
    "nearest": ("The nearest candidates, and what they lacked:", "最接近的候选，以及各自缺少的依据："),
    "candidate": ("**{type}{named}**, {sure}, for {quoted}", "**{type}{named}**，置信度 {sure}，针对 {quoted}"),
    # replies to commands
    "nothing found": (
        "No error of this repository was recognised here. A full traceback, as text and not as a picture, helps most: its last lines name "
        "the function that raised. `/explain why` shows the nearest candidates.",
        "此处没有识别出本仓库的错误。完整的 traceback 最有帮助，请贴文本而不是截图：其最后几行指明是哪个函数抛出的。`/explain why` "
        "会列出最接近的候选。",
    ),
    "unclear": ("No error of this repository was recognised here.", "此处没有识别出本仓库的错误。"),
    "unclear, near": (
        "No error of this repository was recognised here. `/explain why` shows the nearest candidates.",
        "此处没有识别出本仓库的错误。`/explain why` 会列出最接近的候选。",
    ),
    "no such command": (
        "There is no command {word}.{meant} `/explain help` lists all of them.",
        "没有 {word} 这个命令。{meant}`/explain help` 会列出所有命令。",
    ),
    "did you mean": (" Did you mean {command}?", "是否想用 {command}？"),
    "not allowed": ("{command} is for {who} in this repository, so nothing was done.", "{command} 仅限本仓库的{who}使用，因此未执行。"),
    "this command": ("This command", "此命令"),
    "triage or more": ("people with triage permission or more", "具有 triage 及以上权限者"),
    "maintainers": ("maintainers", "维护者"),
    "the issue's author and maintainers": ("the issue's author and maintainers", "issue 作者与维护者"),
    "reported wrong": (
        "This explanation was reported as wrong. `/explain right` brings it back.",
        "有人指出此说明有误。`/explain right` 可恢复显示。",
    ),
    "no longer there": (
        "The error that was explained here is no longer in the issue, so the explanation is withdrawn.",
        "此处说明的错误已不在 issue 中，因此撤回说明。",
    ),
    "what was said": ("What was said", "原说明"),
    "request changed": ("The request was changed, so its answer is withdrawn.", "请求已被修改，因此撤回其答复。"),
    "errors here": ("**The errors in this text**", "**此文本中的错误**"),
    "root first": ("Root cause first:", "根本原因在前："),
    "sure": ("{named} ({sure} sure)", "{named}（置信度 {sure}）"),
    "no earlier issue": ("No earlier issue here is known to hold {named}.", "没有已知的更早的 issue 含有 {named}。"),
    "earlier issues": ("Earlier issues that hold {named}:", "含有 {named} 的更早的 issue："),
    "issue": ("issue {number}", "第 {number} 号 issue"),
    "known errors": ("**Known errors in the open issues**", "**未关闭的 issue 中的已知错误**"),
    "read some": (
        "Read: the newest {total} open issues. Only counted; no issue was changed.",
        "已读取最新的 {total} 个未关闭的 issue。仅作统计，未改动任何 issue。",
    ),
    "read all": (
        "Read: all {total} open issues. Only counted; no issue was changed.",
        "已读取全部 {total} 个未关闭的 issue。仅作统计，未改动任何 issue。",
    ),
    "with error": ("{count} with {named}: {issues}{more}", "{count} 个含有 {named}：{issues}{more}"),
    "and more": (" and {number} more", "，以及另外 {number} 个"),
    "more records": ("and {number} more records", "以及另外 {number} 条记录"),
    "none known": ("None of them holds a known error.", "均不含已知错误。"),
    "unknown errors": (
        "Different errors that the catalogue does not know: {unknown}. Issues without any error: {silent}.",
        "目录中没有的不同错误：{unknown} 个。不含任何错误的 issue：{silent} 个。",
    ),
    "a record": ("**A record for this error**", "**为此错误撰写记录**"),
    "start file": ("Start the file on GitHub", "在 GitHub 上新建此文件"),
    "with checkout": (
        "With a checkout, {command} writes it with all that the source says.",
        "如果有仓库的本地副本，{command} 会把源代码已说明的内容都填好。",
    ),
    "goes to": ("It goes to {path}, with what is known already:", "文件位于 {path}，已知的内容如下："),
    "needs id": (
        "{usage} needs the id of a record: the 16 letters and digits at the end of the address of its page.",
        "{usage} 需要记录的 id：即其页面地址末尾的 16 位字母与数字。",
    ),
    "nothing to judge": (
        "There is no explanation here that this could be about, so nothing was counted.",
        "此处没有可评价的说明，因此未作记录。",
    ),
    "leads elsewhere": (
        "Only issues and comments of this repository can be explained, and nothing that can be read was found behind this link.",
        "只能说明本仓库的 issue 与评论，而此链接指向的内容无法读取。",
    ),
    "no labels": (
        "The area that this error comes from is not known, so no label was added.",
        "无法确定此错误属于哪个模块，因此未添加标签。",
    ),
    # what can be asked for
    "commands": ("**What you can ask for**", "**可用命令**"),
    "write one": ("Write one of these at the start of a line in a comment:", "在评论中另起一行，以下列命令之一开头："),
    "only some": ("Only for some:", "仅限部分人："),
    "command": ("{usage}: {does}", "{usage}：{does}"),
    "command for": ("{usage}: {does} ({who})", "{usage}：{does}（{who}）"),
    "not read": (
        "Words in code, quotations and HTML are not read as commands. A request that is edited gets its answer edited.",
        "代码、引用与 HTML 中的内容不会当作命令。修改请求后，其答复会随之修改。",
    ),
    "bad configuration": (
        "The configuration of this repository is not used, because of a mistake: {problem}",
        "本仓库的配置有误，未被采用：{problem}",
    ),
}
"""Each sentence in English and in Chinese."""

COMMANDS_IN_CHINESE = {
    "text": "说明所给文本、此评论或 issue 中的错误。",
    "id": "说明目录中具有此 id 的错误。",
    "link": "说明本仓库另一个 issue 或评论中的错误。",
    "why": "列出考察过的每条记录的支持与反对依据。",
    "all": "列出此 issue 或评论中的所有已知错误。",
    "help": "列出这些命令。",
    "wrong": "指出答复有误：折叠该答复，并记入其记录。",
    "right": "确认答复正确：记入其记录；如已折叠则重新显示。",
    "off": "删除答复，此后不再主动答复此 issue。",
    "on": "关闭之后，重新答复此 issue。",
    "as": "指定此 issue 对应哪条记录：答复会重写。",
    "label": "添加错误所属模块的标签。",
    "duplicate": "列出含有相同错误的更早的 issue。",
    "scan": "统计未关闭的 issue 中的已知错误；除报告外不作任何改动。",
    "record": "为此错误新建记录：含有已知内容的文件。",
}
"""What each command does; in English, its docstring says it."""

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
