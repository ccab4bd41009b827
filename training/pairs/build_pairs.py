"""Build preference pairs from the sessions of a store, as one table (GEAR, section 6.1).

The pairs are built only from what the sessions recorded. No hypothesis is executed again, and no
model is called. The resulting table depends only on the contents of the sessions and on
`PairChoices`.

First, the number of contexts and the number of pairs per context are limited (`preferences.Caps`).
Then the set is reduced in this order:

 1. Several problems may have the same observations O_n, so that a model cannot distinguish them. If
    these problems are in different splits, their pairs count only in the strictest split: held out
    before validation, and validation before training.
 2. A pair that exceeds the length limit is left out, never truncated (`lengths.py`).
 3. At most `limit` pairs of each stage in each split are drawn, balanced over the tasks. A task
    with few pairs contributes all its pairs, as in the released code.
 4. With `ratio`, the largest set whose stages have this ratio is kept, separately in each split.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ...agents.prompts.protocol import TEMPLATES, Template, select_wording
from ...records import (
    Compute,
    Digest,
    FamilyWords,
    Hypothesis,
    InputSet,
    Json,
    Message,
    StoreError,
    UsageError,
    View,
    canonical_json,
    digest_of,
)
from ...tools.workers.computing import compute_here
from ..draws import hash_key, sorted_unique
from ..pair_prompts import CachedWords, render_prompt
from ..pair_table import PairTable
from ..splits import Split, Splits
from ..stages import STAGES, Stage
from .pool_requests import FUNCTION, make_request, read_pairs
from .pooling import (
    PooledAnswers,
    Question,
    Source,
    choose_template,
    describe_rendering,
    read_pools,
    read_questions,
    read_sources,
    variables_of,
)
from .preferences import Caps, PairArrays
from .report import PairCounter
from .selection import select_in_ratio, select_within_limit

if TYPE_CHECKING:
    from ...store import Store


# --- Reading ahead in a thread. DuckDB and zlib release the interpreter lock, so the main thread
# runs on.

Item = TypeVar("Item")

_END = object()


def read_ahead(items: Iterator[Item], depth: int) -> Generator[Item, None, None]:
    """Yield items in order, while a thread computes up to `depth` items in advance.

    If computing an item fails, the error is raised at the position of the item. The thread ends
    with this generator. Therefore close the generator (`contextlib.closing`) if you may stop early.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="reading ahead") as thread:
        waiting = deque(thread.submit(next, items, _END) for _ in range(depth))
        try:
            while (one := waiting.popleft().result()) is not _END:
                waiting.append(thread.submit(next, items, _END))
                yield cast(Item, one)
        finally:
            for future in waiting:
                future.cancel()


Integers = NDArray[np.int64]

_AHEAD = 2  # pools that are read in advance
_TOGETHER = 4_096  # prompts that are tokenized at once
VERSION = 1  # version of this construction; part of the settings of a set
EMPTY_SPACE = InputSet("S", ())  # prompts do not show the sample space
STRICTNESS_ORDER = (Split.HELD_OUT, Split.VALIDATION, Split.TRAIN)


class LengthLimit(Protocol):
    """Counts the tokens of prompts and answers, so that pairs too long for a model can be left
    out.
    """

    max_tokens: int

    def count_prompt_tokens(self, prompts: Sequence[Sequence[Message]]) -> list[int]:
        """Return the number of tokens of each prompt."""
        ...

    def count_answer_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each answer."""
        ...

    def settings(self) -> Mapping[str, Json]:
        """Return the settings of the tokenizer and the limit, which are stored with the pairs."""
        ...

    def with_variables(self, variables: Mapping[str, Json]) -> LengthLimit:
        """Return a copy that renders prompts with these variables of the chat template."""
        ...


@dataclass(frozen=True)
class PairChoices:
    """Choices that determine which preference pairs are built from sessions.

    Attributes:
        caps: The maximum number of contexts, and of pairs per context.
        limit: The maximum number of pairs of each stage in each split; None for no limit.
        ratio: The ratio of the three stages, for example (1, 1, 1); None keeps all pairs.
        seed: The seed of the draws. It does not affect the split of a problem, because `splits` has
            its own seed.
        splits: The rule that assigns each problem to a split.
        template: The template of the prompts; None uses the template of the sessions.

    Raises:
        UsageError: A number is out of its range.
    """

    caps: Caps = field(default_factory=Caps)
    limit: int | None = None
    ratio: tuple[int, int, int] | None = None
    seed: int = 0
    splits: Splits = field(default_factory=Splits)
    template: str | None = None

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"limit is {self.limit}: it must be at least 1")
        if self.ratio is not None and (
            len(self.ratio) != len(Stage) or min(self.ratio) < 0 or not any(self.ratio)
        ):
            raise UsageError(
                f"ratio is {':'.join(map(str, self.ratio))}: it must be three whole numbers for"
                f" {', '.join(STAGES)}, at least one of them above 0"
            )


@dataclass(frozen=True)
class PairsResult:
    """The preference pairs of `build_pairs`, and a report of their counts (see `PairCounter`)."""

    table: PairTable
    report: Mapping[str, Json]


@dataclass(frozen=True)
class _Question:
    """An O_n with everything that its prompts are made of.

    hypotheses holds those of consistent answers by position, and said holds how a prompt shows
    them.
    """

    asked: Question
    split: Split
    view: View
    words: FamilyWords
    template: Template
    hypotheses: Mapping[int, Hypothesis]
    said: Mapping[int, str]

    @cached_property
    def name(self) -> Digest:
        """The digest of what prompts with one context share, whichever problem they are of."""
        one = self.asked.problem
        shown = [[pair.input, pair.output] for pair in one.shown]
        return digest_of([one.family, shown, dict(one.public), self.asked.answer_format])

    def prompt(self, members: Sequence[int]) -> tuple[Message, ...]:
        context = [self.hypotheses[member] for member in members]
        form = self.asked.answer_format
        return render_prompt(self.view, context, self.words, form, self.template)


@dataclass
class _Heap:
    """The pairs of all pools, with each text stored once.

    prompts holds a question and the members of a context each. answers maps a text to its position,
    and models holds the model that gave it first. rows holds (p, 4) arrays of prompt, stage, chosen
    and rejected. Prompts that are equal to a model are stored once, whatever their S is.
    """

    questions: list[_Question] = field(default_factory=list)
    prompts: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    answers: dict[str, int] = field(default_factory=dict)
    models: list[str] = field(default_factory=list)
    rows: list[NDArray[np.int32]] = field(default_factory=list)
    _named: dict[tuple[str, ...], int] = field(default_factory=dict)

    def add(self, question: _Question, pooled: PooledAnswers, pairs: PairArrays) -> None:
        """Add the contexts that have a pair, and the answers that occur in one."""
        used, context = np.unique(pairs.context, return_inverse=True)
        prompts = np.zeros(len(used), np.int32)
        for place, both in enumerate(pairs.contexts[used].tolist()):
            members = tuple(member for member in both if member >= 0)
            name = (question.name, *(question.said[member] for member in members))
            prompts[place] = known = self._named.setdefault(name, len(self.prompts))
            if known == len(self.prompts):
                self.prompts.append((len(self.questions), members))
        self.questions.append(question)
        answers = np.zeros(len(pooled.answers), np.int32)
        for answer in np.unique(np.concatenate([pairs.chosen, pairs.rejected])).tolist():
            one = pooled.answers[answer]
            answers[answer] = known = self.answers.setdefault(one.text, len(self.answers))
            if known == len(self.models):
                self.models.append(one.model)
        self.rows.append(
            np.stack(
                [prompts[context], pairs.stage, answers[pairs.chosen], answers[pairs.rejected]],
                axis=1,
            ).astype(np.int32)
        )

    def prompt(self, place: int) -> tuple[Message, ...]:
        question, members = self.prompts[place]
        return self.questions[question].prompt(members)

    def distinct(self) -> NDArray[np.int32]:
        """Return the sorted distinct rows, and free the stored ones, as there may be millions.

        Each row is sorted as one number; positions of answers and of prompts take about 20 bits
        each.
        """
        base = max(1, len(self.answers))
        parts = []
        for rows in self.rows:
            prompt, stage, chosen, rejected = rows.T.astype(np.int64)
            parts.append(((prompt * len(Stage) + stage) * base + chosen) * base + rejected)
        self.rows.clear()
        if len(self.prompts) * len(Stage) * base**2 >= 2**63:
            raise StoreError(
                f"{len(self.prompts):,} prompts with {base:,} answers are too many for one set:"
                " use fewer sessions"
            )
        numbers = sorted_unique(np.concatenate(parts))
        del parts
        found = np.empty((len(numbers), 4), np.int32)
        for column, size in ((3, base), (2, base), (1, len(Stage))):
            numbers, found[:, column] = np.divmod(numbers, size)
        found[:, 0] = numbers
        return found


def build_pairs(
    store: Store,
    sessions: Sequence[str],
    choices: PairChoices | None = None,
    length_limit: LengthLimit | None = None,
    progress: Callable[[int, int, int], None] | None = None,
    compute: Compute = compute_here,
) -> PairsResult:
    """Build preference pairs (a better and a worse answer to the same prompt) from stored sessions.

    Args:
        store: The open store.
        sessions: The ids of the sessions.
        choices: The limits, ratio, splits and template of the pairs; None uses the defaults.
        length_limit: Leave out pairs that exceed this limit; None for no limit.
        progress: Called with the number of problems read, the number of all problems, and the
            number of pairs so far.
        compute: Where the pairs of each problem are built.

    Raises:
        StoreError: The sessions give no pair.
        UsageError: The sessions used different templates and `choices` has no template; the
            sessions used different variables of the chat template; or a family has no texts for the
            template.
    """
    choices = choices or PairChoices()
    sources = read_sources(store, sessions)
    template, variables = _known(choose_template(sources, choices.template)), variables_of(sources)
    if length_limit is not None and variables:
        length_limit = length_limit.with_variables(variables)
    asked = read_questions(store, sources)
    counting = PairCounter(sources, asked, choices.splits)
    places = _splits(asked, choices.splits)
    heap, pairs, number = _Heap(), 0, 0
    sent: deque[PooledAnswers] = deque()

    def make_requests(pools: Iterator[PooledAnswers]) -> Iterator[Json]:
        nonlocal number
        for pooled in pools:
            number += 1
            counting.add_pool(pooled)
            asked_about = pooled.question
            if places[asked_about.key] is choices.splits.split_of(asked_about.problem):
                sent.append(pooled)
                seed = hash_key("pool", choices.seed, asked_about.key)
                yield make_request(pooled.pool, choices.caps, seed)
            else:
                counting.left_out["in_another_split"] += 1

    with contextlib.closing(read_ahead(read_pools(store, asked), _AHEAD)) as read:
        for reply in compute(FUNCTION, make_requests(read)):
            pairs += _gather(heap, sent.popleft(), read_pairs(reply), template, choices, counting)
            if progress is not None:
                progress(number, len(asked), pairs)
    if progress is not None:
        progress(number, len(asked), pairs)
    if not pairs:
        raise StoreError(_nothing(sources, counting))
    settings = _settings(choices, template, sources, asked, length_limit)
    if variables:  # Without any, the digest is that of sets which were made before they counted.
        settings["template_variables"] = dict(variables)
    if rendering := describe_rendering(store, sources):  # likewise
        settings["rendering"] = rendering
    table = _table(heap, choices, length_limit, settings, counting).with_digest()
    return PairsResult(table, counting.report(table))


def _known(template: str) -> Template:
    for one in TEMPLATES:
        if one == template:
            return one
    raise UsageError(f"unknown template {template!r}: it must be one of {', '.join(TEMPLATES)}")


def _splits(asked: Sequence[Question], splits: Splits) -> dict[Digest, Split]:
    """Return the split in which each O_n counts, by key: the strictest split of its problems."""
    own = {one.key: splits.split_of(one.problem) for one in asked}
    content = {one.key: _content(one) for one in asked}
    strictest: dict[Digest, Split] = {}
    for one in asked:
        known = strictest.setdefault(content[one.key], own[one.key])
        strictest[content[one.key]] = min(known, own[one.key], key=STRICTNESS_ORDER.index)
    return {key: strictest[digest] for key, digest in content.items()}


def _content(one: Question) -> Digest:
    """Return the digest of the shown pairs, whichever problem they are of."""
    shown = sorted(canonical_json([pair.input, pair.output]) for pair in one.problem.shown)
    return digest_of([one.problem.family, shown])


def _gather(
    heap: _Heap,
    pooled: PooledAnswers,
    pairs: PairArrays,
    template: Template,
    choices: PairChoices,
    counting: PairCounter,
) -> int:
    """Add the pairs of a pool, and return their number."""
    asked = pooled.question
    counting.add_pairs(pairs)
    if len(pairs):
        hypotheses = {
            place: one.hypothesis
            for place, one in enumerate(pooled.answers)
            if one.consistent and one.hypothesis is not None
        }
        view = asked.problem.make_view(EMPTY_SPACE)
        split = choices.splits.split_of(asked.problem)
        words = CachedWords(asked.words)
        shown = select_wording(words, template)
        said = {place: shown.show_hypothesis(one) for place, one in hypotheses.items()}
        question = _Question(asked, split, view, words, template, hypotheses, said)
        heap.add(question, pooled, pairs)
    return len(pairs)


def _table(
    heap: _Heap, choices: PairChoices, fits: LengthLimit | None, settings: Mapping[str, Json],
    counting: PairCounter,
) -> PairTable:  # fmt: skip
    gathered = sum(map(len, heap.rows))
    rows = heap.distinct()
    counting.left_out["repeated_pairs"] = gathered - len(rows)
    answers = list(heap.answers)
    asked = [heap.questions[question] for question, _ in heap.prompts]
    if fits is not None:
        kept = _fitting(heap, rows, answers, fits)
        counting.left_out["too_long"] = len(rows) - len(kept)
        rows = rows[kept]
    split = np.array([list(Split).index(one.split) for one in asked], np.int64)
    tasks = {name: n for n, name in enumerate(sorted({one.asked.problem.task for one in asked}))}
    task = np.array([tasks[one.asked.problem.task] for one in asked], np.int64)
    of_split, of_task, stage = split[rows[:, 0]], task[rows[:, 0]], rows[:, 1].astype(np.int64)
    kept = select_within_limit(of_split, stage, of_task, choices.limit, choices.seed)
    counting.left_out["over_limit"] = len(rows) - len(kept)
    rows, of_split, stage = rows[kept], of_split[kept], stage[kept]
    kept = select_in_ratio(of_split, stage, choices.ratio, choices.seed)
    counting.left_out["out_of_ratio"] = len(rows) - len(kept)
    rows = rows[kept]
    if not len(rows):
        raise StoreError(
            "no pairs are left: "
            + ", ".join(f"{n} {_WHY[why]}" for why in _WHY if (n := counting.left_out[why]))
        )
    used, prompts = np.unique(rows[:, 0], return_inverse=True)
    said, places = np.unique(rows[:, 2:], return_inverse=True)
    places = places.reshape(-1, 2)
    shown = [asked[place] for place in used.tolist()]
    return PairTable(
        prompts=[heap.prompt(place) for place in used.tolist()],
        prompt_task=[one.asked.problem.task for one in shown],
        prompt_problem=[one.asked.problem.id for one in shown],
        prompt_split=[one.split for one in shown],
        prompt_context=[len(heap.prompts[place][1]) for place in used.tolist()],
        answers=[answers[place] for place in said.tolist()],
        answer_model=[heap.models[place] for place in said.tolist()],
        prompt=prompts.astype(np.int32),
        chosen=places[:, 0].astype(np.int32),
        rejected=places[:, 1].astype(np.int32),
        stage=rows[:, 1].astype(np.int8),
        digest="",
        settings=settings,
    )


_WHY = {
    "too_long": "do not fit the length",
    "over_limit": "are over the limit",
    "out_of_ratio": "do not go into the ratio, for a stage of it is missing",
}


def _fitting(
    heap: _Heap, rows: NDArray[np.int32], answers: Sequence[str], fits: LengthLimit
) -> Integers:
    """Return the rows whose prompt and longer answer are within the length limit."""
    asked, said = (np.zeros(len(one), np.int64) for one in (heap.prompts, answers))
    shown, given = np.unique(rows[:, 0]), np.unique(rows[:, 2:])
    for start in range(0, len(shown), _TOGETHER):
        part = shown[start : start + _TOGETHER]
        asked[part] = fits.count_prompt_tokens([heap.prompt(place) for place in part.tolist()])
    said[given] = fits.count_answer_tokens([answers[place] for place in given.tolist()])
    longest = asked[rows[:, 0]] + np.maximum(said[rows[:, 2]], said[rows[:, 3]])
    return np.flatnonzero(longest <= fits.max_tokens)


def _settings(
    choices: PairChoices, template: Template, sources: Sequence[Source], asked: Sequence[Question],
    fits: LengthLimit | None,
) -> dict[str, Json]:  # fmt: skip
    return {
        "version": VERSION,
        "sessions": [source.digest for source in sources],
        "contexts": list(choices.caps.contexts),
        "per_context": list(choices.caps.pairs),
        "limit": choices.limit,
        "ratio": None if choices.ratio is None else list(choices.ratio),
        "seed": choices.seed,
        "splits": {
            "seed": choices.splits.seed,
            "fractions": asdict(choices.splits.fractions),
            "fixed": {name: str(split) for name, split in choices.splits.fixed.items()},
        },
        "template": template,
        "answer_formats": sorted({one.answer_format for one in asked}),
        "length": None if fits is None else dict(fits.settings()),
    }


def _nothing(sources: Sequence[Source], counting: PairCounter) -> str:
    """Return one sentence on why there is no pair."""
    which = ", ".join(source.session for source in sources[:4]) + ", …" * (len(sources) > 4)
    named = f"session{'s' * (len(sources) > 1)} {which}"
    if not counting.answers:
        return f"{named}: no pairs, for there is no answer yet"
    if counting.most_answers < 2:
        return f"{named}: no pairs, for no problem has two different answers"
    return f"{named}: no pairs, for no two answers about one thing differ in worth"
