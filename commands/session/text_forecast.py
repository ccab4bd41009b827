"""What a session on labelled text would ask, by role, from the sizes of its data.

Counted for a model that gives as many hypotheses as it is asked for, each another one. Least and most are
bounds, and what lies between them depends on answers: how often wrong rows make new hypotheses
(`regenerations`), and under `--judge auto` how many sentences are exact rules, which cost no call. A
question of a session is asked once, so rows with the same inputs count once where that is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...agents.endpoint.limits import estimated_tokens
from ...config import TextSettings
from ...graphs.bank.papers import PIECE_WORDS
from ...graphs.bank.reading import CHOOSE, UNDER_A_MODEL
from ...graphs.runtime.case import SessionSettings
from ...graphs.runtime.memory import case_of
from ...records import InputSet, Json, Message, Observation, Problem, UsageError, canonical_json
from ...tasks.text.family import of_split
from ...tasks.text.papers import pieces

VISITING = ("hypogenic", "hyporefine", "union")  # go through the rows
ASKED_AGAIN = ("io", "refine", "abduce", "t3")  # in the words of the general protocol


@dataclass(frozen=True)
class Span:
    """least and most calls."""

    least: int = 0
    most: int = 0

    def __add__(self, other: Span) -> Span:
        return Span(self.least + other.least, self.most + other.most)


def calls_of(problem: Problem, space: int, settings: Mapping[str, Json]) -> dict[str, Span]:
    """{"proposer", "judge", "literature"} of one problem. space: how many texts S has. settings: as
    the session records them."""
    return Counting(problem, space, settings).calls()


class Counting:
    """The calls of one problem under the settings of its session."""

    def __init__(self, problem: Problem, space: int, settings: Mapping[str, Json]) -> None:
        self.problem, self.space, self.settings = problem, space, settings
        self.method = str(settings["method"])
        self.text = TextSettings(**settings["text"])
        self.rows = len(problem.shown)
        self.first = len(problem.shown[: self.text.examples])
        self.stored = [len(bank) for bank in problem.public.get("banks", ())]

    def calls(self) -> dict[str, Span]:
        literature = Span()
        if "papers" in self.problem.public:
            parts = sum(len(pieces(p["text"], PIECE_WORDS)) for p in self.problem.public["papers"])
            rewrites = (self.text.rewrites + 1) // 2 if self.method == "hyporefine" else 0
            literature = Span(parts, parts + rewrites * self.regenerations)
        return {
            "proposer": self._proposer(),
            "judge": self._finding() + self._reading(),
            "literature": literature,
        }

    @property
    def regenerations(self) -> int:
        """Prompts for new hypotheses at most: one for each `wrong` rows of a round."""
        if self.method not in VISITING or self.stored or not self.text.rounds:
            return 0
        again = (self.text.rounds - 1) * (self.rows // self.text.wrong)
        return (self.rows - self.first) // self.text.wrong + again

    def _proposer(self) -> Span:
        if self.method in ("infer", "direct") or self.stored:
            return Span()
        if self.method in ASKED_AGAIN:
            least, most = self._answers
            return Span(least, most * (1 + self.settings["tool_calls"]))
        once = 2 if self.method == "union" else 1
        rewrites = self.text.rewrites // 2 if self.method == "hyporefine" else 0
        return Span(once, once + self.regenerations * (1 + rewrites))

    @property
    def _answers(self) -> tuple[int, int]:
        most = self.settings["max_answers"]
        if self.method == "refine":
            return 1, most
        if self.method == "t3":
            return most, most
        return min(self.settings.get("max_bad") or 1, most), most

    # --- finding hypotheses -----------------------------------------------------

    def _finding(self) -> Span:
        """Of the judge, until the bank stands."""
        text, asked = self.text, self.text.hypotheses
        if self.method == "direct":
            rows = len(self._predicted)
            return Span(rows, rows)
        if self.method == "infer":
            return Span()
        if self.method == "union" and self.stored:
            n = sum(self.stored)
            return self._asked(0, 0 if text.judge == "exact" else n * (n - 1) // 2, times=1)
        early = _distinct(self.problem.shown[: self.first])
        space = self.space if text.judge_space else 0
        if self.method in ASKED_AGAIN:
            least, most = self._answers
            return self._asked(
                asked * (early + space) * min(least, 1), asked * (self.first + space) * most
            )
        found = self._asked(asked * (early + space), asked * (self.first + space))
        if self.method not in VISITING or not text.rounds:
            return found
        if self.method == "union":  # the hypotheses of literature too, and whether two say the same
            n = self._bank.most + asked  # that are the same sentences at the least
            found += self._asked(0, asked * (self.first + space))
            found += self._asked(0, n * (n - 1) // 2, times=1)
        return found + self._visits(early)

    def _visits(self, early: int) -> Span:
        """Rows to the best of the bank, and new hypotheses on the rows that made them. Visits with a
        hypothesis and a text that came together before are no calls."""
        text, asked, again = self.text, self.text.hypotheses, self.regenerations
        distinct = _distinct(self.problem.shown)
        least = min(text.top, asked) * (distinct - early)
        best = min(text.top, self._bank.most)
        most = best * (self.rows - self.first + (text.rounds - 1) * self.rows)
        most += again * asked * (text.wrong + (self.space if text.judge_space else 0))
        pairs = (1 + again) * asked * distinct - asked * early  # that there can be at all
        if not text.judge_space:
            most = min(most, pairs)
        return self._asked(min(least, most), most)

    @property
    def _bank(self) -> Span:
        """Entries of the bank when it is read."""
        text = self.text
        if self.method == "infer":
            n = len({row["text"] for bank in self.problem.public["banks"] for row in bank})
            return Span(n, n)
        if self.method == "union" and self.stored:
            return Span(1, min(sum(self.stored), text.capacity))
        if self.method in ASKED_AGAIN:
            return Span(1, text.hypotheses * self._answers[1])
        made = text.hypotheses * (1 + self.regenerations)
        return Span(
            min(text.hypotheses, text.capacity), max(text.hypotheses, min(text.capacity, made))
        )

    # --- reading the bank ---------------------------------------------------------

    def _reading(self) -> Span:
        text = self.text
        if text.inference is None or text.judge == "exact" or self.method == "direct":
            return Span()
        rows = _distinct(self._predicted)
        wide = text.inference == CHOOSE
        names = list(_ROWS) if wide else [text.inference]
        spans = [self._strategy(name, rows) for name in names]
        found = Span(min(s.least for s in spans), max(s.most for s in spans))
        scoring = self._scoring
        if wide and scoring:
            for name in names:
                found += Span(0, self._strategy(name, scoring).most)
        if text.inference != "multi" and scoring:
            weighing = self._asked(scoring * self._bank.least, scoring * self._bank.most)
            found = Span(max(found.least, weighing.least), found.most + weighing.most)
        return found if text.judge == "model" else Span(0, found.most)

    def _strategy(self, name: str, rows: int) -> Span:
        """A question about each row, and where it comes to that sentences by themselves."""
        times, bank = self.text.repeats, self._bank
        readers = bank.most if name == "weighted" else self.text.readers
        least, most = _ROWS[name](times, min(readers, bank.least), min(readers, bank.most))
        return Span(rows * least, rows * most)

    @property
    def _scoring(self) -> int:
        """Validation rows that score hypotheses."""
        most = UNDER_A_MODEL if self.text.validation is None else self.text.validation
        return min(len(of_split(self.problem, "val")), most)

    @property
    def _predicted(self) -> list[Observation]:
        return [row for split in self.text.splits for row in of_split(self.problem, split)]

    def _asked(self, least: int, most: int, times: int | None = None) -> Span:
        """Questions about a sentence and a text (or two sentences) as calls."""
        if self.text.judge == "exact":
            return Span()
        each = self.text.repeats if times is None else times
        return Span(least * each if self.text.judge == "model" else 0, most * each)


# calls a row: by answers a question, and how many entries are read at least and at most. Where nothing
# applies the best entry is asked for too.
_ROWS: Mapping[str, Callable[[int, int, int], tuple[int, int]]] = {
    "multi": lambda times, least, most: (1, 1 + times),
    "best": lambda times, least, most: (times, times),
    "filter-weight": lambda times, least, most: (least, most * (1 + times) + times),
    "one-step": lambda times, least, most: (1, 1 + times),
    "two-step": lambda times, least, most: (times, 1 + 2 * times),
    "weighted": lambda times, least, most: (times * least, times * most),
}


def _distinct(rows: Sequence[Observation]) -> int:
    return len({canonical_json(one.input) for one in rows})


# --- the first prompt -------------------------------------------------------------


def first_prompt(problem: Problem, settings: Mapping[str, Json]) -> list[Message]:
    """The messages that a session would begin with, as far as they are known: without summaries of
    papers. [] of a session that proposes nothing."""
    text = TextSettings(**settings["text"])
    method = settings["method"]
    if method == "infer" or "banks" in problem.public:
        return []
    case = case_of(
        problem,
        None,
        space=InputSet("none", ()),
        settings=SessionSettings(seed=settings["seed"], text=text),
    )
    if method == "direct":
        rows = [row for split in text.splits for row in of_split(problem, split)]
        shots = problem.shown[: text.shots]
        return list(case.prompts.direct(case.view(), shots, rows[0].input)) if rows else []
    blind = method in ("literature", "zero-shot-gen")
    view = replace(case.view(), shown=() if blind else case.shown)
    return list(case.prompts.propose(view, text.hypotheses))


def prompt_tokens(problems: Sequence[Problem], settings: Mapping[str, Json]) -> int:
    """The estimate of the longest first prompt."""
    prompts = (first_prompt(one, settings) for one in problems)
    return max((estimated_tokens(one, {}, 0) for one in prompts if one), default=0)


def check_prompt(
    problems: Sequence[Problem], settings: Mapping[str, Json], options: Mapping[str, Json]
) -> None:
    """Raises UsageError where the first prompt and an answer are estimated above `context_tokens` of
    the model's options. Without that option an endpoint is asked what its model holds at the first
    request (agents/endpoint/context.py), and refuses one that cannot fit in one sentence too."""
    holds, answer = options.get("context_tokens"), options.get("max_tokens") or 0
    if not isinstance(holds, int) or not holds:
        return
    tokens = prompt_tokens(problems, settings)
    if tokens + answer > holds:
        shown = max(len(one.shown[: settings["text"]["examples"]]) for one in problems)
        said = f" and an answer of at most {answer:,}" if answer else ""
        raise UsageError(
            f"the first prompt, with {shown} rows, is about {tokens:,} tokens{said}, and the model"
            f" holds {holds:,} (context_tokens): show fewer rows with --examples, or name a model that"
            " holds more"
        )
