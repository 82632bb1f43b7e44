"""What the C++ scanner reads off checks and throws: small sources, with what the macros' definitions print."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from bot.catalogue.scanners import Raised, Unreadable, scan_alone, scan_file, suffixes
from bot.catalogue.sources import SourceConfig, SourceFile, files
from bot.model import Condition, Template


def scan(source: str, path: str = "csrc/kernel.cu") -> list[Raised]:
    return list(scan_file(SourceFile(path, textwrap.dedent(source).encode())))


def inside(statement: str) -> list[Raised]:
    return scan(f"void f() {{\n  {statement}\n}}\n")


AT = "{__FILE__}:{__LINE__}"


@pytest.mark.parametrize(
    ("statement", "type", "template"),
    [
        ('TORCH_CHECK(x > 0, "x must be positive, got ", x, "!");', "RuntimeError", "x must be positive, got {x}!"),
        ('TORCH_CHECK(a<b, "one " "two\\t\\x41\\n");', "RuntimeError", "one two\tA\n"),
        (
            "TORCH_CHECK(q.dim() ==\n   3);",
            "RuntimeError",
            "Expected q.dim() == 3 to be true, but got false.  (Could this error message be improved?  "
            "If so, please report an enhancement request to PyTorch.)",
        ),
        ('TORCH_CHECK_VALUE(ok, "bad value");', "ValueError", "bad value"),
        ('TORCH_CHECK_TYPE(ok, "bad type");', "TypeError", "bad type"),
        ('TORCH_CHECK_INDEX(ok, "bad index");', "IndexError", "bad index"),
        ('TORCH_CHECK_NOT_IMPLEMENTED(ok, "not yet");', "NotImplementedError", "not yet"),
        ("TORCH_CHECK_EQ(a.size(0), b);", "RuntimeError", "Check failed: a.size(0) == b ({a.size(0)} vs. {b}). "),
        ('STD_TORCH_CHECK(ok, "no");', "RuntimeError", f"{{__func__}}, {AT}, no"),
        ('TORCH_INTERNAL_ASSERT(p, "why");', "RuntimeError",
         'p INTERNAL ASSERT FAILED at "{__FILE__}":{__LINE__}, please report a bug to PyTorch. why'),
        ('AT_ERROR("unknown kind ", kind);', "RuntimeError", "unknown kind {kind}"),
        ('host::RuntimeCheck(n % 8 == 0, "n = ", n, " is odd");', "RuntimeError", f"Failed at {AT}: n = {{n}} is odd"),
        ("RuntimeCheck(n > 0);", "RuntimeError", f"Failed at {AT} in {{__func__}}"),
        ('RuntimeCheck(location, n > 0, "n is zero");', "RuntimeError", f"Failed at {AT}: n is zero"),
        ('Panic("no kernel for ", dtype);', "RuntimeError", f"Failed at {AT}: no kernel for {{dtype}}"),
        ('CHECK_HOST(a && b) << "a and b, got " << a;', "RuntimeError", f"Failed at {AT}: a and b, got {{a}}"),
        ('TVM_FFI_ICHECK(q.ok()) << "q is " << q;', "RuntimeError", "Check failed: (q.ok()) is false: q is {q}"),
        ('TVM_FFI_ICHECK_EQ(q.ndim(), 3) << "rank";', "RuntimeError", "Check failed: q.ndim() == 3 ({q.ndim()} vs. {3}) : rank"),
        ('TVM_FFI_THROW(ValueError) << "bad " << name;', "ValueError", "bad {name}"),
        ('TVM_FFI_THROW(InternalError) << "bad " << name;', "RuntimeError", "bad {name}"),
        ('CHECK_GE(a, 2) << "few";', "", "Check failed: a >= 2 ({a} vs. {2}) few"),
        ('DCHECK(ptr) << "no pointer";', "", "Check failed: ptr no pointer"),
        ('LOG(FATAL) << "cannot go on: " << why;', "", "cannot go on: {why}"),
        ('FLASHINFER_CHECK(k < 9, "k is", k, "now");', "RuntimeError",
         "Error in function '{__func__}' at {__FILE__}:{__LINE__}: k is {k} now"),
        ('throw std::runtime_error("lost " + std::to_string(n) + " items");', "RuntimeError", "lost {n} items"),
        ('throw std::invalid_argument(std::string("no ") + name.c_str());', "ValueError", "no {name.c_str()}"),
        ('throw std::out_of_range{"row out of range"};', "IndexError", "row out of range"),
        ('throw std::overflow_error(fmt::format("{} of {:d} {{}}", a, b));', "OverflowError", "{a} of {b:d} {{}}"),
        ('throw std::bad_alloc();', "MemoryError", "std::bad_alloc"),
        ('throw py::value_error(absl::StrCat("a", x, "b"));', "ValueError", "a{x}b"),
        ('throw MyError(__func__, R"(raw "text")");', "MyError", 'raw "text"'),
        ('PyErr_Format(PyExc_TypeError, "expected %s, got %ld", want, got());', "TypeError", "expected {want}, got {got()}"),
        ("assert(n < 4);", "", "Assertion `n < 4' failed."),
        ('ACME_ENFORCE(ok, "out of acme memory: ", n);', "", "out of acme memory: {n}"),
    ],
)  # fmt: skip
def test_a_check_prints(statement: str, type: str, template: str) -> None:
    (raised,) = inside(statement)
    assert (raised.type, str(raised.template)) == (type, template)
    assert Template.parse(str(raised.template)) == raised.template


@pytest.mark.parametrize(
    "source",
    [
        '// TORCH_CHECK(x, "in a comment")',
        'const char* text = "throw std::runtime_error(1) TORCH_CHECK(x)";',
        '#define NEED(x) TORCH_CHECK(x, "where it is defined")',
        "void f() { try { g(); } catch (...) { throw; } }",
        'static_assert(N > 0, "only when it is compiled");',
        "struct RuntimeCheck { template <typename C> explicit RuntimeCheck(C&& c, Args&&... args) { if (c) return; } };",
        "void f() { if (THPVariable_Check(x)) return; }",
    ],
)
def test_what_raises_nothing(source: str) -> None:
    assert scan(source) == []


def test_where_it_stands() -> None:
    (raised,) = scan(
        """
        namespace a::b { namespace {
        template <typename T>
        struct Kernel {
          static void run(const T& q,   int n) {
            if (n == 0) return;
            for (int i = 0; i < n; ++i) {
              if (q.ok(i)) {
              } else {
                TORCH_CHECK(i > 3,
                            "too few");  // why
              }
            }
          }
        };
        }}
        """
    )
    assert (raised.path, raised.line, raised.end_line) == ("csrc/kernel.cu", 10, 11)
    assert raised.function == "a::b::Kernel::run"
    assert raised.signature == "static void run(const T& q, int n)"
    assert raised.code == 'TORCH_CHECK(i > 3,\n"too few");  // why'
    assert raised.conditions == (
        Condition("unless", "n == 0"),
        Condition("for", "i < n"),
        Condition("unless", "q.ok(i)"),
        Condition("assert", "i > 3"),
    )


def test_a_method_outside_of_its_class() -> None:
    (raised,) = scan('namespace n { template <class T> int* Foo<T>::bar(int q) const { throw std::logic_error("no bar"); } }')
    assert raised.function == "n::Foo::bar"


def test_the_printed_expression_is_kept() -> None:
    (raised,) = inside("CHECK(ready  &&  /* really */ set);")
    assert (raised.kind, raised.expression) == ("assert", "ready && set")
    (raised,) = inside('TORCH_CHECK(ready, "not ready");')
    assert (raised.kind, raised.expression) == ("error", "")


def test_a_text_put_together_before() -> None:
    (streamed, added) = scan(
        """
        void f(int n) {
          std::ostringstream out;
          out << "only " << n;
          out << " left";
          throw std::runtime_error(out.str());
        }
        void g(int n) {
          std::string msg = "bad row ";
          msg += std::to_string(n);
          TORCH_CHECK(false, msg);
        }
        """
    )
    assert str(streamed.template) == "only {n} left"
    assert str(added.template) == "bad row {n}"
    assert added.conditions == ()


def test_a_constant_of_the_file() -> None:
    (raised,) = scan('constexpr const char* kText = "that is not supported";\nvoid f() { throw std::runtime_error(kText); }')
    assert str(raised.template) == "that is not supported"


def test_a_projects_own_macros_are_put_in() -> None:
    raised = scan(
        """
        #define CHECK_CUDA(x) TORCH_CHECK(x.is_cuda(), #x " must be a CUDA tensor")
        #define CHECK_INPUT(x) \\
          CHECK_CUDA(x);       \\
          TORCH_CHECK(x.is_contiguous(), #x, " must be contiguous")
        #define STOP(cond) do { if (!(cond)) { fprintf(stderr, "STOP failed (%s): %s\\n", __FILE__, #cond); abort(); } } while (0)
        void f() {
          CHECK_INPUT(query);
          STOP_ASSERT(1);
        }
        """
    )
    assert [(str(one.template), one.line) for one in raised] == [
        ("query must be a CUDA tensor", 8),
        ("query must be contiguous", 8),
    ]


def test_macros_and_prefixes_of_other_files() -> None:
    header = SourceFile(
        "include/utils.h",
        b"""
        #define NEED_ASSERT(cond) do { if (!(cond)) { fprintf(stderr, "NEED failed: %s\\n", #cond); abort(); } } while (0)
        inline void panic(DebugInfo location, Args&&... args) {
          std::ostringstream os;
          os << "Runtime check failed at " << location.file_name();
        }
        """,
    )
    user = SourceFile("src/a.cuh", b'#include "utils.h"\nvoid f(int n) { NEED_ASSERT(n > 1); RuntimeCheck(n > 2, "n is small"); }')
    alone = scan_alone(user)
    assert {"cpp:macro:NEED_ASSERT", "cpp:panic"} <= alone.wants
    offers = scan_alone(header).offers
    known = {key: tuple(offer for name, offer in offers if name == key) for key in alone.wants}
    assert [str(one.template) for one in scan_file(user, known)] == [
        "NEED failed: n > 1",
        f"Runtime check failed at {AT}: n is small",
    ]


def test_of_macros_with_one_name_the_included_one_is_used() -> None:
    one = scan_alone(SourceFile("include/one.h", b'#define MY_CHECK(x) TORCH_CHECK(x, "first meaning")'))
    two = scan_alone(SourceFile("src/two.h", b'#define MY_CHECK(x) TORCH_CHECK(x, "second meaning")'))
    user = SourceFile("src/a.cpp", b"#include <one.h>\nvoid f() { MY_CHECK(y); }")
    known = {"cpp:macro:MY_CHECK": tuple(offer for scanned in (one, two) for _, offer in scanned.offers)}
    assert [str(raised.template) for raised in scan_file(user, known)] == ["first meaning"]


def test_cuda_and_broken_code_do_not_hide_what_follows() -> None:
    raised = scan(
        """
        __global__ void __launch_bounds__(kThreads, 2) kernel(float* __restrict__ out) {}
        void launch() {
          kernel<<<grid, block, 0, stream>>>(out);
          TORCH_CHECK(ok, "first text");
        #if A
          if (x) {
        #else
          if (y) {
        #endif
            TORCH_CHECK(ok, "second text");
          }
          RuntimeCheck(ok, "third text" ;
        }
        void after() { throw std::runtime_error("fourth text"); }
        """
    )
    texts = [str(one.template) for one in raised]
    assert [text for text in texts if "third" not in text] == ["first text", "second text", "fourth text"]
    assert raised[0].function == "launch"


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"TORCH_CHECK(",
        b"throw",
        b"throw throw throw (((((",
        b'TORCH_CHECK(x, "never closed',
        b"\xff\xfet\x00h\x00r\x00o\x00w\x00",
        b'void f() { TORCH_CHECK(x, "\xe9t\xe9 \\777 \\xFFFFFFFF") ; }',
        b"void f() {" + b"if (x) {" * 3_000 + b'TORCH_CHECK(x, "deep");',
        b'void f() { throw std::runtime_error("a"' + b' + "b"' * 3_000 + b"); }",
        b"#define A_CHECK(x) A_CHECK(x) B_CHECK(x)\n#define B_CHECK(x) A_CHECK(x) A_CHECK(x)\nvoid f() { A_CHECK(1); }",
        b'void f() { std::string m = m + m; m = m + m; throw std::runtime_error(m + "x"); }',
    ],
)
def test_nothing_makes_it_fail(source: bytes) -> None:
    list(scan_file(SourceFile("a.cpp", source)))


def test_what_is_no_text_is_named() -> None:
    with pytest.raises(Unreadable, match="not text"):
        list(scan_file(SourceFile("a.h", b"\x7fELF\0\0\0 throw")))


def test_files_of_these_languages_are_taken_from_a_source(tmp_path) -> None:
    for name in ("csrc/a.cu", "csrc/b.hpp", "csrc/old/c.cc", "pack/d.rs", "pack/e.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    config = SourceConfig(repository="a/b", package="b", releases=("1",), leave_out=("csrc/old/*",))
    assert [file.path for file in files(tmp_path, config)] == ["csrc/a.cu", "csrc/b.hpp", "pack/d.rs"]
    assert {".cuh", ".cxx", ".hh", ".cpp", ".h"} <= set(suffixes())


def test_the_grammars_are_loaded_only_when_a_file_needs_them() -> None:
    code = (
        "import sys; from bot.catalogue.scanners import suffixes, scan_alone; from bot.catalogue.sources import SourceFile; suffixes();"
        "scan_alone(SourceFile('a.h', b'int x;')); assert not any(name.startswith('tree_sitter') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
