"""Prompts that ask a model to rate hypotheses (HypoBench, section 3 and appendix A).

Each function returns the messages of one request, which asks one question: whether two hypotheses
use the same variable, how much of the relationship in a true hypothesis a found hypothesis states,
or how novel, plausible or clear a hypothesis is.

Departures from the published prompts: the published example that gives half a score for the right
label by the wrong variable is left out, because only pairs that share a variable are compared.
Clarity may be rated without known findings. The prompts are written for this project, with one user
message each.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...records import Digest, Message, digest_of
from ...tasks.io.compact_values import join_lines

RATING_PROMPT_VERSION = 1

_FEATURE = """\
Two hypotheses say what decides the label of a case. Are they about any input variable in common?

An input variable is what is looked at in a case: a column of a record, a part or property of a text.
- Only what is looked at counts. Leave out of account which label is predicted, in which direction, and by which value or threshold: "high grades in mathematics are admitted" and "an F in mathematics is rejected" are about the same variable.
- One variable in common is enough, whatever else either of them speaks of.
- The same label for other reasons is nothing in common.
- A hypothesis that is empty or says nothing of any input has no variable.

Hypothesis A: {one}

Hypothesis B: {other}

Answer with one word, yes or no."""

_VARIABLE = """\
A hypothesis says what decides the label of a case. Does it look at this input variable?

Only what is looked at counts, not which label is predicted, in which direction, by which value or threshold.

Variable: {one}

Hypothesis: {other}

Answer with one word, yes or no."""

_RELATIONSHIP = """\
How much of what a true hypothesis says does a found hypothesis say? Compare the variables, the values or thresholds, and which label they lead to.

1: all of it; other words and additions that change nothing do no harm
0.75: the main relationship, with a detail missing or off
0.5: about half of it, as one of two conditions
0.25: a small part of it
0: nothing of it, or the contrary: a found hypothesis that contradicts the true one is 0, however alike they are otherwise

True hypothesis: {one}

Found hypothesis: {other}

Answer with one number alone: 0, 0.25, 0.5, 0.75 or 1."""

_SCALES = {
    "novelty": (
        "How new is this hypothesis beside what is known?",
        (
            "says what is known already, in other words",
            "a small step from what is known",
            "a known idea with a part that is new",
            "mostly new; what is known does not lead to it",
            "a new idea, unlike anything that is known",
        ),
    ),
    "plausibility": (
        "How plausible is this hypothesis, given what is known?",
        (
            "makes no sense, or goes against what is well established",
            "could hold in rare cases; much speaks against it",
            "reasonable, with gaps that leave it open",
            "likely to hold, with small doubts",
            "fits what is known and would very likely hold in a test",
        ),
    ),
    "clarity": (
        "How clear is this hypothesis? Could two readers apply it to a case and agree?",
        (
            "cannot be applied: what it means is open",
            "vague words leave much to the reader",
            "understandable, with bounds or terms left open",
            "clear; only unusual cases leave a doubt",
            "every term and the relationship are definite; it can be tested as it stands",
        ),
    ),
}


def same_variable_prompt(one: str, other: str) -> list[Message]:
    """Return the prompt that asks whether two hypotheses share an input variable: yes or no."""
    return _user(_FEATURE.format_map({"one": join_lines(one), "other": join_lines(other)}))


def variable_prompt(variable: str, hypothesis: str) -> list[Message]:
    """Return the prompt that asks whether a hypothesis uses an input variable: yes or no."""
    return _user(
        _VARIABLE.format_map({"one": join_lines(variable), "other": join_lines(hypothesis)})
    )


def relationship_prompt(true: str, found: str) -> list[Message]:
    """Return the prompt that asks how much of a true hypothesis a found hypothesis states.

    The answer is 0, 0.25, 0.5, 0.75 or 1.
    """
    return _user(_RELATIONSHIP.format_map({"one": join_lines(true), "other": join_lines(found)}))


def quality_prompt(
    which: str, hypothesis: str, known: Sequence[str], about: str = ""
) -> list[Message]:
    """Return the prompt that asks for a rating of a hypothesis from 1 to 5, with a reason.

    Args:
        which: The quality to rate, one of `QUALITIES` (tasks/text/rating_answers.py).
        hypothesis: The hypothesis to rate.
        known: Known findings, shown as a list.
        about: A description of the data; "" for none.
    """
    question, points = _SCALES[which]
    parts = [question]
    if about:
        parts.append(f"The data: {join_lines(about)}")
    parts.append("\n".join(f"{n}: {point}" for n, point in enumerate(points, 1)))
    if known:
        parts.append("What is known:\n" + "\n".join(f"- {join_lines(one)}" for one in known))
    parts.append(f"Hypothesis: {join_lines(hypothesis)}")
    parts.append("Answer in two lines:\nScore: a whole number from 1 to 5\nReasoning: why")
    return _user("\n\n".join(parts))


def rating_prompt_hash() -> Digest:
    """Return a digest of the prompt texts.

    Ratings that were made with different prompt texts are not comparable.
    """
    return digest_of([RATING_PROMPT_VERSION, _FEATURE, _VARIABLE, _RELATIONSHIP, _SCALES])


def _user(text: str) -> list[Message]:
    return [{"role": "user", "content": text}]
