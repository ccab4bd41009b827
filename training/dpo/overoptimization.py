"""Warnings of over-optimisation, and whether a warning ends the training.

A DPO loss falls as long as the rejected answer loses more probability than the chosen one. Both may
lose, and the probability goes to answers that are in no pair. The accuracy of a probe does not show
this. A warning is given where the chosen log-ratio of a stage falls below `log_ratio_warning`, and
where instruction following of sampled answers falls by `following_drop` below its value before
training. The setting `stop` selects which of these warnings end the training.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...records import Json
from .settings import TrainConfig


class OveroptimizationGuard:
    """Warns of over-optimisation, and reports whether a warning ends the training.

    Attributes:
        messages: Notes and warnings so far, one sentence each. There is at most one warning for
            each stage, and one for the sampled answers.
        stop_reason: The warning that ends the training, or an empty string.
    """

    def __init__(self, settings: TrainConfig) -> None:
        self._settings = settings
        self._first: float | None = None  # instruction following before training
        self._seen: dict[str, str] = {}
        self.stop_reason = ""

    @property
    def messages(self) -> tuple[str, ...]:
        """The notes and warnings of the training so far, one sentence each."""
        return tuple(self._seen.values())

    def add_notes(self, notes: Sequence[str]) -> None:
        """Add sentences to `messages` that describe the training from its beginning."""
        self._seen |= {f"note/{text}": text for text in notes}

    def check_probes(self, examples: int, probes: Mapping[str, Mapping[str, float]]) -> None:
        """Warn if the chosen answers of a stage have lost too much probability since the start.

        Args:
            examples: The number of examples before the probe.
            probes: The values of `PROBE_METRICS` by stage, then by name.
        """
        least = self._settings.log_ratio_warning
        for stage, measured in probes.items():
            ratio = measured["chosen_logratio"]
            if ratio < least:
                self._warn(
                    "log_ratio", stage,
                    f"After {examples:,} examples the chosen answers of the stage {stage} have lost"
                    f" probability (log-ratio {ratio:.2f}, below {least:g}): over-optimisation.",
                )  # fmt: skip

    def check_samples(self, examples: int, values: Mapping[str, float]) -> None:
        """Warn if too many fewer sampled answers can be parsed than before the training.

        The first call stores the share that later calls are compared with.

        Args:
            examples: The number of examples before the sample was taken.
            values: The measurements of the sampled answers, by name.
        """
        share = values.get("instruction_following")
        if share is None:
            return
        if self._first is None:
            self._first = share
        elif self._first - share > self._settings.following_drop:
            self._warn(
                "following", "",
                f"After {examples:,} examples, {share:.1%} of the sampled answers can be parsed,"
                f" compared with {self._first:.1%} before training: the model is collapsing.",
            )  # fmt: skip

    def state_dict(self) -> Json:
        """Return the guard's state as JSON, to be saved in a checkpoint."""
        return {"first": self._first, "seen": dict(self._seen)}

    def load_state_dict(self, state: Any) -> None:
        """Restore the guard's state from a checkpoint."""
        self._first, self._seen = state["first"], dict(state["seen"])

    def _warn(self, kind: str, stage: str, text: str) -> None:
        self._seen.setdefault(f"{kind}/{stage}", text)
        if self._settings.stop in (kind, "either"):
            self.stop_reason = text
