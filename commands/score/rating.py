"""`peirce rate SESSION --scorer-model MODEL`: let a model rate the sentences in a session's bank.

Each call asks one question. For a true sentence and a sentence of the bank: are both about a common
variable (`feature`), and if so, how much of the true sentence does the sentence of the bank express
(`relationship`: 0, .25, .5, .75 or 1)? For a true variable: is the sentence about this variable
(`variable`)? For a sentence alone: what are its `novelty`, `plausibility` and `clarity`, from 1 to
5? If an answer cannot be read, its score is None and it is counted as missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...records import (
    InputSet,
    Json,
    Message,
    Problem,
    Proposer,
    UsageError,
    View,
    canonical_json,
    digest_of,
)
from ...tasks.text.rating_answers import QUALITIES
from ..arguments import validate_call
from ..outcome import find_problem, open_for_reading, store_path
from ..session.planning import DEFAULT_CONCURRENCY
from .checking import iter_results
from .judges import ModelSpec, choose_rater
from .ratings_file import RatingsFile, default_ratings_path, rating_key, read_ratings
from .results import Rating, RatingSummary

DISCOVERY = "discovery"
SCORES = (DISCOVERY, *QUALITIES)
NEED_FINDINGS = ("novelty", "plausibility")
OnRating = Callable[[dict[str, Json]], Awaitable[None]]


@validate_call
def rate(
    session: str = "last",
    *,
    problem: str | None = None,
    scores: Sequence[str] = (),
    scorer_model: str | Proposer | None = None,
    roles: Mapping[str, Any] | None = None,
    known: str | Path | None = None,
    seed: int = 0,
    concurrency: int | None = None,
    ratings: str | Path | None = None,
    store: str | Path | None = None,
) -> Iterator[Rating | RatingSummary]:
    """Rate the hypotheses in a session's bank with a model, and yield each rating.

    Ratings are saved when they arrive, and saved ratings are not requested again.

    Args:
        session: the session's id, a unique prefix of the id, or "last".
        problem: rate only the bank of this problem; None for all problems.
        scores: the questions to ask: discovery, novelty, plausibility, clarity; by default all
            questions that the data allow.
        scorer_model: the model that rates.
        roles: settings by role. The settings of "scorer" apply, and its model replaces
            `scorer_model`.
        known: file of known findings, one per line, in addition to the findings of the data set.
        seed: seed of the model's calls.
        concurrency: number of calls at the same time; None for the default.
        ratings: file of ratings; None for the file next to the store.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.

    Returns:
        An iterator over ratings. After the ratings of a problem it yields a `RatingSummary`
        (`hypobench.tables.summarize_ratings`).

    Raises:
        UsageError: no model is named; novelty or plausibility is requested without known findings;
            or discovery is requested without true sentences.
        StoreError: the session cannot be found.
        Unavailable: the model cannot be reached.
    """
    asked = choose_rater(scorer_model, roles)
    found = _findings(known)
    path = store_path(store)
    with open_for_reading(store) as opened:
        name = opened.find_session(session)
        one_alone = None if problem is None else find_problem(opened, name, problem)
        banks = [
            ProblemBank(
                one.problem, tuple(row["text"] for row in opened.bank(name, one.problem.id)), found
            )
            for one in opened.problems(name)
            if one_alone in (None, one.problem.id)
        ]
    if not banks:
        raise UsageError(f"session {name} has no problems")
    wanted = [(one, _wanted(one, scores)) for one in banks]
    kept = read_ratings(ratings or default_ratings_path(path, name), repair=True)
    work = _Work(wanted, asked, kept, seed, asyncio.Semaphore(concurrency or DEFAULT_CONCURRENCY))
    return iter_results(work.give_all, _result)


def _result(row: Mapping[str, Json]) -> Rating | RatingSummary:
    return (RatingSummary if row["kind"] == "summary" else Rating).from_dict(row)


def _findings(path: str | Path | None) -> tuple[str, ...]:
    from ...tasks.io.files import expand_home, read_text

    if path is None:
        return ()
    lines = read_text(expand_home(path)).splitlines()
    return tuple(line.strip().removeprefix("- ") for line in lines if line.strip())


@dataclass(frozen=True)
class ProblemBank:
    """A problem on labelled text, with the bank of sentences that a session kept for it.

    Args:
        problem: the problem.
        bank: the sentences of the bank, best first.
        user_findings: known findings that the user provides.
        variables: the variables of each true sentence that is an exact rule. They are filled in if
            the score discovery is requested.
    """

    problem: Problem
    bank: tuple[str, ...]
    user_findings: tuple[str, ...] = ()
    variables: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def truths(self) -> tuple[str, ...]:
        """The true sentences, which produced the labels; empty if they are unknown."""
        return tuple(self.problem.secret.get("truths") or ())

    @property
    def known(self) -> tuple[str, ...]:
        """Known findings from the literature and the user, without the true sentences."""
        told = self.problem.secret.get("known") or ()
        return (*(one for one in told if one not in self.truths), *self.user_findings)


def _wanted(one: ProblemBank, scores: Sequence[str]) -> tuple[str, ...]:
    """Return what to rate. Raise UsageError for scores that the problem does not allow."""
    from ..session.settings import check_choice

    for name in scores:
        check_choice("scores", name, SCORES)
        if name in NEED_FINDINGS and not one.known:
            raise UsageError(
                f"{name} of {one.problem.id} cannot be rated, because there are no known"
                " findings to compare with. Give them with --known FILE, or as known_hypotheses"
                " in metadata.json"
            )
        if name == DISCOVERY and not one.truths:
            raise UsageError(
                f"discovery of {one.problem.id} cannot be rated, because the true rules of its"
                " labels are unknown (ground_truth_hypotheses in metadata.json)"
            )
    allowed = {DISCOVERY: bool(one.truths), "clarity": True}
    chosen = tuple(scores) or tuple(s for s in SCORES if allowed.get(s, bool(one.known)))
    if DISCOVERY in chosen:
        one.variables.update(find_variables(one.problem, one.truths))
    return chosen


def find_variables(problem: Problem, truths: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the variables of each true sentence that is an exact rule, described in words.

    Args:
        problem: the problem.
        truths: the true sentences, which produced the labels.
    """
    from ...tools.discovery.input_space import InputSpace
    from ...tools.discovery.rule_cases import compile_truth
    from ...tools.sentence_rules.rules import Rule

    space = InputSpace(problem)
    found = {}
    for sentence in truths:
        rule = compile_truth(sentence, problem.public)
        if isinstance(rule, Rule):
            found[sentence] = tuple(map(space.describe_variable, sorted(space.variables(rule))))
    return found


@dataclass(frozen=True)
class _Question:
    kind: str
    true: str | None
    hypothesis: str
    messages: Sequence[Message]
    known: str | None = None


@dataclass
class _Work:
    wanted: Sequence[tuple[ProblemBank, Sequence[str]]]
    asked: ModelSpec
    kept: RatingsFile
    seed: int
    turns: asyncio.Semaphore

    async def give_all(self, give: OnRating) -> None:
        async with self.asked.open() as scorer:
            if scorer is None:
                raise UsageError(
                    "no model is given to rate hypotheses: choose one with --scorer-model"
                )
            for one, scores in self.wanted:
                await self.of_problem(one, scores, scorer, give)

    async def of_problem(
        self, one: ProblemBank, scores: Sequence[str], scorer: Proposer, give: OnRating
    ) -> None:
        from ...agents.prompts import rating as prompts
        from ...reports.papers.hypobench.tables import summarize_ratings

        rows: list[dict[str, Json]] = []

        async def stage(questions: Sequence[_Question]) -> list[dict[str, Json]]:
            got = await self.all_of(one, questions, scorer, give)
            rows.extend(got)
            return got

        if DISCOVERY in scores:
            pairs = [(t, g) for t in one.truths for g in one.bank]
            features = await stage(
                [_Question("feature", t, g, prompts.same_variable_prompt(t, g)) for t, g in pairs]
            )
            shared = [(row["true"], row["hypothesis"]) for row in features if row["score"]]
            await stage(
                [
                    _Question("relationship", t, g, prompts.relationship_prompt(t, g))
                    for t, g in shared
                ]
            )
            names = dict.fromkeys(name for some in one.variables.values() for name in some)
            await stage(
                [
                    _Question("variable", z, g, prompts.variable_prompt(z, g))
                    for z in names
                    for g in one.bank
                ]
            )
        about = str(one.problem.public.get("description") or "")
        told = digest_of(list(one.known))
        for kind in (score for score in SCORES if score in scores and score != DISCOVERY):
            await stage(
                [
                    _Question(
                        kind, None, g, prompts.quality_prompt(kind, g, one.known, about), told
                    )
                    for g in one.bank
                ]
            )
        summary = summarize_ratings(
            rows, one.truths if DISCOVERY in scores else (), one.bank, one.variables
        )
        await give(
            {
                "problem": one.problem.id,
                "by": rater_name(scorer),
                "kind": "summary",
                "hypotheses": len(one.bank),
                "scores": summary,
            }
        )

    async def all_of(
        self, one: ProblemBank, questions: Sequence[_Question], scorer: Proposer, give: OnRating
    ) -> list[dict[str, Json]]:
        """Answer questions concurrently, and pass the rows to `give` in order."""
        from ...graphs.runtime.queries import gather_or_cancel

        answered: dict[int, dict[str, Json]] = {}
        place = 0

        async def answer_in_order(number: int, question: _Question) -> dict[str, Json]:
            nonlocal place
            answered[number] = row = await self.answer(one, question, scorer)
            while (ready := answered.pop(place, None)) is not None:
                place += 1
                await give(ready)
            return row

        return await gather_or_cancel(
            [answer_in_order(n, question) for n, question in enumerate(questions)]
        )

    async def answer(
        self, one: ProblemBank, question: _Question, scorer: Proposer
    ) -> dict[str, Json]:
        from ...agents.prompts.rating import rating_prompt_hash
        from ...graphs.runtime.queries import check_reply

        row: dict[str, Json] = {
            "problem": one.problem.id,
            "by": rater_name(scorer),
            "wording": rating_prompt_hash(),
            "kind": question.kind,
            "true": question.true,
            "hypothesis": question.hypothesis,
            "known": question.known,
        }
        if (before := self.kept.rows.get(rating_key(row))) is not None:
            return before
        view = View(
            one.problem.id, one.problem.task, one.problem.family, (), {}, InputSet("none", ())
        )
        async with self.turns:
            reply = await scorer.propose(view, question.messages, (), self.seed)
        check_reply(reply, scorer)
        row |= parse_answer(question.kind, reply.text)
        self.kept.add(row)
        return row


def parse_answer(kind: str, answer: str) -> dict[str, Json]:
    """Parse a model's answer into {"score", "reason", "said"}.

    The score is None if the answer cannot be read.

    Args:
        kind: the question that was asked, such as feature or novelty.
        answer: the complete answer of the model.
    """
    from ...tasks.text.answers import parse_yes_no
    from ...tasks.text.rating_answers import (
        FIVE_POINT_SCALE,
        QUARTER_SCALE,
        parse_rating,
        parse_reason,
    )

    score: float | None
    if kind in ("feature", "variable"):
        yes = parse_yes_no(answer)
        score, reason = None if yes is None else float(yes), ""
    elif kind == "relationship":
        score, reason = parse_rating(answer, QUARTER_SCALE), ""
    else:
        score, reason = parse_rating(answer, FIVE_POINT_SCALE), parse_reason(answer)
    return {"score": score, "reason": reason, "said": answer}


def rater_name(scorer: Proposer) -> str:
    """Return the name of a model that rates: the model's name and a digest of its settings.

    Settings of the endpoint do not change the name.
    """
    told = scorer.settings()
    if isinstance(told, Mapping):
        told = {k: v for k, v in told.items() if k not in ("endpoint", "transport")}
    name = str(told.get("model") or told.get("scheme") or "") if isinstance(told, Mapping) else ""
    return f"{name} {digest_of(canonical_json(told))[:12]}".strip()
