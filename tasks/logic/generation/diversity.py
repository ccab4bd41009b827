"""How often a template may be used within a theory, a difficulty and a regime (ABD, section 5).

Twice, or for a third of the instances there, whichever is more; counted as they are made, so that
an instance does not depend on how many follow.
"""

from __future__ import annotations

from collections import Counter

ALWAYS = 2
SHARE = 3  # one in so many


def most_uses(instances: int) -> int:
    """Of one template among so many instances."""
    return max(ALWAYS, -(-instances // SHARE))


class Used:
    """How often each template stands in the instances so far."""

    def __init__(self) -> None:
        self.templates: Counter[tuple[str, ...]] = Counter()
        self.instances: Counter[tuple[str, ...]] = Counter()

    def may(self, regime: str, difficulty: str, theory: str, template: str) -> bool:
        key = (regime, difficulty, theory)
        return self.templates[(*key, template)] < most_uses(self.instances[key] + 1)

    def count(self, regime: str, difficulty: str, theory: str, template: str) -> None:
        key = (regime, difficulty, theory)
        self.instances[key] += 1
        self.templates[(*key, template)] += 1
