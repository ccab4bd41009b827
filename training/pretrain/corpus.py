"""Training examples for a small proposer: observations, with answers of the built-in search.

A `Lesson` has the observations of one problem and several answers, to prompts with zero, one or two
earlier hypotheses. The earlier hypotheses are other programs of the library that are correct on the
shown observations and make different predictions on other inputs. All answers of a lesson share the
observations, so a model processes the observations once.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...agents.prompts import protocol
from ...records import Hypothesis, InputSet, Json, Malformed, Observation, PastAnswer, Verdict, View
from ...tasks import load_family
from ...tasks.programs.answers import read_answer
from ...tasks.programs.family import answer_text
from .library import Chain, Library, Program
from .settings import Shares

# --- Deliberate faults in the answers that a small proposer learns, so that preferences have
# something to teach: answers that cannot be parsed, that are wrong, or that are undefined without
# need.
#
# The protocol's own parser decides what is malformed. `narrow_rule` keeps an answer right on the shown
# observations, but leaves it without a prediction on many other inputs.

# A condition on the input, and its wording in a sentence.
_OF_LISTS = [(f"len(x) > {k}", f"more than {k} elements") for k in range(1, 7)]
_OF_LISTS += [(f"len(x) < {k}", f"fewer than {k} elements") for k in range(4, 10)]
_OF_LISTS += [("len(x) % 2 == 0", "an even length"), ("len(x) % 2 == 1", "an odd length")]
_OF_LISTS += [(f"max(x) > {k}", f"an element above {k}") for k in (5, 9, 20, 50)]
_OF_LISTS += [("x[0] > x[-1]", "a first element above its last"), ("x[0] % 2 == 0", "an even first element")]  # fmt: skip
_OF_SCENES = [(f"len(x) > {k}", f"more than {k} objects") for k in (1, 2, 3)]
_OF_SCENES += [(f"len(x) < {k}", f"fewer than {k} objects") for k in (3, 4, 5)]
_OF_GRIDS = [(f"g[0][0] == {k}", f"{k} in the first corner") for k in range(10)]
_OF_GRIDS += [(f"g[-1][-1] == {k}", f"{k} in the last corner") for k in range(10)]
_OF_GRIDS += [("any(g[0])", "a coloured first row"), ("any(g[-1])", "a coloured last row")]
_OF_GRIDS += [("not any(g[0])", "an empty first row"), ("not any(g[-1])", "an empty last row")]
_CONDITIONS = {"list_functions": _OF_LISTS, "acre": _OF_SCENES}
_NOUNS = {"list_functions": "lists", "acre": "scenes"}


def make_malformed(description: str, source: str, rng: random.Random) -> str:
    """Return a faulty answer that the parser of the answer format `tuple` cannot read.

    Args:
        description: The description of a correct program.
        source: The source code of the program.
        rng: The random generator that chooses the fault.
    """
    good = answer_text(description, source)
    head = good.index('", "def')
    ways = [
        good[: head + 3],  # only the description
        good.replace("def f(", "f(", 1),
        good.replace("    return ", "    ", 1).replace("return ", "", 1),
        good.replace("):\\n", ")\\n", 1),
        good.replace("(", "", 1)[: len(good) // 2],
        good[: head + (len(good) - head) // 2],
        good.replace("\\n    ", "\\n", 1),
        description,
        good[: head + 1] + ")",
    ]
    rng.shuffle(ways)
    for said in ways:
        if isinstance(read_answer(said, "tuple"), Malformed):
            return said
    return description


def narrow_rule(
    task: str, description: str, source: str, shown: Sequence[Observation], rng: random.Random
) -> tuple[str, str] | None:
    """Return a version of a program that also requires a condition which all shown inputs meet.

    The narrowed program is consistent with the observations but undefined on other inputs.

    Args:
        task: The name of the task.
        description: The description of the program.
        source: The source code of the program.
        shown: The shown observations.
        rng: The random generator that chooses the condition.

    Returns:
        The new description and source code, or None if no condition applies.
    """
    name = source[len("def f(")]
    holding = [
        one for one in _CONDITIONS.get(task, _OF_GRIDS) if all(_holds(one[0], name, o.input) for o in shown)
    ]  # fmt: skip
    if not holding:
        return None
    code, says = rng.choice(holding)
    head, _, body = source.partition("\n")
    said = f"{description[:-1]}, for {_NOUNS.get(task, 'grids')} with {says}."
    return said, f"{head}\n    assert {code}\n{body}"


def _holds(code: str, name: str, given: Json) -> bool:
    try:
        return bool(eval(code, {}, {name: given}))  # one of the conditions defined above
    except (IndexError, ValueError):
        return False


EMPTY_SPACE = InputSet("none", ())
MAX_AGREEMENT = (
    0.8  # the most of the pool on which earlier hypotheses may agree with a new one (GEAR 4.1)
)
COST_DECAY = 0.7  # decay of a program's probability per unit of cost, at the start of the training
COST_DECAY_END = 0.5  # share of the training after which programs are drawn by their prior only
COST_SCALE = 1.0  # added cost at which a consistent program is chosen 1/e times as often
ENTITY_PATTERN = re.compile(
    r"\b(blue|brown|cyan|gray|green|purple|red|yellow|metal|rubber|cube|cylinder|sphere)"
)


@dataclass(frozen=True)
class Answer:
    """One answer in a lesson of the pretraining corpus.

    Attributes:
        prompt_suffix: The text of the prompt after the observations.
        text: The text of the answer.
        context: The number of earlier hypotheses in the prompt.
        fault: The deliberate fault of the answer, a field name of `Shares`, or an empty string.
    """

    prompt_suffix: str
    text: str
    context: int
    fault: str


@dataclass(frozen=True)
class Lesson:
    """The observations of one problem, with several answers to train on.

    Attributes:
        task: The name of the task.
        shown: The observations.
        prompt: The text with which the prompts of all answers begin. For an answer without earlier
            hypotheses it is the complete prompt.
        answers: The answers.
    """

    task: str
    shown: tuple[Observation, ...]
    prompt: str
    answers: tuple[Answer, ...]

    @property
    def texts(self) -> list[str]:
        """All texts of the lesson, divided as they are tokenized."""
        parts = [part for one in self.answers for part in (one.prompt_suffix, one.text)]
        return [self.prompt, *(part for part in parts if part)]


class LessonWriter:
    """Writes lessons of one task from observations and programs, with some deliberate faults."""

    def __init__(self, task: str, shares: Shares) -> None:
        self.task = task
        self.shares = shares
        self.words = load_family("programs").words

    def write_lesson(
        self,
        shown: tuple[Observation, ...],
        answers: Sequence[tuple[Sequence[Program], Program]],
        other: Callable[[], Program],
        rng: random.Random,
        faulty: bool = True,
    ) -> Lesson:
        """Return a lesson about the observations `shown`, with an answer to each of several
        prompts.

        Args:
            shown: The observations.
            answers: For each answer, the earlier programs in its prompt and the program to answer
                with.
            other: Returns a program that does not depend on the observations, for wrong answers.
            rng: The random generator that chooses faults.
            faulty: Whether answers may have deliberate faults.
        """
        prompt = self._prompt(shown, ())
        written = []
        for context, program in answers:
            asked = self._prompt(shown, context)
            fault, text = "", answer_text(program.sentence, program.source)
            if faulty:
                fault, text = self._text(program, shown, other, rng)
            written.append(Answer(asked[len(prompt) :], text, len(context), fault))
        return Lesson(self.task, shown, prompt, tuple(written))

    def _prompt(self, shown: tuple[Observation, ...], context: Sequence[Program]) -> str:
        earlier = tuple(
            PastAnswer("", (Hypothesis(one.source, one.sentence),), Verdict.ACCEPTED)
            for one in context
        )
        view = View("p", self.task, "programs", shown, {}, EMPTY_SPACE, earlier)
        (message,) = protocol.build_messages(
            view, self.words, answer_format="tuple", template="compact"
        )
        said: str = message["content"]
        return said

    def _text(
        self,
        program: Program,
        shown: tuple[Observation, ...],
        other: Callable[[], Program],
        rng: random.Random,
    ) -> tuple[str, str]:
        fault = _fault(self.shares, rng)
        description, source = program.sentence, program.source
        if fault == "malformed":
            return fault, make_malformed(description, source, rng)
        if fault == "wrong":
            program = other()
            return fault, answer_text(program.sentence, program.source)
        if fault == "narrow":
            less = narrow_rule(self.task, description, source, shown, rng)
            if less is not None:
                return fault, answer_text(*less)
        if fault == "constant" and len({repr(o.output) for o in shown}) == 1:
            return fault, answer_text(*_constant(self.task, shown[0]))
        return "", answer_text(description, source)


def _fault(shares: Shares, rng: random.Random) -> str:
    """Draw the name of a share, or an empty string."""
    at = rng.random()
    for name in ("malformed", "wrong", "narrow", "constant"):
        at -= getattr(shares, name)
        if at < 0:
            return name
    return ""


def _constant(task: str, shown: Observation) -> tuple[str, str]:
    name = (
        "g"
        if isinstance(shown.output, list)
        and isinstance(shown.output[0:1] and shown.output[0], list)
        else "x"
    )
    said = f"Return the fixed {'grid' if name == 'g' else 'list'} {shown.output}."
    return said, f"def f({name}):\n    return {shown.output!r}"


def prior(program: Program) -> float:
    """Return the relative weight of a program in random draws.

    Programs that solve many problems and have a low cost get a high weight.
    """
    return math.sqrt(program.weight) * math.exp(-0.12 * program.cost)


class LibraryLessons:
    """Draws lessons about lists or grids from a library of programs.

    Args:
        library: The programs, and their outputs on a pool of inputs.
        shares: The shares of answers with each deliberate fault.
        max_prompt_chars: The maximum number of characters of a prompt.
        observation_weights: The relative probability of each number of observations.
    """

    def __init__(
        self,
        library: Library,
        shares: Shares,
        max_prompt_chars: int,
        observation_weights: Mapping[int, float],
    ) -> None:
        self.library = library
        self.writer = LessonWriter(library.task, shares)
        self.longest = max_prompt_chars
        self.sizes = dict(observation_weights)
        costs = np.array([program.cost for program in library.programs])
        self.prior = np.array([prior(program) for program in library.programs])
        self.costs = costs - costs.min() if len(costs) else costs
        self._set(1.0)
        self.likely = np.exp(-costs / COST_SCALE)

    def _set(self, done: float) -> None:
        """Set the probabilities of programs at a point of the training; cheap ones come first."""
        self.done = done
        drawn = self.prior * np.exp(-COST_DECAY * max(0.0, 1 - done / COST_DECAY_END) * self.costs)
        self.cumulated = np.cumsum(drawn / drawn.sum())

    def draw(self, rng: random.Random, done: float = 1.0, faulty: bool = True) -> Lesson | None:
        """Draw a random lesson, or return None if the drawn program cannot be used.

        A drawn program cannot be used if too few inputs fit it, or if the prompt would be too long.

        Args:
            rng: The random generator.
            done: The fraction of the training that is over, from 0 to 1. Early lessons prefer
                programs of low cost.
            faulty: Whether answers may have deliberate faults.
        """
        library = self.library
        if abs(done - self.done) > 0.01 or (done >= COST_DECAY_END > self.done):
            self._set(done)
        chosen = self._any(rng)
        (count,) = rng.choices(list(self.sizes), list(self.sizes.values()))
        row = library.codes[chosen]
        fit = np.flatnonzero(library.changed[chosen] & (row >= 0))
        if rng.random() < 0.05:
            fit = np.flatnonzero(row >= 0)
        if len(fit) < count:
            return None
        places = np.array(rng.sample(list(fit), count))
        if count > 1 and len(set(row[places])) < 2:
            return None
        shown = tuple(Observation(library.inputs[i], library.outputs[row[i]]) for i in places)
        right = np.flatnonzero((library.codes[:, places] == row[places]).all(axis=1))
        chain = self._chain(right, rng)
        answers: list[tuple[Sequence[Program], Program]] = [
            (chain[:k], chain[k]) for k in range(len(chain))
        ]
        second = self._likely(right, rng)
        if library.programs[second] != chain[0]:
            answers.append(((), library.programs[second]))
        lesson = self.writer.write_lesson(
            shown, answers, lambda: library.programs[self._any(rng)], rng, faulty
        )
        return lesson if len(lesson.prompt) <= self.longest else None

    def _any(self, rng: random.Random) -> int:
        return int(np.searchsorted(self.cumulated, rng.random()))

    def _likely(self, some: np.ndarray, rng: random.Random) -> int:
        weights = self.likely[some] / self.likely[some].max()
        at = rng.random() * weights.sum()
        return int(some[min(int(np.searchsorted(np.cumsum(weights), at)), len(some) - 1)])

    def _chain(self, right: np.ndarray, rng: random.Random) -> list[Program]:
        """Return a consistent program, and up to two others that predict otherwise."""
        codes = self.library.codes
        first = self._likely(right, rng)
        chain = [first]
        agrees = codes[right] == codes[first]
        for _ in range(2):
            new = (~agrees & (codes[right] >= 0)).mean(axis=1) >= 1 - MAX_AGREEMENT
            left = right[new]
            if not len(left):
                break
            following = self._likely(left, rng)
            chain.append(following)
            agrees |= codes[right] == codes[following]
        return [self.library.programs[k] for k in chain]


class ChainLessons:
    """Draws lessons about scenes from recorded answers of the search, with the objects renamed."""

    def __init__(self, chains: Sequence[Chain], shares: Shares) -> None:
        self.chains = chains
        self.writer = LessonWriter("acre", shares)

    def draw(self, rng: random.Random, done: float = 1.0, faulty: bool = True) -> Lesson | None:
        """Draw a random lesson. The argument `done` has no effect.

        Args:
            rng: The random generator.
            done: Ignored.
            faulty: Whether answers may have deliberate faults.
        """
        from ...tasks.programs.acre_scenes import COLORS, MATERIALS, SHAPES

        chain = rng.choice(self.chains)
        renamed: dict[str, str] = {}
        for words in (COLORS, MATERIALS, SHAPES):
            renamed |= dict(zip(words, rng.sample(words, len(words)), strict=True))

        def rename(text: str) -> str:
            return ENTITY_PATTERN.sub(lambda found: renamed[found[0]], text)

        shown = []
        for one in chain.shown:
            scene = [rename(entity) for entity in one.input]
            rng.shuffle(scene)
            shown.append(Observation(scene, one.output))
        rng.shuffle(shown)
        said = [Program(rename(a.source), rename(a.sentence), a.cost) for a in chain.answers]
        answers: list[tuple[Sequence[Program], Program]] = [
            (said[:k], said[k]) for k in range(min(3, len(said)))
        ]
        if len(said) > 1:
            answers.append(((), rng.choice(said[1:])))

        def other() -> Program:
            answer = rng.choice(rng.choice(self.chains).answers)
            return Program(rename(answer.source), rename(answer.sentence), answer.cost)

        return self.writer.write_lesson(tuple(shown), answers, other, rng, faulty)
