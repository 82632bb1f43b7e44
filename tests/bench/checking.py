"""How long ``explainbot check`` takes for many records: those that people wrote, and record files made of derived ones up to a number.

    EXPLAINBOT_CACHE_DIR=… .venv/bin/python tests/bench/checking.py [--records 1000] [--profile]

The files lie in a temporary folder. What is filled up has meaning, guard and handler of the written ones in turn, so that a record costs
what a written one costs. Faults are counted and no concern here.
"""

# ruff: noqa: E402 - run as a script, its imports need the repository on the path first
from __future__ import annotations

import argparse
import contextlib
import cProfile
import io
import os
import pstats
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from itertools import cycle
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT)]

from bot.catalogue.records import dump_record
from bot.cli.app import load_commands, load_settings
from bot.cli.catalogues import Catalogues
from bot.model import Record, Sample

REPOSITORY = "sgl-project/sglang"


def fill(folder: Path, count: int) -> int:
    """Record files below ``folder``, the written ones first; returns how many there are."""
    catalogue = Catalogues(load_settings()).open(REPOSITORY)
    home = folder / REPOSITORY
    shutil.copytree(ROOT / "errors" / REPOSITORY, home)
    like = cycle([record for record in catalogue.written if record.meaning])
    made = len(catalogue.written)
    for entry in catalogue.entries():
        record = catalogue.get(entry.id)
        if made >= count:
            break
        if (
            record is None
            or record.file
            or record.kind != "error"
            or sum(map(len, record.template.literals)) < 40
            or len(record.templates) > 1
        ):
            continue
        (home / "made").mkdir(exist_ok=True)
        (home / "made" / f"{record.id}.yaml").write_text(dump_record(_written(record, next(like))), encoding="utf-8")
        made += 1
    return made


def _written(record: Record, like: Record) -> Record:
    text = "".join(part if isinstance(part, str) else "3" for part in record.template.parts)
    line = Sample(f"{record.type}: {text}")
    return replace(
        record,
        file=f"{REPOSITORY}/made/{record.id}.yaml",
        status="reviewed",
        title="",
        meaning=like.meaning.replace("{", "").replace("}", ""),
        solutions=tuple(text.replace("{", "").replace("}", "") for text in like.solutions),
        guard=like.guard,
        handler=like.handler,
        samples=(line, Sample(f"[2026-09-02 11:20:41 TP3] {line.text}")),
        confusers=like.confusers,
    )


def main() -> None:
    """Fill, check, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--records", type=int, default=1000)
    parser.add_argument("--profile", action="store_true", help="also where the time goes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        count = fill(Path(folder), options.records)
        os.environ["EXPLAINBOT_ERRORS_DIR"] = folder
        profile = cProfile.Profile()
        out = io.StringIO()
        begun, used = time.perf_counter(), time.process_time()
        with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
            if options.profile:
                profile.runcall(load_commands(), ["check"])
            else:
                load_commands()(["check"])
        wall, cpu = time.perf_counter() - begun, time.process_time() - used
    print(f"{count} records, {len(out.getvalue().splitlines())} faults, {wall:.1f} s ({cpu:.1f} s of this process)")
    if options.profile:
        pstats.Stats(profile).sort_stats("cumtime").print_stats(50)


if __name__ == "__main__":
    main()
