"""One prediction of one problem, as the evaluation `abd` counts it (ABD, sections 4.4 and 6.1).

A model that answers once has one rule a problem. Of a session that answered more often one is
chosen by the prompt worlds alone: the first that is valid in all of them, since the order of answers
is the proposer's own order of preference, and later ones are asked for as other ideas. Where the
proposer was told of each answer by the solver and asked for a better one (`refine`), it is the best:
of least total cost, then of smallest AST, then the earliest. Without a valid one it is the first
rule that was read; without any the first answer, with the reason why it gives none.

What a session's model was told by the oracle while it answered, from the session's settings. Rows
made so are no single-turn rows, so tables name it.

    none            nothing: asked once, or again and again without a word
    tool            it was offered the oracle as a tool (a model that turns out to refuse tools is
                    told in its next prompt what a call would have said)
    solver          each answer is told of in the next prompt
    solver+search   and a search mends and shrinks them; so are all parts put together
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ....records import Agreement, Hypothesis, Json, Problem, StepRecord
from ....tasks.logic.measures import Measured, Part
from ....tools.logic.formula import Formula, written
from ....tools.logic.reading import FormulaError, read_formula
from ....tools.logic.theories import theory_from

MISSING_CHARACTERS = 10  # an answer of no more holds no rule, and counts as missing
INFLATED = 2.0  # a gap that grows by more than that is parsimony inflation (table H.2)
MISSING = "missing"
FEEDBACK = "feedback"  # a field of the steps of refine

Mode = Literal[
    "missing", "parse_error", "all_invalid", "partial_invalid", "brittle", "parsimony_inflation",
    "success", "no_holdouts", "limit",
]  # fmt: skip
MODES: tuple[Mode, ...] = (
    "missing", "parse_error", "all_invalid", "partial_invalid", "brittle", "parsimony_inflation",
    "success", "no_holdouts", "limit",
)  # fmt: skip
Pattern = Literal["exists_only", "mixed", "propositional_and", "forall_only", "other"]
PATTERNS: tuple[Pattern, ...] = (
    "exists_only", "mixed", "propositional_and", "forall_only", "other"
)  # fmt: skip


@dataclass(frozen=True)
class Facts:
    """What a problem is grouped by. key: the problem's digest, by which sessions share it. theory:
    its names, the paper's and the files'. reference: the planted rule in normal form; None where
    there is none. opened: whether holdouts were. holdouts_known: whether it is known how many
    there are, 0 too."""

    problem: str
    key: str
    regime: str
    theory: str
    difficulty: str
    reference: str | None
    reference_size: int | None
    prompt_worlds: int
    holdout_worlds: int
    holdouts_known: bool


def facts_of(problem: Problem, opened: bool = True) -> Facts:
    """opened: False where only prompt worlds were judged, as at the end of a session."""
    told = problem.public["theory"]
    reference = _reference(problem)
    published = problem.secret.get("holdouts_published")
    return Facts(
        problem=problem.id,
        key=problem.digest,
        regime=told["regime"],
        theory=theory_from(told).title,
        difficulty=str(problem.secret.get("difficulty") or ""),
        reference=written(reference) if reference else None,
        reference_size=reference.size if reference else None,
        prompt_worlds=len(problem.shown),
        holdout_worlds=len(problem.hidden) if opened else 0,
        holdouts_known=opened and (bool(problem.hidden) or published is not None),
    )


def _reference(problem: Problem) -> Formula | None:
    text = problem.secret.get("reference")
    if not isinstance(text, str):
        return None
    try:
        return read_formula(text, theory_from(problem.public["theory"]).predicates)
    except FormulaError:
        return None


@dataclass(frozen=True)
class Attempt:
    """An answer as an evaluator reads it. place: among the problem's answers. rule: None where it
    gives none, for `reason`. closed: parentheses that were added at its end. shown: the rule's
    agreement with the prompt worlds."""

    place: int
    answer: str
    rule: Hypothesis | None = None
    reason: str = ""
    closed: int = 0
    shown: Agreement | None = None

    @property
    def valid(self) -> bool:
        marks = self.shown.marks if self.shown else ()
        return bool(marks) and all(mark is True for mark in marks)


def refined(steps: Sequence[StepRecord]) -> bool:
    """Whether the answers of a problem were each told of by the solver, to be made better."""
    return any(step.fields.get(FEEDBACK) is True for step in steps)


def choose(attempts: Sequence[Attempt], refined: bool = False) -> Attempt:
    """The prediction among the answers to a problem, in their order; without an answer one that is
    missing. refined: see above."""
    read = [one for one in attempts if one.rule is not None]
    valid = [one for one in read if one.valid]
    if valid:
        return min(valid, key=_rank) if refined else valid[0]
    return next(iter([*read, *attempts]), Attempt(0, "", None, MISSING))


def _rank(one: Attempt) -> tuple[bool, int, int, int]:
    cost = one.shown.detail.get("cost") if one.shown else None
    size = one.rule.meta.get("size", 0) if one.rule else 0
    return cost is None, cost or 0, size, one.place


@dataclass(frozen=True)
class Record:
    """answers: how many the problem got. malformed: of all of them that give no rule, the reasons;
    breaches: of the others, what was tolerated. reason: why there is no rule, "" where there is one.
    formula: the rule in normal form. closed: parentheses that were added, also where the repaired
    text is no rule."""

    facts: Facts
    answers: int
    malformed: tuple[str, ...]
    breaches: tuple[str, ...]
    reason: str
    formula: str | None
    size: int | None
    depth: int | None
    closed: int
    pattern: Pattern | None
    measured: Measured

    @property
    def read(self) -> bool:
        return self.formula is not None

    @property
    def missing(self) -> bool:
        return self.reason == MISSING

    @property
    def valid(self) -> bool | None:
        """On all prompt worlds; None where a limit of the solver keeps it open."""
        return self.measured.prompt.valid if self.read else False

    @property
    def strictly_valid(self) -> bool | None:
        return False if self.closed else self.valid

    @property
    def gap(self) -> float | None:
        return self.measured.prompt.gap if self.valid else None

    @property
    def gref(self) -> float | None:
        return self.measured.gref if self.valid else None

    @property
    def beats_reference(self) -> bool | None:
        return None if self.gref is None else self.gref < 0

    @property
    def holdout_valid(self) -> bool | None:
        """On all holdouts; False without a rule, and where it is known that there are none (the
        published evaluator's way). None where none were opened, or a limit keeps it open."""
        if not self.facts.holdouts_known:
            return None
        if not self.read or not self.facts.holdout_worlds:
            return False
        return self.measured.holdout.valid

    @property
    def holdout_given_prompt(self) -> bool | None:
        """`holdout_valid` of a rule that is valid on the prompt worlds, where there are holdouts."""
        return self.holdout_valid if self.valid and self.facts.holdout_worlds else None

    @property
    def holdout_gap(self) -> float | None:
        return self.measured.holdout.gap if self.holdout_valid else None

    @property
    def delta_gap(self) -> float | None:
        """Of survivors: rules valid on both."""
        return self.measured.delta_gap if self.valid and self.holdout_valid else None

    @property
    def survives(self) -> bool:
        return bool(self.valid and self.holdout_valid)

    @property
    def limited(self) -> bool:
        """Whether a limit of the solver left something open that is asked for."""
        if not self.read:
            return False
        of_holdouts = bool(self.facts.holdout_worlds)
        return (
            self.valid is None
            or (self.valid is True and None in _sums(self.measured.prompt))
            or (of_holdouts and self.holdout_valid is None)
            or (self.holdout_valid is True and None in _sums(self.measured.holdout))
        )

    @property
    def mode(self) -> Mode:
        """The first that fits of table H.2, repair aside, which is counted beside it."""
        if not self.read:
            return "missing" if self.missing else "parse_error"
        if self.valid is not True:
            return self._invalid()
        if not self.facts.holdouts_known:
            return "no_holdouts"
        if self.holdout_valid is None:
            return "limit"
        if not self.holdout_valid:
            return "brittle"
        if self.delta_gap is None:
            return "limit"
        return "parsimony_inflation" if self.delta_gap > INFLATED else "success"

    def _invalid(self) -> Mode:
        marks = [world["valid"] for world in self.measured.prompt.worlds]
        if self.valid is None or (None in marks and True not in marks):
            return "limit"
        return "partial_invalid" if True in marks else "all_invalid"

    @property
    def catastrophic(self) -> bool:
        """Brittle, and valid in less than half of the holdouts."""
        marks = [world["valid"] for world in self.measured.holdout.worlds]
        return self.mode == "brittle" and bool(marks) and marks.count(True) < len(marks) / 2


def record(
    problem: Problem,
    facts: Facts,
    attempts: Sequence[Attempt],
    chosen: Attempt,
    measured: Measured,
) -> Record:
    """measured: of the chosen rule; of nothing where there is none."""
    rule = chosen.rule
    predicates = theory_from(problem.public["theory"]).predicates
    reason = chosen.reason
    if rule is None and len(chosen.answer.strip()) <= MISSING_CHARACTERS:
        reason = MISSING
    elif rule is None and reason == MISSING:
        reason = "no_formula"  # much was said, and no formula
    return Record(
        facts=facts,
        answers=len(attempts),
        malformed=tuple(one.reason for one in attempts if one.rule is None),
        breaches=tuple(name for one in attempts if one.rule for name in one.rule.breaches),
        reason="" if rule else reason,
        formula=rule.text if rule else None,
        size=rule.meta.get("size") if rule else None,
        depth=rule.meta.get("depth") if rule else None,
        closed=chosen.closed,
        pattern=pattern_of(read_formula(rule.text, predicates)) if rule else None,
        measured=measured,
    )


def pattern_of(formula: Formula) -> Pattern:
    """By the quantifiers that stand in a rule (table H.3, which gives no rule of its own)."""
    kinds = {node.kind for node in formula.nodes}
    if "exists" in kinds:
        return "mixed" if "forall" in kinds else "exists_only"
    if "forall" in kinds:
        return "forall_only"
    return "propositional_and" if "and" in kinds else "other"


def _sums(part: Part) -> tuple[int | None, int | None]:
    """Cost and bound: a rule that is valid has both, unless a limit kept one open."""
    return part.cost, part.bound


NONE, TOOL, SOLVER = "none", "tool", "solver"


def feedback_of(settings: Mapping[str, Json]) -> str:
    """settings: of a session, as it records them. What the embedded search asks of itself is not
    counted: its name says it."""
    if settings.get("method") == "imported":
        return NONE
    takes_tools = settings.get("model_settings", {}).get("tools") is not False
    calls = settings.get("tool_calls", 0) > 0
    told = settings.get("feedback")
    if told is None:
        told = calls and not takes_tools
    parts = [SOLVER] if told else []
    parts += [TOOL] if calls and takes_tools else []
    parts += [str(settings["repair"]).partition(":")[0]] if settings.get("repair") else []
    return "+".join(parts) or NONE
