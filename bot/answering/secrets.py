"""Credentials in quoted text are masked, so that the bot never repeats a secret that its owner may still take back.

Every pattern is a literal head with one bounded class after it: no nested quantifier, no two wildcards, so the time is linear in
the length of the text. The formats are those that the issuers document (prefix and alphabet); the last ones need a telling name
beside the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

EMAIL = "e-mail address"
"""The kind that is masked for manners, not because it opens a door."""

_W = r"(?<![A-Za-z0-9_])"
"""No word character before: a token starts here."""

# kind, pattern. The whole match is masked, or only the group ``value`` where the pattern names one.
_TABLE: tuple[tuple[str, str], ...] = (
    ("private key", r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[A-Za-z0-9+/=\s\\:,-]{0,20000}"),
    ("private key", r"PuTTY-User-Key-File-[0-9]: [^\n]{0,200}"),
    ("age key", r"AGE-SECRET-KEY-1[A-Z0-9]{40,80}"),
    ("JSON web token", _W + r"eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{2,8000}(?:\.[A-Za-z0-9_-]{0,2000})?"),
    # forges and registries
    ("GitHub token", _W + r"gh[pousr]_[A-Za-z0-9_.-]{16,600}"),
    ("GitHub token", _W + r"github_pat_[A-Za-z0-9_]{16,255}"),
    ("GitHub runner token", _W + r"v1\.[0-9a-f]{40}"),
    ("GitLab token", _W + r"(?:glpat|glptt|gldt|glrt|glcbt|glsoat|glft|glimt|glagent|gloas|glffct)-[A-Za-z0-9_.-]{12,300}"),
    ("Bitbucket token", _W + r"ATBB[A-Za-z0-9_=-]{20,200}"),
    ("Atlassian token", _W + r"ATATT3[A-Za-z0-9_=+/-]{20,400}"),
    ("npm token", _W + r"npm_[A-Za-z0-9]{30,60}"),
    ("PyPI token", _W + r"pypi-[A-Za-z0-9_-]{16,300}"),
    ("RubyGems token", _W + r"rubygems_[0-9a-f]{40,64}"),
    ("crates.io token", _W + r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("Docker token", _W + r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,60}"),
    # model hosts and their APIs
    ("Hugging Face token", _W + r"(?:hf|api_org)_[A-Za-z0-9]{20,60}"),
    ("API key", _W + r"sk-(?:ant-|proj-|svcacct-|admin-|or-v1-|lf-)?[A-Za-z0-9_-]{16,300}"),
    ("API key", _W + r"(?:pk|rk)-(?:lf-)?[A-Za-z0-9_-]{20,200}"),
    ("xAI key", _W + r"xai-[A-Za-z0-9]{20,120}"),
    ("Groq key", _W + r"gsk_[A-Za-z0-9]{20,80}"),
    ("Perplexity key", _W + r"pplx-[A-Za-z0-9]{20,80}"),
    ("Replicate token", _W + r"r8_[A-Za-z0-9]{30,60}"),
    ("NVIDIA key", _W + r"nvapi-[A-Za-z0-9_-]{20,120}"),
    ("Fireworks key", _W + r"fw_[A-Za-z0-9]{20,60}"),
    ("Tavily key", _W + r"tvly-[A-Za-z0-9_-]{16,80}"),
    ("LangSmith key", _W + r"lsv2_(?:pt|sk)_[A-Za-z0-9_]{20,100}"),
    ("Weights & Biases key", r"(?i:wandb[_a-z]{0,20}[\"']?[ \t]{0,3}[=:][ \t]{0,3}[\"']?)(?P<value>(?:local-)?[0-9a-f]{40})"),
    # clouds
    ("AWS key", _W + r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{16}(?![A-Z0-9])"),
    ("AWS Bedrock key", _W + r"ABSK[A-Za-z0-9+/=]{40,300}"),
    ("Google API key", _W + r"AIza[A-Za-z0-9_-]{30,60}"),
    ("Google OAuth token", _W + r"ya29\.[A-Za-z0-9_.-]{20,400}"),
    ("Google OAuth secret", _W + r"GOCSPX-[A-Za-z0-9_-]{20,60}"),
    ("Azure key", r"(?i:(?:AccountKey|SharedAccessKey|sig)=)(?P<value>[A-Za-z0-9+/=%]{30,200})"),
    ("Azure AD secret", r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    ("DigitalOcean token", _W + r"do[oprt]_v1_[0-9a-f]{40,80}"),
    ("Alibaba Cloud key", _W + r"LTAI[A-Za-z0-9]{12,30}(?![A-Za-z0-9])"),
    ("Tencent Cloud key", _W + r"AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("Cloudflare key", _W + r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,200}"),
    ("Fly.io token", _W + r"(?:fo1_|fm[12][a-z]?_)[A-Za-z0-9_+/=,-]{20,2000}"),
    ("Heroku key", _W + r"HRKU-[A-Za-z0-9_-]{30,100}"),
    ("Vault token", _W + r"hv[sbr]\.[A-Za-z0-9_-]{20,300}"),
    ("Terraform token", _W + r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,120}"),
    ("Databricks token", _W + r"dapi[0-9a-f]{32}(?:-[0-9])?"),
    ("Pulumi token", _W + r"pul-[0-9a-f]{40}"),
    ("Doppler token", _W + r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{20,80}"),
    ("1Password token", _W + r"ops_eyJ[A-Za-z0-9_=+/-]{40,2000}"),
    # chat, mail, money, tools
    ("Slack token", _W + r"xox[abeoprs]-[A-Za-z0-9-]{10,300}"),
    ("Slack token", _W + r"xapp-[0-9]-[A-Za-z0-9-]{10,300}"),
    ("Slack webhook", r"hooks\.slack\.com/(?:services|workflows)/(?P<value>[A-Za-z0-9+/_-]{20,100})"),
    ("Discord webhook", r"discord(?:app)?\.com/api/webhooks/(?P<value>[0-9]{10,25}/[A-Za-z0-9_-]{30,100})"),
    ("Discord token", _W + r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"),
    ("Telegram token", _W + r"[0-9]{8,11}:AA[A-Za-z0-9_-]{32,36}"),
    ("SendGrid key", _W + r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,60}"),
    ("Mailgun key", _W + r"key-[0-9a-f]{32}(?![0-9a-f])"),
    ("Mailchimp key", _W + r"[0-9a-f]{32}-us[0-9]{1,2}(?![0-9])"),
    ("Twilio key", _W + r"(?:SK|AC)[0-9a-f]{32}(?![0-9a-f])"),
    ("Stripe key", _W + r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,200}"),
    ("Stripe secret", _W + r"whsec_[A-Za-z0-9+/=]{20,80}"),
    ("Square token", _W + r"(?:sq0[a-z]{3}-[A-Za-z0-9_-]{20,60}|EAAA[A-Za-z0-9_-]{50,80})"),
    ("Shopify token", _W + r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("Sentry token", _W + r"sntr(?:ys|yu)_[A-Za-z0-9_=+/-]{30,300}"),
    ("Grafana token", _W + r"(?:glsa_[A-Za-z0-9_]{30,60}|glc_[A-Za-z0-9+/=]{30,400})"),
    ("New Relic key", _W + r"NR(?:AK|II|RA|JS)-[A-Za-z0-9_-]{16,60}"),
    ("Linear key", _W + r"lin_(?:api|oauth)_[A-Za-z0-9]{30,80}"),
    ("Notion token", _W + r"(?:ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{40,50})"),
    ("Postman key", _W + r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("Figma token", _W + r"figd_[A-Za-z0-9_-]{30,60}"),
    ("Airtable token", _W + r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("Tailscale key", _W + r"tskey-[a-z]{2,12}-[A-Za-z0-9-]{16,80}"),
    ("Supabase key", _W + r"sb(?:p|_secret|_publishable)_[A-Za-z0-9_]{20,80}"),
    ("PlanetScale password", _W + r"pscale_(?:pw|tkn|oauth)_[A-Za-z0-9_.=-]{20,80}"),
    # names that tell
    ("password in an address", r"(?i:[a-z][a-z0-9+.-]{1,20}://)(?P<value>[^\s/@:'\"<>]{0,200}:[^\s/@'\"<>]{1,300})@"),
    ("token in an address", r"(?i:https?://)(?P<value>[A-Za-z0-9_.-]{20,200})@"),
    (
        "authorization header",
        r"(?i:authorization[\"']{0,2}[ \t]{0,3}[:=][ \t]{0,3}[\"']{0,2})(?P<value>[^\s\"',;]{1,20} [^\s\"',;]{4,2000})",
    ),
    ("bearer token", r"(?i:(?<![A-Za-z0-9_])bearer )(?P<value>[A-Za-z0-9_.~+/=-]{16,2000})"),
    (
        "password",
        r"(?i:(?:passwd|password|passphrase|client_secret|secret_key|secretkey|secret_access_key|api[_-]?key|apikey|access[_-]?token|"
        r"auth[_-]?token|refresh[_-]?token|session[_-]?token|private[_-]?token|hf_token|github_token|gh_token|x-api-key)"
        r"[\"']{0,2}[ \t]{0,3}[=:][ \t]{0,3}[\"']?)(?P<value>(?!None\b|null\b|True\b|False\b|\[hidden)[^\s\"',;)}\]]{6,400})",
    ),
    (
        EMAIL,
        r"(?<![A-Za-z0-9._%+-])(?P<value>[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9][A-Za-z0-9.-]{0,252}\.[A-Za-z]{2,24})(?![A-Za-z0-9-])",
    ),
)

PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple((kind, re.compile(pattern)) for kind, pattern in _TABLE)
"""Kind of credential and how it looks, in the order in which they are masked."""


def mask(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with every credential replaced by ``[hidden: kind]``, and the kinds found, each once."""
    found: dict[str, None] = {}
    for kind, pattern in PATTERNS:
        text = pattern.sub(lambda match, kind=kind: _replace(match, kind, found), text)  # type: ignore[misc]
    return text, tuple(found)


def doors(kinds: Iterable[str]) -> tuple[str, ...]:
    """Those kinds that open something, which their owner should revoke."""
    return tuple(kind for kind in kinds if kind != EMAIL)


def _replace(match: re.Match[str], kind: str, found: dict[str, None]) -> str:
    found[kind] = None
    if "value" not in match.re.groupindex:
        return f"[hidden: {kind}]"
    start, end = match.span("value")
    whole = match.group()
    return whole[: start - match.start()] + f"[hidden: {kind}]" + whole[end - match.start() :]
