"""`peirce tasks generate labels:NAME --model M`: let a model write the topic of the generated
texts.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...config import BudgetConfig
from ...records import DataError, Json, PeirceError, Proposer, UsageError, digest_of
from ...tasks.io.files import expand_home, read_text
from ...tasks.io.messages import shorten
from ...tasks.text.generation import GENERATORS
from ...tasks.text.generation.phrases import Topic
from ...tasks.text.generation.posts import PostGenerator
from ...tasks.text.generation.topic_draft import (
    SUBJECT,
    WRITABLE_GENERATORS,
    Definition,
    Draft,
    build_metadata,
)
from ...tasks.text.labels import Labels
from ..score.judges import ModelSpec, choose_writer
from ..session.event_loops import run_coroutine
from ..session.execution import OnEvent
from ..session.planning import DEFAULT_CONCURRENCY
from ..session.settings import split_model_settings
from .calls_file import CallsFile, read_calls

SUBJECT_LENGTH_RANGE = (10, 4_000)
LABEL_COUNT_RANGE = (2, 5)  # number of labels that a user may name


@dataclass(frozen=True)
class TopicOptions:
    """Options for a model that writes a topic.

    Args:
        model: the model string or a model object.
        model_arg: further settings of the model.
        about: the subject, or the path of a file that contains it.
        labels: the user's own labels; if empty, the model chooses the labels.
        calls: file that records the calls; None for a file next to the data.
        concurrency: number of calls at the same time; None for the default.
        spending: budgets and prices, as in a session.
        on_event: called after each answer (see `TopicWriter`).
    """

    model: str | Proposer
    model_arg: Sequence[str] | Mapping[str, Json] = ()
    about: str | None = None
    labels: Sequence[str] = ()
    calls: str | Path | None = None
    concurrency: int | None = None
    spending: Mapping[str, Json] | None = None
    on_event: OnEvent | None = None


def default_calls_path(out: str | Path) -> Path:
    """Return the default file that records calls: for the output `made/` it is made.calls.jsonl."""
    place = expand_home(out).resolve()
    return place.with_name(f"{place.name}.calls.jsonl")


def generate_topic(
    source: Labels,
    options: TopicOptions,
    out: str | Path,
    count: int | None,
    seed: int,
    kinds: Mapping[str, Json],
) -> tuple[Labels, dict[str, Json]]:
    """Let a model write a topic, and return a task that generates texts about the topic.

    All options are checked before the first call. If an error occurs, the answers so far remain in
    the file of calls.

    Args:
        source: the labelled-text task with the generator to use.
        options: the model, its settings and its limits.
        out: file or folder that the generator will write.
        count: number of data sets; None for the default.
        seed: seed of the calls.
        kinds: the options of the generator, for the check.

    Returns:
        The task, and a summary {"model", "calls", "calls_file"}.

    Raises:
        UsageError: an option is invalid.
        DataError: the model's answers break the rules too often.
        Unavailable: the model cannot be reached.
        BudgetSpent: the budget is spent.
    """
    name, about, with_twin = _subject(source.generator, options.about)
    labels = _labels(options.labels)
    given = {"description": "user" if source.generator == SUBJECT else "peirce"}
    given |= {"labels": "user"} if labels else {}
    draft = Draft(name, about, labels=labels)
    stub = Topic(name, about, (), (), ())
    replace(source, written_topic=PostGenerator(stub, with_twin)).check(out, count, seed, kinds)
    asked = choose_writer(options.model, options.model_arg)
    limits = {name: one for name, one in (options.spending or {}).items() if one is not None}
    spending = BudgetConfig.model_validate(limits).explicit_values()
    calls = read_calls(options.calls or default_calls_path(out))
    try:
        by, told = run_coroutine(_write(draft, asked, calls, spending, seed, options))
        topic = draft.build_topic()
    except PeirceError as error:
        if calls.rows:
            more = "; use another --seed to try again" if isinstance(error, DataError) else ""
            error.args = (f"{str(error).rstrip('.')} (its answers are in {calls.path}{more})",)
        raise
    metadata = build_metadata(draft, by, given, {**told["said"], "seed": seed})
    maker = PostGenerator(topic, with_twin, metadata)
    summed = {"model": told["model"], "calls": told["calls"], "calls_file": str(calls.path)}
    return replace(source, written_topic=maker), summed


async def _write(
    draft: Draft,
    asked: ModelSpec,
    calls: CallsFile,
    spending: Mapping[str, Json],
    seed: int,
    writing: TopicOptions,
) -> tuple[Json, dict[str, Json]]:
    from ...agents.prompts.topics import topic_prompt_hash
    from ...graphs.runtime.budget import Budget
    from ...graphs.runtime.queries import read_settings
    from .topic_writer import TopicWriter, write_topic

    async with asked.open() as model:
        if model is None:
            raise UsageError("no model is given to write the texts: choose one with --model")
        by = split_model_settings(read_settings(model))[0]
        turns = asyncio.Semaphore(writing.concurrency or DEFAULT_CONCURRENCY)
        writer = TopicWriter(
            model, calls, Budget.from_settings(spending, {}), seed, turns, writing.on_event
        )
        await write_topic(writer, draft)
        counts = writer.counts
        tokens = {"tokens_in": counts.usage.tokens_in, "tokens_out": counts.usage.tokens_out}
        return by, {
            "model": writer.title,
            "calls": {
                "asked": counts.requested, "recorded": counts.recorded, "again": counts.retries, **tokens
            },
            "said": {
                "prompt": topic_prompt_hash(), "calls": counts.requested + counts.recorded,
                "asked_again": counts.retries, **tokens, "topic": digest_of(draft.to_json()),
            },
        }  # fmt: skip


def _subject(generator: str, about: str | None) -> tuple[str, str, bool]:
    """Return the name of the sets, the subject in words, and whether there are twin sets."""
    if generator not in WRITABLE_GENERATORS:
        able = ", ".join(f"labels:{name}" for name in WRITABLE_GENERATORS)
        raise UsageError(
            f"labels:{generator} is generated without a model; a model can write {able}"
        )
    if generator != SUBJECT:
        if about is not None:
            raise UsageError(
                f"--about {shorten(about, 40)}: labels:{generator} already has a subject; use"
                f" labels:{SUBJECT} for your own"
            )
        shipped = GENERATORS[generator]
        assert isinstance(shipped, PostGenerator)
        return generator, shipped.topic.description, shipped.with_twin
    if about is None:
        raise UsageError(
            f"labels:{SUBJECT} needs a subject: give it with --about, as text or as a file"
        )
    name, text = SUBJECT, about
    if "\n" not in about and len(about) < 250 and expand_home(about).is_file():
        text = read_text(expand_home(about))
        name = re.sub(r"[^a-z0-9]+", "_", expand_home(about).stem.lower()).strip("_") or SUBJECT
    text = " ".join(text.split())
    least, most = SUBJECT_LENGTH_RANGE
    if not least <= len(text) <= most:
        raise UsageError(
            f"--about {shorten(about, 40)!r}: a subject must have {least} to {most:,}"
            f" characters, but this one has {len(text):,}"
        )
    return name, text, True


def _labels(names: Sequence[str]) -> list[Definition]:
    """Return the labels that the user named. Raise UsageError for invalid ones."""
    from ...tasks.text.generation.topic_parsers import find_label_fault
    from ...tasks.text.label_names import LabelNames

    given = [name for one in names for name in map(str.strip, one.split(",")) if name]
    if names and not LABEL_COUNT_RANGE[0] <= len(given) <= LABEL_COUNT_RANGE[1]:
        raise UsageError(
            f"--labels has {len(given)} labels: give {LABEL_COUNT_RANGE[0]} to"
            f" {LABEL_COUNT_RANGE[1]}"
        )
    for name in given:
        if why := find_label_fault(name):
            raise UsageError(f"--labels: {shorten(name)!r}: {why}")
    try:
        LabelNames(given, "--labels")
    except DataError as error:
        raise UsageError(str(error)) from None
    return [Definition(name) for name in given]
