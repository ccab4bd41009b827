"""Build the MCP server: its tools, its resources and the checks around every call.

Every call passes `PeirceServer.call_tool`. It refuses arguments that are too large, too deeply nested
or unknown, with one sentence. A failure that Peirce expects is the answer of the tool, marked as an
error. Any other exception is caught by the SDK: its traceback goes to the log, the client learns only
that the tool failed, and the server goes on.
"""

from __future__ import annotations

import asyncio
import difflib
import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from mcp.types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import ValidationError

from ... import PeirceError, Result, __version__
from .answers import make_answer, make_refusal, make_schema
from .arguments import check_size
from .control_tools import ControlTools
from .hypothesis_tools import HypothesisTools
from .resources import add_resources
from .run_settings import AccessRules
from .session_tools import SessionTools
from .settings import ServerSettings

MAX_CONCURRENT_CALLS = 4  # of tools that open a sandbox, a solver or a model
INSTRUCTIONS = """\
Peirce discovers hypotheses that explain data, and judges hypotheses exactly: Python functions for \
pairs of input and output, formulas for laws of numbers, exception rules for finite worlds, and \
sentences for labelled text. `tasks` says which data each task takes. `plan` counts the calls of a \
session before it costs anything. `run` and `discover` run a session; with wait=false they return at \
once, and `status` and `findings` say how far it is and what it found. `check`, `execute`, `solve` \
and `judge` test your own hypotheses without a model. Files are paths below the root of this server.\
"""

# Warnings of one call, which follow its answer.
NOTES: ContextVar[list[str] | None] = ContextVar("notes", default=None)


def note_warning(message: str) -> None:
    """Add a warning to the answer of the call that is running; nothing happens outside a call."""
    notes = NOTES.get()
    if notes is not None and message not in notes and len(notes) < 20:
        notes.append(message[:1_000])


class PeirceServer(MCPServer[Any]):  # type: ignore[misc]
    """The server with its checks of arguments."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool after checking its arguments."""
        try:
            check_size(arguments)
            self._check_names(name, arguments)
            return await super().call_tool(name, arguments, context)
        except PeirceError as error:
            return make_refusal(str(error))
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            return make_refusal(_describe_fault(name, error.__cause__))

    def _check_names(self, name: str, arguments: Mapping[str, Any]) -> None:
        schema = self._tool_input_schema(name)
        if schema is None:
            return
        known = schema.get("properties", {})
        for key in arguments:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                hint = f" (did you mean {near[0]}?)" if near else f"; it takes {', '.join(known)}"
                raise PeirceError(f"{name} takes no argument {key!r:.80}{hint}")


def _describe_fault(name: str, error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"])) or "the arguments"
    return f"{name}: {place}: {first['msg'][0].lower()}{first['msg'][1:]}"


def build_server(settings: ServerSettings) -> PeirceServer:
    """Return the server with all tools and resources.

    Args:
        settings: what the person who starts the server decides.
    """
    rules = AccessRules(settings)
    turns = asyncio.Semaphore(MAX_CONCURRENT_CALLS)
    parts = (SessionTools(rules), ControlTools(rules), HypothesisTools(rules, turns))
    tools = [_make_tool(*one) for part in parts for one in part.list_tools()]
    server = PeirceServer(
        "peirce",
        title="Peirce",
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
        tools=tools,
    )
    add_resources(server, rules)
    return server


def _make_tool(
    function: Callable[..., Awaitable[Result]], result: type[Result], annotations: ToolAnnotations
) -> Tool:
    """Return a tool that calls a method and answers with its result, described by its class."""

    @functools.wraps(function)
    async def call(*args: Any, **kwargs: Any) -> CallToolResult:
        notes: list[str] = []
        token = NOTES.set(notes)
        try:
            found = await function(*args, **kwargs)
            return make_answer(found, notes)
        except PeirceError as error:
            return make_refusal(str(error))
        except OSError as error:  # such as missing permissions or a full disk
            return make_refusal(error.strerror or type(error).__name__)
        finally:
            NOTES.reset(token)

    about, _, _ = (inspect.getdoc(function) or "").partition("\n\nArgs:")
    tool = Tool.from_function(
        call,
        name=function.__name__.rstrip("_"),
        description=" ".join(about.split()),
        annotations=annotations,
        structured_output=False,
    )
    tool.fn_metadata = FuncMetadata(
        arg_model=tool.fn_metadata.arg_model, output_model=make_schema(result)
    )
    return tool
