"""What a probe's accuracy does not show: over-optimisation, by the chosen answers' log-ratio and by
answers that are sampled.

A DPO loss falls as long as the rejected answer loses more than the chosen one; both may lose, and
what they lose goes to answers that no pair shows. So a stage whose chosen log-ratio falls below
`log_ratio_warning` is a warning, and so is instruction following (of sampled answers) that falls by
`following_drop` below its value before training. `stop` says which of them end the training.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...records import Json
from .settings import TrainConfig


class Guard:
    """said: notes and warnings so far, each one sentence; a warning once a stage, once of answers. stops:
    the warning that ends the training, "" where none does."""

    def __init__(self, settings: TrainConfig) -> None:
        self._settings = settings
        self._first: float | None = None  # instruction following before training
        self._seen: dict[str, str] = {}
        self.stops = ""

    @property
    def said(self) -> tuple[str, ...]:
        return tuple(self._seen.values())

    def note(self, said: Sequence[str]) -> None:
        """What is to be known of the training from its beginning on."""
        self._seen |= {f"note/{text}": text for text in said}

    def probed(self, examples: int, probes: Mapping[str, Mapping[str, float]]) -> None:
        least = self._settings.log_ratio_warning
        for stage, measured in probes.items():
            ratio = measured["chosen_logratio"]
            if ratio < least:
                self._warn(
                    "log_ratio", stage,
                    f"After {examples:,} examples the chosen answers of the stage {stage} have lost"
                    f" probability (log-ratio {ratio:.2f}, below {least:g}): over-optimisation.",
                )  # fmt: skip

    def sampled(self, examples: int, values: Mapping[str, float]) -> None:
        """values: of the sampler; the first call is the baseline."""
        share = values.get("instruction_following")
        if share is None:
            return
        if self._first is None:
            self._first = share
        elif self._first - share > self._settings.following_drop:
            self._warn(
                "following", "",
                f"After {examples:,} examples {share:.1%} of sampled answers can be read,"
                f" {self._first:.1%} before training: the model collapses.",
            )  # fmt: skip

    def state(self) -> Json:
        return {"first": self._first, "seen": dict(self._seen)}

    def restore(self, state: Any) -> None:
        self._first, self._seen = state["first"], dict(state["seen"])

    def _warn(self, kind: str, stage: str, text: str) -> None:
        self._seen.setdefault(f"{kind}/{stage}", text)
        if self._settings.stop in (kind, "either"):
            self.stops = text
