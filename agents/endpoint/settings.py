"""The settings of a model behind a chat endpoint."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import field_validator, model_validator

from ...records import Json, UsageError
from ...records.settings import Number, setting
from ..model_settings import ModelSettings
from .limits import RetrySettings

RESERVED_FIELDS = (
    "messages",
    "stream_options",
    "n",
    "seed",
)  # fields of a request that are not settings


BATCH_SETTINGS = ("batch_files", "batch_wait_s", "batch_poll_s")
BATCH_PROVIDERS = ("openai",)  # whose endpoint has OpenAI's files and batches


class ChatSettings(ModelSettings, RetrySettings):
    """Settings of a model behind a chat endpoint.

    The settings declared here can affect answers, except `stream`, `cache_key`, `BATCH_SETTINGS` and
    `api_key_env`. The inherited
    `RetrySettings` only control how requests are sent.
    """

    temperature: Number | None = setting(None, "Sampling temperature (default: the endpoint's).", ge=0)  # fmt: skip
    top_p: Number | None = setting(
        None, "Probability mass of nucleus sampling (default: the endpoint's).", ge=0
    )
    max_tokens: int | None = setting(None, "Maximum number of tokens per answer; a longer answer is cut and finishes with 'length'.", ge=1)  # fmt: skip
    reasoning_tokens: int | None = setting(None, "Maximum number of tokens per answer for reasoning, where the endpoint has such a limit (default: the endpoint's).", ge=1)  # fmt: skip
    model_args: Mapping[str, Json] = setting(
        {}, "Further fields of the request, sent unchanged (reasoning_effort, top_k, …)."
    )
    api_key_env: str | None = setting(
        None, "Name of the environment variable that holds the API key."
    )
    send_seed: bool | None = setting(
        None, "Send the seed of each call (default: until the endpoint refuses the field)."
    )
    tools: bool | None = setting(None, "Offer tools to the model (default: until the endpoint refuses them).")  # fmt: skip
    structured: Literal["auto", "always", "never"] = setting(
        "auto",
        "When to send the JSON schema of the answer: auto (only without tools), always or never.",
    )
    cache_key: bool | None = setting(
        None, "Send prompt_cache_key, one key per problem, so that the requests of a problem reach"
              " the same cache (default: to OpenAI and Mistral).",
    )  # fmt: skip
    stream: bool = setting(False, "Receive answers as a stream (default: false).")  # fmt: skip
    batch_files: bool = setting(
        False, "Collect requests and send them as batch files, which are answered within 24 hours"
               " (default: false).",
    )  # fmt: skip
    batch_wait_s: Number = setting(
        10.0, "Seconds without a new request after which a batch file is sent (10).", ge=0
    )
    batch_poll_s: Number = setting(
        10.0, "Seconds until the first look at a batch; later pauses grow to five minutes (10).",
        gt=0,
    )  # fmt: skip

    @field_validator("api_key_env", mode="before")
    @classmethod
    def _is_no_key(cls, value: Any) -> Any:
        if not re.fullmatch(r"[A-Za-z_]\w*", str(value)):
            raise UsageError(  # The message omits the value, which may be the key itself.
                "api_key_env must be the name of an environment variable, not a key"
            )
        return value

    @model_validator(mode="after")
    def _sets_no_field_apart(self) -> Self:
        for key in self.model_args:
            if key in RESERVED_FIELDS or key in type(self).model_fields:
                raise UsageError(
                    f"model_args of model {self.model!r} must not contain {key!r}: Peirce sets"
                    " this field itself"
                )
        return self


def check_batches(settings: ChatSettings) -> None:
    """Check that a model can be asked by batch files, if the settings say so.

    Raises:
        UsageError: The provider has no batch files, or another setting excludes them.
    """
    if not settings.batch_files:
        return
    provider = settings.model.partition(":")[0]
    if provider not in (*BATCH_PROVIDERS, "http", "https"):
        raise UsageError(
            f"model {settings.model!r} takes no batch files: {', '.join(BATCH_PROVIDERS)} and"
            " endpoints at a URL that have /files and /batches do"
        )
    if settings.stream:
        raise UsageError(
            f"stream and batch_files of model {settings.model!r} exclude each other: an answer in a"
            " batch file arrives at once"
        )
