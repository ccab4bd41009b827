"""One call to a chat endpoint of `chat_server`, as the tests of this room make it."""

import asyncio
from dataclasses import replace

import pytest
from chat_server import ChatServer
from peirce.agents import open_model
from peirce.records import InputSet, ToolSpec, Unavailable, View

SECRET = "sk-planted-4711-secret"
VIEW = View("p", "t", "f", (), {}, InputSet("S", ()))
ASK = [{"role": "user", "content": "a question"}]
SCHEMA = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}
EXECUTE = ToolSpec("execute", "runs code", SCHEMA)
QUICK = {"backoff_s": 0.001}


def _settings(given):
    """Quick ones; `tools_` is the setting `tools`, whose name here is that of what is offered."""
    return {**QUICK, **{name.rstrip("_"): value for name, value in given.items()}}


def ask(*behaviours, messages=ASK, tools=(), seed=5, schema=None, gets=None, **settings):
    """(the reply, the server) of one call to a server that behaves so."""
    with ChatServer(behaviours, gets) as server:

        async def call():
            proposer = await open_model(f"{server.url}#m", {**QUICK, **settings})
            try:
                return await proposer.propose(VIEW, messages, tools, seed, schema)
            finally:
                await proposer.close()

        return asyncio.run(call()), server


def fails(*behaviours, messages=ASK, tools=(), schema=None, gets=None, **settings):
    """(the error, the server) of one call that must end in Unavailable."""
    with ChatServer(behaviours, gets) as server:

        async def call():
            proposer = await open_model(f"{server.url}#m", _settings(settings))
            try:
                return await proposer.propose(VIEW, messages, tools, 5, schema)
            finally:
                await proposer.close()

        with pytest.raises(Unavailable) as caught:
            asyncio.run(call())
        assert "\n" not in str(caught.value) and server.url in str(caught.value)
        return caught.value, server


def ask_all(server, calls, **settings):
    """The replies, or the errors, of calls made one after the other of one proposer, each for a
    problem of its own. calls: what `propose` takes after the view."""

    async def all_of_them():
        proposer = await open_model(f"{server.url}#m", {**QUICK, **settings})
        told = []
        try:
            for number, one in enumerate(calls):
                view = replace(VIEW, problem=f"p{number}")
                try:
                    told.append(await proposer.propose(view, *one))
                except Unavailable as error:
                    told.append(error)
        finally:
            await proposer.close()
        return told

    return asyncio.run(all_of_them())
