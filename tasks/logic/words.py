"""Prompt texts for default-exception abduction (ABD, section 6.1 and appendix A).

The texts contain the role, the semantics of the regime, the grammar, the aims in the order
validity, cost, size, the predicates that a rule may contain, and the axioms. For each world, they
list the true and the unknown atoms; all other atoms are false. No instance and no reference rule is
used as an example. The wording is this project's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...records import Agreement, Hypothesis, Json, Observation, View
from ...tools.logic.formula import format_infix, format_sexpr
from ...tools.logic.theories import Theory, theory_from_json
from ..io.compact_values import join_lines
from ..io.json_text import build_object_schema

ANSWER_SCHEMA = build_object_schema(
    formula="The rule alpha(x) as an S-expression.",
    description="The rule in one sentence.",
)

_ROLE = """\
You are an expert in first-order logic and in abduction. A default theory says what normally holds \
of the elements of small finite worlds. Some elements break the default: without Ab, what the theory \
says is false of them. A hypothesis is one formula alpha(x) that says which elements are abnormal \
(Ab): put in place of Ab, it has to repair the theory in every world below. It is one rule for all \
worlds, not a list of cases. An observation is a world; alpha is consistent with it where it is valid."""

_SEMANTICS = {
    "full": """\
Each world is known completely: an atom that is not listed as true is false.
- Valid in a world: every element that breaks the default satisfies alpha.
- Cost in a world: how many of its elements satisfy alpha.""",
    "partial": """\
Atoms listed as unknown may be true or false; every other atom that is not listed as true is \
false. A completion settles all unknown atoms of a world.
- Valid in a world: there is a completion in which every element that breaks the default \
satisfies alpha.
- Cost in a world: the least number of elements that satisfy alpha, over those completions.""",
    "skeptical": """\
Atoms listed as unknown may be true or false; every other atom that is not listed as true is \
false. A completion settles all unknown atoms of a world.
- Valid in a world: in every completion, each element that breaks the default satisfies alpha.
- Cost in a world: the largest number of elements that satisfy alpha in a completion.""",
}

_AIMS = """\
What counts, in this order:
1. alpha is valid in every world;
2. the sum of its costs is small: no element is abnormal without need;
3. the formula is small, and says something that will hold in further worlds of the same kind."""

_GRAMMAR = """\
alpha is written in prefix form, every part in parentheses:
  (PRED v ...)   (= v v)   (not f)   (and f g ...)   (or f g ...)   (implies f g)
  (exists v f)   (forall v f)
A variable is one lower-case letter. x is the only free variable; every other one is bound by \
exists or forall. Elements have no names in a formula. No other operators, no comments."""

_CONTRACT = """\
Answer with one line that holds one JSON object and nothing else: no prose around it, no Markdown.
{"formula": "...", "description": "..."}
"formula": alpha(x) in the prefix form above. "description": the rule in one sentence."""


@dataclass(frozen=True)
class LogicWords:
    """Prompt texts for a theory and a regime.

    Args:
        theory: the theory, or None if there is no problem.
        regime: "full", "partial" or "skeptical"; defines how unknown atoms are treated.
    """

    theory: Theory | None = None
    regime: str = "full"

    @staticmethod
    def from_public(public: Mapping[str, Json]) -> LogicWords:
        """Return the prompt texts for the theory and regime in the public facts of a problem."""
        told = public["theory"]
        return LogicWords(theory_from_json(told), told["regime"])

    @property
    def instructions(self) -> str:
        """The instructions of the prompt: role, semantics, aims, grammar and theory."""
        blocks = [_ROLE, _SEMANTICS[self.regime], _AIMS, _GRAMMAR]
        if self.theory is not None:
            blocks.append(_theory(self.theory))
        return "\n\n".join(blocks)

    def contract(self, answer_format: str) -> str:
        """Return the instructions for writing an answer in the format `answer_format`."""
        return _CONTRACT

    def schema(self, answer_format: str) -> Mapping[str, Json] | None:
        """Return the JSON schema of an answer, or None for a format that is not JSON."""
        return ANSWER_SCHEMA

    def show_observation(self, number: int, observation: Observation) -> str:
        """Return a world as text for a prompt."""
        return world_text(number, observation.input)

    def show_hypothesis(self, hypothesis: Hypothesis) -> str:
        """Return the formula and the description of a rule."""
        said = f"{hypothesis.text}  {hypothesis.description}"
        return said.strip()

    def show_feedback(self, view: View, agreement: Agreement) -> str:
        """Return feedback on a rule: where and why it fails, or its cost if it is valid."""
        return feedback_text(agreement)

    def compact(self) -> CompactLogicWords:
        """Return a version of these prompt texts with fewer tokens."""
        return CompactLogicWords(self.theory, self.regime)


class CompactLogicWords(LogicWords):
    """Prompt texts with few tokens.

    The theory takes one line. A world takes one line, which lists its atoms by predicate, with "?"
    before unknown atoms. Earlier hypotheses are shown as formulas without descriptions.
    """

    @property
    def instructions(self) -> str:
        """The axioms, the predicates that a rule may contain, and the regime, on one line."""
        if self.theory is None:
            return self.regime
        axioms = " ".join(format_sexpr(axiom) for axiom in self.theory.axioms)
        allowed = " ".join(sorted(self.theory.allowed))
        return f"{axioms} Ab of {allowed} =, {self.regime}"

    def contract(self, answer_format: str) -> str:
        """Return the beginning of an answer, on one line, as an example."""
        return 'Ab(x) as {"formula": "(and (... x) (not (... x)))", "description": "..."}:'

    def show_observation(self, number: int, observation: Observation) -> str:
        """Return a world as text on one line."""
        world = observation.input
        parts = [f"{name} {_few(atoms)}" for name, atoms in world["true"].items()]
        parts += [f"?{name} {_few(atoms)}" for name, atoms in world.get("unknown", {}).items()]
        return join_lines(f"{' '.join(world['domain'])}: {'; '.join(parts)}")

    def show_hypothesis(self, hypothesis: Hypothesis) -> str:
        """Return the formula of a rule, without its description."""
        return hypothesis.text

    def show_feedback(self, view: View, agreement: Agreement) -> str:
        """Return feedback on a rule: the number of worlds where it is valid, its cost and its lower
        bound.
        """
        right = sum(mark is True for mark in agreement.marks)
        cost, bound = agreement.detail.get("cost"), agreement.detail.get("bound")
        said = [f"valid in {right} of {len(agreement.marks)}"]
        said += [] if cost is None else [f"cost {cost}"]
        said += [] if cost is None or bound is None else [f"least {bound}"]
        return ", ".join(said)

    def compact(self) -> CompactLogicWords:
        """Return this object, which is compact already."""
        return self


def _few(atoms: Json) -> str:
    return " ".join(",".join(atom) for atom in atoms)


def _theory(theory: Theory) -> str:
    kinds = ", ".join(f"{name}/{count}" for name, count in theory.signature.items())
    lines = [
        f"Predicates of the worlds, with their numbers of arguments: {kinds}; = is equality.",
        f"alpha may use: {', '.join(sorted(theory.allowed)) or 'none'} and =.",
        f"alpha may not use: {', '.join(theory.forbidden)}.",
        "The theory:",
        *(f"  {format_sexpr(axiom)}" for axiom in theory.axioms),
        *(f"  that is: {format_infix(axiom)}" for axiom in theory.axioms),
    ]
    return "\n".join(lines)


def world_text(number: int, world: Json) -> str:
    """Return a world as text for a prompt: elements, true atoms by predicate, and unknown atoms."""
    name = world.get("id") or number
    lines = [f"World {name}: elements {' '.join(world['domain'])}"]
    for predicate, atoms in world["true"].items():
        lines.append(f"  true {predicate}: {_atoms(atoms)}")
    for predicate, atoms in world.get("unknown", {}).items():
        lines.append(f"  unknown {predicate}: {_atoms(atoms)}")
    if not world["true"]:
        lines.append("  no atom is true")
    return "\n".join(lines)


def _atoms(atoms: Json) -> str:
    return " ".join(a[0] if len(a) == 1 else f"({', '.join(a)})" for a in atoms)


_SHOWN = 4  # most worlds that feedback explains


def feedback_text(agreement: Agreement) -> str:
    """Return feedback on a rule: where and why it fails, or its cost if it is valid."""
    marks = agreement.marks
    if all(mark is True for mark in marks):
        return f"The rule is valid in all {len(marks)} worlds.{_price(agreement)}"
    lines = [f"The rule is valid in {sum(m is True for m in marks)} of {len(marks)} worlds."]
    shown = 0
    for mark, got in zip(marks, agreement.got, strict=True):
        if mark is True or shown == _SHOWN:
            continue
        shown += 1
        value = got.get("value") or {}
        if mark is None:
            lines.append(f"World {value.get('world', '?')}: not judged ({got.get('undefined')}).")
        else:
            lines.append(f"World {value['world']}: {_why(value)}")
    return "\n".join(lines)


def _why(value: Mapping[str, Json]) -> str:
    breaches = value.get("breaches") or []
    if not breaches:
        return "it is not repaired."
    said = []
    for breach in breaches:
        who = ", ".join(breach["elements"])
        atoms = breach["completion"]
        if not atoms:
            said.append(f"{who} breaks the default and alpha does not hold of it" if who
                        else "no completion repairs it")  # fmt: skip
        elif None in atoms.values():
            said.append(f"whatever {', '.join(atoms)} are, one of {who} is broken and not covered")
        else:
            case = ", ".join(atom if true else f"not {atom}" for atom, true in atoms.items())
            said.append(f"if {case}: {who or 'some element'} is broken and not covered")
    return "; ".join(said) + "."


def _price(agreement: Agreement) -> str:
    cost, bound = agreement.detail.get("cost"), agreement.detail.get("bound")
    if cost is None:
        return ""
    said = f" Its cost is {cost}"
    said += f"; no rule can cost less than {bound}." if bound is not None else "."
    needless = [
        f"{', '.join(value['needless'])} in world {value['world']}"
        for value in (got.get("value") or {} for got in agreement.got)
        if value.get("needless")
    ]
    return f"{said} Marked without need: {'; '.join(needless[:_SHOWN])}." if needless else said
