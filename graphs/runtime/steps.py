"""Nodes that methods share: ask, ask_for_better, use_tools and record. judging.py has more nodes.

A method builds its graph from these nodes: with `build_loop`, which asks, judges, records and
decides repeatedly; with `build_chain`, which runs nodes one after the other; or with its own edges.
Every call of a model or tool is recorded in the journal under a path that depends only on the
structure of the run. Therefore, running a node again, in a resumed session or a replay, gives the
same step.

    step/3/propose/0                 the call of the model
    step/3/propose/0/tool/1          the second tool that the model called in this turn
    step/3/judge/0/0/shown/execute   the first hypothesis of the first answer, on shown observations
    step/3/repair/0                  the repaired version of this answer
    step/3/propose/0/hints           the hints that this call shows (hints.py)
    step/4/human/0                   the answer of a person (human_questions.py)
    seed/0                           a hypothesis of the search, before the first request (seeding.py)

Functions on edges are coroutines too, because LangGraph runs a plain function in a thread pool.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any, Literal, TypedDict

from pydantic import BaseModel, ValidationError

from ...agents.endpoint.replies import with_unique_ids
from ...agents.endpoint.thinking import RETURNED
from ...agents.prompts import protocol
from ...agents.written_calls import find_written_calls
from ...records import (
    BankEvent,
    Json,
    Message,
    Outcome,
    Reply,
    StepRecord,
    ToolCall,
    ToolSpec,
    View,
    WeighsHypotheses,
)
from ...store.bank import sum_visits
from ...tasks.io.answer_repair import TOOL_CALL_TEXT
from .case import Case, Runtime
from .human_questions import ask_human, may_ask_human
from .observation_choice import TOO_LONG, Listing, fit_prompt, keep_results
from .queries import decode_outcome, gather_or_cancel, query_model
from .second_proposer import hand_over, may_hand_over, note_step
from .stopping import stop_early

START, END = (
    "__start__",
    "__end__",
)  # the values of langgraph.graph, which is imported only where a graph is built


def new_graph() -> Any:
    """Return an empty graph with the state `State` and the context `Case`."""
    from langgraph.graph import StateGraph

    return StateGraph(State, context_schema=Case)


class State(TypedDict):
    """The state of a graph: counters, and the reason why the problem ended ("" while it runs)."""

    step: int
    turn: int  # number of requests of this step so far
    answers: int  # answers to the problem so far, malformed ones included
    bad: int
    row: int  # the current row, for a method that goes through the observations
    epoch: int
    stop: str


START_STATE = State(step=1, turn=0, answers=0, bad=0, row=0, epoch=0, stop="")


async def ask(state: State, runtime: Runtime) -> dict[str, Json]:
    """Ask the proposer for another hypothesis. The prompt includes the results of tool calls so
    far.
    """
    return await _ask_in_words(state, runtime.context, "another")


async def ask_for_better(state: State, runtime: Runtime) -> dict[str, Json]:
    """Ask the proposer for a hypothesis that is better than all earlier hypotheses."""
    return await _ask_in_words(state, runtime.context, "better")


async def _ask_in_words(state: State, case: Case, aim: protocol.Aim) -> dict[str, Json]:
    path = f"step/{state['step']}/propose/{state['turn']}"
    view = case.make_view()
    tools = tool_specs(case, view) if case.offers_tools else []
    count = case.settings.text.hypotheses if case.settings.text else 1
    listed = case.make_prompt_view(view)
    method = case.settings.method
    lists_rows = method.template == "full" and count > 1 and not view.past_answers and not tools

    def build(listing: Listing) -> Sequence[Message]:
        if lists_rows and listing.observations is None:
            return case.prompts.propose(listed, count)
        return protocol.build_messages(
            listed,
            case.words,
            answer_format=case.answer_format,
            history=method.history,
            tools=bool(tools),
            aim=aim,
            count=count,
            template=method.template,
            history_limit=listing.history_limit,
            listed=listing.observations,
        )

    messages, listing, may_shorten = fit_prompt(case, listed, build)
    if listing.observations is not None:
        case.step_fields["listed"] = len(listing.observations)
    schema = case.words.schema(case.answer_format)
    messages += case.tool_turns
    return await _ask(case, state, path, view, messages, tools, schema, may_shorten)


async def read_recorded(state: State, runtime: Runtime) -> dict[str, Json]:
    """Read the next recorded answer. No prompt is built, because a file of answers ignores the
    prompt.
    """
    case = runtime.context
    path = f"step/{state['step']}/propose/{state['turn']}"
    return await _ask(case, state, path, case.make_view(), [], [])


async def _ask(
    case: Case,
    state: State,
    path: str,
    view: View,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    schema: Mapping[str, Json] | None = None,
    may_shorten: bool = False,
) -> dict[str, Json]:
    may_shorten = may_shorten and case.settings.method.fit == "auto"
    reply = await query_model(
        case, case.asked_role, path, view, messages, tools, schema, may_shorten=may_shorten
    )
    case.reply, case.reply_faults = _read_written_calls(case, reply, messages, tools)
    case.reply_path = path
    stop = "exhausted" if case.reply.finish == "exhausted" else ""
    if case.reply.finish == "no_tools":
        case.tools_refused = True
        case.tool_turns.clear()
        case.emit({"type": "no_tools", "problem": case.problem.id})
        if not tools:  # else the same request would repeat without end
            case.reply = replace(case.reply, finish="stop")
    if case.reply.finish == TOO_LONG:
        case.limit_prompt(messages)
    return {"turn": state["turn"] + 1, "stop": stop}


def _read_written_calls(
    case: Case, reply: Reply, messages: Sequence[Message], tools: Sequence[ToolSpec]
) -> tuple[Reply, tuple[str, ...]]:
    """Return the reply with the tool calls that its text holds, and the faults of its form.

    The journal keeps the reply as the model gave it. Under the strict contract the calls are not
    made, and the answer is malformed.
    """
    if not case.settings.method.lenient or reply.tool_calls or reply.finish != "stop":
        return reply, ()
    text, calls = find_written_calls(reply.text, tools)
    if not calls or not _calls_left(case):
        return reply, ()
    if case.settings.method.strict_contract:
        return reply, (TOOL_CALL_TEXT,)
    case.count_faults([TOOL_CALL_TEXT] * len(calls))
    read = replace(reply, text=text, tool_calls=calls, finish="tool_calls")
    return with_unique_ids(read, messages), ()


async def after_ask(
    state: State, runtime: Runtime
) -> Literal["ask", "use_tools", "judge", "record"]:
    """Return the name of the node that follows a reply of the model."""
    case = runtime.context
    if state["stop"]:
        return "record"
    if case.reply.finish in ("no_tools", TOO_LONG):
        return "ask"  # the same request, without tools or in fewer words
    return "use_tools" if case.reply.tool_calls and _calls_left(case) else "judge"


def _calls_left(case: Case) -> int:
    used = sum(len(turn.get("tool_calls") or ()) for turn in case.tool_turns)
    return max(0, case.settings.method.tool_calls - used)


def tool_specs(case: Case, view: View) -> list[ToolSpec]:
    """Return the descriptions of the family's tools for the proposer."""
    tools = case.family.make_tools(view, case.make_oracles())
    return [ToolSpec(tool.name, tool.description, _parameters(tool.args_schema)) for tool in tools]


@cache
def _parameters(arguments: type[BaseModel]) -> Mapping[str, Json]:
    """Return the JSON schema of a tool's arguments, cached because each takes a millisecond."""
    schema: dict[str, Json] = arguments.model_json_schema()
    return schema


async def use_tools(state: State, runtime: Runtime) -> dict[str, Json]:
    """Run the tools that the model's reply calls, and add their results to the conversation.

    The calls of one reply run concurrently; their results keep the order of the calls.
    """
    case = runtime.context
    path = case.reply_path
    tools = {
        tool.name: tool for tool in case.family.make_tools(case.make_view(), case.make_oracles())
    }
    made = case.reply.tool_calls[: _calls_left(case)]
    results = await gather_or_cancel(
        [_use_tool(case, tools, call, f"{path}/tool/{number}") for number, call in enumerate(made)]
    )
    results += [protocol.NO_CALLS_LEFT] * (len(case.reply.tool_calls) - len(made))
    turns = protocol.build_tool_messages(case.reply, results)
    if returned := case.reply.meta.get(RETURNED):  # The provider wants its reasoning back.
        turns[0] = {**turns[0], RETURNED: returned}
    case.tool_turns += turns
    if not _calls_left(case):
        case.tool_turns.append({"role": "user", "content": protocol.NO_CALLS_LEFT})
    return {}


async def _use_tool(case: Case, tools: dict[str, Any], call: ToolCall, path: str) -> str:
    """Return the tool's text. A call that cannot be made returns an explanation for the model."""

    async def make() -> Outcome:
        tool = tools.get(call.name)
        if tool is None:
            said = f"There is no tool {call.name!r}; the tools are: {', '.join(sorted(tools))}."
        elif not isinstance(call.arguments, dict):
            said = "The arguments are not one JSON object."
        else:
            # Passed alone, arguments that look like LangChain's ToolCall would be read as one.
            invocation = {"type": "tool_call", "id": call.id, "name": call.name}
            try:
                message = await tool.ainvoke({**invocation, "args": dict(call.arguments)})
                return Outcome({"text": message.content})
            except ValidationError as error:
                said = f"The arguments do not fit: {str(error)[:300]}"
        return Outcome({"text": said, "refused": True})

    request = {"tool": call.name, "arguments": call.arguments}
    outcome = await case.record_once(path, "tool", request, make)
    return decode_outcome(path, lambda told: str(told.response["text"]), outcome)


async def record(state: State, runtime: Runtime) -> dict[str, Json]:
    """Write the finished step to the ledger: answers, verdicts, predictions, and changes of the
    bank.
    """
    case = runtime.context
    if not case.judged_answers:  # the model was exhausted before an answer, so there is no step
        return {}
    events = _bank_events(case)
    note_step(case)
    judges = {} if case.settings.text is None else case.row_judge.summarize()
    await case.ledger.record_step(
        StepRecord(
            case.problem.id,
            state["step"],
            tuple(case.judged_answers),
            {**case.step_fields, **judges},
            events,
        )
    )
    keep_results(case, case.judged_answers)
    fields = case.step_fields
    case.progress.count_answers(
        case.judged_answers, refining=bool(fields.get("feedback")), seeded="seeder" in fields
    )
    verdicts = [str(one.verdict) for answer in case.judged_answers for one in answer.judged]
    case.emit(
        {"type": "step", "problem": case.problem.id, "step": state["step"], "verdicts": verdicts}
    )
    case.judged_answers.clear()
    case.step_fields.clear()
    return {"step": state["step"] + 1, "turn": 0}


def _bank_events(case: Case) -> tuple[BankEvent, ...]:
    """Return the events that add this step's hypotheses to the bank.

    There is one event for each shown observation, or for each result if there are many
    (`Case.sums_visits`). A hypothesis enters once: an accepted one, a redundant one where that is no
    fault, and with `banks_all` every one that the family can weigh.
    """
    family, text = case.family, case.settings.text
    weighs = family if isinstance(family, WeighsHypotheses) and text and text.banks_all else None
    events = []
    for answer in case.judged_answers:
        for one in answer.judged:
            if one.hypothesis is None or one.shown is None:
                continue
            good = one.verdict.consistent and not one.bad
            weighed = weighs is not None and weighs.can_weigh(one.shown)
            if one.hypothesis.digest in case.banked_digests or not (good or weighed):
                continue
            case.banked_digests.add(one.hypothesis.digest)
            about = (one.hypothesis.digest, one.hypothesis.text, one.hypothesis.description)
            if case.sums_visits(len(one.shown.marks)):
                case.bank_clock += len(one.shown.marks)
                events += sum_visits(*about, one.shown.marks, case.bank_clock)
                continue
            for observation, mark in enumerate(one.shown.marks):
                case.bank_clock += 1
                events.append(BankEvent(*about, observation, mark, case.bank_clock))
    for event in events:
        case.bank.apply(event)
    return tuple(events)


def build_loop(
    judge: Callable[..., Any],
    decide: Callable[..., Any],
    *,
    ask: Callable[..., Any] = ask,
    repair: Callable[..., Any] | None = None,
    solved_by: Literal["accepted", "target"] | None = None,
    seed: Callable[..., Any] | None = None,
) -> Any:
    """Return the compiled graph ask -> (use_tools -> ask)* -> judge -> record -> decide -> ask ...

    The graph ends when `decide` or a reply sets a reason to stop. If the model refuses tools, it is
    asked again without tools. If the problem is not solved at its end and the session has a second
    proposer, the graph goes on with it. If it is still not solved and the session may ask a person,
    the person is asked for a hint.

    Args:
        judge: The node that judges a reply.
        decide: The node that decides whether to stop. The loop also ends at the limits of a
            problem (stopping.py).
        ask: The node that queries the proposer.
        repair: A node between `judge` and `record` that repairs answers. It is skipped unless the
            session's settings name a repairer.
        solved_by: Whether a problem is solved by any accepted hypothesis, or only when its target is
            reached. None if no second proposer or person may continue it.
        seed: A node that comes before the first `ask`, as often as the session's settings ask for
            hypotheses of a search.
    """
    graph = new_graph()
    graph.add_node("ask", ask)
    graph.add_node("judge", judge)
    graph.add_node("decide", stop_early(decide))
    for node in (use_tools, record):
        graph.add_node(node)
    if seed is None:
        graph.add_edge(START, "ask")
    else:
        graph.add_node("seed", seed)
        graph.add_conditional_edges(START, _before_first_ask, ["seed", "ask"])
        graph.add_conditional_edges("seed", _after_seed, ["record", "ask"])
    graph.add_conditional_edges("ask", after_ask, ["ask", "use_tools", "judge", "record"])
    graph.add_edge("use_tools", "ask")
    if repair is None:
        graph.add_edge("judge", "record")
    else:
        graph.add_node("repair", repair)
        graph.add_conditional_edges("judge", _after_judge, ["repair", "record"])
        graph.add_edge("repair", "record")
    graph.add_edge("record", "decide")
    following = ["ask", END] if seed is None else ["seed", "ask", END]
    if solved_by is None:
        graph.add_conditional_edges("decide", _next_request, following)
        return compile_graph(graph)

    async def after_decide(state: State, runtime: Runtime) -> str:
        if state["stop"] and may_hand_over(runtime.context, state["stop"], solved_by):
            return "hand_over"
        if state["stop"] and may_ask_human(runtime.context, state["stop"], solved_by):
            return "ask_human"
        return await _next_request(state, runtime)

    graph.add_node(hand_over)
    graph.add_node(ask_human)
    graph.add_conditional_edges("decide", after_decide, ["hand_over", "ask_human", *following])
    for before in ("hand_over", "ask_human"):
        graph.add_conditional_edges(before, _next_request, ["ask", END])
    return compile_graph(graph)


async def _before_first_ask(state: State, runtime: Runtime) -> Literal["seed", "ask"]:
    return "seed" if runtime.context.seeds_left > 0 else "ask"


async def _after_seed(state: State, runtime: Runtime) -> Literal["record", "ask"]:
    return "record" if runtime.context.judged_answers else "ask"  # it found nothing


async def _after_judge(state: State, runtime: Runtime) -> Literal["repair", "record"]:
    return "repair" if runtime.context.repair_settings.repair and not state["stop"] else "record"


async def _next_request(state: State, runtime: Runtime) -> str:
    if state["stop"] or runtime.context.stopping.is_set():
        return END
    return "seed" if runtime.context.seeds_left > 0 else "ask"


def build_chain(*nodes: Callable[..., Any]) -> Any:
    """Return a compiled graph that runs these nodes once, in order."""
    graph = new_graph()
    for node in nodes:
        graph.add_node(node)
    names = [START, *(node.__name__ for node in nodes), END]
    for before, after in pairwise(names):
        graph.add_edge(before, after)
    return compile_graph(graph)


def compile_graph(graph: Any) -> Any:
    """Compile a graph and raise LangGraph's limit on steps, so that it never ends a problem."""
    return graph.compile().with_config(recursion_limit=1_000_000)
