"""What tests of models in this process ask them, and how.

Internals: the wording of a chat template is an argument of the decoder, which no face takes.
"""

from __future__ import annotations

import asyncio

import pytest
from peirce.agents import open_model
from peirce.records import InputSet, UsageError, View
from tiny_model import TEMPLATE

VIEW = View("p", "t", "f", (), {}, InputSet("S", ()))

LENGTHS = (1, 5, 2, 40, 9, 3, 17, 30)

WITH_TOOLS = (
    "{% for t in tools or [] %}tool {{ t.function.name }}\n{% endfor %}"
    + TEMPLATE.replace(
        "{{ message.content }}",
        "{{ message.content }}{% for c in message.tool_calls or [] %}"
        "<tool_call>{{ c.function.name }} {{ c.function.arguments.code }}</tool_call>{% endfor %}",
    )
)


def ask(repeats, system="You find rules."):
    return [
        {"role": "system", "content": system},
        {"role": "user", "content": "a question " * repeats},
    ]


PROMPTS = [ask(length) for length in LENGTHS]


def using(spec, work, **settings):
    """What `work(proposer)` returns."""

    async def whole():
        proposer = await open_model(str(spec), {"max_tokens": 40, **settings})
        try:
            return await work(proposer)
        finally:
            await proposer.close()

    return asyncio.run(whole())


def together(spec, prompts=PROMPTS, **settings):
    async def work(proposer):
        asked = (proposer.propose(VIEW, one, (), n) for n, one in enumerate(prompts))
        return await asyncio.gather(*asked)

    return using(spec, work, **settings)


def alone(spec, prompts=PROMPTS, **settings):
    async def work(proposer):
        return [await proposer.propose(VIEW, one, (), n) for n, one in enumerate(prompts)]

    return using(spec, work, **settings)


def told(spec, **settings):
    async def work(proposer):
        return proposer.settings()

    return using(spec, work, **settings)


def refused(spec, kind=UsageError, **settings):
    """The sentence with which opening ends."""
    with pytest.raises(kind) as caught:
        told(spec, **settings)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600
    return str(caught.value)


def wording(base, template=None, tools=False, **variables):
    from peirce.agents.local.chat import ChatFormat
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(base)
    tokenizer.chat_template = template or TEMPLATE
    return ChatFormat("m", tokenizer, None, variables, tools), tokenizer
