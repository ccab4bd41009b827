"""`--model search`: the embedded proposer. No key, no network, no GPU.

It answers in the "tuple" format of a language model and shows the tool loop: where a tool named
`execute` is offered it first runs its code on the shown pairs, and answers when the tool agrees. A
reply is a pure function of (view, messages since the last user turn, expansions). Nothing in the
search is sampled, so the seed changes nothing, and neither do workers or the order of problems.

Covered (`engines.py`): programs from lists of integers to a list of integers, an integer or a truth
value (`lists/`); scenes of objects that are on or off (`acre/`); programs on grids of colours (`grids/`).
All else ends as exhausted, and `Reply.meta` says why. docs/search.md has what each can find.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...records import (
    Json,
    Message,
    Reply,
    ToolCall,
    ToolSpec,
    UsageError,
    View,
    digest_of,
)
from ...tasks.sentences import warn
from ..prompts import NO_CALLS_LEFT
from .pool import Pool

SCHEMES = ("search",)

# Expansions (budget.py); "standard" is about one to three seconds of one core.
PRESETS = {"quick": 20_000, "standard": 150_000, "thorough": 600_000}
SETTINGS = ("budget_expansions", "preset", "workers")


@dataclass(frozen=True)
class _Try:
    """A call of `execute` since the last user turn, and what came back."""

    code: str
    consistent: bool


class SearchProposer:
    def __init__(self, budget_expansions: int, preset: str, workers: int) -> None:
        self.budget_expansions = budget_expansions
        self.preset = preset
        self.pool = Pool(workers)

    def settings(self) -> Json:
        return {"model": "search", "budget_expansions": self.budget_expansions, "version": 1}

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None = None,
    ) -> Reply:
        tries = _tries(messages)
        if tries and tries[-1].consistent:
            found = await self._ask(view, [t.code for t in tries[:-1]])
        else:
            found = await self._ask(view, [t.code for t in tries])
        if "reason" in found:  # nothing here searches such problems
            warn(f"{found['reason']}: other problems end as exhausted, without an answer")
        if "source" not in found:
            spent = f"search finds nothing else to say in {self.budget_expansions:,} expansions"
            return Reply(finish="exhausted", meta={"reason": found.get("reason", spent)})
        offered = any(tool.name == "execute" for tool in tools)
        told_to_answer = bool(messages) and messages[-1].get("content") == NO_CALLS_LEFT
        if offered and not told_to_answer and not (tries and tries[-1].consistent):
            call = ToolCall(
                "execute-" + digest_of([found["source"], len(tries)])[:12],
                "execute",
                {"code": found["source"]},
            )
            return Reply(tool_calls=(call,), finish="tool_calls")
        return Reply(text=answer_text(found["description"], found["source"]))

    async def _ask(self, view: View, skip: list[str]) -> dict[str, Any]:
        shown = [[o.input, o.output] for o in view.shown]
        request = {
            "shown": shown,
            "space": view.space.digest,
            "earlier": [h.text for e in view.earlier for h in e.hypotheses],
            "skip": skip,
            "expansions": self.budget_expansions,
        }
        return await self.pool.ask(digest_of(shown), request, view.space)

    async def close(self) -> None:
        await self.pool.close()


def answer_text(description: str, code: str) -> str:
    """The tuple of two strings, as Python text that `ast.literal_eval` reads."""
    return f"({json.dumps(description)}, {json.dumps(code)})"


def _tries(messages: Sequence[Message]) -> list[_Try]:
    codes: dict[str, str] = {}
    tries: list[_Try] = []
    for message in messages:
        role = message.get("role")
        if role == "user" and message.get("content") != NO_CALLS_LEFT:
            codes, tries = {}, []
        for call in message.get("tool_calls") or ():
            name, arguments = _call(call)
            if name == "execute":
                codes[call.get("id", "")] = arguments
        if role == "tool" and message.get("tool_call_id") in codes:
            tries.append(_Try(codes[message["tool_call_id"]], _agrees(message.get("content"))))
    return tries


def _call(call: Mapping[str, Any]) -> tuple[str, str]:
    inner = call.get("function") or call
    arguments = inner.get("arguments", inner.get("args", {}))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            arguments = {}
    code = arguments.get("code", "") if isinstance(arguments, Mapping) else ""
    return str(inner.get("name", "")), str(code)


def _agrees(content: Any) -> bool:
    try:
        result = json.loads(content) if isinstance(content, str) else content
    except ValueError:
        return False
    return isinstance(result, Mapping) and result.get("consistent") is True


async def open_model(spec: str, settings: Mapping[str, Json]) -> SearchProposer:
    """spec: "search" or "search:PRESET". settings: budget_expansions (a whole number above 0),
    preset, workers; an unknown key raises UsageError. No process starts before the first question.
    """
    unknown = sorted(set(settings) - set(SETTINGS))
    if unknown:
        raise UsageError(
            f"The model search has no setting {unknown[0]!r}; valid: {', '.join(SETTINGS)}."
        )
    preset = spec.partition(":")[2] or settings.get("preset") or "standard"
    if preset not in PRESETS:
        raise UsageError(f"Unknown preset {preset!r} of search; valid: {', '.join(PRESETS)}.")
    budget = settings.get("budget_expansions", PRESETS[preset])
    workers = settings.get("workers", min(4, os.cpu_count() or 1))
    for name, value in (("budget_expansions", budget), ("workers", workers)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise UsageError(f"{name} is {value!r}; it must be a whole number above 0.")
    return SearchProposer(budget, preset, workers)
