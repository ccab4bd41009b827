"""The input, the context and the state of the served graphs, with the JSON schemas that Studio shows.

The input is what `peirce.run` takes, as JSON. Studio renders a form from its schema. An assistant of
the platform may fix some of the same values in its context; values of the input replace them.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, WithJsonSchema
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypedDict

from ... import RunConfig, resume
from ...records import Json, UsageError

STORE_SENTENCE = "store cannot be set here: each thread has a store of its own in $PEIRCE_THREADS"
# These have a field of their own in the input, are fixed by the graph, or only concern the store.
NOT_LISTED = frozenset({"task", "data", "problem", "problems", "model", "seed", "method", "store"})
PRESENTATION_KEYS = ("flag", "metavar", "option")  # of `records.settings.setting`, not JSON schema

# The settings that a resumed session may change, such as budgets.
RESUMABLE = frozenset(
    typing.get_args(typing.get_type_hints(resume)["overrides"])[0].__annotations__
)


MODEL = Annotated[
    str,
    Field(description='The model that proposes hypotheses, for example "search" (the default).'),
]
INPUT: Mapping[str, Any] = {
    "task": Annotated[str, Field(description="Name of a task, such as list_functions.")],
    "data": Annotated[
        str, Field(description="File or folder with the data (default: the task's generator).")
    ],
    "problem": Annotated[list[str], Field(description="Use only the problems with these ids.")],
    "problems": Annotated[int, Field(description="Use only the first N problems.")],
    "seed": Annotated[int, Field(description="Random seed (default: 0).")],
}


class Outcome(TypedDict, total=False):
    """What a run of a served graph returns."""

    session: Annotated[str, Field(description="The id of the session.")]
    status: Annotated[
        str,
        Field(
            description="done, interrupted, budget or failed, as `peirce run` reports it; asking if"
            " the session waits for a person; error if no session ran."
        ),
    ]
    digest: Annotated[
        str, Field(description="The digest of the session's record. Equal digests: equal sessions.")
    ]
    findings: Annotated[
        list[dict[str, Any]], Field(description="The best hypotheses of each problem.")
    ]
    questions: Annotated[
        list[dict[str, Any]], Field(description="The questions to a person: problem and question.")
    ]
    error: Annotated[str, Field(description='Why no session ran, in one sentence; else "".')]
    outcome: Annotated[
        dict[str, Any], Field(description="Everything else that `peirce run --json` prints.")
    ]


class _Lenient(GenerateJsonSchema):
    """Describes a setting that also takes Python objects by its other types."""

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> dict[str, Any]:
        return {}


def describe_settings(method: Any) -> dict[str, Json]:
    """Return the JSON schema of the settings that a method takes, in addition to the named fields.

    Args:
        method: The `graphs.Method`.
    """
    parts: Mapping[str, Any] = {**RunConfig.part_classes(), "method": method.settings}
    properties: dict[str, Json] = {}
    for part in parts.values():
        fields = part.model_json_schema(schema_generator=_Lenient)["properties"]
        for option, name, _ in part.iter_options():
            if option not in NOT_LISTED and "$ref" not in str(fields[name]):
                drop = (*PRESENTATION_KEYS, "title")
                properties.setdefault(
                    option, {key: one for key, one in fields[name].items() if key not in drop}
                )
    return {
        "type": "object",
        "title": "Settings",
        "description": "Other settings of peirce.run, by name.",
        "properties": properties,
    }


def make_schemas(method: Any) -> tuple[Any, Any, Any]:
    """Return the classes of the input, of the context and of the whole state for a method's graph.

    Args:
        method: The `graphs.Method`.
    """
    typed_dict: Any = TypedDict  # called with fields that are computed
    settings = Annotated[dict[str, Any], WithJsonSchema(describe_settings(method))]
    fixed = {"model": MODEL, "settings": settings}
    fields = {**INPUT, **fixed}
    values = typed_dict("Input", fields, total=False)
    context = typed_dict("Context", fixed, total=False)
    state = typed_dict("State", {**fields, **Outcome.__annotations__}, total=False)
    values.__doc__ = "What to run: the arguments of `peirce.run`. Null counts as not set."
    context.__doc__ = "Values that an assistant fixes. Values of the input replace them."
    state.__doc__ = "The input and the outcome."
    return values, context, state


def merge_request(
    method: str, values: Mapping[str, Json], context: Mapping[str, Json] | None
) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return (what the session computes, what a resumed session may change) as arguments of
    `peirce.run`.

    Args:
        method: The name of the method.
        values: The state, from which the fields of the input are taken.
        context: The context of the run.

    Raises:
        UsageError: A value that is checked here is invalid. `peirce.run` checks all others.
    """
    given: dict[str, Json] = {}
    for source in (context or {}, values):
        settings = source.get("settings") or {}
        if not isinstance(settings, Mapping):
            raise UsageError(f"settings is {settings!r:.80}: it must be an object")
        fields = {name: source.get(name) for name in NOT_LISTED - {"method", "store"}}
        given |= {name: one for name, one in {**settings, **fields}.items() if one is not None}
    if "store" in given:
        raise UsageError(STORE_SENTENCE)
    if given.setdefault("method", method) != method:
        raise UsageError(f"method is {given['method']!r:.80}: this graph runs the method {method}")
    if not isinstance(given.get("task"), str):
        raise UsageError("task is missing: name a task, for example list_functions")
    if isinstance(given.get("problem"), str):
        given["problem"] = [given["problem"]]
    changeable = {name: given.pop(name) for name in RESUMABLE & given.keys()}
    return given, changeable
