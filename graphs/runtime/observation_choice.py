"""Make a prompt fit into the model's context: shorten its history, then choose observations.

A prompt is shortened only after the model has refused a longer one (`ContextExceeded`). The refusal
is recorded in the journal as a reply, with the number of tokens that fit. The choice depends on
this record, on the problem and on recorded results alone. Therefore, a replay builds the same
prompts.

The observations that tell most come first. Once hypotheses were found, these are the observations
for which their predictions differ most, then those that the fewest predict correctly. Before that,
and among equals, they are taken from each output in turn, the shortest first. Hypotheses are still
judged on all observations. The history is shortened first, because a prompt can summarise it
without losing an accepted hypothesis.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...agents.prompts.protocol import list_observations
from ...records import (
    Agreement,
    ContextExceeded,
    Json,
    JudgedAnswer,
    Message,
    Observation,
    Reply,
    View,
    canonical_json,
)

if TYPE_CHECKING:
    from .case import Case

TOO_LONG = "too_long"  # `Reply.finish` of a recorded refusal
HISTORY_LIMITS = (10, 4, 1)  # answers in full that a prompt shows before observations are left out
UNKNOWN_SHARE = 0.5  # of a refused prompt, if nothing says how much of it fits
MARGIN = 0.95  # of the room, because texts differ in characters per token


@dataclass(frozen=True)
class Listing:
    """What a prompt lists of a problem.

    Args:
        history_limit: The number of earlier answers to show in full.
        observations: The indices of the observations to list, ascending; None for all.
    """

    history_limit: int
    observations: tuple[int, ...] | None = None


def refusal_reply(error: ContextExceeded) -> Reply:
    """Return the reply that records that a prompt did not fit."""
    meta = {"prompt_tokens": error.prompt_tokens, "room_tokens": error.room_tokens}
    return Reply(finish=TOO_LONG, usage=error.usage or Reply().usage, meta=meta)


def allowed_characters(
    messages: Sequence[Message], meta: Mapping[str, Json], hint_characters: int = 0
) -> int:
    """Return how many characters the next prompt may have, with its hints, after this one was refused.

    Args:
        messages: The refused prompt, without hints.
        meta: The fields "prompt_tokens" and "room_tokens" of the recorded refusal.
        hint_characters: The number of characters of the hints that the prompt showed.
    """
    share = meta["room_tokens"] / max(1, meta["prompt_tokens"])
    if share >= 1:  # by its estimate, the refused prompt had to fit
        share = UNKNOWN_SHARE
    return int((count_characters(messages) + hint_characters) * share * MARGIN)


def count_characters(messages: Sequence[Message]) -> int:
    """Return the number of characters of messages, including the calls of tools."""
    return sum(len(str(message)) for message in messages)


def fit_prompt(
    case: Case, listed: View, build: Callable[[Listing], Sequence[Message]]
) -> tuple[list[Message], Listing, bool]:
    """Return a prompt that fits, what it lists, and whether a shorter prompt is possible.

    If no prompt fits, the shortest one is returned.

    Args:
        case: The working data of the problem.
        listed: The view of the problem whose observations prompts list.
        build: Function that builds the prompt for a `Listing`.
    """
    limit, most = case.prompt_limit, case.settings.method.history_limit
    answers = len(listed.past_answers)
    tries = [Listing(most), *(Listing(n) for n in HISTORY_LIMITS if n < min(most, answers))]
    used = count_characters(case.tool_turns) + case.hint_characters

    def fits(listing: Listing) -> bool:
        return limit is None or used + count_characters(build(listing)) <= limit

    for one in tries:
        if fits(one):
            return list(build(one)), one, len(listed.shown) > 1 or one != tries[-1]
    texts = list_observations(listed, case.words)
    order = rank_observations(listed.shown, texts, case.found_results)
    shortest = tries[-1].history_limit

    def choose(count: int) -> Listing:
        return Listing(shortest, tuple(sorted(order[:count])))

    count = _largest_fitting(len(order) - 1, lambda n: fits(choose(n)))
    chosen = choose(count)
    return list(build(chosen)), chosen, count > 1


def fit_rows(
    case: Case, listed: View, build: Callable[[View], Sequence[Message]]
) -> tuple[list[Message], bool]:
    """Return a prompt with as many rows as fit, and whether a prompt with fewer rows is possible.

    Args:
        case: The working data of the problem.
        listed: The view whose rows the prompt shows if they fit.
        build: Function that builds the prompt for a view.
    """
    limit, whole = case.prompt_limit, build(listed)
    if limit is not None:
        limit -= case.hint_characters
    if limit is None or count_characters(whole) <= limit:
        return list(whole), len(listed.shown) > 1
    order = rank_observations(listed.shown, list_observations(listed, case.words), ())

    def choose(number: int) -> Sequence[Message]:
        rows = tuple(listed.shown[index] for index in sorted(order[:number]))
        return build(replace(listed, shown=rows))

    count = _largest_fitting(len(order) - 1, lambda n: count_characters(choose(n)) <= limit)
    return list(choose(count)), count > 1


def _largest_fitting(most: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number from 1 to `most` that fits; 1 if none does."""
    low, high = 1, max(1, most)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def rank_observations(
    shown: Sequence[Observation],
    texts: Mapping[int, str],
    results: Sequence[Agreement],
) -> list[int]:
    """Return the indices of observations, the most informative first.

    Args:
        shown: The observations.
        texts: The text of each observation that a prompt can list, by its index.
        results: The results of the found hypotheses on the observations.
    """
    by_output: dict[str, list[int]] = {}
    for index in sorted(texts, key=lambda one: (len(texts[one]), one)):
        by_output.setdefault(canonical_json(shown[index].output), []).append(index)
    rank = {
        index: (turn, len(texts[index]), index)
        for group in by_output.values()
        for turn, index in enumerate(group)
    }

    def key(index: int) -> tuple[float, int, tuple[int, int, int]]:
        wrong = sum(one.marks[index] is not True for one in results)
        return -_disagreement(results, index), -wrong, rank[index]

    return sorted(texts, key=key)


def _disagreement(results: Sequence[Agreement], index: int) -> float:
    """Return the share of pairs of hypotheses that predict different outputs for an observation."""
    count = len(results)
    if count < 2:
        return 0.0
    groups = Counter(canonical_json(dict(one.got[index])) for one in results)
    equal = sum(n * (n - 1) for n in groups.values())
    return 1 - equal / (count * (count - 1))


def keep_results(case: Case, answers: Sequence[JudgedAnswer]) -> None:
    """Keep the results of a step's hypotheses on the observations that prompts list.

    Nothing is kept if prompts are never fitted.
    """
    if case.settings.method.fit == "refuse":
        return
    text = case.settings.text
    count = len(case.shown[: None if text is None else text.listed_rows])
    for answer in answers:
        for one in answer.judged:
            if one.shown is not None and len(one.shown.got) >= count:
                marks, got = one.shown.marks[:count], one.shown.got[:count]
                case.found_results.append(Agreement(marks, got))
