"""Settings of the operator (environment) and of a target repository (``.github/explainbot.yml``)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta, tzinfo
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.catalogue.strict_yaml import Document, YamlMistake, read_yaml

MIN_SECRET_BYTES = 32
"""A webhook secret shorter than this is refused: it could be guessed, and with it deliveries forged."""


class ConfigError(Exception):
    """Settings or a configuration file that cannot be used; the message says what to change and where."""


class Settings(BaseSettings):
    """What the operator sets, by environment variables with the prefix ``EXPLAINBOT_`` (``deploy/env.example`` lists all)."""

    model_config = SettingsConfigDict(env_prefix="EXPLAINBOT_", extra="ignore")

    webhook_secrets: SecretStr = Field(
        SecretStr(""),
        description="Secret of the webhook, at least 32 bytes; several, separated by commas, while one is replaced",
    )
    app_id: int | None = Field(None, description="Id of the GitHub App")
    private_key: SecretStr = Field(SecretStr(""), description="Private key of the GitHub App, in PEM form")
    private_key_file: Path | None = Field(None, description="File that holds the private key of the GitHub App")
    token: SecretStr = Field(SecretStr(""), description="A plain token, used in place of an App")
    github_url: str = Field("https://api.github.com", description="Base URL of the API; another one for GitHub Enterprise")
    database_url: str = Field(
        "", description="Where work and answers are kept: a SQLAlchemy URL; a SQLite file in the data folder by default"
    )
    public_url: str = Field("http://127.0.0.1:8080", description="Address at which people reach the record pages")
    errors_dir: Path = Field(
        default_factory=lambda: default_errors_dir(),
        description="Folder of the record files (errors/<owner>/<repository>)",
    )
    cache_dir: Path = Field(
        default_factory=lambda: Path(platformdirs.user_cache_dir("explainbot")),
        description="Folder of the built catalogues",
    )
    data_dir: Path = Field(default_factory=lambda: Path(platformdirs.user_data_dir("explainbot")), description="Folder of the SQLite file")
    settle_seconds: float = Field(
        10.0, ge=0, description="Seconds to wait after a write of unknown outcome before looking whether it arrived"
    )
    write_interval: float = Field(3.0, ge=0, description="Seconds between two writes of one installation")
    minimum: float = Field(0.0, ge=0, le=1, description="Certainty below which nothing is posted unasked; a repository can only raise it")
    comments_per_person: int = Field(
        5, ge=0, description="New comments in an hour that one person can cause, who may not sort issues there; 0: no limit"
    )
    commands_per_person: int = Field(
        20, ge=0, description="Commands in an hour that are carried out for one person who may not sort issues there; 0: no limit"
    )
    comments_per_repository: int = Field(60, ge=0, description="New comments in an hour on one repository; 0: no limit")
    records_repository: str = Field("", description="OWNER/NAME where record files are kept, for `/explain record`; may be empty")

    draft_url: str = Field(
        "", description="Base URL of a server that speaks the OpenAI chat protocol, for `explainbot draft`; off when empty"
    )
    draft_key: SecretStr = Field(SecretStr(""), description="Key for that server")
    draft_model: str = Field("", description="Name of the model there")

    @property
    def secrets(self) -> tuple[bytes, ...]:
        """The webhook secrets as bytes.

        Raises ConfigError when there is none, or one is shorter than 32 bytes.
        """
        found = tuple(part.strip().encode() for part in self.webhook_secrets.get_secret_value().split(",") if part.strip())
        if not found:
            raise ConfigError("no webhook secret: set EXPLAINBOT_WEBHOOK_SECRETS to the secret of the webhook (at least 32 bytes)")
        if any(len(secret) < MIN_SECRET_BYTES for secret in found):
            raise ConfigError(f"EXPLAINBOT_WEBHOOK_SECRETS: each secret needs at least {MIN_SECRET_BYTES} bytes")
        return found

    @property
    def database(self) -> str:
        """The SQLAlchemy URL of the database."""
        return self.database_url or f"sqlite:///{self.data_dir / 'explainbot.sqlite'}"

    @property
    def app_key(self) -> str:
        """The App's private key in PEM form, empty when none is set.

        Raises ConfigError when the file that should hold it cannot be read.
        """
        if self.private_key_file is None:
            return self.private_key.get_secret_value()
        try:
            return self.private_key_file.read_text()
        except OSError as error:
            raise ConfigError(f"EXPLAINBOT_PRIVATE_KEY_FILE: {self.private_key_file}: {error.strerror}") from error


def default_errors_dir() -> Path:
    """The record files beside the package: in a checkout ``errors/``, in an installed wheel ``bot/_errors/``."""
    package = Path(__file__).parent
    packed = package / "_errors"
    return packed if packed.is_dir() else package.parent / "errors"


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


_Id = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
_Text = Annotated[str, Field(min_length=1, max_length=200)]
_Texts = Annotated[tuple[_Text, ...], Field(max_length=200)]


class ExplainSection(_Section):
    """Section ``explain``: which answers are posted unasked."""

    answers: Literal["reviewed", "proven", "derived"] = Field(
        "proven",
        description="reviewed: only records that people wrote; proven: also derived ones when a frame or printed line proves "
        "the raise site; derived: all",
    )
    minimum: float = Field(0.0, ge=0, le=1, description="Certainty below which nothing is posted; the operator's where that is higher")
    ignore: tuple[_Id, ...] = Field((), max_length=1000, description="Ids of records that are not answered")
    only_paths: _Texts = Field((), description="Patterns of source paths; when given, only errors raised there are answered")
    languages: tuple[Literal["python", "cpp", "rust"], ...] = Field(
        (), description="Languages of the source; when given, only errors raised in them are answered"
    )


class LabelsSection(_Section):
    """Section ``labels``: when present, issues get the label of the area that their error comes from."""

    prefix: str = Field("", max_length=40, description="Put before the area's name to make the label")
    areas: dict[str, str] = Field(default_factory=dict, description="Path pattern to area; those of source.yaml when empty")


class SkipSection(_Section):
    """Section ``skip``: issues that are not answered unasked."""

    labels: _Texts = Field((), description="Labels")
    authors: _Texts = Field((), description="Logins of authors")
    title: _Texts = Field((), description="Words of the title")


class QuietHours(_Section):
    """Section ``quiet_hours``: when nothing is posted unasked; it is made up for afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    start: time = Field(alias="from", description="First quiet minute, such as 22:00")
    end: time = Field(alias="to", description="First minute after them, such as 06:00")
    zone: str = Field("UTC", description="Time zone, such as Europe/Berlin")

    @field_validator("start", "end", mode="before")
    @classmethod
    def _written_so(cls, value: object) -> object:
        if isinstance(value, str) and not re.fullmatch(r"(?:[01]?[0-9]|2[0-3]):[0-5][0-9]", value):
            raise ValueError("write a time such as 22:00")
        return f"{value:0>5}" if isinstance(value, str) else value

    @field_validator("zone")
    @classmethod
    def _is_known(cls, value: str) -> str:
        try:
            _zone(value)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError("no time zone of this name is known") from error
        return value

    def seconds_left(self, now: datetime) -> float:
        """Seconds until the quiet hours end; 0.0 outside them."""
        here = now.astimezone(_zone(self.zone))
        at = here.time()
        across = self.start > self.end
        quiet = (at >= self.start or at < self.end) if across else self.start <= at < self.end
        if not quiet:
            return 0.0
        end = here.replace(hour=self.end.hour, minute=self.end.minute, second=0, microsecond=0)
        if end <= here:
            end += timedelta(days=1)
        return max(1.0, (end.astimezone(UTC) - now.astimezone(UTC)).total_seconds())


def _zone(name: str) -> tzinfo:
    # A small container has no file of time zones; UTC needs none.
    return UTC if name == "UTC" else ZoneInfo(name)


class RepoConfig(_Section):
    """``.github/explainbot.yml`` of a target repository. A section that is present is a feature that is on."""

    explain: ExplainSection = ExplainSection()
    labels: LabelsSection | None = None
    skip: SkipSection = SkipSection()
    quiet_hours: QuietHours | None = None


CONFIG_PATH = ".github/explainbot.yml"
OWNER_REPOSITORY = ".github"
OWNER_CONFIG_PATH = "explainbot.yml"
"""Where an owner keeps the configuration of all repositories that have none: in the repository named ``.github``."""


def parse_repo_config(text: str, path: str = CONFIG_PATH) -> RepoConfig:
    """Read ``.github/explainbot.yml``; an empty text is the default.

    Raises ConfigError that names each wrong key with its line.
    """
    if not any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines()):
        return RepoConfig()
    try:
        document = read_yaml(text.encode("utf-8", "replace"))
    except YamlMistake as error:
        raise ConfigError(f"{path}:{error.mistake.line}: {error.mistake.problem}; {error.mistake.mend}") from error
    faults = [f"{path}:{wrong.line}: {wrong.problem}" for wrong in document.mistakes[:20]]
    value = document.value
    if isinstance(value, dict):
        # A section without keys is a feature that is on with its defaults.
        value = {key: value.get(key, {}) for key in document.keys}
    try:
        config = RepoConfig.model_validate({} if value is None else value)
    except ValidationError as error:
        faults += [_fault(path, document, detail) for detail in error.errors(include_url=False)[:20]]
    if faults:
        raise ConfigError("; ".join(faults))
    return config


def _fault(path: str, document: Document, detail: ErrorDetails) -> str:
    where = [step for step in detail["loc"] if isinstance(step, str | int)]
    name = ".".join(map(str, where)) or "file"
    said = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "extra_forbidden":
        near = get_close_matches(str(where[-1]), _KNOWN_KEYS, n=1)
        said = "unknown key" + (f"; did you mean {near[0]}?" if near else "")
    return f"{path}:{document.line(*where)}: {name[:100]}: {said}"


_KNOWN_KEYS = sorted(
    {
        field.alias or name
        for part in (RepoConfig, ExplainSection, LabelsSection, SkipSection, QuietHours)
        for name, field in part.model_fields.items()
    }
)
