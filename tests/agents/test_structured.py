"""Checks how a schema reaches an endpoint: which means are tried in which order, what is remembered
of a refusal, and that tools are strict where the endpoint takes strict tools.

Internals: grammars and strict schemas are also compared one by one.
"""

import json

import pytest
from asking import ASK, EXECUTE, ask, ask_all
from chat_server import ChatServer, calls, says, status
from peirce.agents.endpoint.structured import build_grammar, make_strict
from peirce.records import ToolSpec

SCHEMA = {
    "type": "object",
    "properties": {"description": {"type": "string"}, "code": {"type": "string"}},
    "required": ["description", "code"],
    "additionalProperties": False,
}
FIELDS = ("response_format", "structured_outputs", "guided_json", "json_schema", "grammar")


def means_of(request):
    """The means that a request used, by its field, or its type for response_format."""
    used = [name for name in FIELDS if name in request]
    if not used:
        return ""
    (name,) = used
    return request[name]["type"] if name == "response_format" else name


def taking(*means, message="{} is not supported"):
    """A server that takes these means only, and says which one it refuses."""

    def behave(request):
        used = means_of(request)
        if used and used not in means:
            field = "response_format" if used.startswith("json") else used
            return status(400, message.format(field))(request)
        return says("{}")(request)

    return behave


def models(owner):
    return {"/v1/models": {"data": [{"id": "m", "owned_by": owner}]}}


ORDERS = {
    "vllm": ["json_schema", "structured_outputs", "guided_json", "json_object", ""],
    "llamacpp": ["json_schema", "json_schema", "grammar", "json_object", ""],
    "someone": ["json_schema", "json_object", ""],
}


@pytest.mark.parametrize("owner", ORDERS)
def test_a_server_that_refuses_every_means_is_asked_by_each_once_and_then_without(owner):
    with ChatServer([taking()], models(owner)) as server:
        told = ask_all(server, [(ASK, (), n, SCHEMA) for n in range(3)])
    assert [means_of(request) for request in server.requests] == [*ORDERS[owner], "", ""]
    assert [reply.text for reply in told] == ["{}"] * 3
    assert [reply.retries for reply in told] == [len(ORDERS[owner]) - 1, 0, 0]


@pytest.mark.parametrize(
    ("owner", "means"),
    [
        ("vllm", "structured_outputs"),
        ("vllm", "guided_json"),
        ("llamacpp", "grammar"),
        ("x", "json_object"),
    ],
)
def test_the_first_means_that_is_taken_is_used_from_then_on(owner, means):
    with ChatServer([taking(means)], models(owner)) as server:
        ask_all(server, [(ASK, (), n, SCHEMA) for n in range(3)])
    used = [means_of(request) for request in server.requests]
    assert used[-3:] == [means] * 3 and means not in used[:-3]


def test_each_means_carries_the_schema():
    with ChatServer([taking()], models("vllm")) as server:
        ask_all(server, [(ASK, (), 1, SCHEMA)])
    with ChatServer([taking()], models("llamacpp")) as other:
        ask_all(other, [(ASK, (), 1, SCHEMA)])
    by_vllm, by_llama = server.requests, other.requests
    assert by_vllm[0]["response_format"]["json_schema"]["schema"] == SCHEMA
    assert by_vllm[1]["structured_outputs"] == {"json": SCHEMA}
    assert by_vllm[2]["guided_json"] == SCHEMA == by_llama[1]["json_schema"]
    assert by_llama[2]["grammar"].startswith('root ::= "{" space "\\"description\\""')


def test_fields_of_the_model_args_are_kept_beside_the_schema():
    reply, server = ask(
        taking("structured_outputs"), schema=SCHEMA, gets=models("vllm"), model_args={"top_k": 3}
    )
    assert reply.text == "{}" and [one["top_k"] for one in server.requests] == [3, 3]


@pytest.mark.parametrize("field", FIELDS)
def test_a_form_of_one_s_own_is_the_only_one(field):
    own = {"type": "json_object"} if field == "response_format" else {"a": 1}
    _, server = ask(says("{}"), schema=SCHEMA, model_args={field: own}, gets=models("vllm"))
    assert {name: server.requests[0][name] for name in FIELDS if name in server.requests[0]} == {
        field: own
    }


def test_nothing_is_sent_for_an_answer_that_is_not_json():
    _, server = ask(says("x"), gets=models("vllm"))
    assert means_of(server.requests[0]) == ""


# --- strict tools --------------------------------------------------------------


NO_STRICT = [
    "Unrecognized request argument supplied: strict",
    "tools.0.function.strict: Extra inputs are not permitted",
    "Unknown name additionalProperties at tools[0].function_declarations[0].parameters",
]


@pytest.mark.parametrize("message", NO_STRICT)
def test_an_endpoint_that_takes_no_strict_tools_is_offered_plain_ones(message):
    def plain(request):
        if request["tools"][0]["function"].get("strict"):
            return status(400, message)(request)
        return calls("execute", "{}")(request)

    with ChatServer([plain]) as server:
        told = ask_all(server, [(ASK, (EXECUTE,), n) for n in range(3)])
    assert [(reply.finish, reply.retries) for reply in told] == [
        ("tool_calls", 1), ("tool_calls", 0), ("tool_calls", 0),
    ]  # fmt: skip
    offered = [request["tools"][0]["function"] for request in server.requests]
    assert [one.get("strict", False) for one in offered] == [True, False, False, False]
    assert offered[1]["parameters"] == EXECUTE.parameters


def test_a_tool_with_an_optional_argument_is_offered_as_it_is():
    parameters = {**EXECUTE.parameters, "required": []}
    _, server = ask(says("x"), tools=[ToolSpec("execute", "runs code", parameters)])
    function = server.requests[0]["tools"][0]["function"]
    assert function["parameters"] == parameters and "strict" not in function


@pytest.mark.parametrize(
    "change",
    [
        {"required": []},
        {"additionalProperties": True},
        {"minProperties": 1},
        {"properties": {"code": {"type": "string", "default": "x"}}},
        {"properties": {"code": {"type": "array", "items": {"type": "string", "pattern": "a"}}}},
    ],
)
def test_a_schema_outside_the_strict_subset_has_no_strict_form(change):
    assert make_strict({**EXECUTE.parameters, **change}) is None


def test_a_strict_schema_closes_every_object():
    inner = {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}
    outer = {"type": "object", "properties": {"list": {"type": "array", "items": inner}}, "required": ["list"]}  # fmt: skip
    strict = make_strict(outer)
    assert strict["additionalProperties"] is False
    assert strict["properties"]["list"]["items"]["additionalProperties"] is False
    assert "additionalProperties" not in outer


# --- grammars ------------------------------------------------------------------


def test_a_grammar_covers_texts_lists_and_numbers_and_nothing_that_it_cannot_state():
    schema = {
        "type": "object",
        "properties": {
            "names": {"type": "array", "items": {"type": "string"}},
            "count": {"type": "integer"},
        },
        "required": ["names", "count"],
    }
    lines = build_grammar(schema).splitlines()
    assert lines[0].endswith(
        'space ":" space root-0 "," space "\\"count\\"" space ":" space root-1 "}" space'
    )
    assert lines[1:4] == [
        'root-0 ::= "[" space (root-0-item ("," space root-0-item)*)? "]" space',
        "root-0-item ::= string", "root-1 ::= integer",
    ]  # fmt: skip
    assert build_grammar({**schema, "required": ["names"]}) is None
    assert build_grammar({"type": "string", "enum": ["a"]}) is None
    assert json.dumps(schema)  # the schema is not changed
