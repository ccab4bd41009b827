"""Render prompts with a model's chat template, and count the tokens of prompts and answers.

The counts are those of a training (`dpo/pair_tokens.py`), which uses the same code
(`agents/local/example_format.py`): the tokens before the answer, those of the answer, and one token
that ends it. The length of a pair is their sum.
"""

from __future__ import annotations

import contextlib
import copy
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Self, TypeVar

from ...agents.local.chat import ChatFormat
from ...agents.local.example_format import ExampleFormat
from ...records import DataError, Json, Message, Unavailable, UsageError, digest_of_text

INSTALL = "pip install 'peirce[train]'"
COUNTS = "training"  # in the settings of a limit: the counts are exactly those of a training
_TOGETHER = 1_000

T = TypeVar("T")


def tokenizer_digest(tokenizer: Any) -> str:
    """Return the digest of a tokenizer and its chat template."""
    return digest_of_text(tokenizer.backend_tokenizer.to_str() + str(tokenizer.chat_template))


@dataclass(frozen=True)
class OwnRendering:
    """How a base model renders prompts, whatever the sessions used (`render_anew` of a training).

    Attributes:
        chat_template: A Jinja file, or plain; None for the model's own template.
        variables: The variables of the template. Variables that it does not use are ignored.
        date: The date that the template writes if it writes one, such as 2026-11-29; None for
            today.
    """

    chat_template: str | None = None
    variables: Mapping[str, Json] = field(default_factory=dict)
    date: str | None = None


def describe_own_rendering(wording: ChatFormat) -> dict[str, Json]:
    """Return what determines the prompts of a model besides its tokenizer, as a JSON object."""
    variables = dict(wording.variables)
    return {"chat_template": wording.digest, "variables": variables, "date": wording.date}


class ModelText:
    """The tokenizer and the chat template of a base model.

    Args:
        base: The model's folder, with or without `hf:`, or its id in the cache of the Hugging Face
            hub.
        variables: Variables of the chat template. Variables that the template does not use are
            ignored.
        own: How the model renders prompts whatever the sessions used; None to render them as the
            sessions did.

    Raises:
        UsageError: The model does not exist, has no tokenizer or no chat template, or transformers
            is not installed.
    """

    def __init__(
        self,
        base: str | Path,
        variables: Mapping[str, Json] | None = None,
        own: OwnRendering | None = None,
    ) -> None:
        name = str(base).removeprefix("hf:")
        if importlib.util.find_spec("transformers") is None:
            raise UsageError(f"the tokenizer of {name!r} needs transformers: {INSTALL}")
        self.name = Path(name).expanduser().name if Path(name).expanduser().exists() else name
        self._tokenizer = _tokenizer(name)
        self._own = own
        if not self._tokenizer.chat_template and (own is None or own.chat_template is None):
            raise UsageError(
                f"the tokenizer of {name!r} has no chat template to format prompts with: use a"
                " chat model, or add a template to its tokenizer"
            )
        self._format = self._formatted(variables or {})

    def _formatted(self, variables: Mapping[str, Json]) -> ExampleFormat:
        template = None
        if self._own is not None:
            template, variables = self._own.chat_template, self._own.variables
        with _convert_errors():
            wording = ChatFormat(
                self.name, self._tokenizer, template, variables, tools=False, known_only=True
            )
        if self._own is not None and self._own.date is not None:
            wording.freeze_date(datetime.fromisoformat(self._own.date))
        return ExampleFormat(wording)

    @property
    def date(self) -> str | None:
        """The date of `own`, if the chat template writes a date; otherwise None."""
        return self._format.wording.date

    def with_variables(self, variables: Mapping[str, Json]) -> Self:
        """Return a copy that renders prompts with these variables of the chat template.

        If the model renders prompts in its own way (`own`), its variables stay.
        """
        changed = copy.copy(self)
        changed._format = self._formatted(variables)
        return changed

    def render_prompt(self, messages: Sequence[Message]) -> str:
        """Return the text of a prompt, up to the position where the answer begins.

        If the model reasons before it answers, the text ends after an empty block of reasoning.

        Raises:
            DataError: The chat template rejects the messages.
        """
        with _convert_errors():
            return self._format.render_start(messages)

    def count_prompt_tokens(self, prompts: Sequence[Sequence[Message]]) -> list[int]:
        """Return the number of tokens before the answer, for each prompt."""
        with _convert_errors():
            return [
                len(ids) for part in _parts(prompts) for ids in self._format.tokenize_starts(part)
            ]

    def count_answer_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each answer, including the token that ends an answer."""
        with _convert_errors():
            return [
                len(ids) + 1
                for part in _parts(texts)
                for ids in self._format.tokenize_answers(part)
            ]

    def settings(self) -> dict[str, Json]:
        """Return the name of the base model and the digest of its tokenizer, to be stored with
        pairs. With `own`, also return what determines its prompts, as "rendered".
        """
        told = {"base": self.name, "tokenizer": tokenizer_digest(self._tokenizer)}
        if self._own is None:
            return told
        return {**told, "rendered": describe_own_rendering(self._format.wording)}


class TokenLimit:
    """A limit for the tokens of a prompt and an answer together (`build_pairs.LengthLimit`).

    Args:
        text: The tokenizer and the chat template that count the tokens.
        max_tokens: The maximum number of tokens.

    Raises:
        UsageError: `max_tokens` is below 2.
    """

    def __init__(self, text: ModelText, max_tokens: int) -> None:
        if max_tokens < 2:
            raise UsageError(
                f"max-length {max_tokens}: a prompt and an answer need at least 2 tokens"
            )
        self._text = text
        self.max_tokens = max_tokens

    def count_prompt_tokens(self, prompts: Sequence[Sequence[Message]]) -> list[int]:
        """Return the number of tokens of each prompt."""
        return self._text.count_prompt_tokens(prompts)

    def count_answer_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each answer."""
        return self._text.count_answer_tokens(texts)

    def settings(self) -> Mapping[str, Json]:
        """Return the settings of the tokenizer and the limit, which are stored with the pairs."""
        settings = {"max_length": self.max_tokens, "counts": COUNTS}
        return {**self._text.settings(), **settings}

    def with_variables(self, variables: Mapping[str, Json]) -> TokenLimit:
        """Return a copy that renders prompts with these variables of the chat template."""
        return TokenLimit(self._text.with_variables(variables), self.max_tokens)


@contextlib.contextmanager
def _convert_errors() -> Iterator[None]:
    try:
        yield
    except Unavailable as error:
        raise DataError(str(error)) from None


def _parts(texts: Sequence[T]) -> Iterator[Sequence[T]]:
    return (texts[start : start + _TOGETHER] for start in range(0, len(texts), _TOGETHER))


def _tokenizer(name: str) -> Any:
    from transformers import AutoTokenizer

    place = Path(name).expanduser()
    if not place.is_dir() and (
        place.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1
    ):
        raise UsageError(f"base model folder {name!r} does not exist")
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            str(place) if place.is_dir() else name, local_files_only=True
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        # The library's own message is a long paragraph about its ways to load a tokenizer.
        where = (
            "holds no tokenizer that can be read (tokenizer.json with tokenizer_config.json)"
            if place.is_dir()
            else "is no folder here, and not in the hub's cache"
        )
        raise UsageError(f"base model {name!r} {where}") from None
    if not getattr(tokenizer, "is_fast", False):
        raise UsageError(f"the tokenizer of {name!r} has no tokenizer.json, which is needed here")
    return tokenizer
