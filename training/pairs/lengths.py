"""Prompts and answers as a model's tokenizer takes them: their text by its chat template, and their
length in tokens.

What a training makes of a pair is the prompt in the chat template, with the beginning of the
assistant's turn, then the answer and what ends it. The length of that is counted as the sum of its
parts, each encoded by itself, as a training puts them together (`dpo/tokens.py`): no merge goes across
the seam. Of what the template writes behind an answer all tokens count; a training takes the first.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...agents.local.chat import Wording
from ...records import DataError, Json, Message, Unavailable, UsageError, digest_of_text

INSTALL = "pip install 'peirce[train]'"
_TOGETHER = 1_000


class ModelText:
    """The tokenizer of a base model.

    base: its folder, with or without `hf:`, or the id of one in the hub's cache. Raises UsageError
    where it is not there, has no tokenizer or one without a chat template, or transformers is not
    installed.
    """

    def __init__(self, base: str | Path) -> None:
        name = str(base).removeprefix("hf:")
        if importlib.util.find_spec("transformers") is None:
            raise UsageError(f"the tokenizer of {name!r} needs transformers: {INSTALL}")
        self.name = Path(name).expanduser().name if Path(name).expanduser().exists() else name
        self._tokenizer = _tokenizer(name)
        if not self._tokenizer.chat_template:
            raise UsageError(
                f"the tokenizer of {name!r} has no chat template, which makes prompts of messages:"
                " name a model that is tuned to chat, or give its tokenizer one"
            )
        with _said():
            self._wording = Wording(self.name, self._tokenizer, None, {}, tools=False)

    def text(self, messages: Sequence[Message]) -> str:
        """The prompt, up to where the answer begins, as sessions and trainings make it. Raises
        DataError where the template refuses it."""
        with _said():
            return self._wording.text(messages)

    def prompts(self, asked: Sequence[Sequence[Message]]) -> list[int]:
        """Tokens of each."""
        return self._counted([self.text(messages) for messages in asked])

    def answers(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each, with what ends an answer."""
        closing = self._closing()
        return [count + closing for count in self._counted(texts)]

    def settings(self) -> dict[str, Json]:
        """How a set of pairs names it."""
        told = self._tokenizer.backend_tokenizer.to_str() + str(self._tokenizer.chat_template)
        return {"base": self.name, "tokenizer": digest_of_text(told)}

    def _closing(self) -> int:
        """Tokens behind an answer: its end in the template, and at least one."""
        user = {"role": "user", "content": "a"}
        with _said():
            whole = self._wording.ended([user, {"role": "assistant", "content": "b"}])
        parts = self._counted([whole, self.text([user]), "b"])
        return max(1, parts[0] - parts[1] - parts[2])

    def _counted(self, texts: Sequence[str]) -> list[int]:
        return [count for part in _parts(texts) for count in self._of_part(part)]

    def _of_part(self, texts: Sequence[str]) -> Iterator[int]:
        encoded = self._tokenizer(list(texts), add_special_tokens=False, verbose=False)
        yield from map(len, encoded["input_ids"])


class Length:
    """At most `most` tokens of prompt and answer together (`harvest.Fits`). Raises UsageError for a
    number below 2."""

    def __init__(self, text: ModelText, most: int) -> None:
        if most < 2:
            raise UsageError(f"max-length {most}: a prompt and an answer need at least 2 tokens")
        self._text = text
        self.most = most

    def prompts(self, asked: Sequence[Sequence[Message]]) -> list[int]:
        return self._text.prompts(asked)

    def answers(self, texts: Sequence[str]) -> list[int]:
        return self._text.answers(texts)

    def settings(self) -> Mapping[str, Json]:
        return {**self._text.settings(), "max_length": self.most}


@contextlib.contextmanager
def _said() -> Iterator[None]:
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
        raise UsageError(f"base model folder {name!r} is not there")
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            str(place) if place.is_dir() else name, local_files_only=True
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        # What the library says is of its own ways to read one, and a paragraph.
        where = (
            "holds no tokenizer that can be read (tokenizer.json with tokenizer_config.json)"
            if place.is_dir()
            else "is no folder here, and not in the hub's cache"
        )
        raise UsageError(f"base model {name!r} {where}") from None
    if not getattr(tokenizer, "is_fast", False):
        raise UsageError(f"the tokenizer of {name!r} has no tokenizer.json, which is needed here")
    return tokenizer
