"""Pool the answers to the same question from several sessions, of any models.

A question is a problem with its shown observations O_n. Two sessions asked the same question if the
task, the problem, the shown pairs (as a set), the other public data of the problem, the sample
space S, the rule of equality, the answer format, the strictness of the answer contract, and the
settings that decide consistency (for labelled text, the threshold and the judge) are all equal.
Otherwise their answers are never pooled. Sessions are sorted by digest and answers by text, so the
order in which sessions are named has no effect.

An answer is one completion of a model, with its first hypothesis if it has one. Imported answers
are included. An answer whose text is already in the pool is not added again (`repeated`). These
answers are left out and counted:

 - `cut`: a token limit cut the answer off. A training would append an end that the answer lacks;
 - `unanswered`: the model made only tool calls, up to the limit of a step;
 - `not_text`: the answer, or its hypothesis, contains lone surrogates and is therefore not valid
   Unicode text, which no tokenizer accepts. An escape sequence in the answer can produce them;
 - `after_hint`: the request showed a hint of a person, which the prompt of a pair does not show;
 - `not_judged`: the score of a consistent hypothesis cannot be computed, because the hypothesis has
   no predictions on S, or has no known cost in a family in which hypotheses have costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ... import tasks
from ...records import (
    Digest,
    FamilyWords,
    Hypothesis,
    Json,
    MeasuresHypotheses,
    Problem,
    UsageError,
    canonical_json,
    digest_of,
)
from ...store.codec import is_utf8
from .preferences import Pool

if TYPE_CHECKING:
    from ...store import AnswerSummary, Store
    from ...store.codec import Vector

READERS = 2  # threads that compute digests; half of the time is spent in the store
PROBLEMS_PER_QUERY = 512  # problems that one query per session reads
CUT_REASON = "cut: the answer was cut at the token limit"  # the reason that a session records
UNANSWERED_PREFIX = "no_answer: "
PROMPTS_PER_SESSION = 4  # whose digests a set of pairs contains
SECOND_PROPOSER = "then"  # the role whose answers a session continues a problem with
EXCLUSION_REASONS = ("repeated", "cut", "unanswered", "not_text", "after_hint", "not_judged")


@dataclass(frozen=True)
class Source:
    """A stored session from which answers for preference pairs are taken, with its digest and
    settings.
    """

    session: str
    digest: Digest
    settings: Mapping[str, Json]

    @property
    def model(self) -> str:
        """The name of the session's model, as tables show it."""
        named = self.settings.get("operational", {}).get("model_name")
        return str(named or self.settings.get("model"))

    @property
    def second_model(self) -> str:
        """The name of the second proposer (`--then`), as tables show it."""
        players = self.settings.get("operational", {}).get("players") or {}
        return str((players.get(SECOND_PROPOSER) or [SECOND_PROPOSER])[0])

    @property
    def template(self) -> str:
        """The name of the session's prompt template."""
        return str(self.settings.get("template") or "full")

    @property
    def variables(self) -> Mapping[str, Json] | None:
        """The variables of the chat template with which the session's prompts were rendered.

        For a model on a server, these are the contents of the request field `chat_template_kwargs`,
        and the field `reasoning_effort`. The value is None if the model has no chat template, for
        example for the search.
        """
        settings = self.settings.get("model_settings") or {}
        fields = settings.get("model_args")
        if fields is None:
            return None
        if settings.get("scheme") == "hf":
            return dict(fields)
        nested = fields.get("chat_template_kwargs")
        found = dict(nested) if isinstance(nested, Mapping) else {}
        if "reasoning_effort" in fields:
            found.setdefault("reasoning_effort", fields["reasoning_effort"])
        return found


@dataclass
class Question:
    """A problem with its shown observations O_n, and the sessions that worked on it.

    Attributes:
        key: A digest. Two sessions ask the same question if their keys are equal.
        problem: The problem.
        space: The digest of the problem's sample space.
        answer_format: The answer format of the sessions.
        tau: For labelled text, the threshold of consistency; otherwise None.
        sources: The sessions.
    """

    key: Digest
    problem: Problem
    space: Digest
    answer_format: str
    tau: float | None
    sources: list[Source] = field(default_factory=list)

    @property
    def words(self) -> FamilyWords:
        """The prompt texts of the problem's family."""
        return tasks.problem_family(self.problem, tau=self.tau).words


@dataclass(frozen=True)
class PooledAnswer:
    """One answer in a pool, with its hypothesis and the results that the session recorded.

    `cost` is the cost of the hypothesis, or None if the family has no costs. `codes` and `reasons`
    are digests of the stored predictions.
    """

    text: str
    model: str
    hypothesis: Hypothesis | None
    consistent: bool
    codes: Digest | None
    reasons: Digest | None
    cost: int | None


@dataclass(frozen=True)
class PooledAnswers:
    """The answers to one question (problem and shown observations), pooled from all sessions.

    Attributes:
        question: The question.
        answers: The answers, sorted by text.
        pool: The answers as arrays, from which `preference_pairs` builds pairs.
        excluded: The number of answers that were left out, by reason (`EXCLUSION_REASONS`).
        multiple: The number of answers with more than one hypothesis.
        by_model: For each model, the number of answers, and of malformed, inconsistent and
            consistent answers. Repeated answers are counted.
    """

    question: Question
    answers: Sequence[PooledAnswer]
    pool: Pool
    excluded: Mapping[str, int]
    multiple: int
    by_model: Mapping[str, Mapping[str, int]]


def read_sources(store: Store, sessions: Sequence[str]) -> list[Source]:
    """Return the sessions as sources of answers, sorted by digest. A repeated id is read once.

    Args:
        store: The open store.
        sessions: The ids of the sessions.
    """
    names = list(dict.fromkeys(sessions))
    with ThreadPoolExecutor(READERS) as readers:
        digests = list(readers.map(store.digest, names))
    read = [
        Source(session, digest, store.settings(session))
        for session, digest in zip(names, digests, strict=True)
    ]
    return sorted(read, key=lambda one: (one.digest, one.session))


def read_questions(store: Store, sources: Sequence[Source]) -> list[Question]:
    """Return the questions that the sessions asked, sorted by task, problem and key.

    Problems that a session did not finish are included.
    """
    found: dict[Digest, Question] = {}
    for source in sources:
        settings = source.settings
        form, tau = str(settings["answer_format"]), (settings.get("text") or {}).get("tau")
        for row in store.problems(source.session):
            problem = row.problem
            shown = sorted(canonical_json([one.input, one.output]) for one in problem.shown)
            key = digest_of(
                [settings["task"], problem.family, problem.id, problem.group, shown,
                 dict(problem.public), row.space, settings.get("equality"), form, tau,
                 bool(settings.get("strict_contract")), _judge(settings)]
            )  # fmt: skip
            asked = found.setdefault(key, Question(key, problem, row.space, form, tau))
            asked.sources.append(source)
    return sorted(found.values(), key=lambda one: (one.problem.task, one.problem.id, one.key))


def _judge(settings: Mapping[str, Json]) -> Json:
    """Return what applies hypotheses to texts; labels by a model are specific to that model."""
    mode = (settings.get("text") or {}).get("judge")
    if mode in (None, "exact"):
        return mode
    named = (settings.get("roles") or {}).get("judge")
    return [mode, named or settings.get("model"), None if named else settings.get("model_settings")]


def choose_template(sources: Sequence[Source], template: str | None) -> str:
    """Return the template for the prompts of pairs: `template`, or the template of the sessions.

    Raises:
        UsageError: `template` is None, and the sessions used different templates.
    """
    if template is not None:
        return template
    own = sorted({source.template for source in sources})
    if len(own) > 1:
        raise UsageError(
            f"the sessions used different prompt templates ({' and '.join(own)}): choose one"
            " with --template"
        )
    return own[0] if own else "full"


def variables_of(sources: Sequence[Source]) -> Mapping[str, Json]:
    """Return the variables of the chat template, which must be the same in all sessions.

    Raises:
        UsageError: The sessions used different variables.
    """
    groups: dict[str, list[Source]] = {}
    for source in sources:
        if source.variables is not None:
            groups.setdefault(canonical_json(source.variables), []).append(source)
    if len(groups) > 1:
        listed = "; ".join(
            f"{', '.join(sorted(one.session for one in group))} with {_shown(group[0].variables)}"
            for _, group in sorted(groups.items())
        )
        raise UsageError(
            "the sessions used different variables of the chat template, so their prompts"
            f" differ ({listed}): build a separate set from each"
        )
    return next((group[0].variables or {} for group in groups.values()), {})


def describe_rendering(store: Store, sources: Sequence[Source]) -> list[dict[str, Json]]:
    """Return how each session that recorded digests of its prompts rendered them, in the order of
    `sources`.

    The result is part of the settings of a set of pairs, so that a training can check that its base
    model renders the same tokens (`dpo/reproduction.py`).

    The keys of a dict are session (the session's digest), model, chat_template (a digest, "plain", or None if
    it is unknown), variables (of the chat template), and prompts: up to `PROMPTS_PER_SESSION` dicts
    with the keys messages, digest (`records.digest_prompt`), and tools if there are any.

    Args:
        store: The open store.
        sources: The sessions.
    """
    found: list[dict[str, Json]] = []
    for source in sources:
        settings = source.settings.get("model_settings") or {}
        if settings.get("scheme") not in ("hf", "openai"):
            continue
        prompts = store.digested_prompts(source.session, PROMPTS_PER_SESSION)
        if prompts:
            found.append(
                {
                    "session": source.digest,
                    "model": str(source.settings.get("model")),
                    "chat_template": settings.get("chat_template"),
                    "variables": dict(source.variables or {}),
                    "prompts": [
                        {key: one[key] for key in ("messages", "tools", "digest") if one[key]}
                        for one in prompts
                    ],
                }
            )
    return found


def _shown(variables: Mapping[str, Json] | None) -> str:
    named = (f"{name}={canonical_json(one)}" for name, one in sorted((variables or {}).items()))
    return " ".join(named) or "none"


def read_pools(store: Store, questions: Sequence[Question]) -> Iterator[PooledAnswers]:
    """Yield the pooled answers to each question, in the order of `questions`.

    Only the predictions of one pool are in memory at a time.
    """
    sizes = _Spaces(store)
    for start in range(0, len(questions), PROBLEMS_PER_QUERY):
        part = questions[start : start + PROBLEMS_PER_QUERY]
        wanted: dict[str, list[str]] = {}
        for one in part:
            for source in one.sources:
                wanted.setdefault(source.session, []).append(one.problem.id)
        read = {session: store.answer_summaries(session, ids) for session, ids in wanted.items()}
        for one in part:
            given = [
                (_giver(source, answer), answer)
                for source in one.sources
                for answer in read[source.session][one.problem.id]
            ]
            yield _pooled(store, one, given, sizes)


def _pooled(
    store: Store, asked: Question, given: Sequence[tuple[str, AnswerSummary]], spaces: _Spaces
) -> PooledAnswers:
    left_out = dict.fromkeys(EXCLUSION_REASONS, 0)
    by_model: dict[str, Counter[str]] = {}
    taken: dict[str, PooledAnswer] = {}
    several = 0
    costed = isinstance(tasks.load_family(asked.problem.family), MeasuresHypotheses)
    for model, one in given:
        by_model.setdefault(model, Counter()).update(("answers", _worth(one)))
        several += one.hypothesis_count > 1
        why = _left_out(one, taken, costed)
        if why:
            left_out[why] += 1
            continue
        taken[one.text] = PooledAnswer(
            one.text, model, one.hypothesis, one.verdict.consistent, one.codes, one.reasons,
            _cost(one) if costed else None,
        )  # fmt: skip
    answers = [taken[text] for text in sorted(taken)]
    return PooledAnswers(
        asked, answers, _pool(store, asked, answers, spaces), left_out, several, by_model
    )


def _giver(source: Source, answer: AnswerSummary) -> str:
    """Return the name of the model that gave an answer, or of the one that repaired it."""
    if answer.path.split("/")[2:3] == ["repair"]:
        return str(source.settings.get("repair"))
    return source.second_model if answer.proposed_by == SECOND_PROPOSER else source.model


def _worth(one: AnswerSummary) -> str:
    if one.hypothesis is None:
        return "malformed"
    return "consistent" if one.verdict.consistent else "inconsistent"


def _left_out(one: AnswerSummary, taken: Mapping[str, PooledAnswer], costed: bool) -> str:
    if one.hypothesis is None and one.reason == CUT_REASON:
        return "cut"
    if one.hypothesis is None and one.reason.startswith(UNANSWERED_PREFIX):
        return "unanswered"
    said = () if one.hypothesis is None else (one.hypothesis.description, one.hypothesis.text)
    if not all(map(is_utf8, (one.text, *said))):
        return "not_text"
    if one.after_hint:
        return "after_hint"
    if one.verdict.consistent and (one.codes is None or one.reasons is None):
        return "not_judged"
    if one.verdict.consistent and costed and _cost(one) is None:
        return "not_judged"
    return "repeated" if one.text in taken else ""


def _cost(one: AnswerSummary) -> int | None:
    cost = (one.detail or {}).get("cost")
    return None if cost is None else int(cost)


class _Spaces:
    """Sizes and weights of sample spaces, without their inputs."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[Digest, tuple[int, tuple[float, ...] | None]] = {}

    def size_and_weights(self, digest: Digest) -> tuple[int, tuple[float, ...] | None]:
        if digest not in self._known:
            self._known[digest] = self._store.input_set_size(digest)
        return self._known[digest]


def _pool(store: Store, asked: Question, answers: Sequence[PooledAnswer], spaces: _Spaces) -> Pool:
    size, weights = spaces.size_and_weights(asked.space)
    consistent = [place for place, one in enumerate(answers) if one.consistent]
    arrays = _vectors(store, [answers[place] for place in consistent])
    # Rows that are never written take no memory, because np.zeros allocates them lazily.
    codes = np.zeros((len(answers), size), np.int64)
    defined = np.zeros((len(answers), size), np.bool_)
    for place in consistent:
        one = answers[place]
        codes[place] = arrays[str(one.codes)]
        defined[place] = arrays[str(one.reasons)] == 0
    costed = isinstance(tasks.load_family(asked.problem.family), MeasuresHypotheses)
    return Pool(
        parsed=np.array([one.hypothesis is not None for one in answers], np.bool_),
        consistent=np.array([one.consistent for one in answers], np.bool_),
        codes=codes,
        defined=defined,
        weights=weights,
        cost=np.array([one.cost or 0 for one in answers], np.int64) if costed else None,
        elements=_elements(asked.problem) if costed else 0,
    )


def _vectors(store: Store, answers: Sequence[PooledAnswer]) -> dict[Digest, Vector]:
    names = {str(name) for one in answers for name in (one.codes, one.reasons)}
    return store.vectors(names) if names else {}


def _elements(problem: Problem) -> int:
    """Return the number of elements in all prompt worlds."""
    return sum(len(world.input["domain"]) for world in problem.shown)
