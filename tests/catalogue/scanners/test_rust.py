"""What the Rust scanner reads off macros and calls: small sources, with what Rust's own documentation says they print."""

from __future__ import annotations

import textwrap

import pytest

from bot.catalogue.scanners import Raised, scan_file
from bot.catalogue.sources import SourceFile
from bot.model import Condition, Template


def scan(source: str) -> list[Raised]:
    return list(scan_file(SourceFile("rust/src/lib.rs", textwrap.dedent(source).encode())))


@pytest.mark.parametrize(
    ("statement", "type", "template"),
    [
        ('panic!("a {} {y:?} {{}} {1:>5}", z, self.w(2));', "panic", "a {z} {y:?} {{}} {self.w(2):>5}"),
        ('panic!("at {place}, \\"{0}\\"\\u{e9}\\n", name, place = here());', "panic", 'at {here()}, "{name}"é\n'),
        ('unreachable!("never {}", z);', "panic", "internal error: entered unreachable code: never {z}"),
        ('todo!("later");', "panic", "not yet implemented: later"),
        ('unimplemented!("{x} for now");', "panic", "not implemented: {x} for now"),
        ('assert!(ok(x), "not ok {x}");', "panic", "not ok {x}"),
        ("assert!(ok(x));", "panic", "assertion failed: ok(x)"),
        ('assert_eq!(a, b, "lengths differ");', "panic",
         "assertion `left == right` failed: lengths differ\n  left: {a:?}\n right: {b:?}"),
        ('let v = f().expect("went wrong");', "panic", "went wrong: {error:?}"),
        ('bail!("cannot do {name}");', "Error", "cannot do {name}"),
        ('anyhow::ensure!(x == 1, "x is {}", x + 1);', "Error", "x is {x + 1}"),
        ("ensure!(x == 1);", "Error", "Condition failed: `x == 1`"),
        ('let e = anyhow!(r#"raw "text" {x}"#);', "Error", 'raw "text" {x}'),
        ('foo().with_context(|| format!("reading {}", p.display()))?;', "Error", "reading {p.display()}"),
        ('return Err(PyValueError::new_err(format!("bad value {}", x)));', "ValueError", "bad value {x}"),
        ('return Err(PyErr::new::<exceptions::PyTypeError, _>("expected a list"));', "TypeError", "expected a list"),
        ('return Err(MyError::Missing("missing piece".to_string()));', "MyError", "missing piece"),
        ('a.ok_or_else(|| Error::new("no such thing"))?;', "Error", "no such thing"),
        ('let v = vec![panic!("inside another macro")];', "panic", "inside another macro"),
    ],
)  # fmt: skip
def test_a_statement_prints(statement: str, type: str, template: str) -> None:
    (raised,) = scan(f"fn f() {{\n    {statement}\n}}\n")
    assert (raised.type, str(raised.template)) == (type, template)
    assert Template.parse(str(raised.template)) == raised.template
    assert raised.line == raised.end_line == 2


@pytest.mark.parametrize(
    "source",
    [
        '// panic!("in a comment")',
        'const TEXT: &str = "panic!(\\"in a text\\")";',
        'macro_rules! stop { () => { panic!("where it is defined") } }',
        '#[cfg(test)]\nmod tests { fn helper() { panic!("only in tests") } }',
        '#[test]\nfn works() { x.expect("only in tests"); }',
        '#[tokio::test]\nasync fn works() { panic!("only in tests"); }',
        "fn f() { parser.expect(Token::Comma); x.unwrap(); }",
    ],
)
def test_what_reaches_nobody(source: str) -> None:
    assert scan(source) == []


def test_where_it_stands() -> None:
    (raised,) = scan(
        """
        mod net {
            impl<T> Client<T> {
                pub fn send(&self, n: usize) -> Result<()> {
                    for part in self.parts() {
                        match part {
                            Some(x) if x > n => {
                                bail!(
                                    "part {x} is too long"
                                );
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
        """
    )
    assert (raised.function, raised.line, raised.end_line) == ("net::Client::send", 8, 10)
    assert raised.signature == "pub fn send(&self, n: usize) -> Result<()>"
    assert raised.conditions == (Condition("for", "part in self.parts()"), Condition("if", "case Some(x) if x > n"))
    assert raised.code == 'bail!(\n"part {x} is too long"\n);'


def test_texts_of_thiserror() -> None:
    raised = scan(
        """
        #[derive(Debug, Error)]
        pub enum LoadError {
            /// Says which.
            #[error("no field {0} in {name:?}")]
            NoField(String),
            #[error("weight {} is broken", .path.display())]
            Broken { path: PathBuf },
            #[error(transparent)]
            Other(#[from] io::Error),
        }
        #[derive(Error)]
        #[error("not a token")]
        struct TokenError;
        """
    )
    assert [(one.type, one.function, str(one.template)) for one in raised] == [
        ("LoadError", "LoadError::NoField", "no field {0} in {name:?}"),
        ("LoadError", "LoadError::Broken", "weight {path.display()} is broken"),
        ("TokenError", "TokenError", "not a token"),
    ]


@pytest.mark.parametrize(
    "source",
    [
        b"panic!(",
        b'fn f() { panic!("never closed',
        b'fn f() { panic!("\xe9 {", x); assert_eq!(); expect(); Err(); new::<; }',
        b"fn f() {" + b"if x {" * 2_000 + b'panic!("deep")',
        b'#[error("on nothing")]',
    ],
)
def test_nothing_makes_it_fail(source: bytes) -> None:
    list(scan_file(SourceFile("a.rs", source)))
