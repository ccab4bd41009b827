"""Sample answers of a model in training to prompts of validation problems, and measure them.

The measurements are how many answers can be parsed, and how many agree with the shown observations.
They detect a collapse that probe losses do not show: a model may learn to distinguish two answers
while its own answers get worse. Therefore the training samples answers in each period, to the same
prompts and with the same seed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ...agents.prompts.protocol import Template
from ...records import Family, Hypothesis, Json, LabelsRows, Message, Oracles, View, digest_of
from ...tasks import problem_family
from ...training.pair_prompts import render_prompt
from ...training.pairs.build_pairs import EMPTY_SPACE
from ...training.splits import Fractions, Split, Splits
from ..oracles import open_oracles
from ..session.event_loops import run_coroutine

if TYPE_CHECKING:
    from ...store import Store
    from ...training.dpo.progress import SampleAnswers

MAX_PROMPTS = 64  # maximum number of prompts, each of another problem
MAX_CONCURRENT_JUDGEMENTS = 16  # number of hypotheses judged at the same time
POLL_S = 0.5  # how often a judgement looks for an interrupt


@dataclass(frozen=True)
class ValidationPrompt:
    """A validation problem with the prompt for which answers are sampled."""

    family: Family
    view: View
    answer_format: str
    messages: tuple[Message, ...]


class SampleMetrics:
    """Measures sampled answers: the shares "instruction_following" and "consistent".

    "instruction_following" is the share of answers that can be parsed. "consistent" is the share
    that agrees with the shown observations; it is left out if judging a hypothesis needs a model.
    This class implements `training.dpo.progress.MeasureSamples`.

    Args:
        prompts: the prompts, at least one. All prompts get equally many answers. If the answers
            cannot be divided evenly, the first prompts get one more.
        answers: total number of answers.
        seed: seed of the sampling.

    Attributes:
        overdue: returns whether to end the training now instead of judging the answers.
    """

    def __init__(self, prompts: Sequence[ValidationPrompt], answers: int, seed: int) -> None:
        each, more = divmod(answers, len(prompts))
        self._asked = [one for n, one in enumerate(prompts) for _ in range(each + (n < more))]
        self._seed = seed
        self.overdue: Callable[[], bool] = lambda: False

    def __call__(self, ask: SampleAnswers) -> Mapping[str, float]:
        texts = ask([one.messages for one in self._asked], self._seed)
        read: list[tuple[ValidationPrompt, Hypothesis | None]] = []
        for one, text in zip(self._asked, texts, strict=True):
            found = one.family.parse(one.view, text, one.answer_format)
            first = found[0] if found else None
            read.append((one, first if isinstance(first, Hypothesis) else None))
        following = sum(hypothesis is not None for _, hypothesis in read) / len(read)
        if any(isinstance(one.family, LabelsRows) for one, _ in read):
            return {"instruction_following": following}
        consistent = run_coroutine(_unless(self.overdue, _consistent(read)))
        return {"instruction_following": following, "consistent": consistent / len(read)}


async def _unless(overdue: Callable[[], bool], work: Coroutine[Any, Any, int]) -> int:
    """Return the result of `work`; cancel it and raise TrainingInterrupted if it is overdue."""
    from ...training.dpo.progress import TrainingInterrupted

    task = asyncio.ensure_future(work)
    while not task.done():
        await asyncio.wait([task], timeout=POLL_S)
        if overdue() and not task.done():
            task.cancel()
            await asyncio.wait([task])
            raise TrainingInterrupted
    return task.result()


async def _consistent(read: Sequence[tuple[ValidationPrompt, Hypothesis | None]]) -> int:
    """Return how many hypotheses agree with all shown observations."""
    own = [(one, hypothesis) for one, hypothesis in read if hypothesis is not None]
    by_family: dict[str, list[tuple[ValidationPrompt, Hypothesis]]] = {}
    for one, hypothesis in own:
        by_family.setdefault(one.family.name, []).append((one, hypothesis))
    found = 0
    for some in by_family.values():
        async with open_oracles(some[0][0].family) as tools:
            gate = asyncio.Semaphore(MAX_CONCURRENT_JUDGEMENTS)
            judged = (_judged(one, h, tools.make_oracles(), gate) for one, h in some)
            found += sum(await asyncio.gather(*judged))
    return found


async def _judged(
    one: ValidationPrompt, hypothesis: Hypothesis, oracles: Oracles, gate: asyncio.Semaphore
) -> bool:
    async with gate:
        agreement = await one.family.measure_agreement(
            hypothesis, one.view.shown, one.view, oracles
        )
    return one.family.is_consistent(agreement)


def draw_validation_prompts(
    store: Store,
    sessions: Sequence[str],
    pair_settings: Mapping[str, Json],
    max_prompts: int = MAX_PROMPTS,
) -> list[ValidationPrompt]:
    """Return prompts of validation problems, without earlier hypotheses.

    The problems come from the sessions from which the pairs were built. Sessions that are not in
    the store are skipped. The prompts of the tasks alternate, and the order within a task is given
    by a hash. A prompt that also belongs to a held-out problem is left out.

    Args:
        store: the open store.
        sessions: ids of the sessions.
        pair_settings: settings of the set of pairs, which contain the splits and the template.
        max_prompts: maximum number of prompts.
    """
    splits = _splits(pair_settings)
    template = cast(Template, pair_settings.get("template") or "full")
    there = {str(row["session"]) for row in store.sessions()}
    by_task: dict[str, dict[str, ValidationPrompt]] = {}
    held_out: set[str] = set()
    for session in sessions:
        if session not in there:
            continue
        settings = store.settings(session)
        form = str(settings["answer_format"])
        for row in store.problems(session):
            problem = row.problem
            if (split := splits.split_of(problem)) is Split.TRAIN:
                continue
            tau = (settings.get("text") or {}).get("tau")
            strict = bool(settings.get("strict_contract"))
            family = problem_family(problem, strict_contract=strict, tau=tau)
            view = problem.make_view(EMPTY_SPACE)
            messages = render_prompt(view, (), family.words, form, template)
            key = digest_of([dict(one) for one in messages])
            if split is Split.HELD_OUT:
                held_out.add(key)
            else:
                own = by_task.setdefault(problem.task, {})
                own.setdefault(key, ValidationPrompt(family, view, form, messages))
    queues = [
        [one for key, one in sorted(own.items()) if key not in held_out]
        for _, own in sorted(by_task.items())
    ]
    longest = max(map(len, queues), default=0)
    turns = [queue[place] for place in range(longest) for queue in queues if place < len(queue)]
    return turns[:max_prompts]


def _splits(pair_settings: Mapping[str, Json]) -> Splits:
    told = pair_settings.get("splits") or {}
    fractions = told.get("fractions") or {}
    fixed = {name: Split(one) for name, one in (told.get("fixed") or {}).items()}
    return Splits(int(told.get("seed", 0)), Fractions(**fractions), fixed)
