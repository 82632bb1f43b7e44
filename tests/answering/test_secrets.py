"""Credentials of every format are masked wherever they stand; what only looks like one stays readable."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.answering.sanitise import code, fence
from bot.answering.secrets import EMAIL, PATTERNS, doors, mask

LETTERS = string.ascii_letters + string.digits


def made(length: int, alphabet: str = LETTERS) -> str:
    """A value of that length that is no real one."""
    return "".join(alphabet[(7 * at + 3) % len(alphabet)] for at in range(length))


HEX, UPPER = "0123456789abcdef", string.ascii_uppercase + string.digits

# Written in two parts, so that no scanner takes this file for a leak.
FORMATS = {
    "ghp_": 36, "gho_": 36, "ghu_": 36, "ghs_": 36, "ghr_": 36, "github_" + "pat_": 82, "glpat-": 20, "ATBB": 32, "ATATT3": 180, "npm_": 36,
    "pypi-": 150, "dckr_pat_": 27, "hf_": 34, "sk-": 48, "sk-proj-": 100, "sk-ant-": 95, "xai-": 80, "gsk_": 52, "pplx-": 48, "r8_": 37,
    "nvapi-": 64, "fw_": 24, "tvly-": 32, "lsv2_pt_": 40, "AIza": 35, "ya29.": 100, "GOCSPX-": 28, "LTAI": 20, "hvs.": 90, "dp.pt.": 43,
    "xoxb-": 50, "xapp-1-": 60, "sk_live_": 24, "rk_test_": 24, "whsec_": 32, "EAAA": 60, "sntrys_": 60, "glsa_": 41, "lin_api_": 40,
    "ntn_": 46, "figd_": 40, "tskey-auth-": 40, "sbp_": 40, "NRAK-": 27, "pscale_pw_": 43, "fo1_": 43, "HRKU-": 36, "AKID": 32,
}  # fmt: skip
OTHERS = [
    "AKIA" + made(16, UPPER),
    "ASIA" + made(16, UPPER),
    "v1." + made(40, HEX),
    "dapi" + made(32, HEX),
    "dop_v1_" + made(64, HEX),
    "key-" + made(32, HEX),
    "SK" + made(32, HEX),
    made(32, HEX) + "-us14",
    "shpat_" + made(32, HEX),
    "PMAK-" + made(24, HEX) + "-" + made(34, HEX),
    "pul-" + made(40, HEX),
    "rubygems_" + made(48, HEX),
    "AGE-SECRET-KEY-1" + made(58, UPPER),
    made(10, string.digits) + ":AA" + made(33),
    "SG." + made(22) + "." + made(43),
    "pat" + made(14) + "." + made(64, HEX),
    made(14) + ".atlasv1." + made(67),
    "eyJ" + made(30) + "." + made(60) + "." + made(43),
    "abc8Q~" + made(34),
]
VALUES = [head + made(length) for head, length in FORMATS.items()] + OTHERS
AROUND = ["{}", "x={}", "'{}'", "token: {}\nnext", "({})", "https://e.example/?k={}", "中文{}中文", "a\n{}\nb", "`{}`"]


def test_there_are_sixty_formats() -> None:
    assert len(VALUES) >= 60


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value[:8])
def test_a_credential_is_masked_wherever_it_stands(value: str) -> None:
    for around in AROUND:
        masked, kinds = mask(around.format(value))
        assert value not in masked
        assert doors(kinds)
    assert value[:12] not in fence(f"ValueError: bad {value} here").replace("\u200b", "")
    assert value[:12] not in code(value).replace("\u200b", "")


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("postgres://bob:" + "hunter22@db/x", "postgres://[hidden: password in an address]@db/x"),
        ("Authorization: Bearer " + "abcdef0123456789", "Authorization: [hidden: authorization header]"),
        ("password=" + "hunter22", "password=[hidden: password]"),
        ("'api_key': '" + "abcdefgh'", "'api_key': '[hidden: password]'"),
        ("mail bob@example.org now", "mail [hidden: e-mail address] now"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "[hidden: private key]"),
    ],
)
def test_what_is_told_by_what_stands_around_it(text: str, masked: str) -> None:
    assert mask(text)[0] == masked


def test_a_key_that_is_cut_off_is_masked_to_the_end() -> None:
    assert mask("x -----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B")[0] == "x [hidden: private key]"


@pytest.mark.parametrize(
    "text",
    [
        "Tried to allocate 16777216 bytes (0x7f3a2b1c4d5e)",
        "max_total_num_tokens=123456, token: 5, page_size=64",
        "Unknown backend 'flashinfer'; choose one of triton, fa3",
        'File "/usr/lib/python3.12/site-packages/sglang/srt/server_args.py", line 6797, in __post_init__',
        "hf_transformers_model is not risk-free, task-specific or sk-learn",
        "tokenizer_path=None, api_key=None, hf_token=None",
        "tensor a@b has shape torch.Size([1, 2])",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "http://127.0.0.1:30000/health_generate",
    ],
)
def test_what_is_no_credential_stays_readable(text: str) -> None:
    assert mask(text) == (text, ())


def test_an_address_is_hidden_but_opens_no_door() -> None:
    assert doors(mask("bob@example.org")[1]) == ()
    assert mask("bob@example.org")[1] == (EMAIL,)


def test_no_pattern_has_a_quantifier_without_bound_or_one_inside_another() -> None:
    for _, pattern in PATTERNS:
        bare = re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]", "c", pattern.pattern)
        assert not re.search(r"(?<!\()[*+]", bare), pattern.pattern
        assert not re.search(r"[}?]\)[{*+]", bare), pattern.pattern


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(VALUES), st.text(max_size=30), st.text(max_size=30))
def test_no_surrounding_uncovers_a_credential(value: str, before: str, after: str) -> None:
    before = before.rstrip(LETTERS + "_-.~")
    assert value not in fence(f"{before} {value}\n{after}", most=5_000, lines=100).replace("\u200b", "")
