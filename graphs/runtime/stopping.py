"""End a problem early: after too many tokens, or after answers that added nothing.

Both limits are counted from what the session records: the token counts of the problem's model calls
in the journal, and the verdicts of its steps. Therefore, a resumed session and a replay stop at the
same step. Answers that were taken from another session cost no tokens. The limits are checked
between answers, so a problem may exceed `problem_tokens` by the calls of one answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...records import JudgedAnswer, Usage, Verdict

if TYPE_CHECKING:
    from .case import Case, Runtime
    from .steps import State

PROBLEM_BUDGET = "problem_budget"
NO_PROGRESS = "no_progress"


@dataclass
class Progress:
    """The tokens that a problem has used, and what its answers added so far.

    Attributes:
        tokens: The number of input and output tokens of all model calls.
        fruitless: The number of answers since one added something.
        best: The quality of the best hypothesis so far (`JudgedHypothesis.quality`); None before the
            first one.
    """

    tokens: int = 0
    fruitless: int = 0
    best: tuple[int, bool, float] | None = None
    _counted: set[str] = field(default_factory=set)

    def count_call(self, path: str, usage: Usage) -> None:
        """Count the tokens of a model call once, however often the graph reads its outcome.

        Args:
            path: The path of the call in the journal.
            usage: The recorded token counts of the call.
        """
        if path not in self._counted:
            self._counted.add(path)
            self.tokens += usage.tokens_in + usage.tokens_out

    def count_answers(
        self, answers: Sequence[JudgedAnswer], refining: bool, seeded: bool = False
    ) -> None:
        """Count the answers of a finished step.

        Args:
            answers: The judged answers of the step: the proposer's, and what a search made of it.
            refining: Whether the method asks for better hypotheses. Then an answer adds something
                if it is better than all before. Otherwise, it does if a hypothesis was accepted.
            seeded: Whether a search gave the answers before the first request. No patience is lost
                with them, because the proposer was not asked yet.
        """
        judged = [one for answer in answers for one in answer.judged]
        if not judged:
            return
        found = max((one.quality for one in judged if one.quality is not None), default=None)
        better = found is not None and (self.best is None or found > self.best)
        added = better if refining else any(one.verdict is Verdict.ACCEPTED for one in judged)
        if better:
            self.best = found
        self.fruitless = 0 if added or seeded else self.fruitless + 1


def find_reason_to_stop(case: Case) -> str:
    """Return why a problem ends early: "problem_budget", "no_progress", or "" if it goes on."""
    settings, progress = case.settings.method, case.progress
    if settings.problem_tokens is not None and progress.tokens >= settings.problem_tokens:
        return PROBLEM_BUDGET
    if settings.patience is not None and progress.fruitless >= settings.patience:
        return NO_PROGRESS
    return ""


def stop_early(decide: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Return a node that decides as `decide` does, and otherwise stops at the limits of a problem.

    A reason of the method itself comes first.
    """

    async def decide_or_stop(state: State, runtime: Runtime) -> dict[str, Any]:
        change: dict[str, Any] = dict(await decide(state, runtime))
        if change.get("stop", state["stop"]):
            return change
        reason = find_reason_to_stop(runtime.context)
        return {**change, "stop": reason} if reason else change

    return decide_or_stop
