"""Family `logic`: a hypothesis is a formula alpha(x) that says which elements are exceptions.

The oracle is `solve` (tools/solve.py). An observation is a world in which a rule has to be valid.
The sample space S (the inputs to predict) contains pairs [world, element] of new random worlds. A
prediction says whether the rule marks the element as an exception in no, every or some completion.
A completion of a world makes each unknown atom true or false. The results of a rule always include
its cost, because a rule that marks every element is valid but useless. Holdout worlds are used only
by the commands `check` and `eval`.

`extract_formula` reads a rule from a model's answer: a JSON object, or a formula within the text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from ...records import (
    Agreement,
    FamilyWords,
    Hypothesis,
    InputSet,
    Json,
    Malformed,
    Observation,
    Oracles,
    Predictions,
    Problem,
    SearchStyle,
    Solution,
    Unavailable,
    View,
)
from ...tools.description_length import formula_bits, text_bits
from ...tools.logic.formula import Formula, format_sexpr
from ...tools.logic.rules import InvalidRule, read_rule
from ...tools.logic.theories import theory_from_json
from ...tools.solve import SOLVE, build_solve_tool
from ..io.json_text import find_objects
from .measures import apply_evaluator, check_evaluator, measure_rule
from .words import LogicWords, feedback_text

AUTO_CLOSED = "auto_closed"  # the breach of an answer whose last parentheses were missing


# Names of the prediction codes 0, 1 and 2.
CODE_NAMES = ("no exception", "an exception", "an exception in some completions")


def _rule_text(description: str, formula: str) -> str:
    """Return an answer: one line that holds one JSON object."""
    return json.dumps({"formula": formula, "description": description}, ensure_ascii=False)


def _search_facts(public: Mapping[str, Json], trade_off: str) -> Mapping[str, Json]:
    return {**public, "trade_off": trade_off}


@dataclass(frozen=True)
class Logic:
    """The family `logic`: exception rules for finite worlds.

    Args:
        strict_contract: whether an answer with missing parentheses is malformed.
        allow_element_names: whether a rule may contain names of elements, as the published
            evaluator allows.
        words: the prompt texts.
    """

    strict_contract: bool = False
    allow_element_names: bool = False
    words: FamilyWords = LogicWords()  # noqa: RUF009 - frozen

    name = "logic"
    answer_formats = ("json",)
    oracle = "solve"
    oracle_kind = SOLVE
    evaluation = "abd"
    search_style = SearchStyle(_rule_text, "solve", "formula", repairs=True, facts=_search_facts)
    opens_hidden = False

    def with_strict_contract(self) -> Logic:
        """Return a copy of this family in which answers with missing parentheses are malformed."""
        return replace(self, strict_contract=True)

    def with_evaluator(self, evaluator: str) -> Logic:
        """Return a copy of this family that reads rules as the evaluator "exact" or "released"
        does.

        Raises:
            UsageError: the evaluator is unknown.
        """
        check_evaluator(evaluator)
        return replace(self, allow_element_names=evaluator == "released")

    def code_names(self, problem: Problem) -> Sequence[str]:
        """Return names for the prediction codes 0, 1 and 2.

        The codes mean that a rule marks an element as an exception in no, every or some completion.
        A completion of a world makes each unknown atom true or false.
        """
        return CODE_NAMES

    def read_observations(self, path: Path, problem: Problem) -> Problem:
        """Return a problem with the worlds in a file, to which rules about `problem` can be
        applied.
        """
        from .new_worlds import read_new_worlds

        return read_new_worlds(path, problem)

    def split_observation(
        self, observation: Observation
    ) -> Sequence[tuple[Mapping[str, Json], Json]]:
        """Return the pairs [world, element] of a world, each with its columns `world` and
        `element`.
        """
        world = observation.input
        return [
            ({"world": world.get("id", ""), "element": name}, [world, name])
            for name in world["domain"]
        ]

    def summarize_agreement(self, result: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return {"valid", "cost"} of a rule in one world; a value is None if it is not known.

        Args:
            result: the result for one world, as `measure_agreement` stores it.
        """
        judged = result.get("value") or {}
        return {"valid": judged.get("valid"), "cost": judged.get("cost")}

    def with_task_wording(self, public: Mapping[str, Json]) -> Logic:
        """Return a copy of this family whose prompt texts describe the theory and regime in
        `public`.
        """
        return replace(self, words=LogicWords.from_public(public))

    def parse(
        self, view: View, answer: str, answer_format: str
    ) -> Sequence[Hypothesis | Malformed]:
        """Return the rule in a model's answer, or `Malformed` with the reason, as the only element."""
        theory = theory_from_json(view.public["theory"])
        said = extract_formula(answer, theory.predicates)
        if said.formula is None:
            return [Malformed(said.reason)]
        return [self._read(said.formula, view, said.description)]

    def adapt_problem(self, problem: Problem, evaluator: str) -> Problem:
        """Return the problem as the evaluator "exact" or "released" reads it."""
        return apply_evaluator(problem, evaluator)

    def extract_hypothesis(self, view: View, answer: str) -> str:
        """Return the formula in an answer exactly as it is written, or "" if there is none."""
        return (
            extract_formula(answer, theory_from_json(view.public["theory"]).predicates).formula
            or ""
        )

    def parse_hypothesis(self, text: str, view: View) -> Hypothesis | Malformed:
        """Return the rule that a user supplies as a formula without other text."""
        return self._read(text, view, "")

    def _read(self, text: str, view: View, description: str) -> Hypothesis | Malformed:
        found = read_rule(
            text, theory_from_json(view.public["theory"]), objects=self.allow_element_names
        )
        if isinstance(found, InvalidRule):
            return Malformed(found.reason, found.detail)
        if found.closed and self.strict_contract:
            return Malformed(f"breach_{AUTO_CLOSED}", f"{found.closed} parentheses were missing")
        return make_hypothesis(found.formula, found.closed, description)

    async def measure_agreement(
        self,
        hypothesis: Hypothesis,
        observations: Sequence[Observation],
        view: View,
        oracles: Oracles,
    ) -> Agreement:
        """Check in each world whether a rule is valid, and compute its cost.

        Returns:
            For each world True, False, or None with a reason if a limit was reached. `detail` has
            the sum of the costs and the sum of the lower bounds; a sum is None if a value is
            missing in a world.

        Raises:
            Unavailable: the session has no solver.
        """
        worlds = InputSet("worlds", tuple(one.input for one in observations))
        solved = await _solve(oracles)(view.public["theory"], hypothesis.text, worlds, "explained")
        return _agreement(solved, observations)

    async def predict(
        self, hypotheses: Sequence[Hypothesis], inputs: InputSet, view: View, oracles: Oracles
    ) -> Sequence[Predictions]:
        """Return, for each rule and each element of the sample space, a prediction code.

        The code is 0 if the rule marks the element as an exception in no completion of the unknown
        atoms, 1 if in every completion, and 2 if in some completions.

        Raises:
            Unavailable: the session has no solver.
        """
        solve, theory = _solve(oracles), view.public["theory"]
        return [
            Predictions(found.codes, found.reasons, found.reason_names)
            for found in [await solve(theory, h.text, inputs, "extension") for h in hypotheses]
        ]

    def is_consistent(self, agreement: Agreement) -> bool:
        """Return whether the rule is valid in all worlds."""
        return all(mark is True for mark in agreement.marks)

    def description_bits(self, text: str, problem: Problem) -> float:
        """Return the description length of a rule in bits."""
        theory = theory_from_json(problem.public["theory"])
        formula = read_rule(text, theory, objects=True).formula
        return text_bits(text) if formula is None else formula_bits(formula, len(theory.predicates))

    def count_explained(self, agreement: Agreement, problem: Problem) -> tuple[int, int]:
        """Return (number of elements that the theory explains, number of all elements) in the shown
        worlds.

        Elements that the rule marks as exceptions are not explained. In a world where the rule is
        not valid, no element is explained.
        """
        explained = elements = 0
        for mark, got, world in zip(agreement.marks, agreement.got, problem.shown, strict=True):
            size = len(world.input["domain"])
            value = got.get("value")
            cost = value.get("cost") if mark is True and isinstance(value, Mapping) else None
            explained += 0 if cost is None else size - cost
            elements += size
        return explained, elements

    def make_tools(self, view: View, oracles: Oracles) -> Sequence[Any]:
        """Return the tool `solve`, which tests rules on the prompt worlds; no tool without a
        solver.
        """
        if oracles.solve is None:
            return ()
        return (build_solve_tool(lambda formula: self.attempt(formula, view, oracles)),)

    def compute_measures(
        self,
        problem: Problem,
        text: str,
        shown: Agreement | None,
        hidden: Agreement | None,
        evaluator: str,
    ) -> dict[str, Json]:
        """Return what `peirce check` reports about a rule in addition to its verdict.

        Args:
            problem: the problem.
            text: the formula as the user wrote it. Measures that cannot be computed for an invalid
                formula are None.
            shown: the results in the prompt worlds, or None if the rule was not judged there.
            hidden: the results in the holdout worlds, or None if the rule was not judged there.
            evaluator: "exact" or "released".
        """
        found = read_rule(
            text, theory_from_json(problem.public["theory"]), objects=self.allow_element_names
        )
        formula = found.formula
        return {
            "ast_size": formula.size if formula else None,
            "depth": formula.depth if formula else None,
            "free_variables": sorted(formula.free) if formula else None,
            "auto_closed": found.closed,
            **measure_rule(problem, shown, hidden, evaluator).as_json(),
        }

    async def attempt(self, formula: str, view: View, oracles: Oracles) -> str:
        """Return the reply of the tool `solve` to a formula, as JSON text.

        The reply depends only on `formula` and `view`.
        """
        read = self.parse_hypothesis(formula, view)
        if isinstance(read, Malformed):
            said: dict[str, Json] = {"consistent": False, "error": f"{read.reason}: {read.detail}"}
        else:
            agreement = await self.measure_agreement(read, view.shown, view, oracles)
            said = {
                "consistent": self.is_consistent(agreement),
                "valid_in": sum(mark is True for mark in agreement.marks),
                "of": len(agreement.marks),
                "cost": agreement.detail.get("cost"),
                "lower_bound": agreement.detail.get("bound"),
                "size": read.meta["size"],
                "said": feedback_text(agreement),
            }
        return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


def make_hypothesis(rule: Formula, closed: int = 0, description: str = "") -> Hypothesis:
    """Return a rule as a hypothesis. Its text is the normal form that recorded files use.

    Args:
        rule: the rule.
        closed: the number of missing parentheses that were added to read the rule.
        description: a description of the rule in words.
    """
    meta = {"size": rule.size, "depth": rule.depth, "closed": closed}
    return Hypothesis(format_sexpr(rule), description, meta, (AUTO_CLOSED,) if closed else ())


def _solve(oracles: Oracles) -> Any:
    if oracles.solve is None:
        raise Unavailable("this session has no solver to judge rules with")
    return oracles.solve


def _agreement(solved: Solution, observations: Sequence[Observation]) -> Agreement:
    marks, got = [], []
    for found, observation in zip(solved.worlds, observations, strict=True):
        name = observation.input.get("id", "")
        marks.append(found["valid"])
        if found["valid"] is None:
            got.append({"undefined": found["reason"]})
        else:
            got.append({"value": {"world": name, **found}})
    costs = [found["cost"] for found in solved.worlds]
    bounds = [found["bound"] for found in solved.worlds]
    detail = {
        "cost": None if None in costs else sum(costs),
        "bound": None if None in bounds else sum(bounds),
    }
    limits = sorted({str(f["reason"]) for f in solved.worlds if f["valid"] is None})
    return Agreement(tuple(marks), tuple(got), limits[0] if limits else "ok", detail)


FAMILY = Logic()


MAX_ANSWER_CHARACTERS = 200_000
_OPERATORS = ("and", "or", "not", "implies", "iff", "exists", "forall", "=")


class ExtractedFormula(NamedTuple):
    """The formula in a model's answer, or the reason why none was found.

    Args:
        formula: the formula as text, or None if the answer contains none.
        description: the description of the rule, or "".
        reason: the reason why there is no formula, or "".
    """

    formula: str | None
    description: str = ""
    reason: str = ""


def extract_formula(text: str, predicates: tuple[str, ...]) -> ExtractedFormula:
    """Return the formula in a model's answer. This function never raises an exception.

    The formula is taken from the last JSON object that contains one. Without such an object, the
    formula starts at the last parenthesis that opens a formula, and ends where this parenthesis is
    closed or the text ends.
    """
    if not text.strip():
        return ExtractedFormula(None, "", "missing")
    if len(text) > MAX_ANSWER_CHARACTERS:
        return ExtractedFormula(None, "", "too_long")
    found = find_objects(text, ("formula",))
    for drafted in reversed(found.objects):
        if isinstance(drafted["formula"], str):
            said = drafted.get("description")
            return ExtractedFormula(drafted["formula"], said if isinstance(said, str) else "")
    if found.objects:
        return ExtractedFormula(None, "", "formula_not_text")
    if found.truncated:
        return ExtractedFormula(None, "", "cut")
    bare = _bare(text, predicates)
    return ExtractedFormula(bare) if bare else ExtractedFormula(None, "", "no_formula")


def _bare(text: str, predicates: tuple[str, ...]) -> str | None:
    """Return the last formula that is not within another, found by its parentheses."""
    last = None
    depth, start = 0, -1
    for at, character in enumerate(text):
        if character == "(":
            if depth == 0:
                words = text[at + 1 : at + 80].split()
                if not words or words[0].rstrip("()") not in (*_OPERATORS, *predicates):
                    continue
                start = at
            depth += 1
        elif character == ")" and depth:
            depth -= 1
            if depth == 0:
                last = text[start : at + 1]
    return text[start:] if depth else last
