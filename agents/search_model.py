"""The built-in search (`--model search`), which needs no key, network or GPU.

The search answers in the format of a language model. If the family of the task has a tool that
tests hypotheses, the search first tests its hypothesis on the shown observations with this tool,
and answers when the tool confirms the hypothesis.

A reply depends only on the view, the messages since the last user turn, the number of expansions
and the trade-off. Random choices in the search depend only on the problem. Therefore, the seed, the
number of workers and the order of problems do not affect the replies.

Supported problems (search/engines.py):

- programs from lists of integers to a list of integers, an integer or a boolean (search/lists)
- scenes of objects that are on or off (search/acre)
- programs on grids of colours (search/grids)
- programs on other values, such as texts and numbers (search/examples)
- laws of numbers (search/laws)
- rules about finite worlds (search/logic)
- sentences about labelled text, up to twenty per answer (search/text)

The search can also repair programs (search/programs) and rules about finite worlds.

For any other problem, the search ends with the reply "exhausted", and `Reply.meta` has the reason.
docs/explanation/search.md describes what each engine finds.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from ..records import (
    IS_LAST,
    FindsContradictions,
    HasSearch,
    Json,
    Message,
    Reply,
    SearchStyle,
    ToolCall,
    ToolSpec,
    View,
    Workers,
    digest_of,
)
from ..records.settings import setting
from ..search.budget import PRESETS
from ..tasks import load_family
from ..tasks.io.messages import shorten, warn
from ..tools.workers.local import LocalWorkers
from .model_settings import ModelKind, ModelSettings
from .prompts.protocol import NO_CALLS_LEFT

if TYPE_CHECKING:
    from .term_vectors import Encoder, Vectors

_MODULE = "peirce.search.worker"
_KINDS: dict[type, str] = {
    **{str: "text", bool: "truth value", int: "whole number", float: "fraction"},
    **{list: "list", dict: "record", type(None): "null"},
}
ADVICE = (
    " Other problems end without an answer (exhausted). Use another model for them, for example"
    " --model openai:NAME or --model http://localhost:8000/v1#NAME"
)


class SearchSettings(ModelSettings):
    """Settings of the built-in search: how many candidates it examines, and with how many
    processes.
    """

    budget_expansions: int | None = setting(
        None,
        "Maximum number of candidates expanded before each answer (default: the preset's).",
        ge=1,
    )
    preset: Literal["quick", "standard", "thorough", "tight", "safe"] = setting(
        "standard",
        "Preset that sets the extent and the trade-off of the search; `search:PRESET` takes"
        " precedence.",
    )
    workers: int | None = setting(
        None, "Number of processes (default: one per core, at most 4).", ge=1
    )
    embeddings: str | None = setting(
        None,
        "For labelled text: source of the vectors by which terms are grouped into themes, an endpoint"
        " with /v1/embeddings (URL#NAME, PROVIDER:NAME) or a sentence encoder (hf:FOLDER) (default:"
        " which terms occur in the same texts).",
    )

    @classmethod
    def from_options(cls, model: str, settings: Mapping[str, Json]) -> Self:
        """Build the settings. A preset in the model string (`search:PRESET`) takes precedence."""
        named = model.partition(":")[2]
        return super().from_options(model, {**settings, "preset": named} if named else settings)


@dataclass(frozen=True)
class _ToolTrial:
    """A call of the family's tool since the last user turn, with its result."""

    source: str
    consistent: bool


@dataclass(frozen=True)
class _BegunSearch:
    """A request that was sent before its answer is needed."""

    request: dict[str, Any]
    reply: asyncio.Future[dict[str, Any]]


class SearchProposer:
    """A proposer that searches for hypotheses, and that can also repair programs and rules."""

    def __init__(
        self,
        budget_expansions: int,
        preset: str,
        workers: int,
        trade_off: str = "",
        encoder: Encoder | None = None,
    ) -> None:
        self.budget_expansions = budget_expansions
        self.preset = preset
        self.trade_off = trade_off
        self.workers = workers
        self.encoder = encoder
        self.service = LocalWorkers().open_service(_MODULE, workers)
        self._searched: set[str] = set()  # keys of the problems for which an answer was requested
        self._begun: dict[str, _BegunSearch] = {}
        self._running: set[asyncio.Future[dict[str, Any]]] = set()  # begun searches, needed or not

    def settings(self) -> Json:
        """Return the settings of the search that the session records."""
        asked_for = {"trade_off": self.trade_off} if self.trade_off else {}
        return {
            "model": "search",
            "budget_expansions": self.budget_expansions,
            "version": 1,
            **asked_for,
            **({} if self.encoder is None else {"embeddings": self.encoder.settings()}),
        }

    def use_workers(self, workers: Workers) -> None:
        """Search on these workers, with the same number of processes on each node."""
        self.service = workers.open_service(_MODULE, self.workers)

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None = None,
    ) -> Reply:
        """Search for a hypothesis that no earlier answer contains.

        If the tool that tests hypotheses is offered, the first reply calls this tool.
        """
        manner = _manner(view)
        if manner is None:
            return _nothing(f"search knows no {view.family} tasks")
        if not view.past_answers and (reason := _describe_contradiction(view)):
            return _nothing(reason)  # the session warned of it before it began
        tries = _tries(messages, manner)
        agreed = bool(tries) and tries[-1].consistent
        skip = [one.source for one in (tries[:-1] if agreed else tries)]
        found = await self._ask(view, manner, {"earlier": _earlier(view), "skip": skip})
        if "source" not in found:
            return self._exhausted(found, _describe_end(view, manner))
        offered = any(tool.name == manner.tool for tool in tools)
        told_to_answer = bool(messages) and messages[-1].get("content") == NO_CALLS_LEFT
        if offered and not told_to_answer and not agreed:
            call = ToolCall(
                f"{manner.tool}-" + digest_of([found["source"], len(tries)])[:12],
                manner.tool,
                {manner.argument: found["source"]},
            )
            return Reply(tool_calls=(call,), finish="tool_calls")
        said = manner.answer(found["description"], found["source"])
        last = {IS_LAST: True} if manner.answers_once else {}
        return Reply(text=said, meta={**found["meta"], **last})

    async def repair(self, view: View, text: str) -> Reply:
        """Return a better hypothesis than `text`, either repaired from `text` or found by a new
        search.
        """
        manner = _manner(view)
        if manner is None or not manner.repairs:
            return _nothing(f"search mends no hypotheses of {view.family} tasks")
        found = await self._ask(view, manner, {"mend": text, "earlier": _earlier(view), "skip": []})
        if "source" not in found:
            return self._exhausted(found, "finds nothing better")
        return Reply(manner.answer(found["description"], found["source"]), meta=found["meta"])

    def _exhausted(self, found: dict[str, Any], said: str) -> Reply:
        if "reason" in found:  # No engine supports such problems.
            warn(f"{found['reason']}.{ADVICE}")
            return _nothing(found["reason"])
        return _nothing(f"search {said}{_describe_work(found, self.budget_expansions)}")

    def prepare_answer(self, view: View) -> None:
        """Begin to search for the answer to `view`, if the worker of this problem is idle.

        A problem that this proposer has not searched is left alone: its earlier answers come from
        the journal, which may hold the next one too.
        """
        manner, key = _manner(view), _key(view)
        if manner is None or self.encoder is not None or key not in self._searched:
            return
        if not self.service.is_idle(key):
            return
        request = self._request(view, manner, {"earlier": _earlier(view), "skip": []})
        reply = asyncio.ensure_future(self.service.ask(key, request, view.space))
        self._begun[key] = _BegunSearch(request, reply)
        self._running.add(reply)
        reply.add_done_callback(self._note_end)

    def _note_end(self, reply: asyncio.Future[dict[str, Any]]) -> None:
        self._running.discard(reply)
        if not reply.cancelled():
            reply.exception()  # Whoever needs the reply sees it; nobody else has to.

    def _request(self, view: View, manner: SearchStyle, asked: dict[str, Any]) -> dict[str, Any]:
        return {
            "shown": [[o.input, o.output] for o in view.shown],
            "family": view.family,
            "told": manner.facts(view.public, self.trade_off),
            "space": view.space.digest,
            "expansions": self.budget_expansions,
            **asked,
        }

    async def _ask(self, view: View, manner: SearchStyle, asked: dict[str, Any]) -> dict[str, Any]:
        key, request = _key(view), self._request(view, manner, asked)
        begun = self._begun.pop(key, None)
        self._searched.add(key)
        if begun is not None and begun.request == request and not begun.reply.cancelled():
            return await begun.reply
        if self.encoder is None:
            return await self.service.ask(key, request, view.space)
        from .term_vectors import reduce_vectors

        known: dict[str, Vectors] = {}
        while True:  # once for each column of texts
            more = {"vectors": reduce_vectors(known) if known else {}}
            found = await self.service.ask(key, {**request, **more}, view.space)
            if found.get("need") != "vectors":
                return found
            vectors = await self.encoder.embed(found["terms"])
            known.update(zip(found["terms"], vectors, strict=True))

    async def close(self) -> None:
        """Stop the worker processes of the search, and close its encoder."""
        running = list(self._running)
        for reply in running:
            reply.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self.service.close()
        if self.encoder is not None:
            await self.encoder.close()


def _key(view: View) -> str:
    return digest_of([[o.input, o.output] for o in view.shown])


def _earlier(view: View) -> list[str]:
    return [h.text for e in view.past_answers for h in e.hypotheses]


def _manner(view: View) -> SearchStyle | None:
    found = load_family(view.family)
    return found.search_style if isinstance(found, HasSearch) else None


def _describe_contradiction(view: View) -> str:
    """Return a sentence if two shown observations contradict each other, otherwise ""."""
    family = load_family(view.family)
    if not isinstance(family, FindsContradictions) or not (pair := family.find_contradiction(view)):
        return ""
    one, other = pair
    given, first, second = (repr(value) for value in (one.input, one.output, other.output))
    return (
        f"the input {shorten(given)} has two outputs, {shorten(first, 40)} and {shorten(second, 40)}:"
        " no function has both"
    )


def _describe_end(view: View, manner: SearchStyle) -> str:
    """Return what the search did not find. Hypotheses without a tool may be wrong on observations."""
    if view.past_answers:
        return "finds nothing else to say"
    if not manner.tool:
        return (
            f"finds nothing to say about the {len(view.shown):,} shown rows: what they contain tells no"
            " more about their labels than chance would, or there are too few of them"
        )
    return (
        f"finds no hypothesis that is right on all {len(view.shown):,} shown observations"
        + _describe_kinds("outputs", [one.output for one in view.shown])
        + _describe_kinds("inputs", [one.input for one in view.shown])
    )


def _describe_kinds(name: str, values: Sequence[Json]) -> str:
    kinds = sorted({_KINDS[type(value)] for value in values})
    return f" (the {name} are of several kinds: {', '.join(kinds)})" if len(kinds) > 1 else ""


def _describe_work(found: Mapping[str, Any], budget: int) -> str:
    """Return how many expansions were spent, and the best program that is no answer, as the end of a
    sentence.

    Args:
        found: the reply of the search, which may have the fields of `Progress`.
        budget: the number of expansions that it was allowed.
    """
    spent = found.get("expansions", budget)
    if not spent:
        return ": it knows no operation on such inputs that has such outputs"
    of = f"{spent:,} of {budget:,}" if spent < budget else f"{budget:,}"
    best = (
        f"; the best program is right on {found['right']:,}: {found['best']}"
        if found.get("right")
        else ""
    )
    return f" in {of} expansions{best}"


def _nothing(reason: str) -> Reply:
    return Reply(finish="exhausted", meta={"reason": reason})


def _tries(messages: Sequence[Message], manner: SearchStyle) -> list[_ToolTrial]:
    sources: dict[str, str] = {}
    tries: list[_ToolTrial] = []
    for message in messages:
        role = message.get("role")
        if role == "user" and message.get("content") != NO_CALLS_LEFT:
            sources, tries = {}, []
        for call in message.get("tool_calls") or ():
            name, source = _call(call, manner.argument)
            if name == manner.tool:
                sources[call.get("id", "")] = source
        if role == "tool" and message.get("tool_call_id") in sources:
            tries.append(
                _ToolTrial(sources[message["tool_call_id"]], _agrees(message.get("content")))
            )
    return tries


def _call(call: Mapping[str, Any], argument: str) -> tuple[str, str]:
    inner = call.get("function") or call
    arguments = inner.get("arguments", inner.get("args", {}))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            arguments = {}
    source = arguments.get(argument, "") if isinstance(arguments, Mapping) else ""
    return str(inner.get("name", "")), str(source)


def _agrees(content: Any) -> bool:
    try:
        result = json.loads(content) if isinstance(content, str) else content
    except ValueError:
        return False
    return isinstance(result, Mapping) and result.get("consistent") is True


async def open_model(settings: SearchSettings) -> SearchProposer:
    """Return the search as a proposer. No process starts before the first request.

    Raises:
        UsageError: The setting `embeddings` names no encoder.
        DataError: A file of the encoder cannot be used.
    """
    preset = PRESETS[settings.preset]
    budget = settings.budget_expansions or preset.expansions
    workers = settings.workers or min(4, os.cpu_count() or 1)
    encoder = None
    if settings.embeddings is not None:
        from .term_vectors import open_encoder

        encoder = await open_encoder(settings.embeddings)
    return SearchProposer(budget, settings.preset, workers, preset.trade_off, encoder)


SEARCH = ModelKind("search", SearchSettings, open_model)
