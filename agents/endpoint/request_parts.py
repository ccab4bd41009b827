"""The optional parts of the requests to one endpoint, and which of them the endpoint supports.

Some parts of a request are optional (`faults.PARTS`). A part that the endpoint refuses is left out
of later requests, unless the endpoint accepted it before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...records import Json, ToolSpec, View, digest_of
from .. import EndpointRefused
from .address import Endpoint
from .client import EXTRA_FIELDS
from .context import ContextChecker
from .faults import PARTS, Fault
from .structured import (
    FORM_FIELDS,
    JSON_OBJECT,
    JSON_SCHEMA,
    OWN_MEANS,
    build_fields,
    list_means,
    make_strict,
)
from .thinking import build_budget_fields

if TYPE_CHECKING:
    from .settings import ChatSettings


class RequestParts:
    """The optional parts of the requests to one endpoint.

    Attributes:
        taken: The parts of requests that were answered.
        refused: The parts that the endpoint does not support.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        settings: ChatSettings,
        context: ContextChecker,
        ignored: Sequence[str],
    ) -> None:
        self._endpoint = endpoint
        self._settings = settings
        self._context = context
        self.taken: set[str] = set()
        refused = {*ignored, *((JSON_SCHEMA, JSON_OBJECT) if "response_format" in ignored else ())}
        self.refused = {*refused, *(f"{part} with tools" for part in refused)}

    def build(
        self,
        view: View,
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None,
    ) -> dict[str, Json]:
        """Return the fields of one request, without parts that the endpoint does not support."""
        extra: dict[str, Json] = {}
        if tools:
            extra["tools"] = [_tool(spec) for spec in tools]
        wanted = ("always",) if tools else ("always", "auto")
        own = any(field in self._settings.model_args for field in FORM_FIELDS)
        if schema is not None and self._settings.structured in wanted and not own:
            extra["response_format"] = dict(schema)  # `express` expresses it
        if self._settings.stream:
            extra["stream_options"] = {"include_usage": True}
        if self._settings.send_seed is not False:
            extra["seed"] = seed & 0x7FFFFFFF  # the largest range that every server's integer holds
        for part in PARTS:
            if part in self.refused:
                extra.pop(part, None)
        return {**extra, **self._cache_key(view)}

    def _cache_key(self, view: View) -> dict[str, Json]:
        """Return the field that names the cache of this problem's prompts, or no field.

        The problems of a task share less text than the prompts of one problem, and a provider
        serves one key by one machine.
        """
        field, wanted = "prompt_cache_key", self._settings.cache_key
        if wanted is None:
            wanted = self._endpoint.takes_cache_key
        if not wanted or field in self.refused or field in self._settings.model_args:
            return {}
        return {field: f"peirce-{digest_of(view.problem)[:16]}"}

    @property
    def scheme(self) -> str:
        """The provider in the model string; http or https for an endpoint named by its URL."""
        return self._settings.model.partition(":")[0]

    @property
    def server(self) -> str:
        """The provider, or the kind of server that the list of models at a URL names."""
        return self._context.server if self.scheme in ("http", "https") else self.scheme

    async def check_budget(self) -> None:
        """Raise EndpointRefused if reasoning cannot be limited at an endpoint named by its URL."""
        if self._settings.reasoning_tokens is None or not await self._context.is_looked_up():
            return
        if build_budget_fields(self._settings.reasoning_tokens, self.server) is None:
            raise EndpointRefused(
                f"{self._endpoint} was not asked: it does not say that it is a server with a limit on"
                " the tokens of reasoning, such as vLLM or llama.cpp: leave out reasoning_tokens, or"
                " set the server's field with --model-arg"
            )

    def find_means(self, extra: Mapping[str, Json]) -> str:
        """Return the name of the means that expresses the schema of a request; "" if none does.

        Some endpoints accept a means only without tools, so the name says whether tools are sent.
        """
        if "response_format" not in extra:
            return ""
        suffix = " with tools" if "tools" in extra else ""
        server = self.server if self.server in OWN_MEANS else ""
        names = (f"{one}{suffix}" for one in list_means(server, extra["response_format"]))
        return next((one for one in names if one not in self.refused), "")

    def express(self, extra: Mapping[str, Json], means: str) -> dict[str, Json]:
        """Return the arguments of a request: its schema, tools and limits as this endpoint takes
        them.
        """
        sent = {key: one for key, one in extra.items() if key != "response_format"}
        fields = build_budget_fields(self._settings.reasoning_tokens, self.server) or {}
        if means:
            form = build_fields(means.removesuffix(" with tools"), extra["response_format"])
            sent |= {key: form.pop(key) for key in ("response_format",) if key in form}
            fields |= form
        if "tools" in sent and "strict" not in self.refused:
            sent["tools"] = [_strict(one) for one in sent["tools"]]
        return sent | ({EXTRA_FIELDS: fields} if fields else {})

    def drop_rejected(self, fault: Fault, extra: dict[str, Json], means: str) -> bool:
        """Return whether the call can continue without the part that the endpoint rejects.

        The part is then left out of later requests too, unless the endpoint accepted it before:
        then only this request was rejected.
        """
        part = means if fault.part == "response_format" else fault.part
        wanted = {"tools": self._settings.tools, "seed": self._settings.send_seed}
        if wanted.get(part) or (part in wanted and part in self.taken):
            fault.retryable, fault.refused = part in self.taken, True
            return False
        if part == "tools":
            return True  # The proposer confirms it first.
        if part not in self.taken:
            self.refused.add(part)
            if part == means and self.find_means(extra):
                return True  # The next means expresses the schema.
        extra.pop(fault.part, None)
        return True

    def record_answer(self, extra: Mapping[str, Json], means: str) -> None:
        """Note that a request with the parts `extra` was answered."""
        self.taken |= {part for part in PARTS if part in extra and part != "response_format"}
        self.taken |= {means} if means else set()


def _tool(spec: ToolSpec) -> Json:
    parameters = dict(spec.parameters)
    function = {"name": spec.name, "description": spec.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _strict(tool: Mapping[str, Json]) -> Json:
    """Return a tool whose arguments must follow its schema, if a strict mode takes the schema."""
    parameters = make_strict(tool["function"]["parameters"])
    if parameters is None:
        return dict(tool)
    return {**tool, "function": {**tool["function"], "parameters": parameters, "strict": True}}
