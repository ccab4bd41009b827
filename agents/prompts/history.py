"""Which earlier answers a prompt shows in full, and how it summarises the others.

A prompt shows the last answers in full. Of the answers before these, it shows the accepted
hypotheses, and says how many others were wrong, repeated earlier predictions or could not be read.
The number of summarised answers grows in steps of half the limit, because the beginning of the next
prompt would otherwise change with every answer, and an endpoint could not cache it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from ...records import Hypothesis, PastAnswer, Verdict

ACCEPTED_HEADING = "Hypotheses accepted among the first {count} answers:"
NONE_ACCEPTED = "None of the first {count} answers gave a hypothesis that was accepted."
LATER_HEADING = "Hypotheses proposed after these:"
OTHERS = {
    Verdict.INCONSISTENT: "{count} more {hypotheses} of these answers did not agree with all observations.",
    Verdict.REDUNDANT: "{count} more {hypotheses} of these answers predicted hardly anything new.",
    Verdict.MALFORMED: "{count} of these answers could not be read, because the form of the answer was not kept.",
}  # fmt: skip


def split_history(
    earlier: Sequence[PastAnswer], limit: int
) -> tuple[Sequence[PastAnswer], Sequence[PastAnswer]]:
    """Return the earlier answers to summarise, and those to show in full, in their order.

    An answer that a search made from the answer before it stays with that answer.

    Args:
        earlier: All earlier answers.
        limit: The largest number of answers to show in full.
    """
    if len(earlier) <= limit:
        return (), earlier
    step = max(1, limit // 2)
    count = ((len(earlier) - limit - 1) // step + 1) * step
    while count < len(earlier) and earlier[count].author:
        count += 1
    return earlier[:count], earlier[count:]


def pair_verdicts(answer: PastAnswer) -> Iterator[tuple[Hypothesis, Verdict]]:
    """Yield the hypotheses of an answer with their verdicts."""
    verdicts = answer.verdicts or (answer.verdict,) * len(answer.hypotheses)
    yield from zip(answer.hypotheses, verdicts, strict=False)


def list_accepted(earlier: Sequence[PastAnswer]) -> list[Hypothesis]:
    """Return the accepted hypotheses of earlier answers, in their order."""
    return [
        one
        for answer in earlier
        for one, verdict in pair_verdicts(answer)
        if verdict is Verdict.ACCEPTED
    ]


def summarise_answers(
    older: Sequence[PastAnswer], show_hypothesis: Callable[[Hypothesis], str]
) -> list[str]:
    """Return the blocks of a prompt that summarise its oldest answers; empty without answers.

    Args:
        older: The answers to summarise.
        show_hypothesis: Function that returns the text of an accepted hypothesis in the prompt.
    """
    if not older:
        return []
    accepted = list_accepted(older)
    lines = [
        f"{number}. " + "\n   ".join(show_hypothesis(one).splitlines())
        for number, one in enumerate(accepted, start=1)
    ]
    heading = ACCEPTED_HEADING if accepted else NONE_ACCEPTED
    counts = Counter(verdict for answer in older for _, verdict in pair_verdicts(answer))
    counts[Verdict.MALFORMED] = sum(not answer.hypotheses for answer in older)
    others = [
        text.format(count=counts[verdict], hypotheses="hypothesis" if counts[verdict] == 1 else "hypotheses")
        for verdict, text in OTHERS.items()
        if counts[verdict]
    ]  # fmt: skip
    return ["\n".join([heading.format(count=len(older)), *lines, *others])]
