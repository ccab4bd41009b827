"""Prompts about labelled text.

`TextPrompts` has one method for each role of a model in HypoGeniC and HypoRefine. `DEFAULT_PROMPTS`
are written for this project, with one user message each, because some chat templates have no system
role. `ConfigPrompts` (agents/prompts/config_prompts.py) holds the published prompts of a data set.
Prompts that are repeated for many rows begin with the text that all rows share and end with the
row, so that an endpoint can cache the beginning.

Departures from the published roles: a judge may answer that a hypothesis does not apply; a proposer
is told which forms of sentences are evaluated exactly; a hypothesis from papers names its paper and
a quote; a hypothesis to improve is shown with the labels that it predicted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ...records import Digest, InputSet, Json, Message, Observation, View, digest_of
from ...tasks.text.words import DOES_NOT_APPLY, TextWords
from .text_parts import (
    YES_NO,
    Findings,
    PaperText,
    Pattern,
    WrongRow,
    count_request,
    findings_block,
    format_wrong_rows,
    hypotheses_block,
    input_block,
    label_line,
    list_form,
    pattern_and_label_lines,
    pattern_line,
    patterns_block,
    rows_block,
    user_message,
)

__all__ = [
    "DEFAULT_PROMPTS",
    "DefaultPrompts",
    "Findings",
    "PaperText",
    "Pattern",
    "TextPrompts",
    "WrongRow",
    "text_prompt_hash",
]  # fmt: skip

TEXT_PROMPT_VERSION = 1


class TextPrompts(Protocol):
    """The prompts about labelled text. Every method returns the messages of one request.

    The rows in `view.shown` are the labelled rows that the prompt may show. `hypotheses` are the
    texts of hypotheses. `input` maps the columns of one row to values. A pattern is a hypothesis
    with rows that it predicted correctly.
    """

    def propose(self, view: View, count: int, papers: Sequence[Findings] = ()) -> list[Message]:
        """Return the prompt that asks for `count` hypotheses.

        The prompt shows the rows in `view.shown`, the findings of `papers`, both or neither,
        depending on which are empty.
        """
        ...

    def refine_with_data(self, view: View, hypotheses: Sequence[str], count: int) -> list[Message]:
        """Return the prompt that asks to rewrite hypotheses in view of the rows in `view.shown`."""
        ...

    def refine_with_papers(
        self, view: View, hypotheses: Sequence[str], papers: Sequence[Findings], count: int
    ) -> list[Message]:
        """Return the prompt that asks to rewrite hypotheses in view of the findings of papers."""
        ...

    def refine_with_feedback(
        self, view: View, hypothesis: str, wrong: Sequence[WrongRow], count: int
    ) -> list[Message]:
        """Return the prompt that asks to improve a hypothesis in view of rows that it labels
        wrongly.
        """
        ...

    def infer(self, view: View, hypothesis: str, input: Mapping[str, Json]) -> list[Message]:
        """Return the prompt that asks for the label of a row according to one hypothesis."""
        ...

    def infer_many(
        self, view: View, hypotheses: Sequence[str], input: Mapping[str, Json]
    ) -> list[Message]:
        """Return the prompt that asks for the label of a row according to several hypotheses."""
        ...

    def judge_relevance(
        self, view: View, hypothesis: str, input: Mapping[str, Json]
    ) -> list[Message]:
        """Return the prompt that asks whether a hypothesis applies to a row."""
        ...

    def infer_adaptively(
        self, view: View, patterns: Sequence[Pattern], input: Mapping[str, Json]
    ) -> list[Message]:
        """Return the prompt that asks to choose the best pattern for a row and to label the row by
        it.
        """
        ...

    def select_pattern(
        self, view: View, patterns: Sequence[Pattern], input: Mapping[str, Json]
    ) -> list[Message]:
        """Return the prompt that asks which pattern fits a row best."""
        ...

    def label_directly(
        self, view: View, rows: Sequence[Observation], input: Mapping[str, Json]
    ) -> list[Message]:
        """Return the prompt that asks to label a row from labelled example rows, without a
        hypothesis.
        """
        ...

    def summarise(self, view: View, paper: PaperText) -> list[Message]:
        """Return the prompt that asks for a list of the findings of a paper."""
        ...

    def compare_hypotheses(self, view: View, first: str, second: str) -> list[Message]:
        """Return the prompt that asks whether two hypotheses mean the same."""
        ...


_JUDGE = "You apply a hypothesis about labelled data to one input, as it is written."
_AS_WRITTEN = (
    "Go by the hypothesis alone, whether or not you believe it: find out whether it says anything "
    "of this input, and if so, which label follows from it."
)
_JUDGE_MANY = "You label one input with the help of hypotheses that were found on earlier ones."
_WEIGH = (
    "Find out which of the hypotheses say something of this input and weigh them against each "
    "other. Hypotheses that do not apply have no vote. Give the one label that is most likely."
)
_NEAREST = (
    "Each pattern stands with inputs that it labelled rightly. Find the pattern whose inputs are "
    "most like the new one"
)
_BASIS = {  # Keys: whether there are rows, and whether there are papers.
    (True, False): "Look for what the inputs of one label have in common and those of the others "
    "lack.",
    (False, True): "Derive the hypotheses from the findings above, turned into properties that "
    "can be seen in an input.",
    (True, True): "Let the findings suggest what to look for, and the rows decide what holds of "
    "them.",
    (False, False): "There are no rows to look at: use what you know of such data.",
}
_VARIED = "They should differ from each other, and between them speak of every label."
_BY_DATA = (
    "Rewrite the hypotheses in the light of these rows: make each say more precisely what it looks "
    "for, drop what the rows contradict, and put in its place what they show."
)
_BY_PAPERS = (
    "Rewrite the hypotheses in the light of these findings: make each more precise where a finding "
    "allows it, and take up findings that none of them uses yet."
)
_BY_FEEDBACK = (
    "Find out what misled the hypothesis on these rows, and give hypotheses that label them "
    "rightly without losing what it was right about."
)
_FINDINGS = """\
List the findings that bear on this: which property of an input goes with which label, in which \
direction, and how strongly where the paper says so. Leave out methods, models and thanks. Put \
each finding on one line and behind it a quote of at most 25 words, exactly as it stands in the text:
- finding ["quote"]
Where the text holds nothing of the kind, answer: none"""
_SAME = (
    "They are the same if whoever knows one of them learns nothing of use from the other: other "
    "words or further examples alone are no difference. Another property, another condition or "
    "the opposite label is one."
)


class DefaultPrompts:
    """The prompts about labelled text that are written for Peirce."""

    def propose(self, view: View, count: int, papers: Sequence[Findings] = ()) -> list[Message]:
        """Return the prompt that asks for `count` hypotheses."""
        words = TextWords.from_public(view.public)
        aim = f"{_BASIS[bool(view.shown), bool(papers)]} {count_request(count)}"
        return user_message(
            words.instructions,
            findings_block(papers),
            rows_block(view.shown, words),
            f"{aim} {_VARIED}" if count > 1 else aim,
            list_form(count, bool(papers)),
        )

    def refine_with_data(self, view: View, hypotheses: Sequence[str], count: int) -> list[Message]:
        """Return the prompt that asks to rewrite hypotheses in view of the rows in `view.shown`."""
        words = TextWords.from_public(view.public)
        return user_message(
            words.instructions,
            rows_block(view.shown, words),
            hypotheses_block("Hypotheses so far:", hypotheses),
            f"{_BY_DATA} {count_request(count)}",
            list_form(count),
        )

    def refine_with_papers(
        self, view: View, hypotheses: Sequence[str], papers: Sequence[Findings], count: int
    ) -> list[Message]:
        """Return the prompt that asks to rewrite hypotheses in view of the findings of papers."""
        return user_message(
            TextWords.from_public(view.public).instructions,
            findings_block(papers),
            hypotheses_block("Hypotheses so far:", hypotheses),
            f"{_BY_PAPERS} {count_request(count)}",
            list_form(count, sourced=True),
        )

    def refine_with_feedback(
        self, view: View, hypothesis: str, wrong: Sequence[WrongRow], count: int
    ) -> list[Message]:
        """Return the prompt that asks to improve a hypothesis in view of rows that it labels
        wrongly.
        """
        words = TextWords.from_public(view.public)
        return user_message(
            words.instructions,
            f"Hypothesis: {hypothesis}",
            format_wrong_rows(wrong, words),
            f"{_BY_FEEDBACK} {count_request(count)}",
            list_form(count),
        )

    def infer(self, view: View, hypothesis: str, input: Mapping[str, Json]) -> list[Message]:
        """Return the prompt that asks for the label of a row according to one hypothesis."""
        words = TextWords.from_public(view.public)
        return user_message(
            _JUDGE,
            words.about,
            f"Hypothesis: {hypothesis}",
            _AS_WRITTEN,
            label_line(words, f'if the hypothesis says nothing of this input, "{DOES_NOT_APPLY}"'),
            input_block(input),
        )

    def infer_many(
        self, view: View, hypotheses: Sequence[str], input: Mapping[str, Json]
    ) -> list[Message]:
        """Return the prompt that asks for the label of a row according to several hypotheses."""
        words = TextWords.from_public(view.public)
        return user_message(
            _JUDGE_MANY,
            words.about,
            hypotheses_block("Hypotheses:", hypotheses),
            _WEIGH,
            label_line(words),
            input_block(input),
        )

    def judge_relevance(
        self, view: View, hypothesis: str, input: Mapping[str, Json]
    ) -> list[Message]:
        """Return the prompt that asks whether a hypothesis applies to a row."""
        return user_message(
            "You decide whether a hypothesis about labelled data says anything of one input.",
            TextWords.from_public(view.public).about,
            f"Hypothesis: {hypothesis}",
            "Is what the hypothesis speaks of there in the input, so that a label follows from it?",
            YES_NO,
            input_block(input),
        )

    def infer_adaptively(
        self, view: View, patterns: Sequence[Pattern], input: Mapping[str, Json]
    ) -> list[Message]:
        """Return the prompt that asks to choose the best pattern for a row and to label the row by
        it.
        """
        words = TextWords.from_public(view.public)
        return user_message(
            _JUDGE_MANY,
            words.about,
            patterns_block(patterns, words),
            f"{_NEAREST}; then apply that pattern to the new input.",
            pattern_and_label_lines(len(patterns), words),
            input_block(input),
        )

    def select_pattern(
        self, view: View, patterns: Sequence[Pattern], input: Mapping[str, Json]
    ) -> list[Message]:
        """Return the prompt that asks which pattern fits a row best."""
        words = TextWords.from_public(view.public)
        return user_message(
            "You choose the hypothesis that fits one input best.",
            words.about,
            patterns_block(patterns, words),
            f"{_NEAREST}.",
            pattern_line(len(patterns)),
            input_block(input),
        )

    def label_directly(
        self, view: View, rows: Sequence[Observation], input: Mapping[str, Json]
    ) -> list[Message]:
        """Return the prompt that asks to label a row from labelled example rows, without a
        hypothesis.
        """
        words = TextWords.from_public(view.public)
        return user_message(
            "You label one input.",
            words.about,
            rows_block(rows, words),
            label_line(words),
            input_block(input),
        )

    def summarise(self, view: View, paper: PaperText) -> list[Message]:
        """Return the prompt that asks for a list of the findings of a paper."""
        return user_message(
            "You read a research paper for what it found that helps to tell the labels of some "
            "data apart.",
            TextWords.from_public(view.public).about,
            _FINDINGS,
            f"Title: {paper.title}",
            f"Text:\n{paper.text}",
        )

    def compare_hypotheses(self, view: View, first: str, second: str) -> list[Message]:
        """Return the prompt that asks whether two hypotheses mean the same."""
        return user_message(
            "You decide whether two hypotheses about labelled data say the same thing.",
            TextWords.from_public(view.public).about,
            _SAME,
            YES_NO,
            f"First: {first}\nSecond: {second}",
        )


DEFAULT_PROMPTS = DefaultPrompts()


def text_prompt_hash() -> Digest:
    """Return a digest of all prompts that `DEFAULT_PROMPTS` writes about a set of fixed problems.

    There is one fixed problem for each shape of data: one text, a pair of texts, and several
    columns.
    """
    return digest_of([TEXT_PROMPT_VERSION, *(_written(view) for view in _fixed())])


def _written(view: View) -> Json:
    bare = View(view.problem, view.task, view.family, (), view.public, view.space)
    row, patterns = view.shown[0].input, [("a", view.shown[:1]), ("b", ())]
    proposals = [
        DEFAULT_PROMPTS.propose(seen, count, papers)
        for seen in (view, bare)
        for count in (1, 2, 5)
        for papers in ((), (_Paper,))
    ]
    return [
        *proposals,
        DEFAULT_PROMPTS.refine_with_data(view, ["a", "b"], 2),
        DEFAULT_PROMPTS.refine_with_papers(view, ["a", "b"], (_Paper,), 2),
        DEFAULT_PROMPTS.refine_with_feedback(
            view, "a", [(view.shown[0], "y"), (view.shown[1], "")], 2
        ),
        DEFAULT_PROMPTS.infer(view, "a", row),
        DEFAULT_PROMPTS.infer_many(view, ["a", "b"], row),
        DEFAULT_PROMPTS.judge_relevance(view, "a", row),
        DEFAULT_PROMPTS.infer_adaptively(view, patterns, row),
        DEFAULT_PROMPTS.select_pattern(view, patterns, row),
        DEFAULT_PROMPTS.label_directly(view, view.shown, row),
        DEFAULT_PROMPTS.label_directly(view, (), row),
        DEFAULT_PROMPTS.summarise(view, _Paper),
        DEFAULT_PROMPTS.compare_hypotheses(view, "a", "b"),
    ]


class _Fixed:
    title, summary, source, text = "t", "s", "f", "x"


_Paper = _Fixed()


def _fixed() -> list[View]:
    shapes: dict[str, dict[str, dict[str, Json]]] = {
        "text": {"text": {"kind": "text", "about": ""}},
        "pair": {"one": {"kind": "text", "about": "a"}, "two": {"kind": "text", "about": "b"}},
        "fields": {
            "c": {"kind": "choice", "about": "", "values": ["u", "v"]},
            "n": {"kind": "number", "about": "a"},
            "t": {"kind": "truth", "about": ""},
        },
    }
    views = []
    for shape, columns in shapes.items():
        public = {"labels": ["x", "y"], "columns": columns, "shape": shape, "description": "d"}
        rows = tuple(Observation(dict.fromkeys(columns, said), said) for said in ("x", "y"))
        views.append(View("p", "labels", "text", rows, public, InputSet("S", ())))
    return views
