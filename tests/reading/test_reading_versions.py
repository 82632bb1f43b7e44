"""Stated versions of any package, by how they are stated."""

from __future__ import annotations

import pytest

from bot.reading import read

STATED = [
    ("sglang==0.5.3", ("sglang", "0.5.3", "freeze")),
    ("flashinfer_python==0.4.0", ("flashinfer-python", "0.4.0", "freeze")),
    ("sglang: 0.5.3.post1", ("sglang", "0.5.3.post1", "freeze")),
    ("sglang                    0.5.3         pypi_0", ("sglang", "0.5.3", "freeze")),
    ("- `transformers` version: 4.45.1", ("transformers", "4.45.1", "freeze")),
    ("PyTorch version: 2.6.0+cu124", ("pytorch", "2.6.0+cu124", "freeze")),
    ("vLLM Version: 0.6.4.post1", ("vllm", "0.6.4.post1", "freeze")),
    ("[pip3] torch==2.6.0", ("torch", "2.6.0", "freeze")),
    ("[conda] numpy                     1.26.4", ("numpy", "1.26.4", "freeze")),
    ("| torch | 2.8.0 |", ("torch", "2.8.0", "freeze")),
    ("Name: sglang\nVersion: 0.5.3", ("sglang", "0.5.3", "freeze")),
    ("- sglang version： v0.5.8", ("sglang", "0.5.8", "freeze")),
    ("/x/site-packages/sglang-0.5.2.dist-info/METADATA", ("sglang", "0.5.2", "path")),
    ("sgl_kernel-0.3.12-cp310-abi3-linux_x86_64.whl", ("sgl-kernel", "0.3.12", "path")),
    ("https://github.com/sgl-project/sglang/releases/tag/v0.4.9", ("sglang", "0.4.9", "path")),
    ("docker run lmsysorg/sglang:v0.5.3-cu126 x", ("sglang", "0.5.3", "image")),
    ("image: vllm/vllm-openai:v0.11.0", ("vllm", "0.11.0", "image")),
    ("INFO 06-28 23:40:03 api_server.py:206] vLLM API server version 0.5.0.post1", ("vllm", "0.5.0.post1", "log")),
    ("It fails with SGLang v0.5.5rc1 here", ("sglang", "0.5.5rc1", "prose")),
    ("**environment**: sglang0.5.11", ("sglang", "0.5.11", "prose")),
    ('pip install "sglang[all]==0.5.4"', ("sglang", "0.5.4", "prose")),
    ("Version: 0.6.0", ("", "0.6.0", "prose")),
    ("After the upgrade to 0.5.13 it crashes", ("", "0.5.13", "prose")),
    ("git+https://github.com/sgl-project/sglang.git@abcdef1234567", ("sglang", "abcdef1234567", "commit")),
    ("on main (commit `ef5e9f8abab18609c42af4b1a1844ab21f76be0e`)", ("", "ef5e9f8abab18609c42af4b1a1844ab21f76be0e", "commit")),
]


@pytest.mark.parametrize(("text", "expected"), STATED)
@pytest.mark.parametrize("fenced", [True, False])
def test_statement(text: str, expected: tuple[str, str, str], fenced: bool) -> None:
    reading = read("A report", f"```\n{text}\n```" if fenced else text)
    assert [(v.package, v.version, v.kind) for v in reading.versions] == [expected]
    stated = reading.versions[0]
    assert reading.text[slice(*stated.span)] == stated.version


@pytest.mark.parametrize(
    "text",
    [
        "connect to 127.0.0.1:3000",
        "throughput (token/s): 96875.08, mem=15.12 GB",
        "[00:01<00:00, 17.54it/s]",
        "temperature=0.0",
        "torch>=2.1.0",
    ],
)
def test_no_statement(text: str) -> None:
    assert read("A report", text).versions == ()


def test_most_specific_statement_stands_first_and_conflicts_stay() -> None:
    body = "I use sglang 0.5.1.\n\ndocker pull lmsysorg/sglang:v0.5.2\n\n```\nsglang==0.5.3\nsglang==0.5.3\n```"
    assert [(v.version, v.kind) for v in read("T", body).versions] == [("0.5.3", "freeze"), ("0.5.2", "image"), ("0.5.1", "prose")]


def test_environment_states_versions_and_no_errors() -> None:
    names = ("Python", "CUDA available", "GPU 0", "sglang", "torch", "Clang version", "Accelerate config")
    values = ("3.10.12", "True", "L40", "0.5.3", "2.8.0", "Could not collect", "not found")
    reading = read("A report", "```\n" + "\n".join(f"{n}: {v}" for n, v in zip(names, values, strict=True)) + "\n```")
    assert {v.package for v in reading.versions} == {"python", "sglang", "torch"}
    assert {f.dialect for f in reading.occurrences} == {"title"}
