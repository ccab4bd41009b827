"""Texts for programs in the prompt template `gear` (GEAR, appendix E).

The texts contain what the published prompts contain, in our own words: the form of an answer, the
rules for the code, the form again at the end, and an example.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...records import Agreement, FamilyWords, Hypothesis, Json, Observation, View

BUILTINS = "it uses builtins alone and imports nothing"
_FORM = """\
Give your answer as a single Python tuple of two plain strings, without Markdown fences and without \
back-ticks.
- first string: your hypothesis, stated briefly in plain language
- second string: the whole source of one Python function, the only definition at the top level

Rules for the code in the second string
- {imports}
- each level is indented by four spaces, without tabs, and lines end with \\n
- a new line follows the colon of every header (if, for, while, else, elif, with, try)
- no line has more than 80 characters
- ast.parse() accepts it, and exec() runs it exactly as it is
- it has no prints, no tests and no second definition, and the function has a return
- its rule also holds beyond the given pairs, which do not occur in the code"""

_CLOSING = """\
Return nothing but:
("one sentence that states your hypothesis", "def f(x):\\n    # the code\\n    return y")

An example of this form, for another problem:
("Give 1 if the list is empty, else 0", "def f(x):\\n    if not x:\\n        return [1]\\n    \
return [0]")"""
_OTHER_CLOSING = "Give the answer in the form stated above and nothing else."


@dataclass(frozen=True)
class GearProgramWords:
    """Prompt texts for programs in the template `gear`.

    Args:
        words: the prompt texts of the family, which show pairs and hypotheses.
        imports: the rule about imports.
    """

    words: FamilyWords
    imports: str = BUILTINS
    instructions: str = ""

    def contract(self, answer_format: str) -> str:
        """Return the form of an answer in `answer_format`, and the rules for the code.

        Formats other than the tuple are no part of GEAR's protocol; their form is that of the family.
        """
        if answer_format == "tuple":
            return _FORM.format(imports=self.imports)
        return self.words.contract(answer_format)

    def closing(self, answer_format: str) -> str:
        """Return the end of a request: the form of an answer once more, and an example."""
        return _CLOSING if answer_format == "tuple" else _OTHER_CLOSING

    def schema(self, answer_format: str) -> Mapping[str, Json] | None:
        """Return the JSON schema of an answer, or None for a format that is not JSON."""
        return self.words.schema(answer_format)

    def show_observation(self, number: int, observation: Observation) -> str:
        """Return a pair of input and output as the family shows it."""
        return self.words.show_observation(number, observation)

    def show_hypothesis(self, hypothesis: Hypothesis) -> str:
        """Return a hypothesis as the family shows it."""
        return self.words.show_hypothesis(hypothesis)

    def show_feedback(self, view: View, agreement: Agreement) -> str:
        """Return the feedback on a function, in the wording of the family."""
        return self.words.show_feedback(view, agreement)

    def compact(self) -> FamilyWords:
        """Return the prompt texts of the family with fewer tokens."""
        return self.words.compact()

    def gear(self) -> GearProgramWords:
        """Return this object."""
        return self
