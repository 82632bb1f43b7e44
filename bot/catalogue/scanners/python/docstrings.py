"""What a docstring says of a function's parameters: Google's form, NumPy's, and Sphinx's.

https://google.github.io/styleguide/pyguide.html#383-functions-and-methods, https://numpydoc.readthedocs.io/en/latest/format.html#parameters,
https://www.sphinx-doc.org/en/master/usage/domains/python.html#info-field-lists.
"""

from __future__ import annotations

import re

MAX_DOCSTRING = 20_000
MAX_SENTENCE = 160
"""Characters read of a docstring, and kept of what is said of one parameter."""

SPHINX = re.compile(r"^[ \t]{0,40}:param(?:eter)?[ \t]+(?:[\w.\[\], |]{1,60}[ \t]+)?\*{0,2}(\w{1,80}):[ \t]*(.{0,400})$", re.MULTILINE)
NUMPY = re.compile(r"^([ \t]{0,40})\*{0,2}(\w{1,80})(?:[ ]?:[ ][^\n]{0,200})?\n\1[ \t]{1,8}(\S.{0,400})$", re.MULTILINE)
GOOGLE = re.compile(
    r"^[ \t]{1,40}\*{0,2}`{0,2}(\w{1,80})`{0,2}[ \t]*(?:\([^\n]{0,120}?\))?:[ \t]{0,8}\n?[ \t]{0,40}(\S.{0,400})$", re.MULTILINE
)
SECTION = re.compile(
    r"^[ \t]{0,40}(?:Args|Arguments|Parameters|Params|Keyword Args|Attributes)(?::|[ \t]*\n[ \t]{0,40}-{3,80})[ \t]*$", re.MULTILINE
)
ENDS = re.compile(
    r"^[ \t]{0,40}(?:Returns?|Yields?|Raises|Examples?|Notes?|See Also|References)(?::|[ \t]*\n[ \t]{0,40}-{3,80})[ \t]*$", re.MULTILINE
)


def documented(docstring: str) -> dict[str, str]:
    """The first sentence of what is said of each parameter, by its name."""
    text = docstring[:MAX_DOCSTRING]
    found = {match[1]: match[2] for match in SPHINX.finditer(text)}
    section = SECTION.search(text)
    if section is not None:
        ends = ENDS.search(text, section.end())
        part = text[section.end() : ends.start() if ends is not None else len(text)]
        if "---" in section[0]:
            found |= {match[2]: match[3] for match in NUMPY.finditer(part)}
        else:
            found |= {match[1]: match[2] for match in GOOGLE.finditer(part)}
    return {name: sentence for name, said in found.items() if (sentence := first_sentence(said))}


def first_sentence(text: str) -> str:
    """The first sentence of a text, on one line; what was cut off leaves an ellipsis."""
    whole = " ".join(text.split())
    sentence = re.split(r"(?<=[.!?])\s", whole, maxsplit=1)[0]
    return sentence if len(sentence) <= MAX_SENTENCE else sentence[: MAX_SENTENCE - 1].rstrip() + "…"
