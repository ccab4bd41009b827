"""What a model is asked about labelled text: pure functions from a view to messages.

One method for each role of HypoGeniC and HypoRefine (notes, parts a to e). `OWN` is this project's
wording, one user message each, as some chat templates know no system role; the published prompts of
a data set are `ConfigPrompts` (agents/config_prompts.py). Prompts that are asked of many rows begin
with what is the same for all of them and end with the row, so that an endpoint can cache the
beginning. Departures from the published wording: a judge may answer that a hypothesis does not
apply; a proposer learns the forms that are judged exactly; a hypothesis from papers names its
paper and a quote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from ..records import Digest, InputSet, Json, Message, Observation, View, digest_of
from ..tasks.label_words import APPLIES_NOT, TextWords, input_text, labelled, quoted_label

TEXT_PROMPT_VERSION = 1


class Findings(Protocol):
    """A paper as later prompts show it: a summary of what it found."""

    @property
    def title(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def source(self) -> str: ...


class Readable(Protocol):
    """A paper, or a piece of one, that is to be summarised."""

    @property
    def title(self) -> str: ...
    @property
    def text(self) -> str: ...


class TextPrompts(Protocol):
    """The roles. view.shown holds the rows a role may show; hypotheses: their texts, in order;
    input: {column: value}; patterns: (text, rows that it got right)."""

    def propose(self, view: View, count: int, papers: Sequence[Findings] = ()) -> list[Message]: ...

    def refine_with_data(
        self, view: View, hypotheses: Sequence[str], count: int
    ) -> list[Message]: ...

    def refine_with_papers(
        self, view: View, hypotheses: Sequence[str], papers: Sequence[Findings], count: int
    ) -> list[Message]: ...

    def infer(self, view: View, hypothesis: str, input: Mapping[str, Json]) -> list[Message]: ...

    def infer_many(
        self, view: View, hypotheses: Sequence[str], input: Mapping[str, Json]
    ) -> list[Message]: ...

    def relevant(self, view: View, hypothesis: str, input: Mapping[str, Json]) -> list[Message]: ...

    def infer_adaptively(
        self,
        view: View,
        patterns: Sequence[tuple[str, Sequence[Observation]]],
        input: Mapping[str, Json],
    ) -> list[Message]: ...

    def select(
        self,
        view: View,
        patterns: Sequence[tuple[str, Sequence[Observation]]],
        input: Mapping[str, Json],
    ) -> list[Message]: ...

    def direct(
        self, view: View, rows: Sequence[Observation], input: Mapping[str, Json]
    ) -> list[Message]: ...

    def summarise(self, view: View, paper: Readable) -> list[Message]: ...

    def same(self, view: View, first: str, second: str) -> list[Message]: ...


_JUDGE = "You apply a hypothesis about labelled data to one input, as it is written."
_JUDGE_MANY = "You label one input with the help of hypotheses that were found on earlier ones."
_AS_WRITTEN = (
    "Go by the hypothesis alone, whether or not you believe it: find out whether it says anything "
    "of this input, and if so, which label follows from it."
)
_WEIGH = (
    "Find out which of the hypotheses say something of this input and weigh them against each "
    "other. Hypotheses that do not apply have no vote. Give the one label that is most likely."
)
_NEAREST = (
    "Each pattern stands with inputs that it labelled rightly. Find the pattern whose inputs are "
    "most like the new one"
)


class OwnPrompts:
    """This project's wording of every role."""

    def propose(self, view: View, count: int, papers: Sequence[Findings] = ()) -> list[Message]:
        """With rows: from data; with papers: from literature; with both; with neither: zero-shot."""
        words = TextWords.of(view.public)
        basis = {
            (True, False): "Look for what the inputs of one label have in common and those of the "
            "others lack.",
            (False, True): "Derive the hypotheses from the findings above, turned into properties "
            "that can be seen in an input.",
            (True, True): "Let the findings suggest what to look for, and the rows decide what "
            "holds of them.",
            (False, False): "There are no rows to look at: use what you know of such data.",
        }[bool(view.shown), bool(papers)]
        return _user(
            words.instructions,
            _findings(papers),
            _rows(view.shown, words),
            f"{basis} {_many(count)} They should differ from each other, and between them speak of "
            "every label.",
            _form(count, bool(papers)),
        )

    def refine_with_data(self, view: View, hypotheses: Sequence[str], count: int) -> list[Message]:
        words = TextWords.of(view.public)
        return _user(
            words.instructions,
            _rows(view.shown, words),
            _numbered("Hypotheses so far:", hypotheses),
            "Rewrite the hypotheses in the light of these rows: make each say more precisely what "
            "it looks for, drop what the rows contradict, and put in its place what they show. "
            f"{_many(count)}",
            _form(count, False),
        )

    def refine_with_papers(
        self, view: View, hypotheses: Sequence[str], papers: Sequence[Findings], count: int
    ) -> list[Message]:
        return _user(
            TextWords.of(view.public).instructions,
            _findings(papers),
            _numbered("Hypotheses so far:", hypotheses),
            "Rewrite the hypotheses in the light of these findings: make each more precise where "
            "a finding allows it, and take up findings that none of them uses yet. "
            f"{_many(count)}",
            _form(count, True),
        )

    def infer(self, view: View, hypothesis: str, input: Mapping[str, Json]) -> list[Message]:
        words = TextWords.of(view.public)
        answer = (
            f"Say in one or two sentences why. Then end with one line, where LABEL is {_one_of(words)}"
            f' or, if the hypothesis says nothing of this input, "{APPLIES_NOT}":'
            "\nFinal answer: LABEL"
        )
        return _user(
            _JUDGE, words.about, f"Hypothesis: {hypothesis}", _AS_WRITTEN, answer, _new(input)
        )

    def infer_many(
        self, view: View, hypotheses: Sequence[str], input: Mapping[str, Json]
    ) -> list[Message]:
        words = TextWords.of(view.public)
        return _user(
            _JUDGE_MANY,
            words.about,
            _numbered("Hypotheses:", hypotheses),
            _WEIGH,
            _answer(words),
            _new(input),
        )

    def relevant(self, view: View, hypothesis: str, input: Mapping[str, Json]) -> list[Message]:
        return _user(
            "You decide whether a hypothesis about labelled data says anything of one input.",
            TextWords.of(view.public).about,
            f"Hypothesis: {hypothesis}",
            "Is what the hypothesis speaks of there in the input, so that a label follows from it?",
            YES_NO,
            _new(input),
        )

    def infer_adaptively(
        self,
        view: View,
        patterns: Sequence[tuple[str, Sequence[Observation]]],
        input: Mapping[str, Json],
    ) -> list[Message]:
        words = TextWords.of(view.public)
        return _user(
            _JUDGE_MANY,
            words.about,
            _patterns(patterns, words),
            f"{_NEAREST}; then apply that pattern to the new input.",
            f"Say in one or two sentences why. Then end with two lines, where NUMBER is from 1 to "
            f"{len(patterns)} and LABEL is {_one_of(words)}:"
            "\nChosen pattern: NUMBER\nFinal answer: LABEL",
            _new(input),
        )

    def select(
        self,
        view: View,
        patterns: Sequence[tuple[str, Sequence[Observation]]],
        input: Mapping[str, Json],
    ) -> list[Message]:
        words = TextWords.of(view.public)
        return _user(
            "You choose the hypothesis that fits one input best.",
            words.about,
            _patterns(patterns, words),
            f"{_NEAREST}.",
            "Say in one or two sentences why. Then end with one line, where NUMBER is from 1 to "
            f"{len(patterns)}:\nChosen pattern: NUMBER",
            _new(input),
        )

    def direct(
        self, view: View, rows: Sequence[Observation], input: Mapping[str, Json]
    ) -> list[Message]:
        words = TextWords.of(view.public)
        return _user(
            "You label one input.", words.about, _rows(rows, words), _answer(words), _new(input)
        )

    def summarise(self, view: View, paper: Readable) -> list[Message]:
        words = TextWords.of(view.public)
        return _user(
            "You read a research paper for what it found that helps to tell the labels of some "
            "data apart.",
            words.about,
            "List the findings that bear on this: which property of an input goes with which "
            "label, in which direction, and how strongly where the paper says so. Leave out "
            "methods, models and thanks. Put each finding on one line and behind it a quote of at "
            "most 25 words, exactly as it stands in the text:"
            '\n- finding ["quote"]'
            "\nWhere the text holds nothing of the kind, answer: none",
            f"Title: {paper.title}",
            f"Text:\n{paper.text}",
        )

    def same(self, view: View, first: str, second: str) -> list[Message]:
        return _user(
            "You decide whether two hypotheses about labelled data say the same thing.",
            TextWords.of(view.public).about,
            "They are the same if whoever knows one of them learns nothing of use from the other: "
            "other words or further examples alone are no difference. Another property, another "
            "condition or the opposite label is one.",
            YES_NO,
            f"First: {first}\nSecond: {second}",
        )


OWN = OwnPrompts()
YES_NO = "Say in one sentence why. Then end with one line: Final answer: yes, or: Final answer: no"


def text_prompt_hash() -> Digest:
    """A digest of the template: of all that `OWN` writes about one fixed small problem of each
    shape."""
    written: list[Json] = [TEXT_PROMPT_VERSION]
    for view in _fixed():
        bare = View(view.problem, view.task, view.family, (), view.public, view.space)
        row, papers = view.shown[0].input, (_Fixed(),)
        patterns = [("a", view.shown[:1]), ("b", ())]
        written += [
            OWN.propose(v, n, p) for v in (view, bare) for n in (1, 5) for p in ((), papers)
        ]
        written += [
            OWN.refine_with_data(view, ["a", "b"], 2),
            OWN.refine_with_papers(view, ["a", "b"], papers, 2),
            OWN.infer(view, "a", row),
            OWN.infer_many(view, ["a", "b"], row),
            OWN.relevant(view, "a", row),
            OWN.infer_adaptively(view, patterns, row),
            OWN.select(view, patterns, row),
            OWN.direct(view, view.shown, row),
            OWN.direct(view, (), row),
            OWN.summarise(view, _Fixed()),
            OWN.same(view, "a", "b"),
        ]
    return digest_of(written)


class _Fixed:
    title, summary, source, text = "t", "s", "f", "x"


def _fixed() -> list[View]:
    columns: dict[str, dict[str, Json]] = {
        "text": {"text": {"kind": "text", "about": ""}},
        "pair": {"one": {"kind": "text", "about": "a"}, "two": {"kind": "text", "about": "b"}},
        "fields": {
            "c": {"kind": "choice", "about": "", "values": ["u", "v"]},
            "n": {"kind": "number", "about": "a"},
            "t": {"kind": "truth", "about": ""},
        },
    }
    views = []
    for shape, told in columns.items():
        public = {"labels": ["x", "y"], "columns": told, "shape": shape, "description": "d"}
        rows = tuple(
            Observation({name: value for name in told}, label)
            for value, label in (("u", "x"), ("v", "y"))
        )
        views.append(View("p", "labels", "text", rows, public, InputSet("S", ())))
    return views


def _many(count: int) -> str:
    return "Give exactly one hypothesis." if count == 1 else f"Give exactly {count} hypotheses."


def _form(count: int, sourced: bool) -> str:
    if sourced:
        line = '<hypothesis> [paper <number>: "<quote>"]'
        told = (
            "Behind each hypothesis name the paper that it rests on by its number above, and quote "
            "words of its findings exactly as they stand there; leave the brackets out where it "
            "rests on none."
        )
    else:
        line, told = "<hypothesis>", ""
    lines = [f"1. {line}"] + ([f"2. {line}"] if count > 1 else [])
    if count > 2:
        lines.append("…" if count > 3 else f"3. {line}")
    form = "Write a numbered list, each hypothesis in one sentence on one line, and nothing else:"
    return "\n".join([part for part in (told, form) if part] + lines)


def _answer(words: TextWords) -> str:
    return (
        "Say in one or two sentences why. Then end with one line, where LABEL is "
        f"{_one_of(words)}:\nFinal answer: LABEL"
    )


def _one_of(words: TextWords) -> str:
    names = [quoted_label(label) for label in words.labels]
    return f"one of {', '.join(names)}" if len(names) > 2 else " or ".join(names)


def _rows(rows: Sequence[Observation], words: TextWords) -> str:
    return f"Rows with their labels:\n{labelled(rows, words)}" if rows else ""


def _findings(papers: Sequence[Findings]) -> str:
    if not papers:
        return ""
    told = [
        f"Paper {n}: {paper.title}\n{paper.summary.strip()}" for n, paper in enumerate(papers, 1)
    ]
    return "\n\n".join(["Findings of papers:", *told])


def _numbered(heading: str, sentences: Iterable[str]) -> str:
    return "\n".join([heading, *(f"{n}. {said}" for n, said in enumerate(sentences, start=1))])


def _patterns(patterns: Sequence[tuple[str, Sequence[Observation]]], words: TextWords) -> str:
    told = []
    for n, (text, rows) in enumerate(patterns, start=1):
        told.append(f"Pattern {n}: {text}" + (f"\n{labelled(rows, words)}" if rows else ""))
    return "\n\n".join(told)


def _new(input: Mapping[str, Json]) -> str:
    return f"Input:\n{input_text(input)}"


def _user(*blocks: str) -> list[Message]:
    return [{"role": "user", "content": "\n\n".join(block for block in blocks if block.strip())}]
