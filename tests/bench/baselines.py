"""Other ways to find the template of a message, on the same lines: general string scorers, full-text indexes, a log miner, patterns.

Each gets the message line alone, already cut out of the issue and cleaned of what stands around it: what reading does is given to them.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import bm25s
import numpy as np
import re2
from drain3 import TemplateMiner
from drain3.template_miner_config import TemplateMinerConfig
from rapidfuzz import fuzz, process

from bot.model import Template

Answer = tuple[str, float]
"""The skeleton of the template found ("" for none) and its score."""

Find = Callable[[str], Answer]


@dataclass(frozen=True)
class Baseline:
    """A way of finding, what building its index took in seconds, and how slow it is: every ``every``-th line is given to it."""

    name: str
    find: Find
    build: float
    every: int = 1


def baselines(templates: Sequence[Template]) -> Iterator[Baseline]:
    """All of them over these templates."""
    kept = list(
        {template.skeleton: template for template in templates if any(len(piece.strip()) > 2 for piece in template.literals)}.values()
    )
    names = [template.skeleton for template in kept]
    texts = [" ".join(" ".join(template.literals).split()) for template in kept]
    for scorer, every in ((fuzz.WRatio, 8), (fuzz.partial_ratio, 8), (fuzz.token_set_ratio, 8)):
        yield Baseline(f"rapidfuzz {scorer.__name__}", _rapidfuzz(names, texts, scorer), 0.0, every)
    for name, make, every in (
        ("BM25 (bm25s)", _bm25, 1),
        ("SQLite FTS5 trigram", _trigram, 4),
        ("drain3 match", _drain, 1),
        ("re2, one pattern each", _patterns, 8),
    ):
        begun = time.perf_counter()
        find = make(names, kept)
        yield Baseline(name, find, time.perf_counter() - begun, every)


def _rapidfuzz(names: list[str], texts: list[str], scorer: Any) -> Find:
    def find(line: str) -> Answer:
        _, score, at = process.extractOne(line, texts, scorer=scorer)
        return names[at], score / 100

    return find


_TYPE = re.compile(r"^[\w.]{1,80}: ")
_WORD = re.compile(r"\w+")


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _bm25(names: list[str], kept: list[Template]) -> Find:
    index = bm25s.BM25()
    index.index([_words(" ".join(template.literals)) or ["-"] for template in kept], show_progress=False)

    def find(line: str) -> Answer:
        known = [word for word in _words(line) if word in index.vocab_dict]
        if not known:
            return "", 0.0
        found, scores = index.retrieve([known], k=1, show_progress=False)
        return names[int(found[0, 0])], float(scores[0, 0])

    return find


def _trigram(names: list[str], kept: list[Template]) -> Find:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE text USING fts5(body, tokenize = 'trigram')")
    database.executemany("INSERT INTO text(rowid, body) VALUES (?, ?)", ((at, " ".join(one.literals)) for at, one in enumerate(kept)))

    def find(line: str) -> Answer:
        words = [word for word in dict.fromkeys(_words(line)) if len(word) >= 3][:40]
        if not words:
            return "", 0.0
        asked = " OR ".join(f'"{word}"' for word in words)
        row = database.execute("SELECT rowid, rank FROM text WHERE text MATCH ? ORDER BY rank LIMIT 1", (asked,)).fetchone()
        return (names[row[0]], -row[1]) if row else ("", 0.0)

    return find


def _drain(names: list[str], kept: list[Template]) -> Find:
    config = TemplateMinerConfig()
    config.drain_max_children, config.drain_sim_th, config.profiling_enabled = 100, 0.4, False
    miner = TemplateMiner(config=config)
    owner: dict[int, str] = {}
    for name, template in zip(names, kept, strict=True):
        text = " ".join("".join(part if isinstance(part, str) else "<*>" for part in template.parts).split())
        if text:
            owner.setdefault(miner.add_log_message(text)["cluster_id"], name)

    def find(line: str) -> Answer:
        message = _TYPE.sub("", " ".join(line.split()))  # a cluster holds lines of one length: a type before them would lose all
        found = miner.match(message, full_search_strategy="fallback")
        if found is None:
            return "", 0.0
        return owner.get(found.cluster_id, ""), sum(word != "<*>" for word in found.log_template_tokens)

    return find


def _patterns(names: list[str], kept: list[Template]) -> Find:
    options = re2.Options()
    options.log_errors, options.dot_nl, options.max_mem = False, True, 1 << 20
    compiled: list[tuple[int, str, Any]] = []
    for name, template in zip(names, kept, strict=True):
        text = "".join(re2.escape(part) if isinstance(part, str) else ".*?" for part in template.parts)
        try:
            compiled.append((sum(map(len, template.literals)), name, re2.compile(text, options)))
        except re2.error:
            continue
    compiled.sort(key=lambda one: -one[0])

    def find(line: str) -> Answer:
        return next(((name, float(size)) for size, name, one in compiled if one.search(line)), ("", 0.0))

    return find


@dataclass(frozen=True)
class Compared:
    """How a way did: right ones by row, its score on each line (with right and positive), times in seconds."""

    name: str
    right: dict[str, tuple[int, int]]
    scored: list[tuple[float, bool, bool]]
    seconds: list[float]
    build: float

    def percentile(self, share: float) -> float:
        """A percentile of its times, in milliseconds."""
        return float(np.percentile(self.seconds, share)) * 1000 if self.seconds else 0.0


def compare(one: Baseline, lines: Sequence[tuple[str, str, frozenset[str]]]) -> Compared:
    """Give lines (row, text, right skeletons; none for a foreign one) to a baseline."""
    right: dict[str, tuple[int, int]] = {}
    scored, seconds = [], []
    for row, text, wanted in lines[:: one.every]:
        begun = time.thread_time()
        found, score = one.find(text)
        seconds.append(time.thread_time() - begun)
        good = found in wanted
        scored.append((score, good, bool(wanted)))
        if wanted:
            hits, count = right.get(row, (0, 0))
            right[row] = (hits + good, count + 1)
    return Compared(one.name, right, scored, seconds, one.build)
