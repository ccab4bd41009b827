"""Pool the answers about one problem and O_n from sessions of any models.

Two sessions asked the same question where task, problem, shown pairs (as a set), the other public
parts, the sample space S, the rule of equality, the answer format, the strictness of its contract,
and what decides consistency are equal (for labelled text, the threshold and the judge). Otherwise
sessions are never mixed, whatever their problems are called. Sessions are ordered by digest and
answers by text, so the order in which sessions are named has no effect.

An answer is one completion, with its first hypothesis or none; an imported answer counts as well. A
text that occurs already is not taken again (`repeated`). These answers are left out and counted:

 - `cut`: a token limit ended it, and a training would append the end that it lacks;
 - `unanswered`: tool calls up to the limit of a step, which are no answer;
 - `not_text`: the answer, or its hypothesis (which prompts show), is not valid Unicode text but has
   lone surrogates, which no tokenizer accepts; an escape in the answer may have produced one;
 - `not_judged`: a consistent hypothesis without predictions over S, or without a known cost where
   hypotheses have costs, so its score cannot be computed.
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
EXCLUSION_REASONS = ("repeated", "cut", "unanswered", "not_text", "not_judged")


@dataclass(frozen=True)
class Source:
    """A stored session from which answers for preference pairs are taken."""

    session: str
    digest: Digest
    settings: Mapping[str, Json]

    @property
    def model(self) -> str:
        """The name of the model in tables."""
        named = self.settings.get("operational", {}).get("model_name")
        return str(named or self.settings.get("model"))

    @property
    def template(self) -> str:
        """The prompt template of the session."""
        return str(self.settings.get("template") or "full")

    @property
    def variables(self) -> Mapping[str, Json] | None:
        """The variables of the chat template that the session's prompts were written with.

        A server passes on two fields of a request to its template: all in `chat_template_kwargs`,
        and `reasoning_effort`. None for a model that has no chat template, such as the search.
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
    """One problem with one set of shown pairs O_n, and the sessions that worked on it.

    Attributes:
        key: The digest of everything that makes two questions the same.
        problem: The problem.
        space: The digest of its sample space.
        answer_format: The answer format.
        tau: The threshold of consistency for labelled text, else None.
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
        """The prompt words of the problem's family."""
        return tasks.problem_family(self.problem, tau=self.tau).words


@dataclass(frozen=True)
class PooledAnswer:
    """An answer of a pool; cost is that of its hypothesis, in a family that has costs."""

    text: str
    model: str
    hypothesis: Hypothesis | None
    consistent: bool
    codes: Digest | None
    reasons: Digest | None
    cost: int | None


@dataclass(frozen=True)
class PooledAnswers:
    """The answers to one question (problem and shown pairs), pooled from all sessions.

    Attributes:
        question: The question.
        answers: The answers, sorted by text.
        pool: What `preference_pairs` needs of them.
        excluded: The number of left-out answers by reason (`EXCLUSION_REASONS`).
        multiple: The number of answers with more than one hypothesis.
        by_model: Per model, the numbers of answers, malformed, inconsistent and consistent,
            including repeated answers.
    """

    question: Question
    answers: Sequence[PooledAnswer]
    pool: Pool
    excluded: Mapping[str, int]
    multiple: int
    by_model: Mapping[str, Mapping[str, int]]


def read_sources(store: Store, sessions: Sequence[str]) -> list[Source]:
    """Return the named sessions as sources of answers, each once, sorted by digest."""
    names = list(dict.fromkeys(sessions))
    with ThreadPoolExecutor(READERS) as readers:
        digests = list(readers.map(store.digest, names))
    read = [
        Source(session, digest, store.settings(session))
        for session, digest in zip(names, digests, strict=True)
    ]
    return sorted(read, key=lambda one: (one.digest, one.session))


def read_questions(store: Store, sources: Sequence[Source]) -> list[Question]:
    """Return the questions of the sessions, including unfinished ones, by task, problem and key."""
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
    """Return the template of the prompts: `template`, or that of the sessions.

    Raises:
        UsageError: The templates of the sessions differ and `template` is None.
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
    """Return the variables of the chat template that all sessions used.

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


def _shown(variables: Mapping[str, Json] | None) -> str:
    named = (f"{name}={canonical_json(one)}" for name, one in sorted((variables or {}).items()))
    return " ".join(named) or "none"


def read_pools(store: Store, questions: Sequence[Question]) -> Iterator[PooledAnswers]:
    """Yield the pools of answers in order. Only one pool's predictions are in memory at a time."""
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
    mended = answer.path.split("/")[2:3] == ["repair"]
    return str(source.settings.get("repair")) if mended else source.model


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
