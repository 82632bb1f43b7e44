"""Texts that the Python scanner finds beside the raise: collected in lists, kept in dictionaries, sent as answers, named by keys."""

from __future__ import annotations

import textwrap

from bot.catalogue.scan import scan as scan_all
from bot.catalogue.scanners import Raised, scan_file
from bot.catalogue.sources import SourceFile


def scan(source: str) -> list[Raised]:
    return list(scan_file(SourceFile("python/pack/mod.py", textwrap.dedent(source).encode())))


def together(sources: dict[str, str]) -> list[Raised]:
    files = [SourceFile(f"python/pack/{name}", textwrap.dedent(text).encode()) for name, text in sources.items()]
    result = scan_all(files, processes=1)
    assert result.skipped == ()
    return list(result.raised)


def test_texts_joined_later() -> None:
    source = """
        def check(x, y):
            errors = []
            if x < 0:
                errors.append(f"x must not be negative, got {x}")
            if y is None:
                errors.append("y has to be given")
            if errors:
                raise ValueError("; ".join(errors))
    """
    found = scan(source)
    assert [(str(raised.template), raised.line, raised.through) for raised in found] == [
        ("x must not be negative, got {x}", 9, "errors.append"),
        ("y has to be given", 9, "errors.append"),
    ]
    assert [(condition.kind, condition.text) for condition in found[0].conditions] == [("if", "errors"), ("if", "x < 0")]
    assert found[0].code == 'raise ValueError("; ".join(errors))'


def test_a_joined_list_in_a_sentence_keeps_the_sentence() -> None:
    source = """
        def check(x):
            problems = ["this is always wrong"]
            problems += [f"so is the value {x}"]
            raise ConfigError("Invalid config:\\n" + "\\n".join(f"- {p}" for p in problems))
    """
    assert [str(raised.template) for raised in scan(source)] == [
        "Invalid config:\n- this is always wrong",
        "Invalid config:\n- so is the value {x}",
        "Invalid config:\n{'\\n'.join(f'- {p}' for p in problems)}",
    ]


def test_a_list_that_is_printed_itself() -> None:
    source = """
        def check(x):
            errors = []
            errors.append("this is not right")
            raise ValueError(errors)
    """
    assert [str(raised.template) for raised in scan(source)] == [str(["this is not right"])]


def test_a_list_that_another_function_returns() -> None:
    source = """
        def find_problems(x):
            problems = []
            if x:
                problems.append("the size has to be even")
            return problems

        def check(x):
            problems = find_problems(x)
            if problems:
                raise ValueError(", ".join(problems))
    """
    (found,) = scan(source)
    assert (str(found.template), found.through, found.function) == ("the size has to be even", "find_problems", "check")


def test_lists_of_something_else_are_left_alone() -> None:
    source = """
        def check(names):
            missing = []
            for name in names:
                missing.append(name)
            raise KeyError("no such names: " + ", ".join(missing))
    """
    assert [str(raised.template) for raised in scan(source)] == ["no such names: {', '.join(missing)}"]


def test_dictionaries_of_messages() -> None:
    source = """
        MESSAGES = {"empty": "the input is empty", "long": "the input has {n} parts, too many"}

        def check(kind, parts):
            if kind == 1:
                raise ValueError(MESSAGES["empty"])
            if kind == 2:
                raise ValueError(MESSAGES["long"].format(n=len(parts)))
            raise TypeError(MESSAGES.get(kind, "nothing is known of it"))
    """
    assert [(raised.type, str(raised.template)) for raised in scan(source)] == [
        ("ValueError", "the input is empty"),
        ("ValueError", "the input has {len(parts)} parts, too many"),
        ("TypeError", "the input is empty"),
        ("TypeError", "the input has {{n}} parts, too many"),
        ("TypeError", "nothing is known of it"),
    ]


def test_a_dictionary_of_messages_in_another_file() -> None:
    texts = 'REASONS = {1: "the first reason of all", 2: "the second reason of all"}\n'
    user = "from pack.texts import REASONS\n\ndef f(code):\n    raise RuntimeError(REASONS[code])\n"
    assert [str(raised.template) for raised in together({"texts.py": texts, "user.py": user})] == [
        "the first reason of all",
        "the second reason of all",
    ]


def test_answers_with_an_error_status() -> None:
    source = """
        async def handle(request):
            if request.a:
                return JSONResponse({"error": {"message": f"no model called {request.a}", "type": "NotFoundError"}}, status_code=404)
            if request.b:
                return web.json_response({"detail": "the request is not signed"}, status=HTTPStatus.FORBIDDEN)
            if request.c:
                return jsonify(message="this takes too long"), 504
            if request.d:
                return JSONResponse({"message": "all is well with it"}, status_code=200)
            if request.e:
                raise web.HTTPBadRequest(text="this body has no end")
            return JSONResponse({"message": "all is well with it"})
    """
    assert [(raised.type, str(raised.template), raised.through) for raised in scan(source)] == [
        ("NotFoundError", "no model called {request.a}", "JSONResponse"),
        ("", "the request is not signed", "json_response"),
        ("", "this takes too long", "jsonify"),
        ("HTTPBadRequest", "this body has no end", ""),
    ]


def test_texts_named_by_a_key() -> None:
    code = """
        def run(self, entry):
            raise HomeError(translation_domain=DOMAIN, translation_key="no_room", translation_placeholders={"name": entry.title})

        def other(self):
            raise HomeError(translation_domain=DOMAIN, translation_key="unknown_key")
    """
    texts = '{"exceptions": {"no_room": {"message": "No room is left for {name}"}}}'
    for place in ("thing/strings.json", "thing/translations/en.json"):
        found = together({"thing/sensor.py": code, place: texts, "else/strings.json": texts.replace("room", "place")})
        assert [str(raised.template) for raised in found] == ["No room is left for {entry.title}", ""]


def test_messages_that_a_class_keeps_for_its_children() -> None:
    source = """
        class Index:
            _unique_msg = "this only works with a unique index"

            def run(self):
                raise ValueError(self._unique_msg)

        class Range(Index):
            def get(self):
                raise KeyError(self._unique_msg)
    """
    assert [(raised.type, str(raised.template)) for raised in scan(source)] == [
        ("ValueError", "this only works with a unique index"),
        ("KeyError", "this only works with a unique index"),
    ]


def test_exit_codes_print_nothing() -> None:
    assert [str(raised.template) for raised in scan('raise SystemExit(main())\nraise SystemExit("no such file here")')] == [
        "no such file here"
    ]


def test_several_errors_at_once_print_as_python_does() -> None:
    (found,) = scan('raise ExceptionGroup("all of them failed", errors)')
    assert (found.type, str(found.template)) == ("ExceptionGroup", "all of them failed ({n} sub-exceptions)")
