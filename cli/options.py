"""The options of the command line: each means the same in every verb that takes it.

A setting may also stand in the environment or in peirce.toml (configuration.py).
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import typer

DATA, MODEL, TEXT = "Data", "Model and method", "Labelled text"
RUNNING, OUTPUT = "Running", "Output"
WHAT, OF_TRAINING = "What is trained", "Settings of a training"
OWN_FILE = (WHAT, OF_TRAINING)  # panels whose settings stand in YAML (--config), not in peirce.toml


def examples(*lines: str) -> str:
    """An epilog: command lines to copy, each on a line of its own where the terminal is as wide."""
    return "\n".join(("To copy:", *(f"  {line}" for line in lines)))


def _option(panel: str, text: str, *names: str, **rest: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, show_envvar=False, **rest)


Task: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="A task (`peirce tasks list` has them) or the path of your own task file.",
        show_default=False,
    ),
]
SessionName: TypeAlias = Annotated[
    str, typer.Argument(help="An id, a unique prefix of one, or last.", metavar="SESSION")
]

Data: TypeAlias = Annotated[
    str | None,
    _option(DATA, "Published or your own file or folder, plain or gzip; else the task's generator.",
            metavar="PATH"),
]  # fmt: skip
Problems: TypeAlias = Annotated[
    int | None, _option(DATA, "The first N problems (generated ones: 12).", metavar="N")
]
Sample: TypeAlias = Annotated[
    int | None,
    _option(DATA, "N problems of the data, drawn by the seed whatever --observations is.",
            metavar="N"),
]  # fmt: skip
Subset: TypeAlias = Annotated[
    list[str] | None,
    _option(DATA, "Only problems of this split, as preference pairs are split: train, validation,"
            " held-out; repeatable.", metavar="SPLIT"),
]  # fmt: skip
SplitSeed: TypeAlias = Annotated[
    int, _option(DATA, "Which problems stand in which split.", metavar="N")
]
SplitFractions: TypeAlias = Annotated[
    str | None,
    _option(DATA, "Groups of problems for training, for validation, held out (.5,.1,.4).",
            metavar="A,B,C"),
]  # fmt: skip
SplitFixed: TypeAlias = Annotated[
    str | None,
    _option(DATA, "Groups whose split is given: JSON, an object of lists by split.",
            metavar="FILE"),
]  # fmt: skip
ProblemIds: TypeAlias = Annotated[
    list[str] | None, _option(DATA, "This problem alone; repeatable.", "--problem", metavar="ID")
]
Observations: TypeAlias = Annotated[
    str | None,
    _option(DATA, "Show N pairs drawn from each problem's, or those of a file in GEAR's form; the"
            " rest is hidden. Else the original split.", metavar="N|FILE"),
]  # fmt: skip
Space: TypeAlias = Annotated[
    str | None,
    _option(DATA, "A sample space as JSONL, an input a line; else the task's own.", metavar="FILE"),
]
Seed: TypeAlias = Annotated[
    int,
    _option(DATA, "Of problems made or drawn, of drawn observations and of the model's sampling."),
]

MethodName: TypeAlias = Annotated[
    str,
    _option(
        MODEL,
        "How a session goes: abduce, refine, io, t3, imported for recorded answers; on labelled text"
        " also hypogenic, hyporefine, literature, union, zero-shot-gen, direct, infer.",
    ),
]
Model: TypeAlias = Annotated[
    str,
    _option(
        MODEL,
        "search, openai:NAME, http://host:port/v1#NAME, hf:FOLDER (hf:ID, hf:BASE+ADAPTER),"
        " recorded:FILE or scripted:FILE.",
    ),
]
MaxAnswers: TypeAlias = Annotated[
    int | None, _option(MODEL, "At most so many answers a problem (25; refine 8; io asks once).")
]
ToolCalls: TypeAlias = Annotated[
    int | None,
    _option(MODEL, "At most so many tool calls an answer (4; refine and io 0); 0 offers the model"
            " no tools."),
]  # fmt: skip
Feedback: TypeAlias = Annotated[
    bool | None,
    _option(MODEL, "Whether the next prompt says where an answer failed (default: where the model"
            " takes no tools).", "--feedback/--no-feedback"),
]  # fmt: skip
TargetGap: TypeAlias = Annotated[
    float | None,
    _option(MODEL, "Of refine on abd: stop at a valid rule whose cost is so near to its lower bound,"
            " a prompt world (1.0).", metavar="GAP"),
]  # fmt: skip
Repair: TypeAlias = Annotated[
    str | None,
    _option(MODEL, "Of refine on abd: search mends and shrinks each answer that falls short of the"
            " target.", metavar="search"),
]  # fmt: skip
Label: TypeAlias = Annotated[
    str | None,
    _option(DATA, "Of labelled text: the column of the labels, where no config names it.",
            metavar="COLUMN"),
]  # fmt: skip
Ood: TypeAlias = Annotated[
    str | None, _option(DATA, "Of labelled text: which OOD file, where there are several.",
                        metavar="NAME"),
]  # fmt: skip
Examples: TypeAlias = Annotated[
    str | None,
    _option(
        TEXT,
        "Rows in the first prompt, or all of them (10; with model search all).",
        metavar="N|all",
    ),
]
Hypotheses: TypeAlias = Annotated[
    int | None, _option(TEXT, "Hypotheses asked for in one prompt (10; io and refine 5; with model search"
            " 20).",
                        metavar="N"),
]  # fmt: skip
Rounds: TypeAlias = Annotated[
    int | None,
    _option(
        TEXT, "Passes through the rows (1); of method t3, on any task, its rounds (5).", metavar="N"
    ),
]
Tau: TypeAlias = Annotated[
    float | None,
    _option(TEXT, "Share of the rows it covers that a consistent sentence is right on (0.7).",
            metavar="SHARE"),
]  # fmt: skip
JudgeHow: TypeAlias = Annotated[
    str | None,
    _option(TEXT, "auto: exact rules judge themselves, a model the other sentences; exact: no model"
            " is asked; model: it judges all.", metavar="auto|exact|model"),
]  # fmt: skip
Repeats: TypeAlias = Annotated[
    int | None,
    _option(TEXT, "Times that a model judge is asked; the majority counts (1).", metavar="N"),
]
Prompts: TypeAlias = Annotated[
    str | None,
    _option(TEXT, "own, or config: the prompts that the data set's config brings (own).",
            metavar="own|config"),
]  # fmt: skip
Shots: TypeAlias = Annotated[
    int | None,
    _option(TEXT, "Of direct: labelled rows in each prompt (0: zero-shot).", metavar="N"),
]
Inference: TypeAlias = Annotated[
    str | None,
    _option(TEXT, "How the bank is read: best, filter-weight, one-step, two-step, multi, weighted, or"
            " choose, which tries them on validation rows (multi; with model"
            " search weighted).", metavar="STRATEGY"),
]  # fmt: skip
ValidationRows: TypeAlias = Annotated[
    int | None,
    _option(TEXT, "At most so many validation rows score a hypothesis for a choice (all; under a"
            " model judge 50).", metavar="N"),
]  # fmt: skip
Split: TypeAlias = Annotated[
    list[str] | None,
    _option(TEXT, "Predict these rows alone: val, ind, ood; repeatable.", metavar="SPLIT"),
]
Literature: TypeAlias = Annotated[
    str | None,
    _option(TEXT, "Papers: a folder or file of PDF, Markdown, text, .bib or .jsonl.",
            metavar="DIR"),
]  # fmt: skip
Banks: TypeAlias = Annotated[
    list[str] | None,
    _option(TEXT, "A stored bank: a session, or a file of `peirce bank`; repeatable (union).",
            "--bank", metavar="SESSION|FILE"),
]  # fmt: skip
MethodArg: TypeAlias = Annotated[
    list[str] | None,
    _option(TEXT, "Any other setting of a method on labelled text, as capacity=20; repeatable.",
            metavar="K=V"),
]  # fmt: skip
AnswerFormat: TypeAlias = Annotated[
    str | None,
    _option(MODEL, "What an answer looks like; for programs tuple, json or fenced_function."),
]
StrictContract: TypeAlias = Annotated[
    bool,
    _option(
        MODEL,
        "An answer that breaches its contract (imports, a second function, …) is malformed; else"
        " it runs and the breach is counted.",
        "--strict-contract",
    ),
]
History: TypeAlias = Annotated[
    str, _option(MODEL, "How earlier hypotheses are shown: descriptions or chat.")
]
Template: TypeAlias = Annotated[
    str | None,
    _option(MODEL, "Of prompts: full (the default), or compact, few tokens for small models.",
            metavar="full|compact"),
]  # fmt: skip
Temperature: TypeAlias = Annotated[
    float | None, _option(MODEL, "Of the model's sampling; 0 is greedy.")
]
TopP: TypeAlias = Annotated[float | None, _option(MODEL, "Of the model's sampling.")]
MaxTokens: TypeAlias = Annotated[int | None, _option(MODEL, "Of one answer (local models: 1024).")]
ReasoningEffort: TypeAlias = Annotated[
    str | None, _option(MODEL, "A word of the endpoint, as low or high.", metavar="WORD")
]
TimeoutS: TypeAlias = Annotated[
    float | None, _option(MODEL, "Of one request to an endpoint, in seconds (300).", "--timeout-s")
]
Retries: TypeAlias = Annotated[
    int | None, _option(MODEL, "Of one call to an endpoint after its first request (5).")
]
ModelArg: TypeAlias = Annotated[
    list[str] | None,
    _option(
        MODEL,
        "Any other setting of the model, or field of an endpoint's request; V is JSON or"
        " text; repeatable.",
        metavar="K=V",
    ),
]
JudgeModel: TypeAlias = Annotated[
    str | None, _option(MODEL, "Labels texts, where it is not the proposer.")
]
ScorerModel: TypeAlias = Annotated[
    str | None, _option(MODEL, "Scores hypotheses (`rate`; a session records it).")
]
LiteratureModel: TypeAlias = Annotated[
    str | None, _option(MODEL, "Reads papers, where it is not the proposer.")
]
RoleSettings: TypeAlias = Annotated[
    list[str] | None,
    _option(MODEL, "Of the model of judge, scorer or literature, as judge.temperature=0;"
            " repeatable.", "--role", metavar="ROLE.K=V"),
]  # fmt: skip
BudgetExpansions: TypeAlias = Annotated[
    int | None, _option(MODEL, "How far `search` looks before each answer (150,000).")
]
Preset: TypeAlias = Annotated[
    str | None,
    _option(
        MODEL, "Of `search`: quick, standard, thorough; of rules about worlds also tight, safe."
    ),
]

BudgetTokens: TypeAlias = Annotated[
    int | None,
    _option(RUNNING, "Stop before a model call once so many tokens, in and out, were taken; the rest"
            " stays open.", metavar="N"),
]  # fmt: skip
BudgetUsd: TypeAlias = Annotated[
    float | None, _option(RUNNING, "The same in US dollars; needs --price-in and --price-out.")
]
PriceIn: TypeAlias = Annotated[
    float | None, _option(RUNNING, "US dollars a million tokens going in.")
]
PriceOut: TypeAlias = Annotated[
    float | None, _option(RUNNING, "The same coming out, reasoning included.")
]
PriceCached: TypeAlias = Annotated[
    float | None, _option(RUNNING, "The same going in from the endpoint's cache (default: as in).")
]
MaxFailures: TypeAlias = Annotated[
    int | None, _option(RUNNING, "Stop when so many problems failed; the rest stays open.",
                        metavar="N"),
]  # fmt: skip

Cache: TypeAlias = Annotated[
    bool, _option(RUNNING, "Whether what another session of the store asked of the same model, with"
                  " the same settings and seed, is answered from there.", "--cache/--no-cache"),
]  # fmt: skip
CacheAgain: TypeAlias = Annotated[
    bool | None, _option(RUNNING, "The same; else as recorded.", "--cache/--no-cache")
]

SandboxName: TypeAlias = Annotated[str, _option(RUNNING, "Where hypotheses run.")]
SandboxAgain: TypeAlias = Annotated[
    str | None, _option(RUNNING, "Where hypotheses run; else as recorded.", "--sandbox")
]
StrictSandbox: TypeAlias = Annotated[
    bool, _option(RUNNING, "Refuse to run where a wanted layer is missing.", "--strict-sandbox")
]
Clean: TypeAlias = Annotated[
    bool, _option(RUNNING, "First remove what crashed sessions left: containers, images, control"
                  " groups.", "--clean"),
]  # fmt: skip
Workers: TypeAlias = Annotated[
    int | None,
    _option(
        RUNNING,
        "Sandbox or solver processes (default: one a core, of the solver one; at most 256).",
    ),
]
SolverOption: TypeAlias = Annotated[
    str,
    _option(RUNNING, "What judges rules about worlds: fast (Z3 only where the fast path ends) or"
            " z3.", "--solver"),
]  # fmt: skip
SolverAgain: TypeAlias = Annotated[
    str | None, _option(RUNNING, "What judges rules about worlds; else as recorded.", "--solver")
]
Concurrency: TypeAlias = Annotated[
    int | None,
    _option(
        RUNNING,
        "Problems side by side (default: 8; of a local model half as many again as its batch; at most 1,000).",
    ),
]

Evaluator: TypeAlias = Annotated[
    str,
    _option(RUNNING, "Of rules about worlds: exact, or released, which reproduces the published"
            " evaluator.", metavar="exact|released"),
]  # fmt: skip

StoreFile: TypeAlias = Annotated[
    str | None,
    _option(OUTPUT, "The DuckDB file ($PEIRCE_STORE, else peirce.duckdb here).", "--store",
            metavar="FILE"),
]  # fmt: skip
FilledSheets: TypeAlias = Annotated[
    list[str] | None,
    _option(DATA, "A sheet of `agree` that somebody filled, CSV or JSONL, a rater each; repeatable.",
            "--ratings", metavar="FILE"),
]  # fmt: skip
DryRun: TypeAlias = Annotated[
    bool, _option(OUTPUT, "Say how many calls it would take; ask nothing, make no store.",
                  "--dry-run"),
]  # fmt: skip
Quiet: TypeAlias = Annotated[bool, _option(OUTPUT, "No progress on stderr.", "--quiet", "-q")]
AsJson: TypeAlias = Annotated[
    bool, _option(OUTPUT, "Data on stdout as JSON, and nothing else there.", "--json")
]
