"""What a task of a user's own says of each of its problems, in `Problem.public`: the words of its
prompts and when two outputs are equal. The store keeps problems whole, so a session goes on,
replays and scores without the file that the task came from.

    "instructions"  what a hypothesis is about, in the user's words; stands before the family's
    "pair"          how a pair is shown: text with {number}, {input}, {output}, and parts of the
                    latter two as {input[temperature]} or {output[0]}; values as Python writes them
    "equality"      the rule of sandbox/inside/tolerance.py; exact where there is none

A store may come from a stranger, so a template is looked up here and never formatted by Python:
no attribute of anything can be named in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...records import Agreement, FamilyWords, Hypothesis, Json, Observation, View
from ..io.compact_values import one_line

INSTRUCTIONS, PAIR, EQUALITY = "instructions", "pair", "equality"
JUDGED = "judgeable"  # in Problem.secret: a mark for each hidden pair
FIELD = re.compile(r"\{(number|input|output)((?:\[[^\[\]{}]*\])*)\}")
STEP = re.compile(r"\[([^\[\]{}]*)\]")

_IGNORED = {"case": "the case of letters", "blanks": "blanks that lead, end or repeat"}


@dataclass
class OwnWords:
    """The words of `family`, with a task's own before them."""

    family: FamilyWords
    instructions: str
    pair: str | None
    own: str = ""  # of the instructions, what the task brings

    @staticmethod
    def of(public: Mapping[str, Json], family: FamilyWords) -> FamilyWords:
        """`family` itself where the problem brings no words of its own."""
        about, pair, rule = (public.get(key) for key in (INSTRUCTIONS, PAIR, EQUALITY))
        if about is None and pair is None and rule is None:
            return family
        said = "" if rule is None else equality_said(rule)
        blocks = ((about or "").strip(), family.instructions, said)
        own = one_line(f"{about or ''} {said}")
        return OwnWords(family, "\n\n".join(block for block in blocks if block), pair, own)

    def contract(self, answer_format: str) -> str:
        return self.family.contract(answer_format)

    def schema(self, answer_format: str) -> Mapping[str, Json] | None:
        return self.family.schema(answer_format)

    def show_observation(self, number: int, observation: Observation) -> str:
        if self.pair is None:
            return self.family.show_observation(number, observation)
        return shown(self.pair, number, observation)

    def show_hypothesis(self, hypothesis: Hypothesis) -> str:
        return self.family.show_hypothesis(hypothesis)

    def show_feedback(self, view: View, agreement: Agreement) -> str:
        return self.family.show_feedback(view, agreement)

    def compact(self) -> FamilyWords:
        return CompactOwnWords(self.family.compact(), self.own, self.pair, self.own)


class CompactOwnWords(OwnWords):
    """The user's words are not ours to shorten: they stand in one line before the observations, and
    a pair as its template shows it, in one line too."""

    def show_observation(self, number: int, observation: Observation) -> str:
        return one_line(super().show_observation(number, observation))

    def compact(self) -> FamilyWords:
        return self


def shown(template: str, number: int, observation: Observation) -> str:
    """The pair as the template shows it; a part that the pair does not have stays as it is
    written. What is shown of a text is the text itself, of all else what Python writes."""
    values = {"number": number, "input": observation.input, "output": observation.output}

    def put(found: re.Match[str]) -> str:
        try:
            value = part(values[found[1]], STEP.findall(found[2]))
        except LookupError:
            return found[0]
        return value if type(value) is str and found[2] else repr(value)

    return FIELD.sub(put, template)


def part(value: Json, path: list[str]) -> Json:
    """What stands at `path` in a JSON value. Raises LookupError."""
    for step in path:
        if isinstance(value, dict):
            value = value[step]
        elif isinstance(value, list) and step.removeprefix("-").isdecimal():
            value = value[int(step)]
        else:
            raise LookupError(step)
    return value


def equality_said(rule: Mapping[str, Json]) -> str:
    """One sentence for a prompt."""
    said = []
    if numbers := rule.get("numbers"):
        if "nearest" in numbers:
            said.append(f"numbers are rounded to multiples of {numbers['nearest']}")
        elif "significant" in numbers:
            said.append(f"numbers are rounded to {numbers['significant']} significant digits")
        else:
            said.append(f"numbers are rounded to {numbers['decimals']} decimals")
    if strings := rule.get("strings"):
        ignored = " and ".join(_IGNORED[name] for name in strings["ignore"])
        said.append(f"in texts {ignored} do not count")
    if lists := rule.get("lists"):
        which = "lists at every depth" if lists.get("at") == "everywhere" else "the outermost list"
        also = " and how often an element stands in it" if lists["ignore"] == "repeats" else ""
        said.append(f"the order of {which}{also} does not count")
    return f"Before outputs are compared, {'; '.join(said)}." if said else ""
