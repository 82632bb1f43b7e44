"""Texts that don't stand in the raise statement: helpers, exception classes, kept texts, other files."""

from __future__ import annotations

import textwrap

from bot.catalogue.scan import scan as scan_all
from bot.catalogue.scanners import Raised
from bot.catalogue.sources import SourceFile


def scan(**sources: str) -> list[Raised]:
    """Scan several files ``python/pack/<name>.py`` together."""
    files = [SourceFile(f"python/pack/{name}.py", textwrap.dedent(text).encode()) for name, text in sources.items()]
    result = scan_all(files, processes=1)
    assert result.skipped == ()
    return list(result.raised)


def said(found: list[Raised]) -> set[tuple[str, str, str, str]]:
    return {(raised.path.split("/")[-1], raised.type, str(raised.template), raised.through) for raised in found}


HELPER = """
    def raise_or_warn(obj, strict, message, interval=10):
        if strict:
            raise ValueError(message)
        logger.warning(message)
"""


def test_a_helper_of_another_file_raises_what_it_is_given() -> None:
    caller = """
        from pack.tools import raise_or_warn as check

        def report(self, pool):
            msg = f"{pool} memory leak detected!"
            check(
                self,
                True,
                msg,
            )
            check(self, False, message="direct text of it")
            check(self, False, "word")
    """
    found = scan(tools=HELPER, user=caller)
    assert ("user.py", "ValueError", "{pool} memory leak detected!", "raise_or_warn") in said(found)
    assert ("user.py", "ValueError", "direct text of it", "raise_or_warn") in said(found)
    assert not any(str(raised.template) == "word" for raised in found)
    leak = next(raised for raised in found if "leak" in str(raised.template))
    # The place is that of the text, which is set just before the call; the code is that of the call, as a traceback prints it.
    assert (leak.line, leak.end_line, leak.code.split("\n")[0]) == (5, 10, "check(")


def test_a_foreign_function_of_the_same_name_is_not_meant() -> None:
    caller = """
        from other.tools import raise_or_warn

        def report(self):
            raise_or_warn(self, True, "this goes elsewhere")
    """
    assert "user.py" not in {raised.path.split("/")[-1] for raised in scan(tools=HELPER, user=caller)}


def test_a_helper_further_down_and_one_that_makes_the_exception() -> None:
    source = """
        class Loader:
            def load(self, path):
                self._refuse(f"cannot load {path}")
                raise self._problem("nothing was found")

            def _refuse(self, reason):
                raise RuntimeError(f"Loader: {reason}")

            def _problem(self, text):
                return LookupError(text)
    """
    assert {("mod.py", "RuntimeError", "Loader: cannot load {path}", "_refuse")} <= said(scan(mod=source))
    assert {("mod.py", "LookupError", "nothing was found", "_problem")} <= said(scan(mod=source))


def test_classes_that_build_their_message() -> None:
    errors = """
        class PackError(Exception):
            def __init__(self, name, hint="try again"):
                self.name = name
                super().__init__(f"{name} is broken: {hint}")

        class ShowsItself(Exception):
            def __init__(self, room, reason):
                super().__init__(reason)
                self.room = room
                self.reason = reason

            def __str__(self):
                return f"ShowsItself(room={self.room}): {self.reason}"

        class Below(PackError):
            pass
    """
    user = """
        from pack.errors import Below, PackError, ShowsItself

        def f(x):
            if x:
                raise PackError("engine")
            if x > 1:
                raise Below(x, hint="look closer")
            raise ShowsItself(self.room, f"timed out after {x:.1f}s")
    """
    found = scan(errors=errors, user=user)
    assert [(raised.type, str(raised.template)) for raised in found] == [
        ("PackError", "engine is broken: try again"),
        ("Below", "{x} is broken: look closer"),
        ("ShowsItself", "ShowsItself(room={self.room}): timed out after {x:.1f}s"),
    ]
    assert [str(template) for template in found[2].also] == ["timed out after {x:.1f}s"]


def test_classes_that_add_to_the_text_of_their_base() -> None:
    errors = """
        class RefusedError(Exception):
            def __init__(self, message, parameter=None):
                super().__init__(message)
                self.parameter = parameter

            def __str__(self):
                base = super().__str__()
                extras = []
                if self.parameter is not None:
                    extras.append(f"parameter={self.parameter}")
                return f"{base} ({', '.join(extras)})" if extras else base

        class PlainError(RefusedError):
            pass

        class EarlyError(Exception):
            def __init__(self, reason):
                self.reason = reason

            def __str__(self):
                said = self.reason
                if not said:
                    return said
                return f"too early: {said}"
    """
    user = """
        from pack.errors import EarlyError, PlainError, RefusedError

        def f(x):
            if x:
                raise RefusedError(f"top_k must be at least 1, got {x}", parameter="top_k")
            if x > 1:
                raise PlainError("no tokens were given")
            raise EarlyError("the door is closed")
    """
    assert [(raised.type, str(raised.template)) for raised in scan(errors=errors, user=user)] == [
        ("RefusedError", "top_k must be at least 1, got {x} ({', '.join(extras)})"),
        ("RefusedError", "top_k must be at least 1, got {x}"),
        ("PlainError", "no tokens were given ({', '.join(extras)})"),
        ("PlainError", "no tokens were given"),
        ("EarlyError", "the door is closed"),
        ("EarlyError", "too early: the door is closed"),
    ]


def test_a_text_kept_by_one_method_and_raised_by_another() -> None:
    manager = """
        class Manager:
            def record_failure(self, room, failure_reason):
                with self.lock:
                    self.failure_records[room] = failure_reason

            def failure_exception(self):
                failure_reason = self.failure_records.pop(self.room, None)
                raise TransferError(failure_reason or "unknown reason of it")
    """
    receiver = """
        from pack.manager import Manager

        class Receiver(Manager):
            def poll(self):
                self.record_failure(
                    self.room,
                    f"Request {self.room} timed out",
                )
    """
    found = scan(manager=manager, receiver=receiver)
    assert ("receiver.py", "TransferError", "Request {self.room} timed out", "record_failure") in said(found)
    (kept,) = (raised for raised in found if raised.path.endswith("receiver.py"))
    assert (kept.line, kept.end_line) == (8, 9)


def test_functions_that_return_the_text() -> None:
    source = """
        def _reason(kind):
            if kind == "a":
                return f"kind {kind} is not supported here"
            return None

        def supported(kind):
            if kind:
                return False, f"no support for {kind} yet"
            return True, None

        def f(kind):
            problem = _reason(kind)
            if problem:
                raise ValueError(problem)
            ok, why = supported(kind)
            if not ok:
                raise TypeError(why)
    """
    assert [(raised.type, str(raised.template)) for raised in scan(mod=source)] == [
        ("ValueError", "kind {kind} is not supported here"),
        ("TypeError", "no support for {kind} yet"),
    ]


def test_answers_that_report_an_error() -> None:
    source = """
        def handle(self, request):
            if not request.ok:
                return self.create_error_response("the request is not ok", err_type="BadRequest")
            count_errors("not a sentence")
            request.set_finish_with_abort(f"input of {request.size} is too long")
    """
    assert said(scan(mod=source)) == {
        ("mod.py", "BadRequest", "the request is not ok", "create_error_response"),
        ("mod.py", "", "input of {request.size} is too long", "set_finish_with_abort"),
    }


def test_constants_of_other_files() -> None:
    texts = """
        FAILED = "Possible solutions: use less"
        OTHER = "one thing"
        OTHER = compute()
    """
    user = """
        from . import texts
        from .texts import FAILED, OTHER
        from elsewhere.texts import FAILED as FOREIGN

        def f(e):
            raise Exception(f"Capture failed: {e}. {FAILED} {OTHER} {FOREIGN} {texts.FAILED}")
    """
    (raised,) = scan(texts=texts, user=user)
    assert str(raised.template) == ("Capture failed: {e}. Possible solutions: use less {OTHER} {FOREIGN} Possible solutions: use less")


def test_classes_that_hand_on_what_they_are_given() -> None:
    errors = """
        class CommandError(Exception):
            def __init__(self, *args, returncode=1, **kwargs):
                self.returncode = returncode
                super().__init__(*args, **kwargs)

        class Localized(CommandError):
            def __init__(self, message, **kwargs):
                super().__init__(message.format(**kwargs))

        class ValueProblem(Localized):
            def __init__(self, name, values):
                super().__init__("Invalid `{name}`. Use one of {values}.", name=name, values=values)
    """
    user = """
        from pack.errors import CommandError, ValueProblem

        def f(x):
            if x:
                raise CommandError(f"no command called {x}", returncode=2)
            raise ValueProblem("mode", known)
    """
    assert [(raised.type, str(raised.template)) for raised in scan(errors=errors, user=user)] == [
        ("CommandError", "no command called {x}"),
        ("ValueProblem", "Invalid `mode`. Use one of {known}."),
    ]


def test_a_base_of_the_same_name_elsewhere_is_not_meant() -> None:
    database = """
        class Error(Exception):
            pass

        class DatabaseError(Error):
            pass
    """
    checks = """
        class Error(CheckMessage):
            def __init__(self, *args):
                super().__init__(LEVEL, *args)
    """
    user = """
        from pack.database import DatabaseError

        def f():
            raise DatabaseError("the table is not there")
    """
    found = scan(database=database, checks=checks, user=user)
    assert [str(raised.template) for raised in found] == ["the table is not there"]
