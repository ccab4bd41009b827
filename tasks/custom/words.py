"""The prompt wording, the rule of equality and the allowance of imports that a user's own task or data
add to a problem.

They are stored in `Problem.public`. The store keeps complete problems, so a session can be resumed,
replayed and scored without the task file. The keys of `Problem.public` are:

    "instructions"  the subject of the hypotheses, in the user's words; the prompt shows this text
                    before the instructions of the family
    "pair"          a template that shows a pair in a prompt: text with {number}, {input}, {output}
                    and parts of the input or output, such as {input[temperature]} or {output[0]};
                    values are written as Python literals
    "equality"      the rule that compares outputs (sandbox/inside/tolerance.py); without a rule,
                    outputs must be equal
    "imports"       "permitted" if a program may import the modules that the sandbox permits, such as
                    re and datetime; without it, an import breaks the answer contract

A store may come from a stranger. Templates are therefore filled in by dictionary and list lookups
only, never by `str.format`, so a template cannot access attributes of objects.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...records import Agreement, FamilyWords, Hypothesis, Json, Observation, View
from ..io.compact_values import join_lines

INSTRUCTIONS, PAIR, EQUALITY, IMPORTS = "instructions", "pair", "equality", "imports"
JUDGEABLE = "judgeable"  # key in `Problem.secret`: for each hidden pair, whether it can be judged
FIELD_PATTERN = re.compile(r"\{(number|input|output)((?:\[[^\[\]{}]*\])*)\}")
STEP_PATTERN = re.compile(r"\[([^\[\]{}]*)\]")

_IGNORED = {"case": "the case of letters", "blanks": "blanks that lead, end or repeat"}


@dataclass
class OwnWords:
    """Prompt texts for a problem of a user's own task: the user's instructions, then those of the
    family.

    Args:
        family: the prompt texts of the family.
        instructions: the instructions of the task and the family together.
        pair: the user's template for showing a pair, or None to show pairs as the family does.
        task_text: the instructions of the task alone, on one line.
    """

    family: FamilyWords
    instructions: str
    pair: str | None
    task_text: str = ""

    @staticmethod
    def from_public(public: Mapping[str, Json], family: FamilyWords) -> FamilyWords:
        """Return the prompt texts for a problem with the public facts `public`.

        If the facts contain neither wording nor a rule of equality, `family` itself is returned.
        """
        about, pair, rule = (public.get(key) for key in (INSTRUCTIONS, PAIR, EQUALITY))
        if about is None and pair is None and rule is None:
            return family
        said = "" if rule is None else describe_equality(rule)
        blocks = ((about or "").strip(), family.instructions, said)
        own = join_lines(f"{about or ''} {said}")
        return OwnWords(family, "\n\n".join(block for block in blocks if block), pair, own)

    def contract(self, answer_format: str) -> str:
        """Return the instructions for writing an answer in the format `answer_format`."""
        return self.family.contract(answer_format)

    def schema(self, answer_format: str) -> Mapping[str, Json] | None:
        """Return the JSON schema of an answer, or None for a format that is not JSON."""
        return self.family.schema(answer_format)

    def show_observation(self, number: int, observation: Observation) -> str:
        """Return a pair as text, by the user's template if there is one, otherwise as the family
        shows it.
        """
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
        """Return a version of these prompt texts with fewer tokens."""
        return CompactOwnWords(self.family.compact(), self.task_text, self.pair, self.task_text)

    def gear(self) -> FamilyWords:
        """Return these prompt texts in the structure of GEAR's prompts.

        The family must have such texts, as programs have.
        """
        family: FamilyWords = self.family.gear()  # type: ignore[attr-defined]
        return GearOwnWords(family, self.task_text, self.pair, self.task_text)


class GearOwnWords(OwnWords):
    """Prompt texts for a problem of a user's own task in the structure of GEAR's prompts."""

    def closing(self, answer_format: str) -> str:
        """Return the end of a request, as the family writes it."""
        found: str = self.family.closing(answer_format)  # type: ignore[attr-defined]
        return found

    def gear(self) -> FamilyWords:
        """Return this object."""
        return self


class CompactOwnWords(OwnWords):
    """Prompt texts with few tokens for a problem of a user's own task.

    The user's instructions are not shortened. They are on one line before the observations. Each
    pair is also on one line, in the form of the user's template if there is one.
    """

    def show_observation(self, number: int, observation: Observation) -> str:
        """Return a pair of input and output as text in one line."""
        return join_lines(super().show_observation(number, observation))

    def compact(self) -> FamilyWords:
        """Return this object, which is compact already."""
        return self


def format_pair(template: str, number: int, observation: Observation) -> str:
    """Return an observation as text by filling in a user's template.

    A placeholder for a part that the pair does not have stays in the text. A part that is a string
    is shown without quotation marks. All other values are written as Python literals.

    Args:
        template: text with the placeholders {number}, {input}, {output}, or parts such as
            {input[0]}.
        number: the value for {number}.
        observation: the pair.
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
    """Return the value that the keys and indices in `path` lead to in a JSON value.

    Raises:
        LookupError: there is no value at `path`.
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
    """Return a sentence for prompts that states a rule of equality; "" if the rule is empty."""
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
