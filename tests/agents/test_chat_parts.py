"""Checks the parts of a request that an endpoint may refuse (tools, response_format,
stream_options): what each kind of server says, what is remembered of it, what it costs.

Internals: the sentences that name a refused part come from real servers and are classified one by
one.
"""

import asyncio
from dataclasses import replace

import pytest
from asking import ASK, EXECUTE, QUICK, VIEW, ask, ask_all, fails
from chat_server import ChatServer, calls, completion, in_pieces, raw, says, status
from peirce.agents import EndpointRefused, open_model, settings_of
from peirce.agents.endpoint.address import resolve_endpoint
from peirce.agents.endpoint.faults import error_detail, refused_part
from peirce.records import Reply, UsageError

SCHEMA = {
    "type": "object",
    "properties": {"description": {"type": "string"}, "code": {"type": "string"}},
    "required": ["description", "code"],
    "additionalProperties": False,
}
NO_TOOLS = {
    "vLLM": (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    "Ollama": (400, "registry.ollama.ai/library/gemma3:4b does not support tools"),
    "llama.cpp": (500, "tools param requires --jinja flag"),
    "llama.cpp, older": (500, "Unsupported param: tools"),
    "OpenRouter": (404, "No endpoints found that support tool use. To learn more, visit …"),
    "OpenAI": (400, "Unsupported parameter: 'tools' is not supported with this model."),
    "OpenAI, older": (400, "Unrecognized request argument supplied: tools"),
    "DeepSeek": (400, "deepseek-reasoner does not support Function Calling"),
    "Groq": (400, "`tool calling` is not supported with this model"),
    "Gemini": (400, "Function calling is not enabled for models/gemma-3-27b-it"),
    "Bedrock": (400, "This model doesn't support tool use."),
    "transformers": (422, "Unexpected fields in the request: {'tools'}"),
    "none": (501, "tools are not implemented"),
}  # fmt: skip
NO_FORMAT = {
    "OpenAI": (400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."),
    "DeepSeek": (400, "This response_format type is unavailable now"),
    "Groq": (400, "This model does not support response format `json_schema`."),
    "vLLM": (400, "The guided decoding backend does not take this schema"),
    "llama.cpp": (500, "failed to parse grammar"),
    "transformers": (422, "Unexpected fields in the request: {'response_format'}"),
}  # fmt: skip


def refuses(part, code=400, message="", take=None):
    """An endpoint that answers what has no such part."""
    no, yes = status(code, message or f"{part} is not supported"), take or says("an answer")
    return lambda request: (no if part in request else yes)(request)


def side_by_side(server, count, rounds=1):
    """The replies to so many calls with tools at once, each of another problem."""

    async def all_of_them():
        proposer = await open_model(f"{server.url}#m", QUICK)
        told = []
        for _ in range(rounds):
            views = [replace(VIEW, problem=f"p{n}") for n in range(count)]
            told += await asyncio.gather(
                *(proposer.propose(view, ASK, (EXECUTE,), n) for n, view in enumerate(views))
            )
        await proposer.close()
        return told

    return asyncio.run(all_of_them())


# --- tools -------------------------------------------------------------------


@pytest.mark.parametrize(("code", "message"), NO_TOOLS.values(), ids=NO_TOOLS)
def test_an_endpoint_that_refuses_tools_twice_to_two_problems_is_not_offered_them_again(
    code, message
):
    asked = [(ASK, (EXECUTE,), 1), (ASK, (), 1), (ASK, (EXECUTE,), 2), (ASK, (EXECUTE,), 3)]
    with ChatServer([refuses("tools", code, message)]) as server:
        told = ask_all(server, asked)
    assert told[0] == told[2] == Reply(finish="no_tools", retries=1)
    assert told[1].text == "an answer" and told[3] == Reply(finish="no_tools")
    assert ["tools" in request for request in server.requests] == [True, True, False, True, True]


@pytest.mark.parametrize("times", [1, 3])
def test_a_passing_refusal_of_tools_takes_them_from_no_problem_or_from_one(times):
    """A gateway that for a moment has no backend which takes them."""
    no = status(404, "No endpoints found that support tool use")
    with ChatServer([no] * times + [calls("execute", "{}")]) as server:
        told = ask_all(server, [(ASK, (EXECUTE,), n) for n in range(4)])
    refused = times // 2
    assert [one.finish for one in told] == ["no_tools"] * refused + ["tool_calls"] * (4 - refused)
    assert sum(one.retries for one in told) == times - refused
    assert len(server.requests) == 4 + times - refused


def test_a_moment_without_tools_takes_them_from_none_of_those_side_by_side():
    no, yes = status(404, "No endpoints found that support tool use"), calls("execute", "{}")
    met = set()

    def gateway(request):  # refuses each call's first request
        first = request["seed"] not in met
        met.add(request["seed"])
        return (no if first else yes)(request)

    with ChatServer([gateway]) as server:
        told = side_by_side(server, 8)
    assert [one.finish for one in told] == ["tool_calls"] * 8 and len(server.requests) == 16


def test_a_refusal_of_tools_counts_the_requests_before_it():
    no = status(400, "tools are not supported")
    with ChatServer([status(500), status(429), no]) as server:  # refused twice to be believed
        (told,) = ask_all(server, [(ASK, (EXECUTE,), 1)])
    assert told == Reply(finish="no_tools", retries=3) and len(server.requests) == 4


def test_a_refusal_in_the_form_of_pydantic_is_read():
    detail = [{"type": "extra_forbidden", "loc": ["body", "tools"],
               "msg": "Extra inputs are not permitted", "input": ["…"]}]  # fmt: skip
    body = b'{"detail": ' + str(detail).replace("'", '"').encode() + b"}"
    assert ask(raw(body, code=422), tools=[EXECUTE])[0].finish == "no_tools"


@pytest.mark.parametrize(
    "message",
    [
        "messages with role 'tool' must follow one with 'tool_calls'",
        "Invalid schema for function 'execute'",
        "This model's maximum context length is 4096 tokens, tools are not supported above it",
        "no",
    ],
)
def test_a_complaint_that_is_not_about_having_tools_fails_the_call(message):
    error, server = fails(status(400, message), tools=[EXECUTE])
    assert message.split(",")[0] in str(error) and not isinstance(error, EndpointRefused)
    assert len(server.requests) == 1


def test_a_request_without_tools_is_never_refused_for_them():
    error, _ = fails(status(400, "this model does not support tools"))
    assert "does not support tools" in str(error)


def test_an_endpoint_that_took_tools_once_is_asked_again_with_them():
    """A gateway whose other backend takes none: one problem may fail, the model is not judged."""
    no = status(404, "No endpoints found that support tool use")
    behaviours = [calls("execute", "{}"), no, calls("execute", "{}"), no]
    with ChatServer(behaviours) as server:
        told = ask_all(server, [(ASK, (EXECUTE,), n) for n in range(3)], retries=1)
    assert [one.finish for one in told[:2]] == ["tool_calls"] * 2 and told[1].retries == 1
    assert "2 requests" in str(told[2]) and not isinstance(told[2], EndpointRefused)


def test_tools_set_true_end_the_session_where_they_are_refused():
    message = NO_TOOLS["vLLM"][1]
    error, server = fails(status(400, message), tools=[EXECUTE], **{"tools_": True})
    assert isinstance(error, EndpointRefused) and "--enable-auto-tool-choice" in str(error)
    assert len(server.requests) == 1


def test_tools_set_false_are_not_offered_and_that_is_recorded():
    with ChatServer([says("x")]) as server:

        async def call():
            proposer = await open_model(f"{server.url}#m", {"tools": False})
            told = await proposer.propose(VIEW, ASK, (EXECUTE,), 1), proposer.settings()
            await proposer.close()
            return told

        reply, settings = asyncio.run(call())
    assert reply.finish == "no_tools" and server.requests == []
    assert settings["tools"] is False


def test_calls_side_by_side_waste_no_request_once_one_was_refused():
    with ChatServer([refuses("tools")]) as server:
        told = side_by_side(server, 8, rounds=3)
    assert {reply.finish for reply in told} == {"no_tools"}
    assert len(server.requests) <= 8 + 2  # two of them ask once more


def test_a_call_that_the_model_wrote_badly_is_asked_for_again():
    failed = status(400, "Failed to call a function.", code="tool_use_failed")
    reply, _ = ask(failed, calls("execute", "{}"), tools=[EXECUTE])
    assert reply.finish == "tool_calls" and reply.retries == 1


# --- response_format ---------------------------------------------------------


def test_a_schema_goes_as_response_format_where_no_tools_do():
    reply, server = ask(says('{"description": "d", "code": "c"}'), schema=SCHEMA)
    form = server.requests[0]["response_format"]
    assert form["type"] == "json_schema" and form["json_schema"]["schema"] == SCHEMA
    assert form["json_schema"]["strict"] is True and form["json_schema"]["name"]
    assert reply.text == '{"description": "d", "code": "c"}'


@pytest.mark.parametrize(
    ("structured", "tools", "sent"),
    [
        ("auto", [EXECUTE], False),
        ("always", [EXECUTE], True),
        ("always", [], True),
        ("never", [], False),
        (None, [], True),
    ],
)
def test_the_setting_decides_when_a_schema_is_sent(structured, tools, sent):
    _, server = ask(says("x"), schema=SCHEMA, tools=tools, structured=structured)
    assert ("response_format" in server.requests[0]) is sent


@pytest.mark.parametrize("retries", [0, 5])
@pytest.mark.parametrize(("code", "message"), NO_FORMAT.values(), ids=NO_FORMAT)
def test_an_endpoint_that_refuses_a_schema_answers_without(code, message, retries):
    with ChatServer([refuses("response_format", code, message)]) as server:
        told = ask_all(server, [(ASK, (), n, SCHEMA) for n in range(3)], retries=retries)
    assert [reply.text for reply in told] == ["an answer"] * 3
    assert [reply.retries for reply in told] == [2, 0, 0]  # neither a schema nor any JSON
    assert len(server.requests) == 5


def test_a_schema_that_is_refused_beside_tools_is_still_sent_without_them():
    def groq(request):
        if "tools" in request and "response_format" in request:
            return status(400, "json mode cannot be combined with tool/function calling")(request)
        return says("an answer")(request)

    asked = [(ASK, (EXECUTE,), 1, SCHEMA), (ASK, (EXECUTE,), 2, SCHEMA), (ASK, (), 3, SCHEMA)]
    with ChatServer([groq]) as server:
        told = ask_all(server, asked, structured="always")
    assert [reply.text for reply in told] == ["an answer"] * 3
    sent = [("tools" in one, "response_format" in one) for one in server.requests]
    assert sent == [(True, True), (True, True), (True, False), (True, False), (False, True)]


def test_one_answer_that_would_not_fit_its_schema_is_asked_for_without_and_the_next_with():
    failed = status(400, "Failed to validate JSON: the json_schema does not match")
    with ChatServer([says("{}"), failed, says("prose"), says("{}")]) as server:
        told = ask_all(server, [(ASK, (), n, SCHEMA) for n in range(3)])
    assert [reply.text for reply in told] == ["{}", "prose", "{}"]
    assert ["response_format" in one for one in server.requests] == [True, True, False, True]


def test_an_answer_that_is_cut_or_no_json_is_an_answer_all_the_same():
    reply, _ = ask(says('{"description": "half', finish="length"), schema=SCHEMA)
    assert reply.finish == "length" and reply.text == '{"description": "half'
    assert ask(says("prose"), schema=SCHEMA)[0].text == "prose"


def test_tools_and_schema_are_refused_each_by_itself():
    def neither(request):
        for part in ("response_format", "tools"):
            if part in request:
                return status(400, f"{part} is not supported")(request)
        return says("an answer")(request)

    asked = [(ASK, (EXECUTE,), 1, SCHEMA), (ASK, (), 1, SCHEMA), (ASK, (EXECUTE,), 2, SCHEMA)]
    with ChatServer([neither]) as server:
        told = ask_all(server, asked, structured="always")
    assert [reply.finish for reply in told] == ["no_tools", "stop", "no_tools"]
    # both twice, tools twice; the schema, any JSON, neither; tools twice
    assert len(server.requests) == 9


def test_a_response_format_of_one_s_own_is_sent_as_it_is():
    own = {"response_format": {"type": "json_object"}}
    _, server = ask(says("{}"), schema=SCHEMA, model_args=own)
    assert server.requests[0]["response_format"] == {"type": "json_object"}


# --- seed --------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    ["Unrecognized request argument supplied: seed", "body.seed: Extra inputs are not permitted"],
)
def test_an_endpoint_that_refuses_a_seed_is_asked_without(message):
    with ChatServer([refuses("seed", 422, message)]) as server:
        told = ask_all(server, [(ASK, (), n) for n in range(3)])
    assert [reply.text for reply in told] == ["an answer"] * 3
    assert ["seed" in request for request in server.requests] == [True, False, False, False]


def test_a_seed_that_is_asked_for_ends_the_session_where_it_is_refused():
    error, server = fails(refuses("seed"), send_seed=True)
    assert isinstance(error, EndpointRefused) and len(server.requests) == 1


# --- stream_options, words, settings -----------------------------------------


@pytest.mark.parametrize("message", ["stream_options: Extra inputs are not permitted", "Unknown field include_usage"])  # fmt: skip
def test_an_endpoint_that_refuses_stream_options_streams_without(message):
    with ChatServer([refuses("stream_options", 422, message, in_pieces(says("hello")))]) as server:
        told = ask_all(server, [(ASK, (), 1), (ASK, (), 2)], stream=True)
    assert [reply.text for reply in told] == ["hello", "hello"]
    assert ["stream_options" in one for one in server.requests] == [True, False, False]


def test_only_a_part_that_was_sent_can_be_refused():
    words = "response_format and tools are not supported"
    assert refused_part(words, ["tools"]) == "tools"
    assert refused_part(words, ["tools", "response_format"]) == "response_format"
    assert refused_part(words, []) == "" == refused_part("bad json", ["response_format"])


def test_what_an_error_says_is_found_in_every_form():
    assert error_detail({"error": {"message": "m"}}) == "m" == error_detail({"message": "m"})
    assert error_detail({"detail": "m"}) == "m" == error_detail({"error": "m"})
    misfit = [{"loc": ["body", "tools"], "msg": "no", "type": "t", "input": "the whole prompt"}]
    assert error_detail({"detail": misfit}) == "body.tools: no t"
    assert error_detail({"error": {"message": {"detail": misfit}}}) == "body.tools: no t"
    assert error_detail(5) == "" == error_detail({"detail": [5, None]}).strip("; ")


def test_an_error_that_a_gateway_passes_on_in_a_good_status_counts_as_that_status():
    tools = {"error": {"code": 404, "message": "No endpoints found that support tool use"}}
    assert ask(lambda request: completion({}, **tools), tools=[EXECUTE])[0].finish == "no_tools"
    spent = lambda request: completion({}, error={"code": 402, "message": "no credits"})
    error, server = fails(spent)
    assert isinstance(error, EndpointRefused) and "402" in str(error) and len(server.requests) == 1


@pytest.mark.parametrize(
    "settings",
    [{"tools": "yes"}, {"stream": 1}, {"structured": "sometimes"}, {"structured": True}, {"send_seed": "no"}],
)  # fmt: skip
def test_a_setting_of_these_that_cannot_be_is_refused_by_name(settings):
    with pytest.raises(UsageError, match=next(iter(settings))):
        asyncio.run(open_model("http://127.0.0.1:9/v1#m", settings))


def test_requests_of_one_problem_carry_one_cache_key_where_it_is_wanted():
    _, server = ask(says("x"))
    assert "prompt_cache_key" not in server.requests[0]
    with ChatServer([says("x")] * 4) as server:
        ask_all(server, [(ASK, (), 1), (ASK, (), 2)], cache_key=True)
        ask_all(server, [(ASK, (), 3)], cache_key=True)
    keys = [body["prompt_cache_key"] for body in server.requests]
    assert keys[0] == keys[2] != keys[1] and all(len(key) <= 64 for key in keys)


def test_an_endpoint_that_refuses_the_cache_key_is_asked_without_it():
    no = status(400, "Unrecognized request argument supplied: prompt_cache_key")
    with ChatServer([no, says("x"), says("y")]) as server:
        replies = ask_all(server, [(ASK, (), 1), (ASK, (), 2)], cache_key=True)
    assert [one.text for one in replies] == ["x", "y"]
    assert ["prompt_cache_key" in body for body in server.requests] == [True, False, False]


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        ("openai:gpt", True),
        ("mistral:small", True),
        ("groq:llama", False),
        ("http://localhost:1/v1#m", False),
    ],
)
def test_openai_and_mistral_get_a_cache_key(monkeypatch, model, wanted):
    for name in ("OPENAI_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY"):
        monkeypatch.setenv(name, "sk-planted-4711-secret")
    settings = settings_of(model).from_options(model, {})
    assert resolve_endpoint(settings).takes_cache_key == wanted
