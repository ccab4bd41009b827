"""The wording and the rule of equality that a user's own task adds to each of its problems.

They are stored in `Problem.public`. The store keeps problems completely, so a session resumes,
replays and is scored without the file that the task came from.

    "instructions"  what a hypothesis is about, in the user's words; precedes the family's text
    "pair"          how a pair is shown: text with {number}, {input}, {output}, and parts of the
                    latter two as {input[temperature]} or {output[0]}; values as Python writes them
    "equality"      the rule of sandbox/inside/tolerance.py; without it, outputs must be equal

A store may come from a stranger, so a template is filled by lookups here and never formatted by
Python: it cannot name an attribute of anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...records import Agreement, FamilyWords, Hypothesis, Json, Observation, View
from ..io.compact_values import join_lines

INSTRUCTIONS, PAIR, EQUALITY = "instructions", "pair", "equality"
JUDGEABLE = "judgeable"  # key in `Problem.secret`: for each hidden pair, whether it can be judged
FIELD_PATTERN = re.compile(r"\{(number|input|output)((?:\[[^\[\]{}]*\])*)\}")
STEP_PATTERN = re.compile(r"\[([^\[\]{}]*)\]")

_IGNORED = {"case": "the case of letters", "blanks": "blanks that lead, end or repeat"}


@dataclass
class OwnWords:
    """Prompt texts of a family, preceded by those of a user's own task.

    Args:
        family: the prompt texts of the family.
        instructions: the instructions of the task and the family together.
        pair: the template of a pair, or None.
        task_text: the part of the instructions that the task supplies, in one line.
    """

    family: FamilyWords
    instructions: str
    pair: str | None
    task_text: str = ""

    @staticmethod
    def from_public(public: Mapping[str, Json], family: FamilyWords) -> FamilyWords:
        """Return the prompt texts of a problem.

        The result is `family` itself if the problem has neither wording nor a rule of equality.
        """
        about, pair, rule = (public.get(key) for key in (INSTRUCTIONS, PAIR, EQUALITY))
        if about is None and pair is None and rule is None:
            return family
        said = "" if rule is None else describe_equality(rule)
        blocks = ((about or "").strip(), family.instructions, said)
        own = join_lines(f"{about or ''} {said}")
        return OwnWords(family, "\n\n".join(block for block in blocks if block), pair, own)

    def contract(self, answer_format: str) -> str:
        """Return the instructions that describe how an answer must be written."""
        return self.family.contract(answer_format)

    def schema(self, answer_format: str) -> Mapping[str, Json] | None:
        """Return the JSON schema of an answer, or None for a format that is not JSON."""
        return self.family.schema(answer_format)

    def show_observation(self, number: int, observation: Observation) -> str:
        """Return a pair by the task's template, or as the family shows it."""
        if self.pair is None:
            return self.family.show_observation(number, observation)
        return format_pair(self.pair, number, observation)

    def show_hypothesis(self, hypothesis: Hypothesis) -> str:
        """Return a hypothesis as the family shows it."""
        return self.family.show_hypothesis(hypothesis)

    def show_feedback(self, view: View, agreement: Agreement) -> str:
        """Return the feedback on a hypothesis, in the wording of the family."""
        return self.family.show_feedback(view, agreement)

    def compact(self) -> FamilyWords:
        """Return a shorter version of these prompt texts."""
        return CompactOwnWords(self.family.compact(), self.task_text, self.pair, self.task_text)


class CompactOwnWords(OwnWords):
    """Prompt texts in few tokens, which keep the user's own words.

    The user's words are not shortened: they stand in one line before the observations, and each
    pair is in one line, as its template shows it.
    """

    def show_observation(self, number: int, observation: Observation) -> str:
        """Return a pair of input and output as text in one line."""
        return join_lines(super().show_observation(number, observation))

    def compact(self) -> FamilyWords:
        """Return the object itself, which is compact already."""
        return self


def format_pair(template: str, number: int, observation: Observation) -> str:
    """Return an input and output as text, in the form of a user's template.

    If the template has a field that the pair lacks, the field stays as it is written. A text within
    an input or output is shown as it is, any other value as Python writes it.
    """
    values = {"number": number, "input": observation.input, "output": observation.output}

    def put(found: re.Match[str]) -> str:
        try:
            value = get_part(values[found[1]], STEP_PATTERN.findall(found[2]))
        except LookupError:
            return found[0]
        return value if type(value) is str and found[2] else repr(value)

    return FIELD_PATTERN.sub(put, template)


def get_part(value: Json, path: list[str]) -> Json:
    """Return the value at `path` in a JSON value.

    Raises:
        LookupError: there is no such value.
    """
    for step in path:
        if isinstance(value, dict):
            value = value[step]
        elif isinstance(value, list) and step.removeprefix("-").isdecimal():
            value = value[int(step)]
        else:
            raise LookupError(step)
    return value


def describe_equality(rule: Mapping[str, Json]) -> str:
    """Return a sentence for prompts that states a rule of equality."""
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
