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

from collections.abc import Sequence
from pathlib import Path

from .commands.arguments import checked
from .commands.data.auditing import tasks_audit
from .commands.data.diagnosis import doctor as diagnose
from .commands.data.generating import tasks_generate
from .commands.outcome import Session, Trace, problem_in, reading, store_path
from .commands.problems import tasks_help, tasks_list, tasks_show, tasks_space
from .commands.score.agreeing import agree
from .commands.score.checking import check
from .commands.score.predicting import predict
from .commands.score.rating import rate
from .commands.score.reporting import report
from .commands.score.viewing import view
from .commands.session.driving import complete
from .commands.session.running import import_recorded, plan, resume, run
from .commands.session.settings import one_of, shown_model, shown_settings
from .commands.train.labelled_training import train_labels
from .commands.train.pairing import pair_sets, pairs
from .commands.train.pretraining import pretrain
from .commands.train.training import merge, train, training_curves, trainings
from .records import Json, StoreError
from .store import Store

__all__ = [
    "Session", "Trace", "agree", "bank", "baselines", "check", "doctor", "evaluate", "export", "import_recorded", "load",
    "merge", "pair_sets", "pairs", "plan", "predict", "pretrain", "rate", "replay", "report", "resume", "run", "sessions", "show", "store_path", "study", "tasks_audit",
    "tasks_generate", "tasks_help", "tasks_list", "tasks_show", "tasks_space", "train", "train_labels", "training_curves", "trainings", "view",
]  # fmt: skip

doctor = checked(diagnose)


@checked
def replay(
    session: str = "last",
    *,
    live: bool = False,
    store: str | Path | None = None,
    sandbox: str = "process",
    workers: int | None = None,
    solver: str = "fast",
) -> dict[str, Json]:
    """Drives the session's graph with its journal alone: {session, steps, differences}.

    With `live` the tools are executed again, the models' answers still come from the journal.
    """
    from .commands.opening import opened as opening
    from .graphs.replay import replay_session
    from .tasks import family as family_named

    async def again(opened: Store) -> dict[str, Json]:
        found = opened.find(session)
        if not live:
            return await replay_session(opened, found)
        family = family_named(opened.session(found)["settings"]["family"])
        async with opening(family, sandbox=sandbox, workers=workers, solver=solver) as tools:
            return await replay_session(
                opened, found, sandbox=tools.sandbox, solve=tools.solver, live=True
            )

    with reading(store) as opened:
        return complete(again(opened))


@checked
def evaluate(
    *sessions: str,
    name: str | None = None,
    by_problem: bool = False,
    all_pairs: bool = False,
    without_memorising: bool = False,
    evaluator: str = "exact",
    solver: str = "fast",
    workers: int | None = None,
    store: str | Path | None = None,
    out: str | Path | None = None,
    ratings: Sequence[str | Path] = (),
) -> dict[str, Json]:
    """{"sessions": [{session, task, method, model, problems, metrics}]} from the store alone; by
    `gear` also "settings", a row for each data set, n and model, and "table3"; by `abd` also
    "evaluator", "bootstrap" and "tables" (docs/abd.md).

    name: abd, gear, hypobench or t3; without it the one that fits the task of the first session. all_pairs:
    hidden pairs by which no hypothesis can be judged count too. without_memorising: as if hypotheses
    that memorise what they were shown had not been proposed. evaluator, solver, workers: of `abd`,
    which judges the stored answers again, holdouts too. out: a folder or file for the tables, a
    folder for the figures too (docs/gear.md). ratings: of `hypobench`, sheets that people filled
    (`agree`), for its table 8.
    """
    from .commands.score.listing import evaluate_sessions
    from .commands.score.rule_scores import JudgedBy
    from .reports.results import Options

    judged_by = JudgedBy(evaluator, solver, workers)

    with reading(store) as opened:
        if sessions and name is None:
            _known_word(opened, sessions[0])
        found = [opened.find(session) for session in sessions or ("last",)]
        options = Options(all_pairs, without_memorising)
        result = evaluate_sessions(
            opened, list(dict.fromkeys(found)), name, options, out, judged_by, ratings
        )
    if not by_problem:
        for one in result["sessions"]:
            del one["by_problem"]
    return result


@checked
def baselines(session: str = "last", *, store: str | Path | None = None) -> list[dict[str, Json]]:
    """What stands beside a session on labelled text: {problem, baselines, said} of each problem that is
    done, trained here on the rows that were shown (reports/baselines.py)."""
    from .reports.baselines import beside_session

    with reading(store) as opened:
        return beside_session(opened, opened.find(session))


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
def study(
    name: str,
    *sessions: str,
    seed: int = 0,
    draws: int = 5,
    all_pairs: bool = False,
    distinct: bool = False,
    without_memorising: bool = False,
    contexts: int = 200,
    pairs: int = 100,
    store: str | Path | None = None,
    out: str | Path | None = None,
) -> dict[str, Json]:
    """A simulation study of GEAR over sessions joined by problem and shown pairs: {study, sessions,
    problems, hypotheses, rows, …}, from the store alone (reports/studies.py).

    name: defeasible or general. draws: of hidden pairs, for each problem and number of them.
    all_pairs: hidden pairs by which nothing can be judged count too. distinct: hypotheses of one
    problem that predict the same count once. without_memorising: as if hypotheses that memorise
    what they were shown had not been proposed. contexts, pairs: of `general`, the most contexts of
    one size and problem, and how many comparisons one of them counts as at most. out: a folder or
    file for tables and a figure (see `listing.write_study`).
    """
    from .commands.score.listing import check_study_files, write_study
    from .reports import studies

    one_of("study", name, list(studies.STUDIES))
    if out is not None:
        check_study_files(out)
    choices = studies.Choices(
        seed, draws, all_pairs, distinct, contexts, pairs, without_memorising=without_memorising
    )
    with reading(store) as opened:
        found = [opened.find(session) for session in sessions or ("last",)]
        result = studies.study(name, opened, found, choices)
        for one in result["sessions"]:
            one["model"] = shown_model(opened.session(one["session"])["settings"])
    return result | ({"files": write_study(result, out)} if out is not None else {})


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
    session: str = "last",
    problem: str | None = None,
    *,
    calls: bool = False,
    store: str | Path | None = None,
) -> list[dict[str, Json]]:
    """One object a problem of the session, or one a hypothesis of the problem; with `calls` one a
    call of either: its tokens, seconds, retries, and its cost where prices are known."""
    from .commands.score.listing import show_calls, show_problem, show_session

    with reading(store) as opened:
        found = opened.find(session)
        if problem is not None:
            problem = problem_in(opened, found, problem)
        if calls:
            return show_calls(opened, found, problem)
        if problem is None:
            return show_session(opened, found)
        return show_problem(opened, found, problem)


@checked
def bank(
    session: str = "last",
    problem: str | None = None,
    *,
    alpha: float | None = None,
    history: bool = False,
    out: str | Path | None = None,
    store: str | Path | None = None,
) -> list[dict[str, Json]]:
    """The session's bank, best first; alpha: the weight of exploration to rank by, the session's own
    where it is not given.

    history: how it grew instead, one object a step: size, which texts entered and left, the best reward
    and accuracy (store/bank.py). out: a .json file to write the bank to, whole, for `--bank FILE`.
    """
    from .commands.session.bank_files import save_bank

    with reading(store) as opened:
        found = opened.find(session)
        if problem is not None:
            problem = problem_in(opened, found, problem)
        if out is not None:
            save_bank(opened, found, problem, alpha, out)
        if history:
            return opened.bank_growth(found, problem)
        return opened.bank(found, problem, alpha)


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
