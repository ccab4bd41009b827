"""What a session on labelled text is asked to do: the settings of its method, its judge, and what goes
with its problems (papers, a stored bank), checked before anything is opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...records import Digest, Family, InputSet, Json, Problem, Proposer, UsageError
from ..problems import Chosen
from .bank_files import read_bank
from .settings import model_args_of

# options of `run` that are settings of `graphs.text_settings.TextSettings`, by the names there
SETTINGS = ("examples", "hypotheses", "rounds", "tau", "judge", "repeats", "prompts", "shots",
            "inference")  # fmt: skip
OPTIONS = (*SETTINGS, "literature", "bank", "split", "method_arg", "validation_rows")
WITHOUT_JUDGE = ("search", "recorded")  # kinds of models that label no texts
ALL = "all"


def text_course(
    method: str,
    family: Family,
    problem: Problem,
    model: str | Proposer,
    options: Mapping[str, Any],
) -> dict[str, Json]:
    """{"text": settings, "text_prompt": a digest of the wording} of a session on labelled text, {} of
    another. problem: the first. Raises UsageError for options
    that only such sessions take, for unknown settings, and for a method that needs a judge."""
    from ... import graphs
    from ...graphs.inference import STRATEGIES
    from ...graphs.text_settings import TextSettings

    given = _given(options)
    if "rounds" in graphs.method(method, family.name).takes:
        given.pop("rounds", None)  # of conversations
    if family.oracle != "judge":
        if given:
            name = next(iter(given))
            raise UsageError(
                f"{name.replace('_', '-')} is {given[name]!r}: it is of tasks with labelled text,"
                f" as labels; {family.name} tasks take none"
            )
        return {}
    chosen = graphs.method(method, family.name)
    told = {name: value for name, value in given.items() if name in SETTINGS}
    if told.get("examples") == ALL:
        told["examples"] = None
    elif isinstance(told.get("examples"), str):
        told["examples"] = _whole("examples", told["examples"])
    if "validation_rows" in given:
        told["validation"] = given["validation_rows"]
    if "split" in given:
        told["splits"] = list(given["split"])
    arguments = model_args_of(given.get("method_arg", ()))
    judged = _can_judge(model, options)
    whole = {**chosen.text, **_of_model(model, judged, chosen.text), **arguments, **told}
    if not judged:
        if whole.get("judge") == "model" or "judge" in chosen.reads:
            raise UsageError(
                f"method {method} asks a model about texts, and model {model} answers no such"
                " question: name one with --model or --judge-model"
            )
        whole["judge"] = "exact"
    settings = TextSettings.from_json(whole)
    reading = settings.inference
    if reading is not None and reading not in (*STRATEGIES, "choose"):
        raise UsageError(
            f"inference is {reading!r}: it must be one of {', '.join((*STRATEGIES, 'choose'))}"
        )
    return {"text": settings.as_json(), "text_prompt": _prompt_hash(settings.prompts, problem)}


def _prompt_hash(source: str, problem: Problem) -> Digest:
    """Of our wording, or of the data set's own. Raises DataError for templates that cannot be filled."""
    from ...agents.config_prompts import ConfigPrompts
    from ...agents.text_prompts import text_prompt_hash

    prompts = ConfigPrompts.of(problem.public) if source == "config" else None
    return prompts.digest() if isinstance(prompts, ConfigPrompts) else text_prompt_hash()


def _of_model(model: str | Proposer, judged: bool, own: Mapping[str, Json]) -> dict[str, Json]:
    """The embedded search reads every row of the sample at once and answers with a whole bank, whose
    sentences are made to be weighed: not where a model judges, for that is a call a sentence and row,
    nor against what the method itself says. judged: whether one can."""
    if not isinstance(model, str) or model.partition(":")[0] != "search":
        return {}
    reading = {} if judged or "inference" in own else {"inference": "weighted"}
    return {"examples": None, "hypotheses": 20, **reading}


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in OPTIONS if options.get(name) not in (None, (), [], {})}


def _whole(name: str, text: str) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        raise UsageError(f"{name} is {text!r}: it must be a whole number from 1 on, or {ALL}")
    return int(text)


def _can_judge(model: str | Proposer, options: Mapping[str, Any]) -> bool:
    named = (options.get("roles") or {}).get("judge", {}).get("model")
    spec = named or model
    return not isinstance(spec, str) or spec.partition(":")[0] not in WITHOUT_JUDGE


def with_reading(
    chosen: Chosen, method: str, options: Mapping[str, Any], store: Path
) -> tuple[Chosen, dict[str, Json]]:
    """The problems with the papers and the banks that the method reads, and their sources as a
    session records them. Raises UsageError where the method needs what is not given, or the other
    way round; DataError, StoreError for what cannot be read."""
    from ... import graphs

    if chosen.task.family != "text":
        return chosen, {}
    reads = graphs.method(method, "text").reads
    if method == "union" and not options.get("literature") and len(options.get("bank") or ()) < 2:
        raise UsageError(
            "method union needs two banks (--bank DATA --bank LITERATURE), or --literature DIR to make"
            " both sides itself"
        )
    literature, banks = options.get("literature"), tuple(options.get("bank") or ())
    _check(method, "literature", literature, reads, "--literature DIR")
    _check(method, "bank", banks, reads, "--bank SESSION or --bank FILE")
    beside: dict[str, Json] = {}
    public: dict[str, Json] = {}
    if literature:
        from ...tasks.papers import paper_identity, read_papers

        papers = read_papers(literature)
        public["papers"] = [
            {"source": one.source, "title": one.title, "text": one.text} for one in papers
        ]
        beside["literature"] = paper_identity(literature)
    if not banks:
        return _enlarged(chosen, public, {}), beside
    read = [read_bank(one, store) for one in banks]
    beside["bank"] = [one.source for one in read]
    by_problem = {problem.id: [one.of(problem) for one in read] for problem in chosen.problems}
    return _enlarged(chosen, public, by_problem), beside


def _check(method: str, name: str, value: Any, reads: frozenset[str], how: str) -> None:
    from ... import graphs

    if value and name not in reads:
        able = [one.name for one in graphs.methods().values() if name in one.reads]
        raise UsageError(
            f"method {method} reads no {name}: leave out --{name}, or take one of {', '.join(able)}"
        )
    if not value and name in reads and name not in graphs.method(method, "text").optional:
        raise UsageError(f"method {method} needs {name}: give {how}")


def _enlarged(
    chosen: Chosen, public: Mapping[str, Json], banks: Mapping[str, Sequence[Json]]
) -> Chosen:
    def enlarged(problem: Problem) -> Problem:
        more = {**public, **({"banks": banks[problem.id]} if problem.id in banks else {})}
        return replace(problem, public={**problem.public, **more}) if more else problem

    pairs: list[tuple[Problem, InputSet]] = [(enlarged(one), space) for one, space in chosen.pairs]
    return replace(chosen, pairs=tuple(pairs))
