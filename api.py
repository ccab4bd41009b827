"""The verbs of Peirce as functions; the command line only calls them.

    import peirce
    session = peirce.run("list_functions", problems=12, model="search")
    print(session.metrics["gamma"]["mean"])

A session is named by its id, a unique prefix of it, or "last"; a store by its file (default
$PEIRCE_STORE, else peirce.duckdb here). What a verb returns holds the keys of the command line's
`--json`. Expected ends are raised as `records.PeirceError`, an argument of another type than is
declared here as `records.UsageError`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .records import Json, Limits, Proposer, StoreError, UsageError
from .store import Store
from .verbs.arguments import checked
from .verbs.checking import check
from .verbs.diagnosis import doctor as diagnose
from .verbs.driving import OnEvent, complete, drive
from .verbs.forecast import planned
from .verbs.outcome import Session, Trace, outcome, reading, store_path
from .verbs.problems import choose, task_like, tasks_generate, tasks_list, tasks_show, tasks_space
from .verbs.roles import model_options, role_settings
from .verbs.settings import (
    course,
    given,
    model_args_of,
    model_name,
    one_of,
    shown_model,
    shown_settings,
    spending_of,
    split_model,
)

__all__ = [
    "Session", "Trace", "bank", "check", "doctor", "evaluate", "export", "import_recorded", "load",
    "plan", "replay", "resume", "run", "sessions", "show", "store_path", "tasks_generate", "tasks_list",
    "tasks_show", "tasks_space",
]  # fmt: skip

CONCURRENCY = 8  # problems side by side
COURSE = {"max_bad": 3, "tool_calls": 4}
doctor = checked(diagnose)


# --- run, resume, import -------------------------------------------------------


@checked
def run(
    task: str,
    *,
    data: str | Path | None = None,
    problems: int | None = None,
    problem: Sequence[str] = (),
    observations: int | str | Path | None = None,
    space: str | Path | None = None,
    method: str = "abduce",
    model: str | Proposer = "search",
    seed: int = 0,
    answer_format: str | None = None,
    history: str = "descriptions",
    strict_contract: bool = False,
    max_answers: int = 25,
    temperature: float | None = None,
    top_p: float | None = None,
    max_tokens: int | None = None,
    reasoning_effort: str | None = None,
    timeout_s: float | None = None,
    retries: int | None = None,
    model_arg: Sequence[str] | Mapping[str, Json] = (),
    roles: Mapping[str, Any] | None = None,
    budget_expansions: int | None = None,
    preset: str | None = None,
    budget_tokens: int | None = None,
    budget_usd: float | None = None,
    price_in: float | None = None,
    price_out: float | None = None,
    price_cached: float | None = None,
    max_failures: int | None = None,
    store: str | Path | None = None,
    sandbox: str = "process",
    strict_sandbox: bool = False,
    workers: int | None = None,
    concurrency: int | None = None,
    on_event: OnEvent | None = None,
    callbacks: Sequence[Any] = (),
) -> Session:
    """Runs a session on the problems of `task` and returns what it came to.

    `model` is a model string or a Proposer of your own (`resume` then needs it again). `on_event`
    is told what happens (see reports/screen.py); `callbacks` are LangChain's, for tracing.
    `model_arg`: further settings of the model, or fields of an endpoint's request. `roles`:
    {"judge": {"model": …, "temperature": …}}, recorded; no method asks them yet.
    """
    chosen = choose(
        task, data=data, problems=problems, problem=problem,
        observations=observations, space=space, seed=seed,
    )  # fmt: skip
    own = {
        "temperature": temperature, "top_p": top_p, "max_tokens": max_tokens,
        "reasoning_effort": reasoning_effort, "timeout_s": timeout_s, "retries": retries,
        "budget_expansions": budget_expansions, "preset": preset,
    }  # fmt: skip
    options = model_options(model, model_args_of(model_arg), own)
    others = role_settings(roles or {}, {}, ())
    if options and not isinstance(model, str):
        raise UsageError(
            f"a proposer object brings its own settings: leave out {', '.join(options)}"
        )
    if method == "imported" and isinstance(model, str) and not model.startswith("recorded:"):
        raise UsageError(
            f"method imported reads a record: model must be recorded:FILE, not {model!r}"
        )
    settings = course(chosen, method, answer_format, history) | {
        "seed": seed,
        "strict_contract": strict_contract,
        "max_answers": max_answers,
        **COURSE,
        "limits": asdict(Limits()),
    }
    path = store_path(store)
    limits = spending_of(
        budget_tokens=budget_tokens, budget_usd=budget_usd, price_in=price_in,
        price_out=price_out, price_cached=price_cached, max_failures=max_failures,
    )  # fmt: skip
    operational: dict[str, Json] = {
        "model": model if isinstance(model, str) else None,
        "model_options": options,
        "roles": others,
        "sandbox": sandbox,
        "strict_sandbox": strict_sandbox,
        "workers": workers,
        "concurrency": concurrency or CONCURRENCY,
        "store": str(path),
        "spending": limits,
        **chosen.sources,
    }

    def begin(opened: Store, model_settings: Json, layers: Mapping[str, bool]) -> str:
        shaping, answered = split_model(model_settings)
        shown = model_name(model, model_settings, shown=True)
        whole = settings | {
            "model": model_name(model, model_settings),
            "model_settings": shaping,
            "operational": operational | {"layers": dict(layers), "model_name": shown, **answered},
        }
        return opened.create_session(whole, chosen.pairs)

    return outcome(path, complete(drive(path, begin, model, operational, on_event, callbacks)))


@checked
def plan(task: str, **options: Any) -> dict[str, Json]:
    """What `run` with these options would take, as `verbs.forecast.forecast` counts it: {task,
    method, model, seed, problems, calls: {role: {least, most}}}. Asks nothing, makes no store."""
    defaults = {k: p.default for k, p in inspect.signature(run).parameters.items() if k != "task"}
    return planned(task, defaults, options, COURSE)


@checked
def resume(
    session: str = "last",
    *,
    model: Proposer | None = None,
    store: str | Path | None = None,
    timeout_s: float | None = None,
    retries: int | None = None,
    sandbox: str | None = None,
    strict_sandbox: bool | None = None,
    workers: int | None = None,
    concurrency: int | None = None,
    budget_tokens: int | None = None,
    budget_usd: float | None = None,
    price_in: float | None = None,
    price_out: float | None = None,
    price_cached: float | None = None,
    max_failures: int | None = None,
    retry_failed: bool = False,
    on_event: OnEvent | None = None,
    callbacks: Sequence[Any] = (),
) -> Session:
    """Goes on where `session` stopped, with the settings that it recorded. Problems that failed (an
    endpoint that was down) are left as they are unless `retry_failed`. Budgets count what was spent
    before; one given here takes the place of the one that the session began with."""
    path = store_path(store)
    with reading(path) as opened:
        found = opened.find(session)
        record = opened.session(found)
    settings = record["settings"]
    operational = settings["operational"] | given(
        sandbox=sandbox, strict_sandbox=strict_sandbox, workers=workers, concurrency=concurrency
    )
    begun = record.get("spending") or settings["operational"].get("spending", {})
    operational["spending"] = spending_of(
        begun, budget_tokens=budget_tokens, budget_usd=budget_usd, price_in=price_in,
        price_out=price_out, price_cached=price_cached, max_failures=max_failures,
    )  # fmt: skip
    again_with = given(timeout_s=timeout_s, retries=retries)
    operational["model_options"] = {**operational["model_options"], **again_with}
    spec = model or operational["model"]
    if spec is None:
        raise UsageError(
            f"session {found} ran with a proposer object: resume it from Python, with"
            " peirce.resume(session, model=...)"
        )

    def again(opened: Store, model_settings: Json, layers: Mapping[str, bool]) -> str:
        shaping, begun = (split_model(s)[0] for s in (model_settings, settings["model_settings"]))
        if shaping != begun:
            raise UsageError(
                f"session {found} was begun with the model {begun}, not {shaping}: begin a new"
                " session for another one"
            )
        return found

    driven = drive(path, again, spec, operational, on_event, callbacks, retry_failed)
    return outcome(path, complete(driven))


@checked
def import_recorded(
    file: str | Path,
    *,
    data: str | Path | None = None,
    task: str | None = None,
    observations: int | str | Path | None = None,
    answer_format: str = "fenced_function",
    **options: Any,
) -> Session:
    """Judges every recorded answer of `file` on the problems of `data`; nothing is decided.

    The task is guessed from the record's "dataset" unless it is named; problems without a
    recorded answer are left out. Other options are `run`'s.
    """
    from .agents.recorded import read_record

    record = read_record(file)
    name = task or task_like(str(record.about.get("dataset", "")), file)
    if data is None:
        raise UsageError(
            f"{file} holds answers and no problems: name their file, as in"
            f" `peirce import {file} --data {name}.jsonl`"
        )
    here = choose(name, data=data, observations=observations, seed=options.get("seed", 0)).problems
    answered = [problem.id for problem in here if problem.id in record.answers]
    if not answered:
        raise UsageError(f"no problem of {data} has an answer in {file}")
    return run(
        name, data=data, problem=answered, observations=observations, method="imported",
        model=f"recorded:{file}", answer_format=answer_format, **options,
    )  # fmt: skip


# --- reading -------------------------------------------------------------------


@checked
def replay(
    session: str = "last",
    *,
    live: bool = False,
    store: str | Path | None = None,
    sandbox: str = "process",
    workers: int | None = None,
) -> dict[str, Json]:
    """Drives the session's graph with its journal alone: {session, steps, differences}.

    With `live` the tools are executed again, the models' answers still come from the journal.
    """
    from .graphs.replay import replay_session
    from .sandbox import open_sandbox

    async def again(opened: Store) -> dict[str, Json]:
        found = opened.find(session)
        if not live:
            return await replay_session(opened, found)
        executing = await open_sandbox(sandbox, workers)
        try:
            return await replay_session(opened, found, sandbox=executing, live=True)
        finally:
            await executing.close()

    with reading(store) as opened:
        return complete(again(opened))


@checked
def evaluate(
    *sessions: str,
    name: str | None = None,
    by_problem: bool = False,
    store: str | Path | None = None,
    out: str | Path | None = None,
) -> dict[str, Json]:
    """{"sessions": [{session, task, method, model, problems, metrics}]} from the store alone.

    name: gear or t3; without it the one that fits the task of the first session. out: a folder or
    file for the tables (see `listing.write_tables`).
    """
    from .reports import default_evaluation, evaluate_session
    from .verbs.listing import write_tables

    with reading(store) as opened:
        if sessions and name is None:
            _known_word(opened, sessions[0])
        found = [opened.find(session) for session in sessions or ("last",)]
        family = opened.session(found[0])["settings"]["family"]
        chosen = name or default_evaluation(family)
        scored = [
            evaluate_session(opened, session, chosen)
            | {"model": shown_model(opened.session(session)["settings"])}
            for session in found
        ]
    written = {"files": write_tables(scored, out)} if out is not None else {}
    if not by_problem:
        scored = [{k: v for k, v in one.items() if k != "by_problem"} for one in scored]
    return {"sessions": scored, **written}


def _known_word(store: Store, word: str) -> None:
    """Raises StoreError for a first word of `peirce eval` that is neither of the two."""
    from .reports import evaluations

    ids = [row["session"] for row in store.sessions()]
    if word != "last" and not any(session.startswith(word) for session in ids):
        names = ", ".join(one.name for one in evaluations())
        raise StoreError(
            f"there is neither an evaluation nor a session {word!r}: the evaluations are {names},"
            " and `peirce sessions` lists the sessions"
        )


@checked
def sessions(*, store: str | Path | None = None) -> list[dict[str, Json]]:
    """Every session of the store, oldest first: its id, status, counts and settings, and of these
    beside them task, method, seed, the model and the data by their names."""
    with reading(store) as opened:
        listed = opened.sessions()
    lifted = ("task", "method", "model", "seed", "data")
    return [
        row | {key: shown.get(key) for key in lifted}
        for row in listed
        for shown in (shown_settings(row["settings"]),)
    ]


@checked
def show(
    session: str = "last", problem: str | None = None, *, store: str | Path | None = None
) -> list[dict[str, Json]]:
    """One object a problem of the session, or one a hypothesis of the problem."""
    from .verbs.listing import show_problem, show_session

    with reading(store) as opened:
        found = opened.find(session)
        if problem is None:
            return show_session(opened, found)
        _known_problem(opened, found, problem)
        return show_problem(opened, found, problem)


@checked
def bank(
    session: str = "last",
    problem: str | None = None,
    *,
    alpha: float = 0.5,
    store: str | Path | None = None,
) -> list[dict[str, Json]]:
    """The session's bank, best first; alpha weighs exploration in the reward."""
    with reading(store) as opened:
        found = opened.find(session)
        if problem is not None:
            _known_problem(opened, found, problem)
        return opened.bank(found, problem, alpha)


def _known_problem(store: Store, session: str, problem: str) -> None:
    from .tasks.files import nearest

    ids = [row.problem.id for row in store.problems(session)]
    if problem not in ids:
        raise UsageError(f"no problem {problem!r} in session {session}{nearest(problem, ids)}")


@checked
def export(
    session: str = "last",
    out: str | Path = "export",
    *,
    format: str = "parquet",
    store: str | Path | None = None,
) -> dict[str, Json]:
    """Writes the session as Parquet or JSONL or as a Hugging Face dataset folder: {session,
    problems, steps} and what was written."""
    one_of("format", format, ("parquet", "jsonl", "huggingface"))
    from .reports import tally

    with reading(store) as opened:
        found = opened.find(session)
        steps = tally(opened.steps(found, spaces=False)).steps
        counted = {"session": found, "problems": len(opened.problems(found)), "steps": steps}
        return counted | opened.export(found, out, format)


@checked
def load(session: str = "last", *, store: str | Path | None = None) -> Trace:
    with reading(store) as opened:
        return Trace(opened.find(session), str(store_path(store)))
