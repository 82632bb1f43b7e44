"""Which command-line options lead to a place through the functions and files that call it; never guessed."""

from __future__ import annotations

import textwrap

import pytest

from bot.catalogue.scan import scan, to_records
from bot.catalogue.source_config import SourceConfig
from bot.catalogue.sources import SourceFile

CONFIG = SourceConfig(repository="a/b", package="pack", path_prefix={"pack/": "python/pack/"}, releases=("1",))

FIELDS = """
    class Fields:
        kernel_backend: A[str, Arg(help="The default backend.")] = "careful"
        kernel_decode_backend: A[str, Arg(help="That of decoding.")] = None
        kernel_prefill_backend: A[str, Arg(help="That of prefill.")] = None
        with_checks: A[bool, "Check all."] = False
"""

BACKENDS = """
    from enum import Enum

    class KernelBackend(Enum):
        PLAIN = "plain"
        QUICK = "quick"

        def is_quick(self):
            return self == KernelBackend.QUICK

        @property
        def is_plain(self):
            return self is KernelBackend.PLAIN

    def resolve_backends(preferred=None):
        kernel = get_settings().kernel
        base = kernel.kernel_backend
        decode = KernelBackend(kernel.kernel_decode_backend or base)
        prefill = KernelBackend(kernel.kernel_prefill_backend or preferred or base)
        return Backends(decode=decode, prefill=prefill)
"""

QUICK = """
    class QuickKernel(Base):
        def __init__(self, fallback=None, *, enable_decode: bool = True, enable_prefill: bool = True):
            if enable_decode or enable_prefill:
                raise ImportError("The quick package is required here")
"""

DISPATCH = """
    class Dispatcher:
        def __init__(self, decode_backend, prefill_backend):
            quick = None
            if decode_backend.is_quick() or prefill_backend.is_quick():
                from pack.quick import QuickKernel

                quick = QuickKernel(
                    fallback=None, enable_decode=decode_backend.is_quick(), enable_prefill=prefill_backend.is_quick()
                )
            if decode_backend.is_plain:
                raise ValueError("plain decoding is not there any more")

    class Attention:
        def __init__(self, runner):
            backends = runner.kernel_backends
            decode_backend = backends.decode
            self.dispatcher = Dispatcher(decode_backend, backends.prefill)
"""

SETUP = """
    from pack.backends import resolve_backends

    def set_up(runner):
        runner.kernel_backends = resolve_backends(preferred=None)
"""

CHAIN = {"fields": FIELDS, "backends": BACKENDS, "quick": QUICK, "dispatch": DISPATCH, "setup": SETUP}


def flags(**sources: str) -> dict[str, tuple[str, ...]]:
    """The options of each record, by its text."""
    files = [SourceFile(f"python/pack/{name}.py", textwrap.dedent(text).encode()) for name, text in sources.items()]
    return {str(record.template): record.sites[0].flags for record in to_records(scan(files, processes=1), CONFIG, "1")}


def test_an_option_that_chooses_what_is_made() -> None:
    """A condition on parameters, of a class that another file makes when a method of an enumeration says so, made of an option."""
    assert flags(**CHAIN) == {
        "The quick package is required here": (
            "--kernel-decode-backend quick or --kernel-backend quick or --kernel-prefill-backend quick",
        ),
        "plain decoding is not there any more": ("--kernel-decode-backend plain or --kernel-backend plain",),
    }


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("setup", "def set_up(runner):", "def other(runner):\n        runner.kernel_backends = load()\n\n    def set_up(runner):"),
        ("backends", "return Backends(", "if preferred:\n            return None\n        return Backends("),
        ("backends", "get_settings().kernel", "get_settings(preferred).kernel"),
        ("dispatch", "runner.kernel_backends", "runner"),
        ("dispatch", "Dispatcher(decode_backend, backends.prefill)", "Dispatcher(*backends)"),
        ("dispatch", "from pack.quick", "from other.quick"),
    ],
)
def test_a_chain_with_a_doubtful_link_leads_nowhere(name: str, old: str, new: str) -> None:
    assert old in CHAIN[name]
    assert flags(**CHAIN | {name: CHAIN[name].replace(old, new)})["The quick package is required here"] == ()


def test_two_predicates_of_one_name_that_differ() -> None:
    other = """
        class Mode:
            def is_quick(self):
                return self == "fast"
    """
    assert flags(**CHAIN, other=other)["The quick package is required here"] == ()


def test_what_all_calls_of_a_class_share_leads_to_it() -> None:
    made = """
        from pack.made import Made

        def run(args):
            if args.with_checks:
                if args.kernel_backend == "quick":
                    one = Made(args)
                else:
                    return Made(args)
    """
    text = 'class Made:\n    def __init__(self, args):\n        raise ValueError("it cannot be made today")\n'
    assert flags(fields=FIELDS, made=text, run=made) == {"it cannot be made today": ("--with-checks",)}
    unconditional = made + "\n        def other(args):\n            made = Made(args)\n"
    assert flags(fields=FIELDS, made=text, run=unconditional) == {"it cannot be made today": ()}


def test_a_private_function_is_known_by_all_its_calls() -> None:
    source = """
        def run(args):
            if args.kernel_backend == "quick":
                _check(args, args.kernel_decode_backend)

        def _check(args, mode):
            if mode == "slow":
                raise ValueError("quick and slow do not go together")
    """
    text = "quick and slow do not go together"
    assert flags(fields=FIELDS, run=source) == {text: ("--kernel-decode-backend slow", "--kernel-backend quick")}
    assert flags(fields=FIELDS, run=source + "\n        HOOKS = [_check]\n") == {text: ()}, "who calls it cannot be told"


def test_an_attribute_that_was_set_from_an_option() -> None:
    source = """
        class Runner:
            def __init__(self, args, mode):
                self.backend = args.kernel_backend
                self.mode = mode

            def run(self):
                if self.backend == "quick" and self.mode == "slow":
                    raise ValueError("too quick for the slow mode")

        def start(args):
            runner = Runner(args, args.kernel_decode_backend)
    """
    assert flags(fields=FIELDS, run=source) == {"too quick for the slow mode": ("--kernel-backend quick", "--kernel-decode-backend slow")}
    twice = source.replace("def run(self):", "def again(self):\n                self.backend = None\n\n            def run(self):")
    assert flags(fields=FIELDS, run=twice) == {"too quick for the slow mode": ("--kernel-decode-backend slow",)}


def test_a_value_that_needs_no_option_leads_nowhere() -> None:
    source = """
        def check(args):
            if args.kernel_backend != "careful":
                return
            if args.kernel_decode_backend == "slow" and args.kernel_backend == "careful":
                raise ValueError("too slow and too careful")
    """
    assert flags(fields=FIELDS, run=source) == {"too slow and too careful": ("--kernel-decode-backend slow",)}


def test_none_of_several_values_is_some_other_one() -> None:
    source = """
        def choose(args):
            if args.kernel_backend == "quick":
                return 1
            elif args.kernel_backend == "slow":
                return 2
            else:
                raise ValueError("there is no such backend")

        def start(args):
            if args.kernel_backend == "quick":
                return 1
            raise ValueError("it could be any other one")
    """
    assert flags(fields=FIELDS, run=source) == {
        "there is no such backend": ("--kernel-backend …",),
        "it could be any other one": (),
    }


def test_a_class_that_makes_itself_elsewhere() -> None:
    made = """
        class Made:
            def __init__(self):
                raise ValueError("it cannot be made today")

            @classmethod
            def load(cls):
                return cls()
    """
    run = "from pack.made import Made\n\ndef run(args):\n    if args.with_checks:\n        made = Made()\n"
    assert flags(fields=FIELDS, made=made, run=run) == {"it cannot be made today": ()}
    assert flags(fields=FIELDS, made=made.replace("return cls()", "pass"), run=run) == {"it cannot be made today": ("--with-checks",)}


def test_what_an_earlier_test_was_passed_by() -> None:
    source = """
        def check(args):
            if not args.with_checks:
                return
            if args.kernel_backend is None or args.kernel_decode_backend != 3:
                return
            if args.kernel_prefill_backend != "quick":
                raise ValueError("only the quick one can be checked")
            raise ValueError("the quick one cannot be checked")
    """
    assert flags(fields=FIELDS, run=source) == {
        "only the quick one can be checked": ("--with-checks",),
        "the quick one cannot be checked": ("--with-checks", "--kernel-prefill-backend quick"),
    }


def test_an_object_that_is_made_of_a_class_without_a_name() -> None:
    """A function that is given its class as ``cls`` may stand outside any class; so may one that is given ``self``."""
    source = """
        def make(cls, self):
            one = cls()
            two = self._other()
            raise ValueError("neither of them is of any use")
    """
    assert flags(make=source) == {"neither of them is of any use": ()}
