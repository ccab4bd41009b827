"""Let a model write the topic of generated texts, in a fixed order of questions.

    peirce tasks generate labels:subject --about "Notes to a landlord" --model M --out made/

A topic consists of labels, types of phrases, the phrases of each type, and templates of texts with
slots for phrases. The model writes these parts, and then each phrase in a form that fits the slot
of each template (HypoBench, section 2 and appendix B.3). This takes 23 questions if all answers are
valid. If an answer breaks a rule (tasks/text/generation/topic_parsers.py), the model is asked again
with an explanation. If `MAX_ANSWERS` answers for one part do not suffice, the command fails with
one sentence. There is no session: every call is recorded in a file next to the data, and a recorded
call is not made again.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TypeVar

from ...agents.prompts import topics as prompts
from ...graphs.runtime.budget import Budget
from ...graphs.runtime.queries import check_reply, gather_or_cancel
from ...records import (
    DataError,
    InputSet,
    Message,
    PastAnswer,
    Proposer,
    Unavailable,
    Usage,
    Verdict,
    View,
    digest_of,
)
from ...tasks.io.messages import shorten
from ...tasks.text.generation import topic_parsers as rules
from ...tasks.text.generation.topic_draft import (
    LABEL_COUNT,
    PHRASE_COUNT,
    TEMPLATE_COUNT,
    TYPE_COUNT,
    Definition,
    Draft,
)
from ...tasks.text.generation.topic_parsers import ParsedItems
from ..score.rating import rater_name
from ..session.execution import OnEvent
from .calls_file import CallsFile

MAX_ANSWERS = 4  # maximum number of answers for one part
T = TypeVar("T")


@dataclass
class CallCounts:
    """The numbers of model calls for writing a topic.

    Args:
        requested: calls that were made now.
        recorded: calls whose answers came from the file of calls.
        retries: calls, requested or recorded, that repeat a question after an invalid answer.
        usage: tokens of all requested and recorded calls.
    """

    requested: int = 0
    recorded: int = 0
    retries: int = 0
    usage: Usage = field(default_factory=Usage)


@dataclass
class TopicWriter:
    """A model that writes the parts of a topic, with the file that records its calls.

    Args:
        model: the model.
        calls: the file that records the model's calls.
        budget: the limits on tokens and cost.
        seed: seed of the calls.
        turns: limits the number of calls at the same time.
        on_event: called after each answer with {"part", "answer" (counted from 1), "kept", "of"}.
        counts: the numbers of calls so far.
    """

    model: Proposer
    calls: CallsFile
    budget: Budget
    seed: int
    turns: asyncio.Semaphore
    on_event: OnEvent | None = None
    counts: CallCounts = field(default_factory=CallCounts)

    @property
    def name(self) -> str:
        """The model's name with a digest of its settings."""
        return rater_name(self.model)

    @property
    def title(self) -> str:
        """The model's name as messages show it."""
        return self.name.rpartition(" ")[0] or self.name

    async def query(
        self, part: str, past_answers: Sequence[str], messages: Sequence[Message]
    ) -> tuple[str, str]:
        """Return the model's answer to `messages`, and how the answer ended.

        If the call is recorded in the file of calls, the recorded answer is returned.

        Args:
            part: the part of the topic that is requested.
            past_answers: earlier answers for the same part.
            messages: the prompt.

        Raises:
            Unavailable: the model cannot be reached, or has no further answer.
            BudgetSpent: the budget is spent.
            UsageError: a model object did not return a Reply.
        """
        path = f"{part}/{len(past_answers)}"
        seed = _seed(self.seed, path)
        key = digest_of([self.name, prompts.topic_prompt_hash(), [*map(dict, messages)], seed])
        self.counts.retries += bool(past_answers)
        if (row := self.calls.rows.get(key)) is not None:
            usage = Usage(**{name: int(n) for name, n in row["usage"].items()})
            self.budget.count(usage)
            self.counts.recorded += 1
            self.counts.usage += usage
            return row["text"], row["finish"]
        earlier = tuple(PastAnswer(one, (), Verdict.MALFORMED) for one in past_answers)
        view = View(part, "labels", "text", (), {}, InputSet("none", ()), earlier)
        async with self.turns:
            self.budget.check()
            reply = await self.model.propose(view, messages, (), seed)
        check_reply(reply, self.model)
        self.budget.count(reply.usage)
        self.counts.requested += 1
        self.counts.usage += reply.usage
        if reply.finish == "exhausted":
            why = str(reply.meta.get("reason") or "it gave no reason")
            raise Unavailable(f"{self.title} has nothing to say of {part}: {shorten(why)}")
        self.calls.add(
            {
                "key": key, "path": path, "model": self.name, "seed": seed,
                "messages": [dict(one) for one in messages], "text": reply.text,
                "finish": reply.finish, "usage": asdict(reply.usage),
            }
        )  # fmt: skip
        return reply.text, reply.finish

    async def collect(
        self,
        part: str,
        question: Sequence[Message],
        count: int,
        read: Callable[[str, int], ParsedItems[T]],
        keep: Callable[[T], None],
        format_item: Callable[[T], str],
        describe_missing: Callable[[list[T]], str] = lambda good: "",
    ) -> None:
        """Ask the model for a part of the topic until `count` items are valid.

        Args:
            part: the part of the topic that is requested.
            question: the first prompt.
            count: number of items to collect.
            read: parses an answer, with the number of items that are still missing.
            keep: called with each valid item.
            format_item: returns an item as text for later prompts.
            describe_missing: returns a description of the missing items, from the valid items.

        Raises:
            DataError: `MAX_ANSWERS` answers did not contain enough valid items.
        """
        good: list[T] = []
        said: list[str] = []
        wrong: Sequence[str] = ()
        messages = question
        while len(good) < count:
            if len(said) == MAX_ANSWERS:
                raise DataError(
                    f"{self.title} gave {len(good)} of {count} {part} that keep to the rules in"
                    f" {MAX_ANSWERS} answers; the last one: {shorten(wrong[0], 300)}"
                )
            text, finish = await self.query(part, said, messages)
            said.append(text)
            found = read(text, count - len(good))
            for one in found.valid[: count - len(good)]:
                good.append(one)
                keep(one)
            if self.on_event is not None:
                self.on_event({"part": part, "answer": len(said), "kept": len(good), "of": count})
            wrong = found.faults or ("the answer has too few lines of a numbered list",)
            if finish == "length":
                wrong = (*wrong, "the answer was cut at its limit of tokens")
            told = [format_item(one) for one in good]
            messages = prompts.retry_prompt(
                question, said[-1], wrong, [one for one in told if one], count - len(good), describe_missing(good)
            )  # fmt: skip


async def write_topic(writer: TopicWriter, draft: Draft) -> None:
    """Let the model write all parts of a topic into `draft`. Labels in the draft are kept.

    Args:
        writer: the model that writes.
        draft: the topic, which is changed in place.

    Raises:
        DataError: the model's answers break the rules too often.
        Unavailable: the model cannot be reached.
        BudgetSpent: the budget is spent.
    """
    if not draft.labels:
        await _labels(writer, draft)
    await _types(writer, draft)
    for kind in range(len(draft.types)):
        await _phrases(writer, draft, kind)
    await _templates(writer, draft)
    slots = [(n, kind) for n in range(len(draft.templates)) for kind in range(len(draft.types))]
    await gather_or_cancel([_forms(writer, draft, n, kind) for n, kind in slots])


async def _labels(writer: TopicWriter, draft: Draft) -> None:
    await writer.collect(
        "labels",
        prompts.labels_prompt(draft.description, LABEL_COUNT, rules.MAX_LABEL_WORDS),
        LABEL_COUNT,
        lambda said, count: rules.parse_labels(said, draft, count),
        draft.labels.append,
        _definition_text,
    )


async def _types(writer: TopicWriter, draft: Draft) -> None:
    told = [one.text for one in draft.labels]
    await writer.collect(
        "types",
        prompts.types_prompt(draft.description, told, TYPE_COUNT, rules.MAX_TYPE_WORDS),
        TYPE_COUNT,
        lambda said, count: rules.parse_types(said, draft, count),
        draft.types.append,
        _definition_text,
    )


def _definition_text(one: Definition) -> str:
    return one.text


async def _phrases(writer: TopicWriter, draft: Draft, kind: int) -> None:
    others = [one.text for some in draft.phrases for one in some]
    own = draft.types[kind]
    draft.phrases.append([])
    question = prompts.phrases_prompt(
        draft.description,
        [one.text for one in draft.labels],
        draft.label_names,
        own.text,
        others,
        PHRASE_COUNT,
        (rules.MAX_PHRASE_WORDS, rules.MAX_CORE_WORDS, rules.MAX_LOOSE_WORDS),
    )
    await writer.collect(
        f"phrases of {own.name}",
        question,
        PHRASE_COUNT,
        lambda said, count: rules.parse_phrases(said, draft, kind, count),
        draft.phrases[kind].append,
        lambda one: f"{one.text} | {draft.label_names[one.expected_label]}",
    )


async def _templates(writer: TopicWriter, draft: Draft) -> None:
    kinds = draft.kinds
    slots = [
        (kind, [one.text for one in some])
        for kind, some in zip(kinds, draft.phrases, strict=True)
    ]  # fmt: skip
    told = [one.text for one in draft.labels]
    await writer.collect(
        "templates",
        prompts.templates_prompt(draft.description, told, slots, TEMPLATE_COUNT),
        TEMPLATE_COUNT,
        lambda said, count: rules.parse_templates(said, draft, count),
        draft.templates.append,
        lambda one: one.render(kinds),
    )


async def _forms(writer: TopicWriter, draft: Draft, number: int, kind: int) -> None:
    """Request the form that each phrase of a type takes in its slot of one template."""
    name, some = draft.kinds[kind], draft.phrases[kind]
    before, after = draft.templates[number].split_at_slot(kind, draft.kinds)
    first = sum(len(one) for one in draft.phrases[:kind])

    def keep(one: tuple[int, str]) -> None:
        draft.forms[number, first + one[0]] = one[1]

    def lacking(good: Sequence[tuple[int, str]]) -> str:
        there = {place for place, _ in good}
        left = [one.core for place, one in enumerate(some) if place not in there]
        return "Those that are lacking are the texts with: " + "; ".join(left)

    def read(said: str, count: int) -> ParsedItems[tuple[int, str]]:
        found = rules.parse_forms(said, draft, number, kind, count)
        new = [one for one in found.valid if (number, first + one[0]) not in draft.forms]
        return ParsedItems(tuple(new), found.faults)

    await writer.collect(
        f"forms of {name} in template {number + 1}",
        prompts.forms_prompt(
            draft.description,
            f"{before}[{name}]{after}",
            name,
            [f"{before}[{one.text}]{after}" for one in some],
            [one.core for one in some],
            rules.MAX_ADDED_WORDS,
        ),
        len(some),
        read,
        keep,
        lambda one: "",
        lacking,
    )


def _seed(seed: int, path: str) -> int:
    """Return the seed of one call, derived from the seed and the path of the call."""
    return int.from_bytes(hashlib.sha256(f"{seed}|{path}".encode()).digest()[:4], "big") >> 1
