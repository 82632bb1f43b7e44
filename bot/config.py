"""Settings of the operator (environment) and of a target repository (``.github/explainbot.yml``)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import platformdirs
import yaml
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

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
    data_dir: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("explainbot")), description="Folder of the SQLite file"
    )
    settle_seconds: float = Field(
        10.0, ge=0, description="Seconds to wait after a write of unknown outcome before looking whether it arrived"
    )
    write_interval: float = Field(3.0, ge=0, description="Seconds between two writes of one installation")

    @property
    def secrets(self) -> tuple[bytes, ...]:
        """The webhook secrets as bytes.

        Raises ConfigError when there is none, or one is shorter than 32 bytes.
        """
        found = tuple(part.strip().encode() for part in self.webhook_secrets.get_secret_value().split(",") if part.strip())
        if not found:
            raise ConfigError(
                "no webhook secret: set EXPLAINBOT_WEBHOOK_SECRETS to the secret of the webhook (at least 32 bytes)"
            )
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


class ExplainSection(_Section):
    """Section ``explain``: which answers are posted."""

    answers: Literal["reviewed", "proven", "derived"] = Field(
        "proven",
        description="reviewed: only records that people wrote; proven: also derived ones when a frame or printed line proves "
        "the raise site; derived: all",
    )


class LabelsSection(_Section):
    """Section ``labels``: when present, issues get the label of the area that their error comes from."""

    prefix: str = Field("", description="Put before the area's name to make the label")
    areas: dict[str, str] = Field(default_factory=dict, description="Path pattern to area; those of source.yaml when empty")


class RepoConfig(_Section):
    """``.github/explainbot.yml`` of a target repository. A section that is present is a feature that is on."""

    explain: ExplainSection = ExplainSection()
    labels: LabelsSection | None = None

    @field_validator("labels", mode="before")
    @classmethod
    def _present_means_on(cls, value: object) -> object:
        return {} if value is None else value


CONFIG_PATH = ".github/explainbot.yml"


def parse_repo_config(text: str) -> RepoConfig:
    """Read ``.github/explainbot.yml``; an empty text is the default.

    Raises ConfigError that names each wrong key.
    """
    try:
        loaded = yaml.load(text, Loader=yaml.CSafeLoader)
        return RepoConfig.model_validate(loaded if loaded is not None else {})
    except yaml.YAMLError as error:
        raise ConfigError(f"{CONFIG_PATH}: not valid YAML: {error}") from error
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in error.errors())
        raise ConfigError(f"{CONFIG_PATH}: {faults}") from error
