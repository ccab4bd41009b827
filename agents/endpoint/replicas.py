"""One model on several servers, such as replicas of vLLM or SGLang.

    http://a:8000/v1,http://b:8000/v1#NAME

A request goes to the server with the fewest requests in flight. If a server cannot be reached, breaks
a connection or answers with a status that a retry may help, the request goes to a server that has not
failed it yet; without one, it is retried as with a single server. A server that failed is left out
until `GET {url}/models` is answered. Which server answered has no influence on prompts, seeds or the
journal's keys, so a session has one digest, however many servers it has and whichever of them die.

Rates (`requests_per_minute`, `tokens_per_minute`) and the optional parts of requests that a server
does not support are those of each server.
"""

from __future__ import annotations

import asyncio
import re
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ...records import Json, Message, Reply, ToolSpec, Unavailable, Usage, UsageError, View
from .. import EndpointRefused
from .chat import FAILOVER, OpenAIChatProposer, ServerFailed, open_server
from .faults import Fault
from .limits import add_wasted_usage

if TYPE_CHECKING:
    from .settings import ChatSettings

FIRST_CHECK_S = 0.5  # until the first check of a server that failed; each later wait is doubled
LONGEST_CHECK_S = 15.0
MAX_CHANGES = 3  # of the server of one request, for each server
_NEXT_SERVER = re.compile(r",(?=https?://)")


def split_servers(settings: ChatSettings) -> list[ChatSettings]:
    """Return the settings of each server that a model string names.

    Raises:
        UsageError: The string names a server twice, or is not written as a list of servers.
    """
    addresses, mark, name = settings.model.partition("#")
    if not addresses.startswith(("http://", "https://")):
        return [settings]
    urls = _NEXT_SERVER.split(addresses)
    if any("," in url or " " in url for url in urls) or re.search(r", *https?://", name):
        raise UsageError(
            "several servers of one model are written as http://a:8000/v1,http://b:8000/v1#NAME"
        )
    if len(urls) == 1:
        return [settings]
    plain = [url.rstrip("/") for url in urls]
    if twice := next((url for url in plain if plain.count(url) > 1), None):
        raise UsageError(f"the model string names the server {twice} twice")
    return [settings.model_copy(update={"model": f"{url}{mark}{name}"}) for url in urls]


class Server:
    """A server with its proposer.

    Attributes:
        in_flight: The number of its requests that are not answered yet.
        sent: The number of requests that it was sent.
        refusal: Why it refuses all requests; "" if it does not.
        check: The task that waits until it answers again; None if it is in use.
    """

    def __init__(self, proposer: OpenAIChatProposer) -> None:
        self.proposer = proposer
        self.in_flight = 0
        self.sent = 0
        self.refusal = ""
        self.failed_at = 0.0
        self.check: asyncio.Task[None] | None = None

    @property
    def is_healthy(self) -> bool:
        """Whether the server is in use."""
        return self.check is None and not self.refusal


class ReplicatedProposer:
    """A proposer that spreads requests over several servers of one model."""

    def __init__(self, proposers: Sequence[OpenAIChatProposer]) -> None:
        self.servers = [Server(one) for one in proposers]

    def settings(self) -> Json:
        """Return the settings of the proposer that the session records, with all addresses."""
        each = [one.proposer.settings() for one in self.servers]
        endpoint = ",".join(one["endpoint"] for one in each)
        transport = each[0]["transport"] | {"servers": len(each)}
        return {**each[0], "endpoint": endpoint, "transport": transport}

    def secrets(self) -> dict[str, str]:
        """Return the key by the name of its environment variable; empty if there is no real key."""
        return self.servers[0].proposer.secrets()

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None = None,
    ) -> Reply:
        """Send the messages to the least busy server and return the reply.

        Raises:
            EndpointRefused: No server answers requests of this kind.
            Unavailable: The request failed after all retries.
        """
        failed: list[Server] = []
        requests, wasted = 0, Usage()
        while True:
            server = self._choose(failed)

            before = FAILOVER.set(partial(self._may_fail_over, server, failed))
            server.in_flight += 1
            server.sent += 1
            try:
                reply = await server.proposer.propose(view, messages, tools, seed, schema)
                return add_wasted_usage(replace(reply, retries=reply.retries + requests), wasted)
            except ServerFailed as error:
                requests += error.requests
                wasted += error.usage
                self._leave_out(server, error.wait_s)
            except EndpointRefused as error:
                error.usage = (error.usage or Usage()) + wasted
                if not any(one.is_healthy for one in self.servers if one is not server):
                    raise self._name_others(error, server) from None
                wasted = error.usage
                self._refuse(server, error)
            except Unavailable as error:
                error.usage = (error.usage or Usage()) + wasted
                raise
            finally:
                server.in_flight -= 1
                FAILOVER.reset(before)
            failed.append(server)

    def _may_fail_over(self, server: Server, failed: Sequence[Server], fault: Fault) -> bool:
        """Return whether another server shall take over a request after a fault of this server.

        A server that failed the request takes over again only if this one cannot be reached. After
        several changes, the servers' own limits of retries and outages count.
        """
        if len(failed) >= MAX_CHANGES * len(self.servers):
            return False
        others = [one for one in self.servers if one is not server and one.is_healthy]
        return any(fault.unreachable or one not in failed for one in others)

    def _choose(self, failed: Sequence[Server]) -> Server:
        """Return the least busy healthy server that has not failed the request.

        If there is none, return a healthy server that has, or the server that failed last.
        """
        for able in (
            [one for one in self.servers if one.is_healthy and one not in failed],
            [one for one in self.servers if one.is_healthy],
        ):
            if able:
                return min(able, key=lambda one: (one.in_flight, one.sent))
        open_servers = [one for one in self.servers if not one.refusal]
        return max(open_servers or self.servers, key=lambda one: one.failed_at)

    def _leave_out(self, server: Server, wait_s: float) -> None:
        """Do not use a server for `wait_s` seconds, and then until it answers a check."""
        server.failed_at = asyncio.get_running_loop().time()
        if server.check is None:
            server.check = asyncio.create_task(self._wait_until_healthy(server, wait_s))

    async def _wait_until_healthy(self, server: Server, wait_s: float) -> None:
        wait_s = max(wait_s, FIRST_CHECK_S)
        while True:
            await asyncio.sleep(wait_s)
            if await server.proposer.is_reachable():
                break
            wait_s = min(2 * min(wait_s, LONGEST_CHECK_S), LONGEST_CHECK_S)
        server.check = None

    def _refuse(self, server: Server, error: EndpointRefused) -> None:
        """Do not use a server again, because it refuses all requests."""
        if not server.refusal:
            server.refusal = str(error)
            warnings.warn(f"{error}; the other servers are used", stacklevel=2)

    def _name_others(self, error: EndpointRefused, server: Server) -> EndpointRefused:
        others = [
            str(one.proposer.settings()["endpoint"]) for one in self.servers if one is not server
        ]
        found = EndpointRefused(f"{error}; not usable either: {', '.join(others)}")
        found.usage = error.usage
        return found

    async def close(self) -> None:
        """Close the connections to all servers."""
        for server in self.servers:
            if server.check is not None:
                server.check.cancel()
                with suppress(asyncio.CancelledError):
                    await server.check
            await server.proposer.close()


def open_chat(settings: ChatSettings) -> OpenAIChatProposer | ReplicatedProposer:
    """Return a proposer for the server or servers of a model string, without sending a request.

    Raises:
        UsageError: The model string, a setting or the environment is invalid.
    """
    each = split_servers(settings)
    if settings.batch_files and len(each) > 1:
        raise UsageError("batch_files needs one server: a batch belongs to the server that took it")
    opened = [open_server(one) for one in each]
    return opened[0] if len(opened) == 1 else ReplicatedProposer(opened)
