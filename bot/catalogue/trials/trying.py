"""Tries guards and handlers of records, all in one process, and tells what is wrong with which."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from bot.catalogue.derive import tried_imports
from bot.catalogue.prose import Remark
from bot.catalogue.trials.allowed import refusal
from bot.model import RaiseSite, Record

SECONDS = 30.0
"""What one process may take, by the clock; it bounds its own CPU time, too."""

MAX_DEATHS = 5
"""Processes that may die before the rest is left untried."""

MAX_SITES = 20
MAX_CONDITIONS = 12

_START = "import sys; sys.path.append(sys.argv[1]); from bot.catalogue.trials.stage import main; main()"
_NAME = re.compile(r"[A-Za-z_]\w*")
_ROOT = Path(__file__).parents[3]

_MENDS = {
    "guard": "it must come to something else where the error is raised than where it is not; a check, to False",
    "handler": "name the error's type, or one of its bases, behind `except`",
}


@dataclass(frozen=True, slots=True)
class Trials:
    """What came of trying: what is wrong; how many were held against the source's conditions or error, and how many were only run; and
    which could not be judged, each with its part and why.
    """

    remarks: tuple[tuple[Record, Remark], ...] = ()
    held: int = 0
    ran: int = 0
    unjudged: tuple[tuple[Record, str, str], ...] = ()


def try_code(records: Iterable[tuple[Record, Sequence[RaiseSite]]]) -> Trials:
    """Try guard and handler of each record; beside it, the places that raise its error, as far as they are known."""
    parts = [
        (record, part, code, sites)
        for record, sites in records
        for part, code in (("guard", record.guard), ("handler", record.handler))
        if code
    ]
    unjudged = [(record, part, why) for record, part, code, _ in parts if (why := refusal(code))]
    left = [one for one in parts if not refusal(one[2])]
    results = _play([_job(number, *one) for number, one in enumerate(left)])
    remarks: list[tuple[Record, Remark]] = []
    for (record, part, _, _), result in zip(left, results, strict=True):
        if "unjudged" in result:
            unjudged.append((record, part, result["unjudged"]))
        elif "problem" in result:
            type = f" {record.type}" if part == "handler" else ""
            problem = f"`{part}` {result['problem']}".replace("lets it through", f"lets{type} through")
            remarks.append((record, Remark((part,), part, problem, _MENDS[part])))
    held = sum("held" in result for result in results)
    return Trials(tuple(remarks), held, sum("ran" in result for result in results), tuple(unjudged))


def _job(number: int, record: Record, part: str, code: str, sites: Sequence[RaiseSite]) -> dict[str, Any]:
    message = "".join(piece if isinstance(piece, str) else "3" for piece in record.template.parts)
    return {"id": number, "part": part, "code": code, "type": record.type, "message": message, "sites": [*map(_site, sites[:MAX_SITES])]}


def _site(site: RaiseSite) -> dict[str, Any]:
    asked = [(one.kind, one.text) for one in site.conditions[-MAX_CONDITIONS:] if one.kind in ("if", "unless", "assert")]
    return {
        "conditions": [(kind, text) for kind, text in asked if not _refused_condition(text)],
        "modules": list(tried_imports(site.conditions)),
        "settings": sorted(set(_NAME.findall(site.signature))),
    }


@lru_cache(maxsize=4096)
def _refused_condition(text: str) -> str:
    return refusal(text, "eval")


def _play(jobs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A result for each job; when the process dies of one, another goes on behind it."""
    results: list[dict[str, Any]] = []
    for _ in range(MAX_DEATHS):
        if len(results) < len(jobs):
            results += _process(jobs[len(results) :])
        if len(results) < len(jobs):
            results.append({"unjudged": "it takes too long or too much"})
    return results + [{"unjudged": "others before it took too long"}] * (len(jobs) - len(results))


def _process(jobs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Results of the first jobs, up to the one of which the process died.

    The process has no environment, an empty folder to stand in, and of this program only what it needs on its path.
    """
    command = [sys.executable, "-I", "-S", "-B", "-c", _START, str(_ROOT)]
    lines = "".join(json.dumps(job) + "\n" for job in jobs).encode()
    with tempfile.TemporaryDirectory(prefix="explainbot-trial-") as empty:
        try:
            done = subprocess.run(command, input=lines, capture_output=True, timeout=SECONDS, check=False, env={}, cwd=empty)
            output = done.stdout
        except subprocess.TimeoutExpired as error:
            output = error.stdout or b""
    results: list[dict[str, Any]] = []
    for line, job in zip(output.decode("utf-8", "replace").splitlines(), jobs, strict=False):
        try:
            result = json.loads(line)
        except ValueError:
            break
        if not isinstance(result, dict) or result.get("id") != job["id"]:
            break
        results.append(result)
    return results
