"""The function `propose`: ask for the next hypotheses about one problem, without a session.

The method is `abduce`. Nothing is stored, so a repeated call asks the model again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Unpack

from ...records import (
    InputSet,
    Json,
    Problem,
    Proposer,
    Usage,
    UsageError,
)
from ..arguments import validate_call
from ..option_types import RunOptions
from ..oracles import open_oracles
from ..outcome import describe_end
from ..results import Result
from .event_loops import run_coroutine
from .execution import OnEvent, oracle_settings
from .listing import list_judged
from .planning import DEFAULT_CONCURRENCY, RunPlan, opening_settings, plan_run
from .results import HypothesisRow
from .running import run_config
from .settings import describe_spending

METHOD = "abduce"
MAX_EARLIER = 200
NOT_TAKEN = (
    "problems",
    "sample",
    "learning_curve",
    "repair",
    "seed_hypotheses",
    "then",
    "ask_human",
)


class Proposals(Result):
    """The next hypotheses about a problem, judged.

    Attributes:
        problem: the id of the problem.
        proposals: the new hypotheses and malformed answers, in the order of the answers.
        earlier: the judgements of the earlier hypotheses.
        ended: why no more answers were asked for: "cap" (the requested number was reached), "exhausted"
            (the model has no further hypothesis), "all_found" or another reason, as in `peirce show`.
        reason: why the model has no further hypothesis, in its own words; otherwise "".
        tokens_in: tokens that the model read.
        tokens_out: tokens that the model wrote.
    """

    problem: str
    proposals: Sequence[HypothesisRow]
    earlier: Sequence[HypothesisRow]
    ended: str
    reason: str
    tokens_in: int
    tokens_out: int


@validate_call
def propose(
    task: str,
    *,
    earlier: Sequence[str] = (),
    answers: int = 1,
    on_event: OnEvent | None = None,
    **settings: Unpack[RunOptions],
) -> Proposals:
    """Ask a model for the next hypotheses about one problem, and judge them.

    Args:
        task: name of a task, or path of your own task file.
        earlier: hypotheses that are known already: sources of functions, formulas or sentences. They
            are judged first, and the model is asked for a hypothesis that differs from them.
        answers: maximum number of answers; an answer about labelled text has several sentences.
        on_event: called with the events "step" and those of calls, as in `run`.
        settings: settings by name, as in `run` with the method abduce. `problem=[ID]` chooses the
            problem (default: the first one). `model` is search by default.

    Raises:
        UsageError: a setting is invalid or does not apply to one problem, or there are too many
            earlier hypotheses.
        PeirceError: any other expected failure, in one sentence.
    """
    for name in NOT_TAKEN:
        if settings.get(name) is not None:
            raise UsageError(f"propose takes no {name}: it asks one model about one problem")
    if settings.get("method") not in (None, METHOD):
        raise UsageError(f"method is {settings['method']!r}: propose works as {METHOD} does")
    if len(earlier) > MAX_EARLIER:
        raise UsageError(f"{len(earlier)} earlier hypotheses are too many: at most {MAX_EARLIER}")
    if answers < 1:
        raise UsageError(f"answers is {answers}: it must be at least 1")
    if len(settings.get("problem") or ()) > 1:
        raise UsageError("propose takes one problem at a time")
    plan = plan_run(task, run_config(None, {**settings, "max_answers": answers}))
    return run_coroutine(_propose(plan, earlier, on_event))


async def _propose(plan: RunPlan, earlier: Sequence[str], on_event: OnEvent | None) -> Proposals:
    from ...graphs import get_method
    from ...graphs.runtime.earlier_answers import add_earlier
    from ...graphs.runtime.memory import MemoryJournal, MemoryLedger
    from ...graphs.runtime.steps import START_STATE
    from ...tasks import load_family

    problem, space = plan.chosen.pairs[0]
    journal, ledger = MemoryJournal(), MemoryLedger()
    async with AsyncExitStack() as stack:
        case = await _open_case(plan, problem, space, stack, load_family(problem.family))
        case.journal, case.ledger = journal, ledger
        if on_event is not None:
            case.emit = on_event
        before = [await add_earlier(case, text, n) for n, text in enumerate(earlier, 1)]
        start = {**START_STATE, "step": len(before) + 1}
        state = await get_method(METHOD).graph.ainvoke(start, context=case)
    last = next(reversed(journal.outcomes.values()), None)
    usage = sum((one.usage for one in journal.outcomes.values()), Usage())
    return Proposals(
        problem=problem.id,
        proposals=list_judged(ledger.steps, plan.settings, {}),
        earlier=list_judged(before, plan.settings, {}),
        ended=state["stop"],
        reason=describe_end(last.response) if state["stop"] == "exhausted" and last else "",
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
    )


async def _open_case(
    plan: RunPlan, problem: Problem, space: InputSet, stack: AsyncExitStack, family: Any
) -> Any:
    """Open the models and the oracle of a plan, and return the context of a problem."""
    from ...agents import open_model
    from ...graphs.runtime.budget import Budget
    from ...graphs.runtime.call_gate import CallGate
    from ...graphs.runtime.case import SessionSettings
    from ...graphs.runtime.memory import make_case
    from ...graphs.runtime.queries import Role, read_settings

    config = plan.config

    async def opened(spec: str, options: Mapping[str, Json]) -> Proposer:
        found = await open_model(spec, options)
        stack.push_async_callback(found.close)
        return found

    model = config.model.model
    if isinstance(model, str):
        model = await opened(model, opening_settings(config.model, config.cluster))
    others = {}
    for name, (spec, options) in plan.operational["players"].items():
        player = await opened(spec, options)
        others[name] = Role(read_settings(player), player)
    tools = await stack.enter_async_context(
        open_oracles(
            family, oracle_settings(config.sandbox, config.cluster), config.cluster.cluster
        )
    )
    settings = SessionSettings.from_record(plan.settings)
    # Only the number of answers ends a call: the caller decides whether to go on after bad ones.
    method = settings.method.model_copy(update={"max_bad": None})
    return make_case(
        problem,
        model,
        tools.oracle,
        space=space,
        settings=SessionSettings(settings.seed, method, settings.text, settings.limits),
        session="propose",
        others=others,
        budget=Budget.from_settings(describe_spending(config), {}),
        gate=CallGate(config.cluster.concurrency or DEFAULT_CONCURRENCY),
    )
