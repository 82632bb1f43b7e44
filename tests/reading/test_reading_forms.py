"""Ways of printing an error, each read as what a person reads in it."""

from __future__ import annotations

import pytest

from bot.model import Occurrence
from bot.reading import read

TRACEBACK = 'Traceback (most recent call last):\n  File "/opt/app/run.py", line 7, in start\n    go(3)\n'


def _body(body: str) -> list[Occurrence]:
    return [found for found in read("A report", body).occurrences if found.dialect != "title"]


def _summary(found: Occurrence) -> tuple[str, str | None, str]:
    return found.dialect, found.type, found.message


LINES = {
    "log prefix with level": ("2024-01-01 12:00:00,123 - app.engine - ERROR - The engine failed", "log:error", "The engine failed"),
    "loguru": ("2024-01-01 12:00:00.123 | ERROR    | app.sub:run:12 - The engine failed", "log:error", "The engine failed"),
    "gunicorn": (
        "[2025-01-01 12:00:00 +0000] [123] [ERROR] Worker (pid:9) was sent SIGKILL!",
        "log:error",
        "Worker (pid:9) was sent SIGKILL!",
    ),
    "basic config": ("ERROR:root:The engine failed", "log:error", "The engine failed"),
    "uvicorn": ("ERROR:    Exception in ASGI application", "log:error", "Exception in ASGI application"),
    "warning": ("WARNING 01-01 00:00:00 [config.py:12] Casting is off", "log:warning", "Casting is off"),
    "glog": ("E0512 12:00:00.000000 12345 torch/api.py:133] failed (exitcode: 1)", "log:error", "failed (exitcode: 1)"),
    "no level": ("[2025-06-26 07:25:31 DP4 TP4] Watchdog timeout (300)", None, "Watchdog timeout (300)"),
    "first bracket lost": ("2026-04-18 22:34:20 TP0] weight_scale not found in params", None, "weight_scale not found in params"),
    "kubernetes": ("2025-01-01T00:00:00.000000000Z stderr F RuntimeError: it broke", "RuntimeError", "it broke"),
    "github actions": ("2025-01-01T00:00:00.0000000Z ##[error]Process failed with 1", None, "Process failed with 1"),
    "syslog": ("Jan 01 12:00:00 host app[123]: Unable to open the socket", None, "Unable to open the socket"),
    "mpi": ("[1,0]<stderr>:RuntimeError: it broke", "RuntimeError", "it broke"),
    "buildkit": ("#12 25.71 ERROR: Could not find a version", "log:error", "Could not find a version"),
    "progress bar": ("100%|████| 3/3 [00:01<00:00, 2.1it/s]RuntimeError: it broke", "RuntimeError", "it broke"),
    "stacked": ("svc-1  | (Worker_TP0 pid=9) ERROR 11-18 18:07:28 [core.py:366] KeyError: 'x'", "KeyError", "'x'"),
    "ray repeats": ("\x1b[36m(W pid=1)\x1b[0m RuntimeError: it broke [repeated 7x across cluster]", "RuntimeError", "it broke"),
    "arguments": ("zmq.error.ZMQError: Address in use (addr='tcp://*:1')", "zmq.error.ZMQError", "Address in use (addr='tcp://*:1')"),
    "module of errors": ("torch._dynamo.exc.Unsupported: call failed", "torch._dynamo.exc.Unsupported", "call failed"),
    "info says nothing": ("[2025-06-26 07:25:31] INFO: Load weights failed 0 times", None, None),
    "http log": ('[2026-05-13 11:33:45] INFO:     192.0.2.10:55 - "POST /v1/responses HTTP/1.1" 400 Bad Request', None, None),
}


@pytest.mark.parametrize("name", sorted(LINES))
@pytest.mark.parametrize("fenced", [True, False])
def test_line(name: str, fenced: bool) -> None:
    text, type_, message = LINES[name]
    found = _body(f"```\n{text}\n```" if fenced else text)
    assert [(f.type, f.message) for f in found] == ([] if message is None else [(type_, message)])


PROSE = {
    "bold message": ("First I had ValueError: **Size 576 is not divisible.** Then", "ValueError", "Size 576 is not divisible."),
    "bold whole": ("**RuntimeError: Not enough memory**", "RuntimeError", "Not enough memory"),
    "span": ("It says `RuntimeError: a `--flag` must be set`, but why?", "RuntimeError", "a `--flag` must be set"),
    "span of two lines": ("`ValueError: too few blocks\nin the pool`", "ValueError", "too few blocks\nin the pool"),
    "span without type": ("notably `Model ['A'] is not supported for now`", None, "Model ['A'] is not supported for now"),
    "log line in span": ("and `[2025-06-03 12:29:18] Ignore import error when loading x`", None, "Ignore import error when loading x"),
    "quotation marks": ('Then "CUDA is out of memory" is printed', None, "CUDA is out of memory"),
    "typographic marks": ("Then “CUDA is out of memory” is printed", None, "CUDA is out of memory"),
    "pair": ("- **Exception Type:** ValueError\n- **Exception Message:** It cannot be", "ValueError", "It cannot be"),
    "pair with spans": ("**Error type**: `OSError`\n**Error message**: `No such file`", "OSError", "No such file"),
    "table": ("| ValueError: in a cell | 3 |", "ValueError", "in a cell"),
    "html": ("<code>OSError: cannot open &lt;x&gt;</code>", "OSError", "cannot open <x>"),
    "chinese": ("启动报错：ValueError: the model is bad", "ValueError", "the model is bad"),
    "key keeps its marks": ("`KeyError: 'lm_head.weight'`", "KeyError", "'lm_head.weight'"),
}


@pytest.mark.parametrize("name", sorted(PROSE))
def test_prose(name: str) -> None:
    text, type_, message = PROSE[name]
    assert [(f.type, f.message) for f in _body(text)] == [(type_, message)]


SILENT = {
    "checklist": "- [x] 2. The bug has not been fixed in the latest version, it is still missing.",
    "heading": "### Describe the error",
    "picture": "![error](https://example.org/error.png)",
    "environment": "```\nPython: 3.10\nCUDA available: True\nGPU 0: L40\nsglang: 0.5.3\nClang version: Could not collect\n```",
    "source of a call": "```\n            out = run(\n                q=query,\n                k=key,\n                ver=fa_ver,\n"
    '            )\n            return out\n\n        raise ValueError(f"version {fa_ver} is not supported.")\n```',
    "source": '```python\ndef f(x):\n    if x:\n        raise ValueError("the x cannot be bad")\n    return x\n```',
    "docstring": '```python\ndef f(x):\n    """Do.\n\n    Raises:\n        ValueError: If x is bad.\n    """\n    return x\n```',
    "diff": '```diff\n-    raise ValueError("the old must go")\n+    raise ValueError("the new must stay")\n```',
    "thread dump": 'Thread 0x00007f (most recent call first):\n  File "/a/x.py", line 953 in run\n  File "/a/x.py", line 1016 in boot\n',
    "command": "`python -m app --must-not-fail`",
}


@pytest.mark.parametrize("name", sorted(SILENT))
def test_nothing_is_read(name: str) -> None:
    assert _body(SILENT[name]) == []


def test_chain_hangs_on_the_last_error() -> None:
    chain = (
        f"{TRACEBACK}KeyError: 'k'\n\nDuring handling of the above exception, another exception occurred:\n\n"
        f"{TRACEBACK}ValueError: second\n\n"
        f"The above exception was the direct cause of the following exception:\n\n{TRACEBACK}RuntimeError: third"
    )
    (last,) = _body(f"```\n{chain}\n```")
    assert (last.type, last.message) == ("RuntimeError", "third")
    assert last.cause is not None
    assert (last.cause.type, last.cause.message) == ("ValueError", "second")
    assert last.cause.context is not None
    assert (last.cause.context.type, last.cause.context.message) == ("KeyError", "'k'")


def test_members_of_a_group_stand_apart() -> None:
    body = """
  + Exception Group Traceback (most recent call last):
  |   File "x.py", line 1, in <module>
  |     raise ExceptionGroup("many", [])
  | ExceptionGroup: many (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "y.py", line 5, in a
    |     raise ValueError("one")
    | ValueError: one
    +---------------- 2 ----------------
    | TypeError: two
    +------------------------------------
"""
    found = _body(f"```{body}```")
    assert [(f.type, f.message) for f in found] == [
        ("ExceptionGroup", "many (2 sub-exceptions)"),
        ("ValueError", "one"),
        ("TypeError", "two"),
    ]
    assert found[1].frames[-1].path == "y.py"


def test_processes_that_print_at_once_are_told_apart() -> None:
    parts = [
        f"{TRACEBACK}ValueError: first".split("\n"),
        [*TRACEBACK.replace("start", "other").split("\n")[:-1], "KeyError: 'second'"],
    ]
    lines = [
        f"(Worker_TP{rank} pid={rank + 7}) ERROR 10-25 13:08:43 [core.py:708] {line}"
        for pair in zip(*parts, strict=True)
        for rank, line in enumerate(pair)
    ]
    found = _body("\n".join(lines))
    assert [(f.type, f.message, f.frames[-1].function) for f in found] == [
        ("ValueError", "first", "start"),
        ("KeyError", "'second'", "other"),
    ]


def test_same_error_of_each_rank_is_one() -> None:
    body = "\n".join(f"[2025-01-01 00:00:0{rank} TP{rank}] Got {rank + 11} tokens, which is not enough" for rank in range(8))
    assert [f.message for f in _body(body)] == ["Got 11 tokens, which is not enough"]


def test_message_goes_on_to_the_next_record() -> None:
    body = (
        f"```\n[2025-06-06 01:56:27 TP0] Scheduler hit an exception: {TRACEBACK}ValueError: token leak! available=1,\n"
        "self.size()=2\nself.evictable()=3\n\n[2025-06-06 01:56:27] Received a signal, the child failed.\n```"
    )
    first, second = _body(body)
    assert first.message == "token leak! available=1,\nself.size()=2\nself.evictable()=3"
    assert second.message == "Received a signal, the child failed."


def test_type_alone_on_its_line_is_followed_by_its_message() -> None:
    body = "```\nImportError:\n[kernel] CRITICAL: Could not load the library!\n\nAttempted locations:\n1. here\n- OSError: not here\n```"
    (found,) = _body(body)
    assert found.type == "ImportError"
    assert found.message.split("\n") == [
        "[kernel] CRITICAL: Could not load the library!",
        "",
        "Attempted locations:",
        "1. here",
        "- OSError: not here",
    ]


def test_error_nested_in_a_log_line_is_read_beside_it() -> None:
    line = "[2025-10-15 11:03:35 TP6] Transfer failed for rank=6 with exception KVTransferError(room=8): Request 8 timed out"
    outer, nested = _body(line)
    assert (outer.type, outer.message) == (None, line.partition("] ")[2])
    assert (nested.type, nested.message) == ("KVTransferError", "Request 8 timed out")


def test_asserted_line_is_a_source_occurrence() -> None:
    assert [_summary(f) for f in _body("It dies with `AssertionError: assert a.shape[0] == len(b)`.")] == [
        ("source", "AssertionError", "assert a.shape[0] == len(b)")
    ]
    assert [_summary(f) for f in _body("```\n    assert a.shape[0] == n\nAssertionError\n```")] == [
        ("source", "AssertionError", "assert a.shape[0] == n")
    ]


def test_markdown_ate_indentation_and_underscores() -> None:
    body = (
        'Traceback (most recent call last):\nFile "/a/core.py", line 329, in init\nsuper().init(config)\n'
        "ValueError: too few blocks\n\nand then it stops."
    )
    (found,) = _body(body)
    assert found.frames[-1].function == "__init__"
    assert found.message == "too few blocks"


def test_syntax_error_has_a_frame_without_function() -> None:
    (found,) = _body("```\n  File \"x.py\", line 3\n    foo(\n       ^\nSyntaxError: '(' was never closed\n```")
    assert (found.type, found.message) == ("SyntaxError", "'(' was never closed")
    assert (found.frames[-1].line, found.frames[-1].function, found.frames[-1].code) == (3, None, "foo(")


def test_traceback_on_one_line() -> None:
    body = (
        'Traceback (most recent call last): File "/a/x.py", line 3, in run go(y) File "/a/z.py", line 4, '
        'in <module> raise ValueError("x") ValueError: too few'
    )
    (found,) = _body(body)
    assert (found.type, found.message) == ("ValueError", "too few")
    assert [(f.function, f.code) for f in found.frames] == [("run", "go(y)"), ("<module>", 'raise ValueError("x")')]


def test_path_cut_at_the_width_of_a_terminal() -> None:
    body = (
        'Traceback (most recent call last):\n  File "/usr/local/lib/python3.10/dist-packages/vllm/executor/unip\n'
        "roc_executor.py\", line 47, in _init\n    self.rpc()\nKeyError: 'x'"
    )
    (found,) = _body(f"```\n{body}\n```")
    assert found.frames[-1].path == "/usr/local/lib/python3.10/dist-packages/vllm/executor/uniproc_executor.py"


def test_docker_json_log() -> None:
    lines = f'{TRACEBACK}ValueError: too few in <pool> "x"'.split("\n")
    escaped = [line.replace('"', '\\"').replace("<", "\\u003c").replace(">", "\\u003e") for line in lines]
    body = "\n".join(f'{{"log":"{line}\\n","stream":"stderr","time":"2024-01-01T00:00:00Z"}}' for line in escaped)
    (found,) = _body(f"```\n{body}\n```")
    assert found.message == 'too few in <pool> "x"'
    assert found.frames[-1].code == "go(3)"


def test_notebook_keeps_only_the_line_that_ran() -> None:
    body = """```
---------------------------------------------------------------------------
ValueError                                Traceback (most recent call last)
Cell In[3], line 2
      1 from x import y
----> 2 y(3)

File ~/env/lib/python3.11/site-packages/lib/x.py:423, in Model.load(cls, *args)
    421     if a:
--> 423         return b()
    424     raise ValueError("never ran")

ValueError: Unrecognized thing
```"""
    (found,) = _body(body)
    assert (found.type, found.message) == ("ValueError", "Unrecognized thing")
    assert [(f.line, f.function, f.code) for f in found.frames] == [(2, "<module>", "y(3)"), (423, "load", "return b()")]
    (cut,) = _body(body[: body.index("\nValueError: Unrec")])
    assert (cut.type, cut.message, cut.truncated, cut.frames[-1].line) == ("ValueError", "", True, 423)


def test_rich_panel() -> None:
    body = """```
╭───────────── Traceback (most recent call last) ─────────────╮
│ /opt/x/cli.py:12 in main                                    │
│                                                             │
│   10 │   a = 1                                              │
│ ❱ 12 │   run(a)                                             │
╰─────────────────────────────────────────────────────────────╯
ValueError: no such model here
```"""
    (found,) = _body(body)
    assert (found.type, found.message) == ("ValueError", "no such model here")
    assert (found.frames[-1].path, found.frames[-1].line, found.frames[-1].function, found.frames[-1].code) == (
        "/opt/x/cli.py",
        12,
        "main",
        "run(a)",
    )


def test_pytest_failure() -> None:
    body = (
        '```\n    def f(x):\n>       raise ValueError(f"bad {x}")\nE       ValueError: bad 1\nE       second line\n\n'
        "test_a.py:9: ValueError\n```"
    )
    (found,) = _body(body)
    assert (found.type, found.message) == ("ValueError", "bad 1\nsecond line")
    assert (found.frames[-1].path, found.frames[-1].line, found.frames[-1].code) == ("test_a.py", 9, 'raise ValueError(f"bad {x}")')


@pytest.mark.parametrize(
    ("text", "type_", "message"),
    [
        (
            '{"object":"error","message":"The length is 16384.","type":"BadRequestError","code":400}user@host:~$',
            "BadRequestError",
            "The length is 16384.",
        ),
        (
            "Error code: 400 - {'object': 'error', 'message': \"This model's length is 5. None\", 'code': 400}\"",
            None,
            "This model's length is 5. None",
        ),
        ('```\n{\n  "detail": "it is \\"bad\\" now"\n}\n```', None, 'it is "bad" now'),
    ],
)
def test_json_answer(text: str, type_: str | None, message: str) -> None:
    assert [_summary(f) for f in _body(text)] == [("json", type_, message)]


def test_cpp_and_rust() -> None:
    body = """```
terminate called after throwing an instance of 'c10::Error'
  what():  CUDA error: an illegal access
Compile with DSA.

Exception raised from c10_cuda_check at /pytorch/c10/cuda/CUDAException.cpp:43 (most recent call first):
frame #0: c10::Error::Error() + 0x96 (0x7f in /x/libc10.so)

/src/kernel.cu:123: void f(int): Assertion `a == b' failed.
thread 'worker' panicked at src/router.rs:120:45:
called `Result::unwrap()` on an `Err` value: x
note: run with `RUST_BACKTRACE=1`
thread 'main' panicked at 'index out of bounds', src/main.rs:4:5
```"""
    found = _body(body)
    assert [(f.dialect, f.type, f.message) for f in found] == [
        ("cpp", "c10::Error", "CUDA error: an illegal access\nCompile with DSA."),
        ("cpp", None, "Assertion `a == b' failed."),
        ("rust", "panic", "called `Result::unwrap()` on an `Err` value: x"),
        ("rust", "panic", "index out of bounds"),
    ]
    assert [(f.frames[0].path, f.frames[0].line) for f in found] == [
        ("/pytorch/c10/cuda/CUDAException.cpp", 43),
        ("/src/kernel.cu", 123),
        ("src/router.rs", 120),
        ("src/main.rs", 4),
    ]


def test_unclosed_fence_ends_at_the_form() -> None:
    body = "```\nValueError: never closed\n\n### Reproduction\n\nIt is not `KeyError: 'quoted'` here"
    assert [(f.type, f.message) for f in _body(body)] == [("ValueError", "never closed"), ("KeyError", "'quoted'")]
