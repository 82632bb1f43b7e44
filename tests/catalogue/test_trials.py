"""Guards and handlers of records, run among stubs: which are right, which are wrong, which cannot be judged, and what gets out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot.catalogue.trials import trying
from bot.catalogue.trials.allowed import refusal
from bot.catalogue.trials.trying import Trials, try_code
from bot.model import Condition, RaiseSite, Record, SiteLines, Template

MISSING = (Condition("try", "import fast.core"), Condition("except", "ImportError"))
UNEVEN = (Condition("if", "cfg.strict"), Condition("assert", "cfg.tp_size % cfg.nodes == 0"))


def site(*conditions: Condition, signature: str = "start(cfg)") -> RaiseSite:
    return RaiseSite("engine/core.py", "start", (SiteLines("1.2", 3, 3),), conditions=conditions, signature=signature)


def tried(guard: str = "", handler: str = "", conditions: tuple[Condition, ...] = (), type: str = "ValueError") -> Trials:
    template = Template.parse("The cache holds {size} entries")
    record = Record("0" * 16, "octo/engine", type, (template,), guard=guard, handler=handler)
    return try_code([(record, [site(*conditions)] if conditions else [])])


def problems(*args: object, **named: object) -> list[str]:
    trials = tried(*args, **named)  # type: ignore[arg-type]
    assert not trials.unjudged
    return [remark.problem for _, remark in trials.remarks]


FIND = "from importlib.util import find_spec\n\n"
IMPORT = "def loads() -> bool:\n    try:\n        import fast.core\n    except ImportError:\n        return {}\n    return {}"
DIVIDES = "def fits(tp_size: int, nodes: int) -> bool:\n    return {}"


@pytest.mark.parametrize(
    ("guard", "conditions"),
    [
        (FIND + 'there = find_spec("fast") is not None', MISSING),
        (FIND + 'backend = "fast" if find_spec("fast.core") else "slow"', MISSING),
        (FIND + 'find_spec("fast") is not None and find_spec("fast.core") is not None', MISSING),
        (IMPORT.format(False, True), MISSING),
        (DIVIDES.format("nodes > 0 and tp_size % nodes == 0"), UNEVEN),
        ("def known(name: str) -> bool:\n    return name in ('a', 'b')", (Condition("unless", "name == 'a' or name == 'b'"),)),
        ("def plain(pages: int | None) -> bool:\n    return pages in (1, None)", (Condition("unless", "cfg.pages in (1, None)"),)),
        (
            "import torch\n\ndef new_enough() -> bool:\n    return torch.cuda.get_device_capability()[0] >= 9",
            (Condition("if", "torch.cuda.get_device_capability()[0] < 9"),),
        ),
    ],
)
def test_a_guard_that_tells_when_it_is_raised_is_held_against_the_source(guard: str, conditions: tuple[Condition, ...]) -> None:
    trials = tried(guard, conditions=conditions)
    assert (trials.held, trials.remarks, trials.unjudged) == (1, (), ())


@pytest.mark.parametrize(
    ("guard", "conditions", "said"),
    [
        (FIND + 'there = find_spec("fast") is None', MISSING, "says True without fast"),
        (IMPORT.format(True, False), MISSING, "says True without fast"),
        (IMPORT.format(True, True), MISSING, "comes to True whatever holds"),
        (FIND + 'backend = "fast" if find_spec("other") else "fast"', MISSING, "comes to 'fast' whatever holds"),
        (DIVIDES.format("nodes % tp_size == 0"), UNEVEN, "says True for tp_size = "),
        (DIVIDES.format("tp_size >= nodes"), UNEVEN, "says True for tp_size = "),
        ("def fits(size: int) -> bool:\n    return len(size) > 3", (), "fails: TypeError"),
    ],
)
def test_a_guard_that_does_not_tell_is_a_fault(guard: str, conditions: tuple[Condition, ...], said: str) -> None:
    (problem,) = problems(guard, conditions=conditions)
    assert problem.startswith(f"`guard` {said}")


@pytest.mark.parametrize(
    ("guard", "conditions"),
    [
        # a setting of the machine, of which the source speaks in words of its own
        ("import torch\n\ndef fits(need: int) -> bool:\n    return torch.cuda.mem_get_info()[0] > need", (Condition("if", "free < need"),)),
        # a parameter that the source does not name
        ("def fits(size: int, tp_size: int) -> bool:\n    return size % tp_size == 0", (Condition("if", "part % block != 0"),)),
        # an object may have changed what it was given
        ("def fits(top_k: int) -> bool:\n    return top_k == -1 or top_k > 0", (Condition("if", "self.top_k < 1"),)),
        # whether it comes to this is for a local variable to say
        (
            "def pads(heads: int, to: int) -> bool:\n    return heads % to == 0 or to % heads == 0",
            (Condition("if", "need_padding"), Condition("assert", "to % heads == 0")),
        ),
        ("from pathlib import Path\n\ndef there(folder: str) -> bool:\n    return any(Path(folder).glob('*.bin'))", ()),
        ("import json\n\ndef level(text: str) -> int:\n    return json.loads(text)['level'] + 1", ()),
        (IMPORT.replace("import fast.core", "fast.read(3)").format(False, True).replace("def", "import fast\n\ndef", 1), ()),
    ],
)  # fmt: skip
def test_what_the_source_does_not_speak_of_is_only_run(guard: str, conditions: tuple[Condition, ...]) -> None:
    trials = tried(guard, conditions=conditions)
    assert (trials.ran, trials.held, trials.remarks, trials.unjudged) == (1, 0, (), ())


CATCH = "from engine import start, errors\n\ntry:\n    started = start(3)\nexcept {} as error:\n    print(error)\n    started = None"


@pytest.mark.parametrize(
    ("type", "caught"),
    [
        ("ValueError", "ValueError"),
        ("ModuleNotFoundError", "ImportError"),
        ("ValueError", "(KeyError, ValueError)"),
        ("engine.errors.CacheError", "errors.CacheError"),
        ("CacheError", "Exception"),
    ],
)
def test_a_handler_that_names_the_error_or_a_base_of_it_catches(type: str, caught: str) -> None:
    trials = tried(handler=CATCH.format(caught), type=type)
    assert (trials.held, trials.remarks) == (1, ())


@pytest.mark.parametrize(
    ("type", "caught"), [("ValueError", "KeyError"), ("ImportError", "ModuleNotFoundError"), ("OSError", "(KeyError, ValueError)")]
)
def test_a_handler_of_another_error_is_a_fault(type: str, caught: str) -> None:
    assert problems(handler=CATCH.format(caught), type=type) == [f"`handler` lets {type} through"]


def test_a_handler_may_raise_again_what_is_not_meant() -> None:
    ask = (
        "import client\n\ndef ask(messages: list) -> str:\n    while True:\n        try:\n            return client.ask(messages).text\n"
        "        except ValueError as error:\n            if {!r} not in str(error) or len(messages) < 3:\n                raise\n"
        "            messages = [messages[0], *messages[2:]]"
    )
    assert tried(handler=ask.format("The cache holds")).held == 1
    assert problems(handler=ask.format("The queue holds")) == ["`handler` lets ValueError through"]


@pytest.mark.parametrize(
    ("handler", "type"),
    [
        (CATCH.format("ValueError"), "CacheError"),  # perhaps a base of it
        (CATCH.format("errors.Refused"), "ValueError"),  # what a client makes of it
        ("print('no try')", "ValueError"),
    ],
)
def test_what_cannot_be_known_of_a_handler_is_no_fault(handler: str, type: str) -> None:
    trials = tried(handler=handler, type=type)
    assert not trials.remarks
    assert [part for _, part, _ in trials.unjudged] == ["handler"]


HOSTILE = [
    "().__class__.__base__.__subclasses__()",
    "x = '{0.__class__}'.format(1)",
    "def f():\n    yield 1",
    "g = (n for n in [1])\ng.gi_frame.f_back.f_globals",
    "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    error.with_traceback(None).tb_frame",
    "__import__('os').system('true')",
    "class A:\n    pass",
    "match 1:\n    case object(__class__=kind):\n        pass",
    "async def f():\n    pass",
    "global x",
    "str.mro()[-1]",
    "def f(__builtins__):\n    pass",
    "import a as __builtins__",
    "from a.__init__ import b",
    "x = 1\n" * 3000,
    "no python",
]


@pytest.mark.parametrize("code", HOSTILE)
def test_what_leads_to_the_interpreter_is_not_run(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "_process", lambda jobs: pytest.fail("was run"))
    assert refusal(code)
    assert len(tried(code).unjudged) == 1


GETTING_OUT = [
    "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0].__init__.__globals__['system']('touch {file}')",
    "print.__globals__['builtins'].open('{file}', 'w')",
    "print.__globals__['builtins'].exec('import socket; socket.socket()')",
    "print.__globals__['builtins'].exec('import os; os.fork()')",
    "print.__globals__['builtins'].exec('import ctypes; ctypes.CDLL(None).system(b\"touch {file}\")')",
]


@pytest.mark.parametrize("code", GETTING_OUT)
def test_what_gets_by_the_list_ends_the_process(code: str, tmp_path: Path) -> None:
    """Behind the list of what is allowed there is a second wall; the list is left out here."""
    file = tmp_path / "written"
    job = {"part": "guard", "type": "ValueError", "message": "", "sites": []}
    good = {"id": 0, "code": "def small(size: int) -> bool:\n    return size < 3", **job}
    results = trying._process([good, {"id": 1, "code": code.replace("{file}", str(file)), **job}, {**good, "id": 2}])
    assert results == [{"id": 0, "ran": True}]
    assert not file.exists()


@pytest.mark.parametrize(
    "code",
    [
        "while True:\n    pass",
        "x = 9**9**9",
        "def f(n: int):\n    try:\n        return f(n)\n    except BaseException:\n        while True:\n            pass",
    ],
)
def test_one_that_does_not_end_keeps_no_other_from_being_tried(code: str) -> None:
    good = "def small(size: int) -> bool:\n    return size < 3"
    bad = "def small(size: int) -> bool:\n    return True"
    record = Record("0" * 16, "octo/engine", "ValueError", (Template.parse("a text of some length"),))
    trials = try_code([(replace(record, guard=one), []) for one in (good, code, bad)])
    assert (trials.ran, len(trials.remarks), len(trials.unjudged)) == (1, 1, 1)


def test_memory_is_bounded() -> None:
    assert problems("x = 'a' * 10**10") == ["`guard` fails: MemoryError: "]


def test_a_trial_is_the_same_whatever_stands_beside_it() -> None:
    one = tried(DIVIDES.format("tp_size >= nodes"), conditions=UNEVEN).remarks[0][1]
    record = Record("1" * 16, "octo/engine", "ValueError", (Template.parse("a text of some length"),), guard="1 + 1")
    again = Record(
        "2" * 16, "octo/engine", "ValueError", (Template.parse("a text of some length"),), guard=DIVIDES.format("tp_size >= nodes")
    )
    assert try_code([(record, []), (again, [site(*UNEVEN)])]).remarks[-1][1] == one
