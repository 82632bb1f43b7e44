"""Values that stand in for what a program's names hold when it raises: typed by their names, drawn from a seeded generator.

Used by :mod:`worker` in a process of its own, so nothing but the standard library may be imported here.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

WORDS = (
    "prefill", "decode", "fp8", "layer_3", "q_proj", "auto", "cuda", "triton", "default", "float16", "main", "none", "eagle", "radix",
    "chunk", "awq", "user", "gate", "flash", "batch", "qwen", "llama", "v2", "meta", "h100", "worker-0", "tp0", "json", "image", "text",
)  # fmt: skip
MODELS = ("meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-30B-A3B", "deepseek-ai/DeepSeek-V3", "./models/my-model", "google/gemma-3-4b-it")
PATHS = (
    "/data/models/llama/config.json",
    "/tmp/x1/out.bin",
    "C:\\models\\w.safetensors",
    "./run.yaml",
    "/home/user/.cache/hub/models--a--b",
)
ERRORS = (
    "CUDA error: out of memory", "No module named 'foo'", "[Errno 2] No such file or directory: '/x'", "list index out of range",
    "timed out",
    "Connection refused", "'NoneType' object has no attribute 'shape'", "unexpected keyword argument 'x'", "invalid literal",
)  # fmt: skip
CLASSES = ("Tensor", "LlamaForCausalLM", "PretrainedConfig", "NoneType", "dict", "Qwen3MoeConfig", "FlashAttentionBackend", "int")


class Shown:
    """A value whose ``repr`` is what is given, e.g. ``torch.Size([4, 8])``."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _names(chance: random.Random) -> list[str]:
    return chance.sample(WORDS, chance.randint(1, 5))


Make = Callable[[random.Random], Any]

KINDS: dict[str, Make] = {
    "int": lambda c: c.choice((0, 1, 2, 3, 7, 8, 16, 64, 128, 4096, 32768, c.randrange(100_000))),
    "float": lambda c: round(c.choice((0.5, 0.9, 1e-5, 12.5, c.random() * 100)), c.randint(1, 6)),
    "word": lambda c: c.choice(WORDS),
    "words": lambda c: c.choice((_names, lambda d: tuple(_names(d)), lambda d: set(_names(d))))(c),
    "path": lambda c: c.choice(PATHS),
    "model": lambda c: c.choice(MODELS),
    "shape": lambda c: c.choice((Shown, str))(f"torch.Size([{', '.join(str(c.randrange(1, 4097)) for _ in range(c.randint(1, 4)))}])"),
    "dtype": lambda c: Shown(f"torch.{c.choice(('float16', 'bfloat16', 'float8_e4m3fn', 'int32', 'uint8'))}"),
    "device": lambda c: c.choice(("cuda:0", "cuda:3", "cpu", "npu", "xpu:1")),
    "class": lambda c: c.choice(CLASSES),
    "enum": lambda c: Shown(c.choice(("ForwardMode.DECODE", "<QuantMethod.FP8: 2>", "Backend.FLASHINFER", "<Mode.A: 'a'>"))),
    "dict": lambda c: {word: c.choice((1, None, "x", 0.5, [1, 2])) for word in _names(c)},
    "config": lambda c: Shown(f"EngineArgs(model='{c.choice(MODELS)}', tp_size={c.randrange(1, 9)}, dtype='auto')"),
    "error": lambda c: c.choice(ERRORS),
    "url": lambda c: c.choice(("http://127.0.0.1:30000/generate", "https://example.org/v1/models", "tcp://10.0.0.1:5000")),
    "sentence": lambda c: " ".join(c.choices(WORDS, k=c.randint(3, 12))),
    "lines": lambda c: "\n".join(" ".join(c.choices(WORDS, k=c.randint(2, 8))) for _ in range(c.randint(2, 5))),
    "none": lambda c: None,
}

HINTS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(pattern), kinds)
    for pattern, kinds in (
        (r"^(e|ex|err|error|exc|exception|reason|failure)$|error$|_exc$", ("error",)),
        (r"shape|sizes$", ("shape", "words")),
        (r"dtype", ("dtype",)),
        (r"device", ("device",)),
        (r"path|file|dir$|folder|directory", ("path",)),
        (r"url|endpoint|addr", ("url",)),
        (r"model", ("model", "class")),
        (r"ratio|frac|prob|temperature|scale|timeout|time|rate|eps|seconds|memory|_gb", ("float",)),
        (r"num|^n_|^n$|size|len|count|rank|index|idx|_id$|^id$|port|pid|dim|step|token|bits|limit|max|min|layer|world|degree", ("int",)),
        (r"class|type|cls|__name__", ("class", "word", "enum")),
        (r"config|cfg|args|params|kwargs", ("config", "dict")),
        (r"mode|backend|method|format|name|key|attr|field|arch", ("word", "enum")),
        (r"s$", ("words", "dict")),
    )
)

ANY = ("word", "int", "words", "word", "enum", "class", "sentence", "path", "none", "dict", "float")


class Maker:
    """Draws values; 5 % of them are the message of another place, 2 % have several lines."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.others: list[tuple[int, str]] = []
        self.nested: list[int] = []

    def value(self, name: str) -> Any:
        """A value for something of this name."""
        dice = self.chance.random()
        if dice < 0.05 and self.others:
            number, text = self.chance.choice(self.others)
            self.nested.append(number)
            return text
        if dice < 0.07:
            return KINDS["lines"](self.chance)
        kinds = next((kinds for pattern, kinds in HINTS if pattern.search(name.lower())), ANY)
        return KINDS[self.chance.choice(kinds)](self.chance)

    def thing(self, name: str) -> Thing:
        """Something of this name that can be used in any way."""
        return Thing(self, name, self.value(name))


class Thing(str):
    """A value that bears any use in a message expression: attributes, calls, indexes, arithmetic, formats, joins.

    A ``str``, since ``", ".join(x.name for x in things)`` takes nothing else.
    """

    _maker: Maker
    _name: str
    _value: Any

    def __new__(cls, maker: Maker, name: str, value: Any) -> Thing:
        made = super().__new__(cls, value)
        made._maker, made._name, made._value = maker, name, value
        return made

    def __str__(self) -> str:
        return str.__str__(self)[:]

    def __repr__(self) -> str:
        return repr(self._value)

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self._value)
        try:
            return format(self._value, spec)
        except (TypeError, ValueError):
            last = spec[-1]
            return format(int(self) if last in "dxXbocn," else float(self) if last in "eEfFgG%" else str(self._value), spec)

    def _other(self, name: str) -> Thing:
        return self._maker.thing(name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__name__", "__qualname__", "__module__"):
            raise AttributeError(name)
        return self._other(name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._name == "items":
            return [(word, self._other(word)) for word in _names(self._maker.chance)]
        if self._name in ("keys", "values"):
            return [self._other("word") for _ in range(self._maker.chance.randint(1, 4))]
        return Thing(self._maker, self._name, self._value)

    def __getitem__(self, key: Any) -> Any:
        return self._other(self._name.rstrip("s"))

    def __iter__(self) -> Iterator[Any]:
        return iter([self._other(self._name.rstrip("s")) for _ in range(self._maker.chance.randint(1, 4))])

    def __len__(self) -> int:
        return self._maker.chance.randrange(1, 300)

    def __contains__(self, item: object) -> bool:
        return self._maker.chance.random() < 0.5

    def __bool__(self) -> bool:
        return self._maker.chance.random() < 0.8

    def __int__(self) -> int:
        return int(self._value) if isinstance(self._value, int | float) else self._maker.chance.randrange(1, 5000)

    __index__ = __int__

    def __float__(self) -> float:
        return float(self._value) if isinstance(self._value, int | float) else round(self._maker.chance.random() * 50, 3)

    def __hash__(self) -> int:
        return id(self)

    def _number(self, *_: Any) -> Any:
        return Thing(self._maker, "num", KINDS["int"](self._maker.chance))

    __sub__ = __rsub__ = __mul__ = __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __pow__ = __rpow__ = _number  # type: ignore[assignment]
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __lshift__ = __rlshift__ = __rshift__ = __neg__ = __abs__ = __invert__ = _number
    __matmul__ = __rmatmul__ = __round__ = _number

    def __add__(self, other: Any) -> Any:
        return str(self._value) + str(other) if isinstance(other, str) else self._number()

    def __radd__(self, other: Any) -> Any:
        return str(other) + str(self._value) if isinstance(other, str) else self._number()

    def __rmul__(self, other: Any) -> Any:
        return str(other) * (int(self) % 60) if isinstance(other, str) else self._number()

    def _truth(self, other: object) -> bool:
        return self._maker.chance.random() < 0.5

    __lt__ = __gt__ = __le__ = __ge__ = __eq__ = __ne__ = _truth

    count = property(lambda self: self._other("count"))  # type: ignore[assignment]
    index = property(lambda self: self._other("index"))  # type: ignore[assignment]
    find = property(lambda self: self._other("index"))  # type: ignore[assignment]
    title = property(lambda self: self._other("title"))  # type: ignore[assignment]
