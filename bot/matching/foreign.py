"""Messages that every Python project shows and none of them owns: of the interpreter, the system, the loader, torch and CUDA.

A template of ours that says no more than such a message proves nothing, unless it wraps it: ours begins before it.
"""

from __future__ import annotations

import errno
import os
from functools import cache

from bot.matching.background import background
from bot.matching.template import Alignment, Words, align, pattern
from bot.model import Template

_KNOWN = """
'{x}' object has no attribute '{y}'
module '{x}' has no attribute '{y}'
type object '{x}' has no attribute '{y}'
No module named '{x}'
cannot import name '{x}' from '{y}'
partially initialized module '{x}' has no attribute
name '{x}' is not defined
local variable '{x}' referenced before assignment
cannot access local variable '{x}' where it is not associated with a value
got an unexpected keyword argument '{x}'
missing {n} required positional argument
takes {n} positional arguments but {m} were given
'{x}' object is not callable
'{x}' object is not iterable
'{x}' object is not subscriptable
unsupported operand type(s) for {x}: '{y}' and '{z}'
list index out of range
tuple index out of range
string indices must be integers
not enough values to unpack (expected {n}, got {m})
too many values to unpack (expected {n}
invalid literal for int() with base {n}
could not convert string to float
maximum recursion depth exceeded
Expecting value: line {n} column {m} (char {k})
codec can't decode byte {x} in position {n}
Object of type {x} is not JSON serializable
{x}: cannot open shared object file: No such file or directory
undefined symbol: {x}
version `{x}' not found (required by {y})
CUDA out of memory. Tried to allocate {n}
CUDA error: an illegal memory access was encountered
CUDA error: no kernel image is available for execution on the device
CUDA error: device-side assert triggered
CUDA error: out of memory
Expected all tensors to be on the same device, but found at least two devices
mat1 and mat2 shapes cannot be multiplied
The size of tensor a ({n}) must match the size of tensor b ({m}) at non-singleton dimension
Token indices sequence length is longer than the specified maximum sequence length for this model
Failed to allocate memory for {x} with size {n} and alignment {m}
Could not find a version that satisfies the requirement {x}
Some weights of {x} were not initialized from the model checkpoint
"""


@cache
def patterns() -> tuple[tuple[tuple[str, ...], list[float]], ...]:
    """The patterns of the known foreign messages with the weights of their words; the system's own are asked of it (``os.strerror``)."""
    system = {os.strerror(code) for code in errno.errorcode}
    texts = [line for line in _KNOWN.split("\n") if line] + sorted(text for text in system if text.count(" ") > 1)
    found = (pattern(Template.parse(text)) for text in texts)
    return tuple((pieces, background().weights(pieces)) for pieces in found)


def find(message: Words) -> list[Alignment]:
    """The foreign messages that stand in the message whole."""
    found = []
    for pieces, weights in patterns():
        if all(f" {piece} " in message.joined for piece in pieces if piece):
            aligned = align(pieces, message, weights, loosely=False)
            if aligned is not None and aligned.exact:
                found.append(aligned)
    return found
