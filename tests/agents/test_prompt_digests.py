"""Checks that the reply of a model behind a URL holds the digest of the prompt's token ids, if the server
returns them, as vLLM does with return_token_ids."""

from __future__ import annotations

import pytest
from asking import ask
from chat_server import chunk, completion, says, streams
from peirce.records import PROMPT_DIGEST, digest_prompt

IDS = [1, 2, 3, 70_000]
RETURNS = {"return_token_ids": True}


def returns(ids):
    return lambda request: completion({"content": "x"}, prompt_token_ids=ids)


@pytest.mark.parametrize("stream", [False, True])
def test_token_ids_of_a_prompt_are_digested(stream):
    first = {**chunk({"role": "assistant", "content": "x"}), "prompt_token_ids": IDS}
    behaviour = streams(first, chunk({}, "stop")) if stream else returns(IDS)
    reply, server = ask(behaviour, stream=stream, model_args=RETURNS)
    assert server.requests[0]["return_token_ids"] is True
    assert reply.text == "x" and reply.meta == {PROMPT_DIGEST: digest_prompt(IDS)}


@pytest.mark.parametrize("ids", [None, [], "1 2", [1, "2"], [1.5], {"a": 1}])
def test_a_reply_without_token_ids_holds_no_digest(ids):
    assert ask(returns(ids), stream=False)[0].meta == {}
    assert ask(says("x"), stream=False)[0].meta == {}


def test_other_ids_have_another_digest():
    digests = {digest_prompt(ids) for ids in ([1], [2], [1, 2], [2, 1], [12])}
    assert len(digests) == 5 and all(len(one) == 16 for one in digests)
