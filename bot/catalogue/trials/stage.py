"""Runs guards and handlers of record files in many worlds, in a process of its own that has given up its rights.

It reads jobs as JSON lines and writes a result for each (:mod:`bot.catalogue.trials.trying` says what they hold). Before the first job
the process takes away from itself files, processes, and memory and time beyond a bound; and an audit hook ends it when anything tries
to open, import, connect or start something while a job runs. Only the standard library is there.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from typing import Any, NoReturn

from bot.catalogue.trials.job import Job
from bot.catalogue.trials.world import Stub, World, builtins_for, shown_name

RUNS = 120
"""Worlds in which a job is run."""

ENOUGH = 20
"""Worlds in which a guard is run of which the source cannot be asked when it raises, once it has come to two things."""

JOB_SECONDS = 1
"""CPU time of one job. A single operation of Python's (``9**9**9``) is only ended by the system, which counts in whole seconds."""

CPU_SECONDS = 25
MEMORY = 512 * 2**20


def argument(name: str, kind: str, world: World) -> Any:
    """A value for a parameter of that annotation."""
    wanted = kind.replace(" ", "").split("|")
    if "None" in wanted and world.chance.random() < 0.3:
        return None
    pools = {"int": world.job.numbers, "float": world.job.fractions, "bool": (True, False), "str": world.job.texts}
    return world.chance.choice(pools[wanted[0]]) if wanted[0] in pools else Stub(name, world)


def run(job: Job, world: World) -> tuple[Any, dict[str, Any]]:
    """What the code comes to in a world, and the names that its conditions may use."""
    scope: dict[str, Any] = {"__builtins__": builtins_for(world), "__name__": "record"}
    exec(job.code, scope)  # noqa: S102  as above
    came: list[Any] = [scope[name] for name in job.names if name in scope]
    if job.last is not None:
        came = [eval(job.last, scope)]  # noqa: S307
    for function, arguments in zip(job.functions, job.arguments, strict=True):
        values = [(name, argument(name, kind, world), first) for name, kind, first in arguments]
        by_name = {name: value for name, value, first in values if not first}
        came.append(scope[function.name](*(value for _, value, first in values if first), **by_name))
        scope |= {name: value for name, value, _ in values}
    value = came[-1] if came else None
    return (bool(value) if job.boolean else value), scope


def try_handler(job: Job) -> dict[str, Any]:
    """Does it catch the record's error wherever it tries something, and go on?"""
    if not job.has_try:
        return {"unjudged": "it has no try with an except"}
    leaked = foreign = False
    for number in range(RUNS):
        world = World(job, number)
        try:
            run(job, world)
        except Exception as error:
            leaked = leaked or error is world.raised
        else:
            if world.raised is not None:
                return {"held": True}
        foreign = foreign or world.foreign
    if not leaked or foreign:
        return {"unjudged": "what it catches is not the project's" if foreign else "it did not come to its end"}
    return {"problem": "lets it through"}


def try_guard(job: Job) -> dict[str, Any]:
    """Does it tell a world in which the error is raised from one in which it is not?"""
    outcomes: dict[bool | None, set[str]] = {True: set(), False: set(), None: set()}
    wrong, failure, alone, used, asked, answered = "", "", True, set[str](), set[str](), set[str]()
    booleans = True
    for number in range(RUNS):
        world = World(job, number)
        try:
            value, scope = run(job, world)
        except Exception as error:
            failure = failure or f"{type(error).__name__}: {error}"[:120]
            alone = alone and not world.seen
            continue
        booleans = booleans and isinstance(value, bool)
        asked |= world.seen
        world.seen = set()
        raised = [site.raises(world, scope, used) for site in job.sites]
        answered |= world.seen
        raises = True if True in raised else None if not raised or None in raised else False
        outcomes[raises].add(_shown(value))
        if number >= ENOUGH and not outcomes[True] and not outcomes[False] and len(outcomes[None]) > 1:
            break
        if raises and value is True:
            wrong = wrong or _world(scope, job, world)
    every = set().union(*outcomes.values())
    if not every:
        return {"problem": f"fails: {failure}"} if alone and failure else {"unjudged": f"it fails on stubs: {failure}"}
    if len(every) == 1:
        return {"problem": f"comes to {next(iter(every))} whatever holds"}
    parameters = {name for arguments in job.arguments for name, _, _ in arguments}
    if not outcomes[True] or not parameters <= used or not asked <= answered:
        return {"ran": True}
    if booleans:
        return {"problem": f"says True {wrong}, and the source raises there"} if wrong else {"held": True}
    if outcomes[True] == outcomes[False]:
        return {"problem": "comes to the same where the source raises and where it does not"}
    return {"held": True}


def _shown(value: Any, depth: int = 3) -> str:
    if isinstance(value, tuple | list | set | dict) and depth:
        return f"[{', '.join(_shown(one, depth - 1) for one in list(value)[:20])}]"
    return shown_name(value)


def _world(scope: dict[str, Any], job: Job, world: World) -> str:
    """The world in a few words: the arguments, and what is missing."""
    given = [f"{name} = {shown_name(scope[name])}" for arguments in job.arguments for name, _, _ in arguments]
    missing = [key.removeprefix("module ") for key, there in world.known.items() if key.startswith("module ") and not there]
    return " and ".join([*(["for " + ", ".join(given)] if given else []), *([f"without {', '.join(missing)}"] if missing else [])])


# ---------------------------------------------------------------------------------------------------------------- rights

_running = False


def watch(event: str, _: object) -> None:
    """Ends the process at once when code that is tried reaches for anything (https://docs.python.org/3/library/audit_events.html)."""
    if _running and event != "exec":
        os._exit(3)


def stop(*_: object) -> NoReturn:
    """Ends the process: a run takes too long, and may catch what is raised in it."""
    os._exit(4)


def give_up_rights() -> None:
    """No new file or connection (a descriptor each), no written byte, little memory and time."""
    for what, most in (
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 3),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))
    signal.signal(signal.SIGVTALRM, stop)
    sys.addaudithook(watch)


def main() -> None:
    """Jobs from standard input, results to standard output, one line each."""
    global _running
    lines = sys.stdin.read().splitlines()
    give_up_rights()
    for line in lines:
        signal.setitimer(signal.ITIMER_VIRTUAL, JOB_SECONDS)
        resource.setrlimit(resource.RLIMIT_CPU, (min(int(time.process_time()) + JOB_SECONDS + 1, CPU_SECONDS), CPU_SECONDS))
        data = json.loads(line)
        try:
            job = Job(data)
            _running = True
            result = try_handler(job) if job.is_handler else try_guard(job)
        except BaseException as error:
            result = {"unjudged": f"{type(error).__name__}"}
        finally:
            _running = False
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        sys.stdout.write(json.dumps({"id": data["id"], **result}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
