"""Choose the answer to a problem that the evaluation `abd` scores (ABD, sections 4.4 and 6.1).

If a model answers once, its answer is scored. If a session has several answers to a problem, the
choice depends only on the prompt worlds. The first answer that is valid in all prompt worlds is
scored, because the proposer gives its preferred answer first and was then asked for alternatives.
If the solver commented on each answer and the proposer was asked for a better one (`refine`), the
best valid answer is scored: the answer with the least total cost, then the smallest syntax tree,
then the earliest. If no answer is valid, the first readable rule is scored. If no rule is readable,
the first answer counts, with the reason why it contains no rule.

`session_feedback` names the feedback that a session's model received from the solver while it
answered. Results with feedback are not single-turn results, so tables name the feedback.

    none            no feedback: the model was asked once, or repeatedly without comment
    tool            the model could call the solver as a tool (a model without tool calls finds the
                    result of such a call in its next prompt)
    solver          the next prompt reports on each answer
    solver+search   in addition, a search repairs and shrinks answers; other combinations are named
                    in the same way
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ....records import Agreement, Hypothesis, Json, Problem, StepRecord
from ....tasks.logic.measures import RuleMeasures, WorldResults
from ....tools.logic.formula import Formula, format_sexpr
from ....tools.logic.parser import FormulaError, parse_formula
from ....tools.logic.theories import theory_from_json

MISSING_CHARACTERS = 10  # An answer of at most this length without a rule counts as missing.
INFLATION_LIMIT = 2.0  # A gap that grows by more is parsimony inflation (table H.2).
MISSING = "missing"
FEEDBACK = "feedback"  # Field of the steps of `refine`.

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
    """Properties of a problem by which tables group problems.

    Args:
        problem: Id of the problem.
        key: Digest of the problem, which is the same in all sessions.
        regime: "full", "partial" or "skeptical": how unknown atoms are treated.
        theory: Name of the theory in the paper and in the files.
        difficulty: Difficulty of the problem; "" if unknown.
        reference: The planted rule in normal form; None if the problem has no planted rule.
        reference_size: Number of syntax nodes of the planted rule; None without a planted rule.
        prompt_worlds: Number of prompt worlds.
        holdout_worlds: Number of holdouts that were judged.
        holdouts_known: Whether the number of holdouts is known. The number may be 0.
    """

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


def problem_facts(problem: Problem, opened: bool = True) -> Facts:
    """Return the regime, theory, planted rule and numbers of worlds of a problem.

    Args:
        problem: The problem.
        opened: Whether the holdouts were judged as well. At the end of a session only the prompt
            worlds were judged.
    """
    told = problem.public["theory"]
    reference = _reference(problem)
    published = problem.secret.get("holdouts_published")
    return Facts(
        problem=problem.id,
        key=problem.digest,
        regime=told["regime"],
        theory=theory_from_json(told).title,
        difficulty=str(problem.secret.get("difficulty") or ""),
        reference=format_sexpr(reference) if reference else None,
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
        return parse_formula(text, theory_from_json(problem.public["theory"]).predicates)
    except FormulaError:
        return None


@dataclass(frozen=True)
class Attempt:
    """One answer to a problem of the task `abd`, with the rule that an evaluator read from it.

    Args:
        index: Index of the answer among the answers to the problem, from 0.
        answer: Text of the answer.
        rule: The rule in the answer; None if the answer has no readable rule.
        reason: Why the answer has no readable rule; "" if it has one.
        closed: Number of closing parentheses that were added at the end of the rule.
        shown: Validity of the rule in each prompt world; None if it was not judged.
    """

    index: int
    answer: str
    rule: Hypothesis | None = None
    reason: str = ""
    closed: int = 0
    shown: Agreement | None = None

    @property
    def valid(self) -> bool:
        """Whether the rule is valid in all prompt worlds; False if there are no prompt worlds."""
        marks = self.shown.marks if self.shown else ()
        return bool(marks) and all(mark is True for mark in marks)


def is_refined(steps: Sequence[StepRecord]) -> bool:
    """Return whether the solver commented on each answer to a problem, so that the next one could
    improve.
    """
    return any(step.fields.get(FEEDBACK) is True for step in steps)


def choose_attempt(attempts: Sequence[Attempt], refined: bool = False) -> Attempt:
    """Return the answer to a problem that is scored.

    Without answers, the result is an empty answer with the reason "missing".

    Args:
        attempts: The answers, in the order in which they were given.
        refined: Choose the best valid answer instead of the first valid answer.
    """
    read = [one for one in attempts if one.rule is not None]
    valid = [one for one in read if one.valid]
    if valid:
        return min(valid, key=_rank) if refined else valid[0]
    return next(iter([*read, *attempts]), Attempt(0, "", None, MISSING))


def _rank(one: Attempt) -> tuple[bool, int, int, int]:
    cost = one.shown.detail.get("cost") if one.shown else None
    size = one.rule.meta.get("size", 0) if one.rule else 0
    return cost is None, cost or 0, size, one.index


@dataclass(frozen=True)
class Record:
    """The scored answer to one problem of the task `abd`, with validity and cost of its rule.

    Args:
        facts: Regime, theory and other properties of the problem.
        answers: Number of answers to the problem.
        malformed: Reason for each answer without a readable rule.
        breaches: Breaches of the answer format that were tolerated in all other answers.
        reason: Why the scored answer has no rule; "" if it has a rule.
        formula: The rule in normal form; None without a rule.
        size: Number of syntax nodes of the rule; None without a rule.
        depth: Depth of the rule; None without a rule.
        closed: Number of closing parentheses that were added, even if the repaired text is not a
            rule.
        pattern: The kinds of quantifiers in the rule; None without a rule.
        measured: Validity and cost of the rule in each world.
    """

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
    measured: RuleMeasures

    @property
    def has_rule(self) -> bool:
        """Whether the answer contains a readable rule."""
        return self.formula is not None

    @property
    def missing(self) -> bool:
        """Whether there is no answer, or only an answer of a few characters without a rule."""
        return self.reason == MISSING

    @property
    def valid(self) -> bool | None:
        """Whether the rule is valid in all prompt worlds; None if the solver reached a limit.

        The value is False without a rule.
        """
        return self.measured.prompt.valid if self.has_rule else False

    @property
    def strictly_valid(self) -> bool | None:
        """Whether the rule is valid as written, without added closing parentheses."""
        return False if self.closed else self.valid

    @property
    def gap(self) -> float | None:
        """The cost of a valid rule above the lower bound, per prompt world; None if it is not
        valid.
        """
        return self.measured.prompt.gap if self.valid else None

    @property
    def gref(self) -> float | None:
        """The cost of a valid rule above the planted rule's cost, per prompt world.

        None if the rule is not valid or there is no planted rule.
        """
        return self.measured.gref if self.valid else None

    @property
    def beats_reference(self) -> bool | None:
        """Whether a valid rule costs less than the planted rule; None if this is not known."""
        return None if self.gref is None else self.gref < 0

    @property
    def holdout_valid(self) -> bool | None:
        """Whether the rule is valid in all holdouts.

        The value is False without a rule, and if the problem is known to have no holdouts (as in
        the published evaluator). It is None if holdouts were not judged, or if the solver reached a
        limit.
        """
        if not self.facts.holdouts_known:
            return None
        if not self.has_rule or not self.facts.holdout_worlds:
            return False
        return self.measured.holdout.valid

    @property
    def holdout_given_prompt(self) -> bool | None:
        """The value of `holdout_valid`; None unless the rule is valid in all prompt worlds and
        there are holdouts.
        """
        return self.holdout_valid if self.valid and self.facts.holdout_worlds else None

    @property
    def holdout_gap(self) -> float | None:
        """The mean cost above the lower bound per holdout; None unless the rule is valid in all
        holdouts.
        """
        return self.measured.holdout.gap if self.holdout_valid else None

    @property
    def delta_gap(self) -> float | None:
        """The gap on holdouts minus the gap on prompt worlds; None unless the rule is valid on
        both.
        """
        return self.measured.delta_gap if self.valid and self.holdout_valid else None

    @property
    def survives(self) -> bool:
        """Whether the rule is valid in all prompt worlds and in all holdouts."""
        return bool(self.valid and self.holdout_valid)

    @property
    def limited(self) -> bool:
        """Whether a result is missing because the solver reached a limit."""
        if not self.has_rule:
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
        """The first type of failure in table H.2 that applies. Repairs are counted separately."""
        if not self.has_rule:
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
        return "parsimony_inflation" if self.delta_gap > INFLATION_LIMIT else "success"

    def _invalid(self) -> Mode:
        marks = [world["valid"] for world in self.measured.prompt.worlds]
        if self.valid is None or (None in marks and True not in marks):
            return "limit"
        return "partial_invalid" if True in marks else "all_invalid"

    @property
    def catastrophic(self) -> bool:
        """Whether the rule is brittle (valid only on the prompt worlds) and valid in less than half
        of the holdouts.
        """
        marks = [world["valid"] for world in self.measured.holdout.worlds]
        return self.mode == "brittle" and bool(marks) and marks.count(True) < len(marks) / 2


def build_record(
    problem: Problem,
    facts: Facts,
    attempts: Sequence[Attempt],
    chosen: Attempt,
    measured: RuleMeasures,
) -> Record:
    """Return the record of the scored answer to a problem.

    Args:
        problem: The problem.
        facts: Regime, theory and other properties of the problem.
        attempts: All answers to the problem.
        chosen: The answer that is scored, one of `attempts`.
        measured: Validity and cost of the chosen rule; empty if the chosen answer has no rule.
    """
    rule = chosen.rule
    predicates = theory_from_json(problem.public["theory"]).predicates
    reason = chosen.reason
    if rule is None and len(chosen.answer.strip()) <= MISSING_CHARACTERS:
        reason = MISSING
    elif rule is None and reason == MISSING:
        reason = "no_formula"  # a long answer without a formula
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
        pattern=quantifier_pattern(parse_formula(rule.text, predicates)) if rule else None,
        measured=measured,
    )


def quantifier_pattern(formula: Formula) -> Pattern:
    """Return which kinds of quantifiers a rule contains (for table H.3, which does not define
    them).
    """
    kinds = {node.kind for node in formula.nodes}
    if "exists" in kinds:
        return "mixed" if "forall" in kinds else "exists_only"
    if "forall" in kinds:
        return "forall_only"
    return "propositional_and" if "and" in kinds else "other"


def _sums(part: WorldResults) -> tuple[int | None, int | None]:
    """Return cost and bound; a valid rule has both unless a limit of the solver left one open."""
    return part.cost, part.bound


NONE, TOOL, SOLVER = "none", "tool", "solver"


def session_feedback(settings: Mapping[str, Json]) -> str:
    """Return the name of the feedback that a session's model received, from the session's settings.

    Calls of the solver by the built-in search do not count, because the name of the search implies
    them.
    """
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
