"""Texts of which nothing may be said: other projects' errors, and texts that hold no error at all."""

from __future__ import annotations

import difflib
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import distributions

from rapidfuzz import fuzz, process

from tests.bench.mutations import LEADS, Issue, damage, log_lines
from tests.bench.projects import UNSEEN, Project
from tests.bench.rendering import Rendered, words_of

SENTENCES = (
    "Would it be possible to support this model on AMD cards?", "I measured the throughput with 64 concurrent requests.",
    "The documentation does not say which value is the default.", "Please add an option to choose the attention backend per layer.",
    "It works on one node and I have not tried two yet.", "What is the recommended way to serve several adapters at once?",
    "The answer is empty when the temperature is zero.", "After the update the first token takes twice as long.",
    "We use Kubernetes with the official image and a shared cache folder.", "Is there a plan to publish wheels for Python 3.14?",
    "The speculative decoding results differ between runs.", "Tensor parallel size must match the number of cards, I know.",
    "I would like to contribute a kernel for this.", "Memory grows slowly over a day, see the picture.",
    "The router sends all requests to the first worker.",
    "Quantization with fp8 gives worse answers than expected.", "Can the health endpoint report the queue length?",
    "The tokenizer is slow for long prompts.",
)  # fmt: skip


NEAR = 85.0
"""Likeness of words (percent) from which another project's text counts as near one of ours: code was copied, and a word edited."""


def foreign_errors(rendered: Sequence[Rendered], ours: frozenset[str], chance: random.Random) -> Iterator[Issue]:
    """Errors of other projects as tracebacks and lines; texts that are ours as well are left out, near ones have rows of their own."""
    listed = sorted(ours)
    near: dict[str, bool] = {}
    for one in rendered:
        words = [words_of(raised.template) for raised in one.statement.alternatives]
        if any(text in ours for text in words):
            continue
        for text in words:
            if text not in near:
                near[text] = process.extractOne(text, listed, scorer=fuzz.ratio, score_cutoff=NEAR) is not None
        known = "near ours" if any(near[text] for text in words) else "unseen" if one.statement.project in UNSEEN else "counted"
        framed = chance.random() < 0.5
        text = one.text if framed else one.line
        body = damage.fenced(text, chance)
        body = damage.in_report(body, chance) if chance.random() < 0.3 else f"{chance.choice(LEADS)}\n\n{body}\n"
        title = "[Bug] it does not work" if chance.random() < 0.5 else "[Bug] " + " ".join(one.line.split())[:240]
        row = f"foreign {'traceback' if framed else 'line'}, {known}"
        about = f"{one.statement.project} {one.statement.path}:{one.statement.line}"
        yield Issue(row, title, body, framed=framed, about=about)


def prose(count: int, chance: random.Random) -> Iterator[Issue]:
    """Questions and wishes."""
    for _ in range(count):
        said = chance.sample(SENTENCES, chance.randint(2, 6))
        body = " ".join(said)
        yield Issue(
            "no error: prose", f"[Feature] {chance.choice(SENTENCES)}", damage.in_report(body, chance) if chance.random() < 0.5 else body
        )


def logs(count: int, chance: random.Random) -> Iterator[Issue]:
    """Logs without an error."""
    for _ in range(count):
        body = "```\n" + "\n".join(log_lines(chance.randint(5, 120), chance)) + "\n```"
        yield Issue("no error: logs", "[Bug] slow", f"{chance.choice(SENTENCES)}\n\n{body}\n")


def configurations(count: int, project: Project, chance: random.Random) -> Iterator[Issue]:
    """What people paste of their settings: package lists, JSON, YAML, arguments."""
    frozen = [f"{one.metadata['Name']}=={one.version}" for one in distributions()]
    names = sorted({raised.function.rpartition(".")[2] for raised in project.raised})
    for number in range(count):
        keys = chance.sample(names, 25)
        values = [chance.choice((1, 0.9, True, None, "auto", "fp8", [1, 2], "flashinfer")) for _ in keys]
        settings = dict(zip(keys, values, strict=True))
        body = (
            "\n".join(chance.sample(frozen, 60)),
            json.dumps(settings, indent=2),
            "\n".join(f"{key}: {value}" for key, value in settings.items()),
            f"server_args=ServerArgs({', '.join(f'{key}={value!r}' for key, value in settings.items())})",
            "python -m server " + " ".join(f"--{key.strip('_').replace('_', '-')} {value}" for key, value in settings.items()),
        )[number % 5]
        yield Issue("no error: configuration", "[Usage] my settings", f"{chance.choice(SENTENCES)}\n\n```\n{body}\n```\n")


def source(count: int, projects: Sequence[Project], whose: str, chance: random.Random) -> Iterator[Issue]:
    """Source code around raise statements, as people quote it."""
    for project, line, lines in _around(count, projects, chance):
        code = "\n".join(lines)
        fence = chance.choice(("```python", "```", "```py"))
        body = f"I think the reason is in this function:\n\n{fence}\n{code}\n```\n\n{chance.choice(SENTENCES)}\n"
        yield Issue(f"no error: {whose} source", "[Question] about the code", body, about=f"{project.name} {line}")


def diffs(count: int, projects: Sequence[Project], whose: str, chance: random.Random) -> Iterator[Issue]:
    """A change around raise statements."""
    for project, where, lines in _around(count, projects, chance):
        after = list(lines)
        at = chance.randrange(len(after))
        after[at : at + chance.randint(1, 4)] = ["    # changed", "    pass"]
        path = where.split(":")[0]
        changed = "\n".join(difflib.unified_diff(lines, after, f"a/{path}", f"b/{path}", lineterm=""))
        yield Issue(
            f"no error: {whose} diff",
            "[Feature] a small change",
            f"Would you take this?\n\n```diff\n{changed}\n```\n",
            about=f"{project.name} {where}",
        )


def _around(count: int, projects: Sequence[Project], chance: random.Random) -> Iterator[tuple[Project, str, list[str]]]:
    for _ in range(count):
        project = chance.choice(projects)
        raised = chance.choice(project.raised)
        lines = project.text(raised.path).split("\n")
        start = max(0, raised.line - chance.randint(4, 20))
        yield project, f"{raised.path}:{raised.line}", lines[start : raised.end_line + chance.randint(1, 8)]


# ------------------------------------------------------------------------------------------------- hard positives


def near_twins(words: Iterable[str]) -> frozenset[str]:
    """Texts of at least five words from which another one differs by one word."""
    seen: dict[tuple[str, ...], set[str]] = {}
    for text in words:
        parts = text.split()
        if 5 <= len(parts) <= 60:
            for at in range(len(parts)):
                seen.setdefault((*parts[:at], "", *parts[at + 1 :]), set()).add(text)
    return frozenset(text for group in seen.values() if len(group) > 1 for text in group)


def prefixes(words: Iterable[str]) -> frozenset[str]:
    """Texts of at least four words that another one begins with, and those others."""
    ordered = sorted(set(words))
    found: set[str] = set()
    for at, text in enumerate(ordered):
        if len(text.split()) >= 4:
            for other in ordered[at + 1 : at + 20]:
                if not other.startswith(text + " "):
                    break
                found |= {text, other}
    return frozenset(found)
