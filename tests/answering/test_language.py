"""Every sentence exists in each language, and an issue's language is that of its prose."""

from __future__ import annotations

import re
import string
from dataclasses import replace
from pathlib import Path

import pytest

import bot.answering
from bot.answering import answer
from bot.answering.language import CHINESE, SENTENCES, say, spoken
from bot.answering.words import circumstances
from bot.model import Capture, Condition, Match, Occurrence, RaiseSite, Reason, Record, SiteLines, Template, Translation, Verdict

HAN = re.compile(r"[\u4e00-\u9fff]")


def fields(text: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_no_sentence_is_missing_in_a_language() -> None:
    for key, (english, chinese) in SENTENCES.items():
        assert english.strip(), key
        assert not HAN.search(english), key
        assert HAN.search(chinese) or not re.search("[a-z]", re.sub(r"\{\w+\}", "", english)), key
        assert fields(english) == fields(chinese), key
        assert re.findall(r"`/explain \w+`", english) == re.findall(r"`/explain \w+`", chinese), key


def test_every_sentence_asked_for_is_in_the_table() -> None:
    room = Path(bot.answering.__file__).parent
    asked = {key for path in room.glob("*.py") for key in re.findall(r'say\(language, "([^"]+)"', path.read_text(encoding="utf-8"))}
    assert asked
    assert asked <= set(SENTENCES)


def test_an_unknown_language_is_english() -> None:
    assert say("fr", "since", release="v1") == ", since v1"


FORM = "### Checklist\n\n- [x] I searched related issues\n- [ ] I read the documentation\n\n### Describe the bug\n\n"
LOG = '```\nTraceback (most recent call last):\n  File "a.py", line 3, in f\nValueError: 文件不存在\n```\n'


@pytest.mark.parametrize(
    ("title", "body", "language"),
    [
        ("启动服务时报错", "", "zh"),
        ("[Bug] DeepSeek V3 双机部署启动报错", FORM + LOG, "zh"),
        ("[Bug] crash", FORM + "使用 docker 启动服务，请求几次之后进程退出，日志如下：\n" + LOG, "zh"),
        ("[Bug] crash", FORM + "It stops after some requests, and the log says:\n" + LOG, "en"),
        ("[Bug] the tokenizer splits 你好世界 wrongly when it streams", "The output of the model is wrong for this input.", "en"),
        ("[Bug] crash", LOG + "> 引用的内容不算，因为它是别人写的\n", "en"),
        ("起動時にエラーが発生しました", "", "en"),
        ("", "", "en"),
        ("`参数错误信息` is printed", "", "en"),
    ],
)
def test_the_language_of_an_issue_is_that_of_its_prose(title: str, body: str, language: str) -> None:
    assert spoken(title, body) == language


def test_the_language_is_found_in_the_beginning_of_a_long_text() -> None:
    assert spoken("x", "启动报错 " * 100_000) == "zh"
    assert spoken("x", "`" * 200_000 + "启动服务时报错" * 3) == "en"


TEMPLATE = Template.parse("tp_size {tp_size} must divide the heads")
SITE = RaiseSite("a/b.py", "f", (SiteLines("1.1", 3, 3),), conditions=(Condition("if", "x is None"), Condition("if", "y")))
RECORD = Record("0" * 16, "octo/engine", "ValueError", (TEMPLATE,), (SITE,), status="reviewed", title="Uneven", meaning="It is {tp_size}.")
TOLD = Translation("zh", "注意力头无法平均分配", "`--tp` 为 {tp_size}。", ())
MATCH = Match(
    RECORD,
    Occurrence("ValueError", "tp_size 3 must divide the heads", (0, 1)),
    TEMPLATE,
    (Capture("tp_size", "3"),),
    SITE,
    0.995,
    (Reason("text", 40.0, "100% of it"), Reason("type", 5.0, "the type is")),
)


def said(record: Record, language: str, decision: str = "answer") -> str:
    verdict = Verdict(decision, (replace(MATCH, record=record),), "1.1")  # type: ignore[arg-type]
    return answer(verdict, lambda site, release: "https://github.com/o/r", lambda id: "https://e.example", None, ("1.0", "1.1"), language)


def english_words(markdown: str) -> set[str]:
    """Words outside of code, tags and addresses."""
    text = re.sub(r"```.*?```|`[^`]*`|<[^>]*>|\]\([^)]*\)", " ", markdown, flags=re.DOTALL)
    return set(re.findall("[A-Za-z]{3,}", text))


@pytest.mark.parametrize("decision", ["answer", "cautious"])
def test_a_translated_record_is_answered_in_chinese_throughout(decision: str) -> None:
    text = said(replace(RECORD, translations=(TOLD,)), CHINESE, decision)
    assert "注意力头无法平均分配" in text
    assert "`--tp` 为 `3`。" in text
    assert "自 v1.1 起" in text
    assert english_words(text) <= {"issue", "traceback"}


def test_a_record_without_translation_keeps_its_words() -> None:
    text = said(RECORD, CHINESE)
    assert "**Uneven**" in text
    assert "It is `3`." in text
    assert "关于此错误的全部信息" in text


def test_an_english_issue_gets_no_chinese() -> None:
    assert not HAN.search(said(replace(RECORD, translations=(TOLD,)), "en"))


def test_a_derived_record_in_chinese() -> None:
    text = said(replace(RECORD, title="", meaning="", status="derived"), CHINESE)
    assert "在 `f` 中抛出，条件：`x` 为 `None`、`y` 已设置。" in text
    assert english_words(text) <= {"issue", "traceback"}


@pytest.mark.parametrize("kind", ["if", "unless", "except", "try", "for", "while", "with", "assert"])
def test_each_kind_of_condition_is_told_in_chinese(kind: str) -> None:
    assert HAN.search(circumstances([Condition(kind, "f(x) > 3 and g")], language=CHINESE))
