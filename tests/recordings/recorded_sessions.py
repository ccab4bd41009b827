"""The recorded sessions: how each is run, in which store it stands, and what it covers.

Their files are those of material.py, named by paths relative to the working folder, so that no path
of a machine stands in a store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import peirce
from peirce.agents.scripted import ScriptedProposer
from peirce.records import Reply, Unavailable, Usage
from recorded_material import DOUBLE, SAME, TAIL, pair

Ids = Mapping[str, str]  # of the sessions run so far, by name
LISTS = {"task": "list_functions", "data": "lists.jsonl", "space": "lists_space.jsonl"}
EXAMPLES = {"task": "examples", "data": "pairs.csv", "space": "lists_space.jsonl"}
TOOLS = {**LISTS, "model": "scripted:tools.json", "strict_contract": True, "tool_calls": 2}
TEXTS = {"task": "labels", "data": "meetings", "model": "scripted:texts.json", "observations": 20}
SMALL = {"top": 2, "wrong": 2, "capacity": 5}  # figures of HypoGeniC's algorithm, for few rows


@dataclass(frozen=True)
class Recorded:
    """A session of a store. options: of `peirce.run`, or what makes them from the ids so far."""

    name: str
    store: str
    covers: str
    options: Mapping[str, Any] | Callable[[Ids], Mapping[str, Any]]
    run: Callable[..., Any] = peirce.run

    def record(self, store: str, ids: Ids, **more: Any) -> str:
        """Run it into the store and return its id. more: operational options of `peirce.run`."""
        given = self.options(ids) if callable(self.options) else self.options
        options = {**given, **more}
        name = options.pop("task", None)
        first = () if name is None else (name,)
        return str(self.run(*first, store=store, **options).session)


def counted(text: str) -> Reply:
    """An answer that took a hundred tokens."""
    return Reply(text, usage=Usage(tokens_in=80, tokens_out=20, tokens_cached=10))


def spending_model() -> ScriptedProposer:
    """Each answer takes tokens, so that a budget can end the session."""
    texts = (pair("All but the first.", TAIL), pair("Twice.", DOUBLE), pair("The list.", SAME))
    return ScriptedProposer([counted(text) for text in texts])


def failing_model() -> ScriptedProposer:
    """One problem of two meets an outage."""
    outage = Unavailable("The endpoint is down.")
    return ScriptedProposer(
        {"tail": [pair("All but the first.", TAIL), outage], "*": [pair("No.", SAME)]}
    )


def _import(task: str, file: str, **options: Any) -> Any:
    return peirce.import_recorded(file, task=task, **options)


SESSIONS = (
    Recorded(
        "lists_search", "programs", "list_functions, abduce, search",
        {**LISTS, "budget_expansions": 1_500, "max_answers": 3, "seed": 3},
    ),
    Recorded(
        "lists_made", "programs", "generated problems, drawn observations, a preset of search",
        {"task": "list_functions", "space": "lists_space.jsonl", "problems": 1, "observations": 4,
         "seed": 7, "model": "search:quick", "max_answers": 2},
    ),
    Recorded(
        "lists_tools", "programs", "tuple, tools, strict contract, a loop without end, feedback",
        {**TOOLS, "feedback": True},
    ),
    Recorded(
        "lists_cached", "programs", "the same, answered from the session before",
        {**TOOLS, "feedback": True, "concurrency": 1},
    ),
    Recorded(
        "pairs_json_chat", "programs", "examples from CSV, json, history chat, no tools",
        {**EXAMPLES, "model": "scripted:json.json", "answer_format": "json", "history": "chat",
         "tool_calls": 0},
    ),
    Recorded(
        "pairs_fenced_compact", "programs", "fenced_function, template compact, feedback",
        {**EXAMPLES, "model": "scripted:fenced.json", "answer_format": "fenced_function",
         "template": "compact", "feedback": True},
    ),
    Recorded(
        "lists_subset", "programs", "a sample of problems, splits, a file of observations, io",
        {**LISTS, "observations": "shown.json", "sample": 2, "subset": ["train", "validation"],
         "split_seed": 1, "fractions": [0.6, 0.4, 0.0], "method": "io",
         "model": "scripted:killed.json"},
    ),
    Recorded(
        "acre_t3", "programs", "acre, t3 in two rounds, search",
        {"task": "acre", "data": "acre.jsonl", "space": "acre_space.jsonl", "method": "t3",
         "rounds": 2},
    ),
    Recorded(
        "mini_arc_io", "programs", "mini_arc, io, search",
        {"task": "mini_arc", "data": "miniarc.jsonl", "method": "io"},
    ),
    Recorded(
        "arc_refine", "programs", "arc, refine, scripted",
        {"task": "arc", "data": "arc.jsonl", "method": "refine", "model": "scripted:grids.json"},
    ),
    Recorded(
        "own_task", "programs", "an own task file with tolerance, weights and a generated space",
        {"task": "spring.yaml", "model": "scripted:spring.json"},
    ),
    Recorded(
        "lists_imported", "programs", "imported answers in turns, with fields",
        {**LISTS, "file": "answers.jsonl"},
        _import,
    ),
    Recorded(
        "lists_budget", "programs", "a proposer object; a budget of tokens ends it, with prices",
        lambda ids: {**LISTS, "model": spending_model(), "budget_tokens": 250,
                     "price_in": 1.0, "price_out": 4.0, "concurrency": 1, "cache": False},
    ),
    Recorded(
        "lists_failed", "programs", "a problem that fails by an outage",
        lambda ids: {**LISTS, "model": failing_model(), "max_failures": 2, "cache": False},
    ),
    Recorded(
        "lists_whole", "programs", "what the killed session comes to when nobody kills it",
        {**LISTS, "model": "scripted:killed.json", "tool_calls": 1, "concurrency": 1},
    ),
    Recorded(
        "abd_search", "logic", "an own theory, abduce, search",
        {"task": "abd", "data": "birds.json", "max_answers": 2, "model": "search:tight"},
    ),
    Recorded(
        "abd_repair", "logic", "full regime, refine with repair by search, a target gap",
        {"task": "abd", "data": "worlds_full.json", "method": "refine", "repair": "search",
         "model": "scripted:mended.json", "target_gap": 0.0, "max_answers": 3},
    ),
    Recorded(
        "abd_refine", "logic", "full regime, refine to the usual gap",
        {"task": "abd", "data": "worlds_full.json", "method": "refine",
         "model": "scripted:mended.json"},
    ),
    Recorded(
        "abd_tools", "logic", "skeptical regime, the tool solve, Z3",
        {"task": "abd", "data": "worlds_skeptical.json", "model": "scripted:rules.json",
         "solver": "z3"},
    ),
    Recorded(
        "abd_t3_compact", "logic", "partial regime, t3, template compact, strict contract",
        {"task": "abd", "data": "worlds_partial.json", "method": "t3", "rounds": 2,
         "model": "scripted:rules.json", "template": "compact", "strict_contract": True},
    ),
    Recorded(
        "abd_io", "logic", "io",
        {"task": "abd", "data": "worlds_full.json", "method": "io", "model": "scripted:rules.json"},
    ),
    Recorded(
        "abd_imported", "logic", "predictions of one of two models, imported",
        {"task": "abd", "data": "worlds_full.json", "file": "predictions.jsonl",
         "of_model": "one"},
        _import,
    ),
    Recorded(
        "text_hypogenic", "text", "hypogenic with a bank that grows, read by multi",
        {**TEXTS, "method": "hypogenic", "hypotheses": 4, "examples": 10, "rounds": 2,
         "method_arg": SMALL},
    ),
    Recorded(
        "text_hyporefine", "text", "hyporefine, papers read by a model of their own",
        {**TEXTS, "method": "hyporefine", "literature": "papers", "hypotheses": 3,
         "method_arg": {**SMALL, "rewrites": 3},
         "roles": {"literature": {"model": "scripted:texts.json"}}},
    ),
    Recorded(
        "text_literature", "text", "literature, the bank read by its best",
        {**TEXTS, "method": "literature", "literature": "papers", "hypotheses": 4,
         "inference": "best"},
    ),
    Recorded(
        "text_union", "text", "union, filter-weight",
        {**TEXTS, "method": "union", "literature": "papers", "hypotheses": 4, "method_arg": SMALL,
         "inference": "filter-weight"},
    ),
    Recorded(
        "text_zero_shot", "text", "zero-shot-gen, two-step, a judge of its own",
        {**TEXTS, "method": "zero-shot-gen", "hypotheses": 4, "inference": "two-step",
         "roles": {"judge": {"model": "scripted:judge.json"}}},
    ),
    Recorded(
        "text_direct", "text", "direct, few-shot, the judge alone",
        {**TEXTS, "method": "direct", "shots": 2,
         "roles": {"judge": {"model": "scripted:texts.json"}}},
    ),
    Recorded(
        "text_infer", "text", "infer over the bank of a session, one-step",
        lambda ids: {**TEXTS, "method": "infer", "bank": [ids["text_zero_shot"]],
                     "inference": "one-step"},
    ),
    Recorded(
        "text_io_json", "text", "io, json, one split",
        {**TEXTS, "method": "io", "examples": "all", "answer_format": "json", "split": ["ind"]},
    ),
    Recorded(
        "text_refine", "text", "refine, a strategy chosen on validation rows",
        {**TEXTS, "method": "refine", "hypotheses": 2, "inference": "choose",
         "validation_rows": 3, "max_answers": 3},
    ),
    Recorded(
        "text_abduce_chat", "text", "abduce, a model judges everything twice, history chat",
        {**TEXTS, "method": "abduce", "max_answers": 3, "judge": "model", "repeats": 2,
         "history": "chat"},
    ),
    Recorded(
        "text_t3", "text", "t3",
        {**TEXTS, "method": "t3", "rounds": 1, "tau": 0.6},
    ),
    Recorded(
        "text_config", "text", "the published layout with prompts, known rules and OOD rows",
        {**TEXTS, "data": "made", "method": "hypogenic", "prompts": "config", "hypotheses": 3,
         "method_arg": SMALL, "inference": "filter-weight"},
    ),
    Recorded(
        "text_label", "text", "a CSV whose label column is named, parted by the seed",
        {"task": "labels", "data": "visits.csv", "label": "verdict", "seed": 2,
         "method": "hypogenic", "model": "scripted:texts.json", "hypotheses": 3, "judge": "exact",
         "method_arg": {**SMALL, "alpha": 0.25}, "inference": "weighted"},
    ),
    Recorded(
        "text_search", "text", "hypogenic, search, the bank read by weights",
        {"task": "labels", "data": "more_meetings", "method": "hypogenic", "hypotheses": 5},
    ),
)  # fmt: skip

STORES = ("programs", "logic", "text")  # whose sessions can be run again
# The session `lists_whole` from the command line: a part of it in flags, in the environment, in a file.
COMMAND = ["run", "list_functions", "--data", "lists.jsonl", "--quiet", "--json"]
ENVIRONMENT = {"PEIRCE_CONFIG": "killed.toml", "PEIRCE_CONCURRENCY": "1"}


def run_store(name: str, path: str, **more: Any) -> dict[str, str]:
    """Run all sessions of a store into a new one at `path`, in their order; return ids by name.
    more: operational options of each."""
    ids: dict[str, str] = {}
    for one in SESSIONS:
        if one.store == name:
            ids[one.name] = one.record(path, ids, **more)
    return ids
