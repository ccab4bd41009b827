"""Count the verdicts, malformed answers and faults of form in recorded steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ...records import StepRecord, Verdict


@dataclass(frozen=True)
class Tally:
    """Counts of verdicts and malformed answers in several steps.

    Args:
        steps: Number of steps.
        verdicts: Number of hypotheses by verdict; all four verdicts are keys.
        breaches: Number of breaches of the answer contract (the rules for an answer) by kind, the
            most frequent first.
        malformed: Number of answers without a hypothesis by reason, the most frequent first.
        repaired: Number of faults of form by kind, the most frequent first, in answers that were
            read all the same.
    """

    steps: int
    verdicts: dict[str, int]
    breaches: dict[str, int]
    malformed: dict[str, int]
    repaired: dict[str, int]

    @staticmethod
    def empty() -> Tally:
        """Return a tally in which all counts are 0."""
        return tally(())

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.steps + other.steps,
            {name: count + other.verdicts[name] for name, count in self.verdicts.items()},
            _ranked(Counter(self.breaches) + Counter(other.breaches)),
            _ranked(Counter(self.malformed) + Counter(other.malformed)),
            _ranked(Counter(self.repaired) + Counter(other.repaired)),
        )


def tally(steps: Iterable[StepRecord]) -> Tally:
    """Count the steps, verdicts, breaches, malformed answers and faults of form in `steps`."""
    number = 0
    verdicts: Counter[Verdict] = Counter()
    breaches: Counter[str] = Counter()
    malformed: Counter[str] = Counter()
    repaired: Counter[str] = Counter()
    for record in steps:
        number += 1
        repaired.update(record.fields.get("repaired") or _tolerated(record))
        for judged in (one for answer in record.answers for one in answer.judged):
            verdicts[judged.verdict] += 1
            breaches.update(judged.hypothesis.breaches if judged.hypothesis else ())
            if judged.verdict is Verdict.MALFORMED:
                malformed[judged.reason.partition(":")[0]] += 1
    order = (Verdict.ACCEPTED, Verdict.REDUNDANT, Verdict.INCONSISTENT, Verdict.MALFORMED)
    named = {verdict.value: verdicts[verdict] for verdict in order}
    return Tally(number, named, _ranked(breaches), _ranked(malformed), _ranked(repaired))


def _tolerated(record: StepRecord) -> Iterator[str]:
    """Yield what the parser of programs corrected in the answers of a step."""
    for answer in record.answers:
        for judged in answer.judged:
            meta = judged.hypothesis.meta if judged.hypothesis else {}
            yield from meta.get("leniency", ())


def _ranked(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
