"""What the Python scanner says of the way to a place: command-line options, public functions, documented parameters, written conditions."""

from __future__ import annotations

import ast
import inspect
import textwrap
from pathlib import Path

import pytest

from bot.catalogue.catalogue import Catalogue, build
from bot.catalogue.causes import caught
from bot.catalogue.derive import guard, handler, remedies
from bot.catalogue.scan import scan as scan_all
from bot.catalogue.scan import to_records
from bot.catalogue.scanners import Raised, scan_file
from bot.catalogue.scanners.python.code import write
from bot.catalogue.scanners.python.docstrings import documented
from bot.catalogue.source_config import SourceConfig
from bot.catalogue.sources import SourceFile
from bot.model import Record

CONFIG = SourceConfig(repository="a/b", package="pack", path_prefix={"pack/": "python/pack/"}, releases=("1",))


def scan(source: str) -> list[Raised]:
    return list(scan_file(SourceFile("python/pack/mod.py", textwrap.dedent(source).encode())))


def records(**sources: str) -> list[Record]:
    files = [SourceFile(f"python/pack/{name}.py", textwrap.dedent(text).encode()) for name, text in sources.items()]
    return list(to_records(scan_all(files, processes=1), CONFIG, "1"))


KERNEL = """
    class QuickKernel(Base):
        def __init__(self, enable_decode: bool, enable_prefill: bool):
            if enable_decode or enable_prefill:
                try:
                    import quick  # noqa: F401
                except ModuleNotFoundError as error:
                    if error.name != "quick":
                        raise
                    raise ImportError(
                        "The Quick package is required when a backend is set to "
                        "Quick. Install it with: pip install quick==1.4.0"
                    ) from None
"""

ARGUMENTS = """
    class Fields:
        mamba_backend: A[str, Arg(help="Choose the backend.", choices=["triton", "flash"])] = "triton"
        round_randomly: A[bool, "Round one way or the other."] = False
        plain: int = 3
"""

HOOK = """
    def handle_backend(server_args):
        cfg = resolve(server_args)
        if cfg.mamba_backend == "flash":
            flash_error = "Flash module not available."
            if cfg.round_randomly:
                flash_error += " Rounding requires it."
            if platform().has_flash:
                try:
                    import flash.mamba  # noqa: F401
                except (ImportError, AttributeError):
                    raise ValueError(flash_error)
            else:
                raise ValueError(flash_error)
"""


def test_an_optional_package_that_is_missing() -> None:
    (record,) = records(kernel=KERNEL)
    (site,) = record.sites
    assert [(condition.kind, condition.text) for condition in site.conditions] == [
        ("if", "enable_decode or enable_prefill"),
        ("try", "import quick"),
        ("except", "ModuleNotFoundError"),
        ("unless", "error.name != 'quick'"),
    ]
    assert record.remedies == ("`pip install quick==1.4.0`",)
    assert 'find_spec("quick") is not None' in record.guard
    assert record.handler.startswith("from pack.kernel import QuickKernel\n\ntry:\n    QuickKernel(...)\nexcept ImportError as error:")
    assert caught(site.conditions) == ("import quick", ("ModuleNotFoundError",))


def test_two_texts_of_two_places_with_what_tells_them_apart() -> None:
    plain, rounding = records(fields=ARGUMENTS, hook=HOOK)
    assert [str(record.template) for record in (plain, rounding)] == [
        "Flash module not available.",
        "Flash module not available. Rounding requires it.",
    ]
    assert [site.flags for site in plain.sites] == [("--mamba-backend flash",)] * 2
    assert [site.flags for site in rounding.sites] == [("--mamba-backend flash", "--round-randomly")] * 2
    tried, untried = rounding.sites
    assert caught(tried.conditions) == ("import flash.mamba", ("ImportError", "AttributeError"))
    assert ("if", "platform().has_flash") in [(condition.kind, condition.text) for condition in tried.conditions]
    assert ("unless", "platform().has_flash") in [(condition.kind, condition.text) for condition in untried.conditions]
    asked = ("if", "cfg.round_randomly")
    assert all(asked in [(condition.kind, condition.text) for condition in site.conditions] for site in rounding.sites)
    assert not any(asked in [(condition.kind, condition.text) for condition in site.conditions] for site in plain.sites)
    assert "except ValueError" in plain.handler


def test_what_leads_to_a_place_is_kept_in_the_built_catalogue(tmp_path: Path) -> None:
    found = records(fields=ARGUMENTS, hook=HOOK, kernel=KERNEL)
    build(tmp_path / "c.sqlite", CONFIG, found, ("1",))
    opened = Catalogue.open(tmp_path / "c.sqlite")
    for record in found:
        kept = opened.get(record.id)
        assert kept is not None
        assert kept.sites == record.sites


@pytest.mark.parametrize(
    ("condition", "flags"),
    [
        ('args.mode == "fast"', ("--run-mode fast",)),
        ('args.mode != "fast"', ()),
        ('not (args.mode != "fast")', ("--run-mode fast",)),
        ('args.mode in ("a", "b")', ("--run-mode a|b",)),
        ("args.mode is not None and args.loud", ("--run-mode …", "--loud")),
        ("args.mode is None or args.loud", ()),
        ("self.args.size > 3", ("--size …",)),
        ("not args.loud", ()),
        ("thing.mode", ()),
        ("local", ("--size …",)),
    ],
)
def test_options_of_a_parser(condition: str, flags: tuple[str, ...]) -> None:
    source = f"""
        def check(self, args, thing):
            local = args.size
            if {condition}:
                raise ValueError("this does not go together")

        def main(parser):
            parser.add_argument("-m", "--run-mode", dest="mode", choices=["fast", "slow"])
            parser.add_argument("--loud", action="store_true")
            parser.add_argument("--size", type=int)
    """
    (raised,) = scan(source)
    assert raised.flags == flags


def test_options_of_click_and_typer() -> None:
    source = """
        @click.command()
        @click.option("--dry-run/--no-dry-run", default=False)
        @click.option("-n", "--number", "count")
        def one(dry_run, count):
            if dry_run and count == 3:
                raise click.UsageError("three cannot be tried dry")

        @app.command()
        def two(big: Annotated[bool, typer.Option()] = False, name: str = typer.Option("", "--called")):
            if name:
                raise typer.BadParameter("no name is wanted here")
    """
    assert [raised.flags for raised in scan(source)] == [("--dry-run", "--number 3"), ("--called …",)]


def test_the_public_function_that_leads_to_a_private_one() -> None:
    source = """
        class Box:
            def __init__(self, n):
                self._prepare(n)

            def grow(self, n):
                self._check(n)

            def _prepare(self, n):
                self._check(n)

            def _check(self, n):
                raise ValueError("the box is too small")

            def _lost(self):
                raise ValueError("nobody comes here")

        class Other:
            def run(self):
                self._check(1)

        def public(n):
            return _private(n)

        def _private(n):
            raise KeyError("there is no such box")
    """
    assert [(raised.function, raised.entry) for raised in scan(source)] == [
        ("Box._check", "Box.grow"),
        ("Box._lost", ""),
        ("_private", "public"),
    ]
    box, _, private = records(mod=source)
    assert private.handler.startswith("from pack.mod import public\n\ntry:\n    public(...)\nexcept KeyError")
    assert box.handler == ""  # a method of an object that somebody else made


def test_an_own_exception_class_is_imported_from_where_it_is_raised() -> None:
    (record,) = records(mod='from .errors import BoxError\n\ndef f():\n    raise BoxError("the box is gone")\n')
    assert record.handler.startswith("from pack.mod import f, BoxError\n\ntry:\n    f(...)\nexcept BoxError as error:")
    (record,) = records(mod='def f():\n    raise errors.BoxError("the box is gone")\n')
    assert record.handler == ""


def test_documented_parameters_that_the_error_names() -> None:
    source = '''
        def fit(size, name, other):
            """Fit it.

            Args:
                size (int): How many boxes there are. More is slower.
                name: What it is called.
                other: Not looked at.

            Returns:
                size: nothing of it.
            """
            if size < 3:
                raise ValueError(f"too small for {name}")
    '''
    (raised,) = scan(source)
    assert raised.documented == (("size", "How many boxes there are."), ("name", "What it is called."))


@pytest.mark.parametrize(
    "docstring",
    [
        "Do.\n\nArgs:\n    n (int, optional): How many. Or so.\n    *rest: The rest.\n\nReturns:\n    m: No.\n",
        "Do.\n\nParameters\n----------\nn : int, default 3\n    How many. Or so.\n*rest\n    The rest.\n\n"
        "Returns\n-------\nm : int\n    No.\n",
        "Do.\n\n:param int n: How many. Or so.\n:param rest: The rest.\n:returns: No.\n",
    ],
)
def test_three_ways_of_documenting(docstring: str) -> None:
    assert documented(inspect.cleandoc(docstring)) == {"n": "How many.", "rest": "The rest."}


def test_guard_behind_an_earlier_test() -> None:
    source = """
        def split(n, size):
            if n is None:
                return
            if n % size != 0:
                raise ValueError("it cannot be split evenly")
    """
    (raised,) = records(mod=source)
    assert raised.guard == "n % size == 0"
    assert guard(raised.sites) == raised.guard
    assert handler("ValueError", raised.sites, CONFIG) == raised.handler
    assert remedies(str(raised.template)) == ()


@pytest.mark.parametrize(
    "source",
    [
        "(a + b) * c - -d ** -e", "x[1:2, ::3, ...][i]", "not a and (b or c) and (not d)", "a < b <= c is not d not in e",
        "f(*a, k=1, **b)(x for x in y if x)", "(lambda a, /, b=1, *c, d=2, **e: a)(1)", "[*a, (b,), {}, {1}, {'k': v, **w}]",
        "(yield)",
        "a if b else (c if d else e)", "f'{a!r:>{n}} {{}} {b[\"k\"]} it\\'s'", "{k: v for k, v in d.items() if k if v}",
        "1 .real",
        "(a := b) + 1", "f((a := b))", "await g(x)", "'x' 'y'[0]", "~(a | b) & c ^ d << e >> g @ h // i % j",
        "-1 ** 2", "(-1) ** 2", "1e400", "x if (yield y) else z", "{*a, b}", "a[b, *c]", "a[(b,)]", "not (not a)", "(a, b) == ()",
    ],
)  # fmt: skip
def test_what_is_written_reads_back(source: str) -> None:
    node = ast.parse(source, mode="eval").body
    assert ast.dump(ast.parse(write(node), mode="eval").body) == ast.dump(node)


def test_the_source_may_be_written_in_any_way() -> None:
    ways = ["assert f(a,b)  ==  'x' and not c", 'assert (f(a, b) == "x") and (not c)', "assert f(\n  a,  # why\n  b,\n) == 'x' and not c"]
    assert {raised.expression for way in ways for raised in scan(way)} == {"f(a, b) == 'x' and not c"}
