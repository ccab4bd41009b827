"""What the public functions are given: an argument of another type is one UsageError that names the
argument, its value and what is valid, before anything is begun.

Internals: the check itself is called with arguments that no public function takes.
"""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path

import peirce
import pytest
from peirce import ClusterConfig, MethodSettings, RunConfig, graphs
from peirce.commands.option_types import CheckOptions, ResumeOptions, RunOptions
from peirce.records import PeirceError, UsageError

OPTIONS = {"run": RunOptions, "resume": ResumeOptions, "check": CheckOptions}
BOUNDS = {
    name: tuple(getattr(bound, which) for bound in field.metadata for which in ("ge", "le")
                if hasattr(bound, which))
    for fields in (ClusterConfig.model_fields, MethodSettings.model_fields)
    for name, field in fields.items()
    if name in ("workers", "concurrency", "max_answers", "tool_calls")
}  # fmt: skip


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"problems": "three"}, "problems is 'three': it must be a whole number or None"),
        ({"problems": 2.0}, "problems is 2.0: it must be a whole number or None"),
        ({"seed": True}, "seed is True: it must be a whole number"),
        ({"data": 5}, "data is 5: it must be a string, a path, a list of dicts, a table of"),
        (
            {"data": b"pairs"},
            "the data is of type bytes: it must be a path, a list of dicts or a table of",
        ),
        ({"problem": "one"}, "problem is 'one': it must be a list of strings"),
        ({"problem": [1]}, "problem is [1]: it must be a list of strings"),
        (
            {"observations": 1.5},
            "observations is 1.5: it must be a whole number, a string, a path or",
        ),
        ({"model": 7}, "model is 7: it must be a string or an object with `propose`"),
        ({"temperature": "hot"}, "temperature is 'hot': it must be a number or None"),
        ({"temperature": float("nan")}, "temperature is nan: it must be a number or None"),
        ({"model_arg": 3}, "model_arg is 3: it must be a list of strings or a mapping"),
        ({"model_arg": {1: 2}}, "model_arg is {1: 2}: it must be a list of strings or a mapping"),
        ({"strict_sandbox": 1}, "strict_sandbox is 1: it must be True or False"),
        ({"strict_contract": "yes"}, "strict_contract is 'yes': it must be True or False"),
        ({"workers": "2"}, "workers is '2': it must be a whole number or None"),
        ({"on_event": "print"}, "on_event is 'print': it must be a function or None"),
        ({"callbacks": None}, "callbacks is None: it must be a list"),
        ({"store": 1}, "store is 1: it must be a string, a path or None"),
        ({"workers": 0}, "workers is 0: it must be at least 1"),
        ({"workers": 100_000_000}, "workers is 100000000: it must be at most 256"),
        ({"concurrency": 100_000_000}, "concurrency is 100000000: it must be at most 1,000"),
    ],
)
def test_an_odd_argument_is_named_with_its_value_and_what_is_valid(setting, options, said):
    with pytest.raises(UsageError) as caught:
        setting.run(**options)
    assert str(caught.value).startswith(said) and "\n" not in str(caught.value)
    assert not Path(setting.store).exists()


def test_every_public_function_checks_its_arguments():
    odd = object()
    for name in peirce.__all__:
        function = getattr(peirce, name)
        if not inspect.isfunction(function) or name == "tasks_list":
            continue
        parameters = list(inspect.signature(function).parameters.values())
        given = [
            one for one in parameters if one.default is one.empty and one.kind < one.VAR_KEYWORD
        ]
        positional = [odd for one in given if one.kind < one.KEYWORD_ONLY]
        named = {one.name: odd for one in given if one.kind == one.KEYWORD_ONLY}
        if not given:
            named = {parameters[0].name: odd}
        with pytest.raises(UsageError, match=f"^{(given or parameters)[0].name} is <object object"):
            done = function(*positional, **named)
            if inspect.iscoroutine(done):
                asyncio.run(done)


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_hold_in_every_verb_that_takes_the_argument(setting, name):
    record = Path(setting.folder) / "answers.jsonl"
    calls = {
        "run": lambda **more: setting.run(**more),
        "resume": lambda **more: peirce.resume(store=setting.run().store, **more),
        "replay": lambda **more: peirce.replay(**more),
        "check": lambda **more: peirce.check("examples", record, data=setting.data, **more),
    }
    for verb, call in calls.items():
        taken = {*inspect.signature(getattr(peirce, verb)).parameters}
        if verb in OPTIONS:
            taken |= {*OPTIONS[verb].__annotations__}
        if name in taken:
            for value in (BOUNDS[name][0] - 1, BOUNDS[name][1] + 1):
                with pytest.raises(UsageError, match=f"{name} is {value}: it must be at"):
                    call(**{name: value})


@pytest.mark.parametrize("name", BOUNDS)
def test_a_bound_itself_is_accepted(name):
    for value in BOUNDS[name]:
        RunConfig.from_options({name: value}, graphs)


def test_a_wrapped_verb_keeps_its_name_its_signature_and_its_words():
    verbs = [name for name in peirce.__all__ if name.islower()]
    assert [getattr(peirce, verb).__name__ for verb in verbs] == verbs
    assert "on_event" in str(inspect.signature(peirce.run))
    assert "Run a session" in str(peirce.run.__doc__)
    with pytest.raises(TypeError, match="sead"):
        peirce.sessions(sead=1)


@pytest.mark.parametrize(
    ("task", "options"),
    [("examples", {"data": "x" * 300}), ("list_functions", {"store": "x" * 300, "problems": 1})],
)
def test_a_path_that_is_too_long_is_one_sentence(task, options):
    with pytest.raises(PeirceError, match="too long"):
        peirce.run(task, **options)
