"""The means by which an endpoint is told the JSON schema of an answer, and strict tool schemas.

The means are tried in this order. A means that the endpoint refuses is not used again; the next one
takes its place in the same call.

    json_schema          response_format {"type": "json_schema", "strict": true}: OpenAI and most servers
    structured_outputs   vLLM from 0.12
    guided_json          older vLLM
    json_schema_field    llama.cpp, the field `json_schema`
    grammar              llama.cpp, a GBNF grammar
    json_object          response_format {"type": "json_object"}: JSON, but of any form

The fields of vLLM and llama.cpp are tried only if the model string or the server's list of models
names such a server, because others ignore unknown fields without a word.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from ...records import Json

JSON_SCHEMA, JSON_OBJECT = "json_schema", "json_object"
STRUCTURED_OUTPUTS, GUIDED_JSON = "structured_outputs", "guided_json"
JSON_SCHEMA_FIELD, GRAMMAR = "json_schema_field", "grammar"
OWN_MEANS: Mapping[str, Sequence[str]] = {
    "vllm": (STRUCTURED_OUTPUTS, GUIDED_JSON),
    "llamacpp": (JSON_SCHEMA_FIELD, GRAMMAR),
}
# Fields of a request with which a user sets the form of answers.
FORM_FIELDS = ("response_format", "structured_outputs", "guided_json", "json_schema", "grammar")
# Keywords of the schemas that every strict mode accepts.
STRICT_KEYWORDS = frozenset(
    {"type", "properties", "required", "items", "enum", "title", "description",
     "additionalProperties"}
)  # fmt: skip


def list_means(server: str, schema: Mapping[str, Json]) -> list[str]:
    """Return the means for a schema in the order in which they are tried.

    Args:
        server: The kind of server: vllm, llamacpp, or "" for any other.
        schema: The JSON schema of the answer.
    """
    own = OWN_MEANS.get(server, ())
    if GRAMMAR in own and build_grammar(schema) is None:
        own = tuple(one for one in own if one != GRAMMAR)
    return [JSON_SCHEMA, *own, JSON_OBJECT]


def build_fields(means: str, schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return the fields of a request that express a schema by one of the means."""
    if means == JSON_OBJECT:
        return {"response_format": {"type": "json_object"}}
    if means == STRUCTURED_OUTPUTS:
        return {"structured_outputs": {"json": dict(schema)}}
    if means == GUIDED_JSON:
        return {"guided_json": dict(schema)}
    if means == JSON_SCHEMA_FIELD:
        return {"json_schema": dict(schema)}
    if means == GRAMMAR:
        return {"grammar": build_grammar(schema)}
    form = {"name": "answer", "schema": dict(schema), "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": form}}


def make_strict(schema: Mapping[str, Json]) -> dict[str, Json] | None:
    """Return a schema in the form that strict tool calls demand, or None if it has no such form.

    Objects then allow no other properties. A schema with an optional property, or with a keyword
    that some strict mode refuses, has no such form.
    """
    if not set(schema) <= STRICT_KEYWORDS:
        return None
    strict = dict(schema)
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        if set(properties) != set(schema.get("required", ())):
            return None
        if schema.get("additionalProperties", False) is not False:
            return None
        inner = {name: make_strict(one) for name, one in properties.items()}
        if None in inner.values():
            return None
        strict |= {"properties": inner, "additionalProperties": False}
    if "items" in schema:
        strict["items"] = make_strict(schema["items"])
        if strict["items"] is None:
            return None
    return strict


_BASE_RULES = r"""
space ::= " "?
string ::= "\"" ([^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\"" space
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)? space
integer ::= "-"? ("0" | [1-9] [0-9]*) space
boolean ::= ("true" | "false") space
""".strip()


def build_grammar(schema: Mapping[str, Json]) -> str | None:
    """Return a GBNF grammar for the JSON that a schema describes, or None for other schemas.

    Objects whose properties are all required, arrays, texts, numbers and truth values are covered.
    Properties come in the order of the schema.
    """
    rules: dict[str, str] = {}
    if not _add_rule("root", schema, rules):
        return None
    return "\n".join([*(f"{name} ::= {rule}" for name, rule in rules.items()), _BASE_RULES])


def _add_rule(name: str, schema: Mapping[str, Json], rules: dict[str, str]) -> bool:
    kind = schema.get("type")
    if kind in ("string", "number", "integer", "boolean") and "enum" not in schema:
        rules[name] = str(kind)
        return True
    if kind == "array" and isinstance(schema.get("items"), Mapping):
        rules[name] = f'"[" space ({name}-item ("," space {name}-item)*)? "]" space'
        return _add_rule(f"{name}-item", schema["items"], rules)
    properties: Mapping[str, Mapping[str, Json]] = schema.get("properties", {})
    if kind != "object" or not properties or set(properties) != set(schema.get("required", ())):
        return False
    members = [
        f'{_quoted(json.dumps(key))} space ":" space {name}-{number}'
        for number, key in enumerate(properties)
    ]
    joined = ' "," space '.join(members)
    rules[name] = f'"{{" space {joined} "}}" space'
    return all(
        _add_rule(f"{name}-{number}", one, rules) for number, one in enumerate(properties.values())
    )


def _quoted(text: str) -> str:
    """Return a text as a literal of a grammar."""
    return json.dumps(text)


def sent_parts(extra: Collection[str], tools: Sequence[Json]) -> set[str]:
    """Return the names of the optional parts of a request (`faults.PARTS`)."""
    strict = any(one["function"].get("strict") for one in tools)
    return {*extra, *(("strict",) if strict else ())}
