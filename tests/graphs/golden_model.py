"""The scripted model of ../shared/data/text/hypogenic_golden_trace.json: it answers the prompts of
HypoGeniC on shoe as the file says the reference's fake model did."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

COLOURS = ("white", "red", "orange", "green", "blue", "black")
HYPOTHESIS = re.compile(r"G\d+H\d+ rule with skill (\d)")
SHIRT = re.compile(r"(\w+) shirt")
APPEARANCE = re.compile(r"a (?:young|old) and [^\n\"]* bag")


class Golden:
    """generations: prompts for hypotheses so far; judged: questions of one hypothesis and one text."""

    def __init__(self) -> None:
        self.generations = 0
        self.judged = 0

    def __call__(self, messages: Sequence[Any]) -> str:
        prompt = messages[-1]["content"]
        found = HYPOTHESIS.search(prompt)
        if found is None:
            self.generations += 1
            g = self.generations
            return "\n".join(
                f"{i + 1}. G{g}H{i + 1} rule with skill {(i * 7 + g * 3) % 10}" for i in range(10)
            )
        self.judged += 1
        appearance = APPEARANCE.findall(prompt)[-1]
        shirt = SHIRT.search(appearance)
        assert shirt is not None
        seen = hashlib.sha256((found.group(0) + appearance).encode()).hexdigest()
        right = int(seen, 16) % 10 < int(found.group(1))
        label = shirt.group(1)
        if not right:
            label = COLOURS[(COLOURS.index(label) + 1) % len(COLOURS)]
        return f"So it follows.\nFinal answer: {label}"
