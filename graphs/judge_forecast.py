"""Count the calls of the judge models for one problem, with a second judge or with batches of texts.

A method counts the calls of its judge as if one judge were asked about one text at a time
(forecast.py). Counting with no call and with one call for each question separates the questions about
a sentence and a text from all other calls of the judge, such as prompts with several sentences.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from .forecast import CallsByRole, Sizes, Span
from .runtime.queries import JUDGE, SECOND_JUDGE


def count_judge_calls(
    forecast: Callable[[Sizes], CallsByRole], sizes: Sizes, second: bool
) -> CallsByRole:
    """Return the calls of a method by role, with those of a second judge and with batches.

    The smallest number assumes full batches, and a second judge that is asked only to calibrate the
    first one. The largest number assumes that the labels change with the order of the texts, so that
    every text is asked about alone, or that a batch has only two texts, one of which cannot be read.

    Args:
        forecast: The function of the method that counts its calls.
        sizes: The figures of the problem.
        second: Whether the session has a second judge.
    """
    found = forecast(sizes)
    if JUDGE not in found or not sizes.labelled or not (second or sizes.text.judge_batch > 1):
        return found
    text, zero = sizes.text, Span()
    other = forecast(replace(sizes, answers=0)).get(JUDGE, zero)
    each = forecast(replace(sizes, answers=1)).get(JUDGE, zero)
    least = max(0, each.least - other.least)
    most = max(0, each.most - other.most)
    if most:  # calibration may ask about further rows
        most += text.judge_calibration + text.judge_batch
    answers = text.repeats
    fewest, largest = least * answers, most * answers
    if text.judge_batch > 1:
        fewest = math.ceil(least / text.judge_batch) * answers
        largest += math.ceil(most / 2) * max(
            answers, 2
        )  # one answer more shows the effect of order
    calls = {
        **found,
        JUDGE: Span(min(other.least + fewest, found[JUDGE].least), other.most + largest),
    }
    if second:
        calls[SECOND_JUDGE] = Span(min(least, text.judge_calibration), most)
    return calls
