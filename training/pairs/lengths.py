"""Render prompts with a model's chat template, and count the tokens of prompts and answers.

A training concatenates three parts: the prompt in the chat template, up to the start of the
assistant's turn; the answer; and the token that ends the answer. Each part is tokenized separately,
as a training does (`dpo/pair_tokens.py`), and the length of a pair is the sum of the parts'
lengths. All tokens that the template writes after an answer are counted, although a training uses
only the first of them.
"""

from __future__ import annotations

import contextlib
import copy
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from ...agents.local.chat import ChatFormat
from ...records import DataError, Json, Message, Unavailable, UsageError, digest_of_text

INSTALL = "pip install 'peirce[train]'"
_TOGETHER = 1_000


class ModelText:
    """The tokenizer and the chat template of a base model.

    Args:
        base: The model's folder, with or without `hf:`, or its id in the cache of the Hugging Face
            hub.
        variables: Variables of the chat template. Variables that the template does not use are
            ignored.

    Raises:
        UsageError: The model does not exist, has no tokenizer or no chat template, or transformers
            is not installed.
    """

    def __init__(self, base: str | Path, variables: Mapping[str, Json] | None = None) -> None:
        name = str(base).removeprefix("hf:")
        if importlib.util.find_spec("transformers") is None:
            raise UsageError(f"the tokenizer of {name!r} needs transformers: {INSTALL}")
        self.name = Path(name).expanduser().name if Path(name).expanduser().exists() else name
        self._tokenizer = _tokenizer(name)
        if not self._tokenizer.chat_template:
            raise UsageError(
                f"the tokenizer of {name!r} has no chat template to format prompts with: use a"
                " chat model, or add a template to its tokenizer"
            )
        self._wording = self._worded(variables or {})

    def _worded(self, variables: Mapping[str, Json]) -> ChatFormat:
        with _convert_errors():
            return ChatFormat(
                self.name, self._tokenizer, None, variables, tools=False, known_only=True
            )

    def with_variables(self, variables: Mapping[str, Json]) -> Self:
        """Return a copy that renders prompts with these variables of the chat template."""
        changed = copy.copy(self)
        changed._wording = self._worded(variables)
        return changed

    def render_prompt(self, messages: Sequence[Message]) -> str:
        """Return the text of a prompt, up to the position where the answer begins.

        Raises:
            DataError: The chat template rejects the messages.
        """
        with _convert_errors():
            return self._wording.render_prompt(messages)

    def count_prompt_tokens(self, prompts: Sequence[Sequence[Message]]) -> list[int]:
        """Return the number of tokens of each prompt."""
        return self._counted([self.render_prompt(messages) for messages in prompts])

    def count_answer_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each answer, including the tokens that end an answer."""
        closing = self._closing()
        return [count + closing for count in self._counted(texts)]

    def settings(self) -> dict[str, Json]:
        """Return the name of the base model and the digest of its tokenizer, to be stored with
        pairs.
        """
        told = self._tokenizer.backend_tokenizer.to_str() + str(self._tokenizer.chat_template)
        return {"base": self.name, "tokenizer": digest_of_text(told)}

    def _closing(self) -> int:
        """Return the number of tokens after an answer in the template, at least one."""
        user = {"role": "user", "content": "a"}
        with _convert_errors():
            whole = self._wording.render_conversation([user, {"role": "assistant", "content": "b"}])
        parts = self._counted([whole, self.render_prompt([user]), "b"])
        return max(1, parts[0] - parts[1] - parts[2])

    def _counted(self, texts: Sequence[str]) -> list[int]:
        return [count for part in _parts(texts) for count in self._of_part(part)]

    def _of_part(self, texts: Sequence[str]) -> Iterator[int]:
        encoded = self._tokenizer(list(texts), add_special_tokens=False, verbose=False)
        yield from map(len, encoded["input_ids"])


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
        return {**self._text.settings(), "max_length": self.max_tokens}

    def with_variables(self, variables: Mapping[str, Json]) -> TokenLimit:
        """Return a copy that renders prompts with these variables of the chat template."""
        return TokenLimit(self._text.with_variables(variables), self.max_tokens)


@contextlib.contextmanager
def _convert_errors() -> Iterator[None]:
    try:
        yield
    except Unavailable as error:
        raise DataError(str(error)) from None


def _parts(texts: Sequence[str]) -> Iterator[Sequence[str]]:
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
