"""A project's own check macros: read where they are defined, and put in where they are used."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_MACROS = 300
"""Macros offered by one file."""

MAX_BODY = 3_000
"""Characters of a macro; longer ones are code, not checks."""

DEFINITION = re.compile(r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w{0,80})\(([^()\n]{0,300})\)[ \t]*", re.MULTILINE)
RAISES = re.compile(
    r"\bthrow\b|[A-Z_]CHECK|\bCHECK|ASSERT|PANIC|ERROR|ENFORCE|THROW|\b[A-Za-z]*(?:Check|[Pp]anic)\(|abort\(|exit\(|trap\(|LOG\(FATAL"
)
PIECE = re.compile(r'"(?:[^"\\\n]|\\.)*"|(?P<paste>\s*##\s*)|#\s*(?P<text>[A-Za-z_]\w*)|(?P<name>[A-Za-z_]\w*)')
ENDS = re.compile(r"\b(?:exit|_exit|abort|terminate|__trap|trap)\s*\(|\basm\b")


@dataclass(frozen=True, slots=True)
class Macro:
    """A function-like macro that may raise; ``body`` is on one line."""

    name: str
    parameters: tuple[str, ...]
    body: str

    @property
    def ends(self) -> bool:
        """Whether it ends the program."""
        return ENDS.search(self.body) is not None

    def expand(self, arguments: list[str]) -> str | None:
        """The macro with its arguments put in; None when their number does not fit."""
        names = list(self.parameters)
        variadic = bool(names) and names[-1].endswith("...")
        if variadic:
            rest = names.pop().removesuffix("...").strip() or "__VA_ARGS__"
            if len(arguments) < len(names):
                return None
            given = dict(zip(names, arguments, strict=False)) | {rest: ", ".join(arguments[len(names) :])}
        elif len(names) == len(arguments) or (not names and arguments == [""]):
            given = dict(zip(names, arguments, strict=False))
        else:
            return None

        def put(match: re.Match[str]) -> str:
            if match["paste"]:
                return ""
            if match["text"]:
                text = " ".join(given.get(match["text"], match["text"]).split())
                return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
            return given.get(match["name"], match[0]) if match["name"] else match[0]

        text = PIECE.sub(put, self.body.replace("##__VA_ARGS__", "__VA_ARGS__"))
        return text if len(text) <= 4 * MAX_BODY else None


def macros(text: str) -> dict[str, Macro]:
    """The macros of a file that may raise, by name; of several with one name the last."""
    found: dict[str, Macro] = {}
    for match in DEFINITION.finditer(text):
        body, at = [], match.end()
        while True:
            end = text.find("\n", at)
            line = text[at : end if end >= 0 else len(text)]
            body.append(line.rstrip().removesuffix("\\"))
            if end < 0 or not line.rstrip().endswith("\\") or sum(map(len, body)) > MAX_BODY:
                break
            at = end + 1
        joined = " ".join(" ".join(body).split())
        if len(joined) <= MAX_BODY and RAISES.search(joined) and len(found) < MAX_MACROS:
            found[match[1]] = Macro(match[1], tuple(name.strip() for name in match[2].split(",") if name.strip()), joined)
    return found
