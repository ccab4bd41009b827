"""Tokenize prompts and answers as a training sees them.

An example consists of four parts, which are tokenized separately:

    prompt   exactly the tokens that an `hf:` model receives in a session
    lead     what the chat template writes between the prompt and an answer without reasoning
    answer   the text of the answer, without its reasoning
    end      one token that ends the answer

Prompt and lead are not trained; answer and end are. The lead of most templates is empty. Templates
of models that reason write into it what says that there is no reasoning: Qwen3 an empty <think>
block, gpt-oss the header of the channel `final`. Where the prompt itself ends inside an open block,
as with the distillations of R1, the lead closes the block, in the way that the template shows. Therefore no training teaches a model to
write an answer where its reasoning belongs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...records import Message, Unavailable
from ..reasoning import find_open_block
from .chat import PLAIN
from .reasoning_formats import ANSWER_MARK, MARK

if TYPE_CHECKING:
    from .chat import ChatFormat


class ExampleFormat:
    """Tokenizes the prompts and answers of preference pairs.

    Args:
        wording: The chat template and the tokenizer.
    """

    def __init__(self, wording: ChatFormat) -> None:
        self.wording = wording
        self._leads: dict[tuple[str, ...], str] = {}

    def find_lead(self, messages: Sequence[Message]) -> str:
        """Return the text between the prompt of a conversation and an answer without reasoning.

        Raises:
            Unavailable: The chat template refuses the conversation.
        """
        roles = tuple(str(one["role"]) for one in messages)
        if roles not in self._leads:
            self._leads[roles] = self._compute_lead(roles)
        return self._leads[roles]

    def knows_lead(self) -> bool:
        """Return whether the template shows where an answer without reasoning begins.

        It does if it writes a conversation as the prompt followed by the answer, or if the prompt
        ends in a block of reasoning: in a closed one, or in one that `find_lead` closes.

        Raises:
            Unavailable: The chat template refuses a prompt of one turn.
        """
        if self.wording.template == PLAIN:
            return True
        asked = [{"role": "user", "content": MARK}]
        prompt = self.wording.render_prompt(asked)
        end = prompt.rpartition(MARK)[2].rstrip()
        if self.wording.open_mark or end.endswith(tuple(one for _, one in self.wording.marks)):
            return True
        try:
            whole = self.wording.render_conversation(
                [*asked, {"role": "assistant", "content": ANSWER_MARK}]
            )
        except Unavailable:
            return False
        return whole.startswith(prompt) and ANSWER_MARK in whole

    def render_start(self, messages: Sequence[Message]) -> str:
        """Return the text before the answer: the prompt and the lead.

        Raises:
            Unavailable: The chat template cannot render the conversation.
        """
        return self.wording.render_prompt(messages) + self.find_lead(messages)

    def tokenize_starts(self, conversations: Sequence[Sequence[Message]]) -> list[list[int]]:
        """Return the tokens before each answer: those of the prompt, followed by those of the lead.

        Raises:
            Unavailable: The chat template cannot render a conversation.
        """
        if not conversations:
            return []
        prompts = [self.wording.render_prompt(one) for one in conversations]
        leads = [self.find_lead(one) for one in conversations]
        found = self.wording.tokenize(prompts)
        # A lead is tokenized by itself, because the prompt's own tokens must not change.
        own = {lead: self._alone(lead) for lead in set(leads) if lead}
        return [ids + own.get(lead, []) for ids, lead in zip(found, leads, strict=True)]

    def tokenize_answers(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each answer as the continuation of a prompt, without an end token.

        Raises:
            Unavailable: The chat template refuses a conversation.
        """
        if not texts:
            return []
        before = self.render_start([{"role": "user", "content": "?"}])
        lead, *found = self.wording.tokenize([before, *(before + text for text in texts)])
        # Where lead and answer merge into one token, the answer is tokenized alone, because the
        # model begins after the prompt's last token.
        return [
            ids[len(lead) :] if ids[: len(lead)] == lead else self._alone(text)
            for ids, text in zip(found, texts, strict=True)
        ]

    def _compute_lead(self, roles: Sequence[str]) -> str:
        wording = self.wording
        if wording.template == PLAIN:
            return ""
        asked = [{"role": role, "content": MARK} for role in roles]
        prompt = wording.render_prompt(asked)
        try:
            whole = wording.render_conversation(
                [*asked, {"role": "assistant", "content": ANSWER_MARK}]
            )
        except Unavailable:
            whole = ""
        lead = ""
        if whole.startswith(prompt) and ANSWER_MARK in whole:
            lead = whole[len(prompt) :].partition(ANSWER_MARK)[0]
        if not lead.strip():  # in a session, the model itself writes white space before its answer
            lead = ""
        block = find_open_block(prompt.rpartition(MARK)[2] + lead, wording.marks)
        if block:
            closing = dict(wording.marks)[block.strip()]
            usual = f"\n{closing}\n\n" if block.endswith("\n") else closing
            lead += wording.blocks.endings.get(block.strip(), usual)
        return lead

    def _alone(self, text: str) -> list[int]:
        said: list[int] = self.wording.tokenizer(text, add_special_tokens=False)["input_ids"]
        return said
