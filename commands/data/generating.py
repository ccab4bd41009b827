"""`peirce tasks generate`: generate new problems from a seed, and write them in a form that
`--data` reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from ...records import Json, Problem, Proposer, Task, UsageError, canonical_json
from ...records.tasks import DEFAULT_WRITTEN, GeneratesInParts, OffersKinds, WritesProblems
from ...tasks import load_problems
from ...tasks import load_task as task_named
from ...tasks.io.files import check_writable, identify_file, write_lines
from ...tasks.programs.difficulty import generate_with_difficulty
from ...tasks.text.labels import Labels
from ...tools.workers.computing import open_compute
from ..arguments import validate_call
from ..outcome import open_for_reading
from ..session.execution import OnEvent
from .results import Audit, Generated
from .topics import TopicOptions, generate_topic

# --- Rules that solved problems in a store; `tasks generate abd --mined STORE` plants against them.


def answered_rules(store: str | Path, family: str) -> dict[str, list[str]]:
    """Return the valid rules that the sessions of a store found, by the first name of their theory.

    A rule counts if it was valid in all worlds that its problem shows. Each rule is listed once, in
    the order of sessions, problems and steps.

    Args:
        store: path of the store.
        family: name of the family whose problems are searched.
    """
    found: dict[str, dict[str, None]] = {}
    with open_for_reading(store) as opened:
        for session in opened.sessions():
            rows = [
                row for row in opened.problems(session["session"]) if row.problem.family == family
            ]
            if not rows:
                continue
            names = {row.problem.id: row.problem.public["theory"]["names"][0] for row in rows}
            for problem, rules in opened.consistent_hypotheses(
                session["session"], list(names)
            ).items():
                of_theory = found.setdefault(names[problem], {})
                for rule in rules:
                    of_theory.setdefault(rule.text)
    return {theory: list(rules) for theory, rules in found.items()}


@validate_call
def tasks_generate(
    task: str,
    out: str | Path,
    *,
    problems: int | None = None,
    seed: int = 0,
    regime: str | None = None,
    difficulty: str | None = None,
    mined: str | Path | None = None,
    level: str | None = None,
    noise: str | float | None = None,
    rows: int | None = None,
    format: str | None = None,
    data: str | Path | None = None,
    model: str | Proposer | None = None,
    model_arg: Sequence[str] | Mapping[str, Json] = (),
    about: str | None = None,
    labels: Sequence[str] = (),
    calls: str | Path | None = None,
    concurrency: int | None = None,
    workers: int | None = None,
    cluster: str = "local",
    budget_tokens: int | None = None,
    budget_usd: float | None = None,
    price_in: float | None = None,
    price_out: float | None = None,
    price_cached: float | None = None,
    on_event: OnEvent | None = None,
) -> Generated:
    """Generate problems from a seed, and write them in a form that `--data` reads.

    If an error occurs, no file is written.

    Args:
        task: name of a task. For labelled text, use labels:GENERATOR.
        out: file or folder to write.
        problems: number of problems; None for 100, or for all data sets of a labelled-text
            generator.
        seed: seed of the generator.
        regime: for abd, the regime of the problems; None for all regimes in turn.
        difficulty: easy or hard, for abd (None: both in turn) and for program tasks (None: all
            problems; tasks/programs/difficulty.py).
        mined: for abd, a store whose valid rules compete with the planted rules.
        level: for labels, which data sets to generate.
        noise: for labels, how labels are changed: exact or sampled. For laws, the standard deviation
            of the noise as a share of the target's; None for 0, 0.001 and 0.01 in turn.
        rows: for laws, the number of shown rows of each problem; None for 200.
        format: for labels, the layout of the files: published or huggingface.
        data: for labels:citations, the file of works.
        model: the model that writes the topic of labels:election, labels:personality or
            labels:subject (docs/how-to/generate-labelled-data.md).
        model_arg: further settings of the model.
        about: for labels:subject, the subject as text, or the path of a file that contains it.
        labels: your own labels; if empty, the model chooses the labels.
        calls: file that records the model's calls; None for OUT.calls.jsonl.
        concurrency: number of calls at the same time; None for the default.
        workers: number of processes that generate problems, on each node of a cluster; None for one
            per core of a node, or for this process alone without a cluster.
        cluster: where problems are generated: local, ray or ray://HOST.
        budget_tokens: maximum number of tokens, as in `run`.
        budget_usd: maximum cost in US dollars, as in `run`.
        price_in: US dollars per million input tokens.
        price_out: US dollars per million output tokens.
        price_cached: US dollars per million cached input tokens.
        on_event: called after each answer of the model with {"part", "answer", "kept", "of"}.

    Raises:
        UsageError: an option is invalid or does not fit the task.
        DataError: the model's answers break the rules too often, or a file is invalid.
        BudgetSpent: a budget is spent. The recorded calls are kept.
        Unavailable: the model cannot be reached.
    """
    source = task_named(task)
    if problems is not None and problems < 1:
        raise UsageError(f"--problems {problems}: it must be at least 1")
    kinds: dict[str, Json] = {
        "regime": regime, "difficulty": difficulty, "mined": mined, "level": level,
        "noise": noise, "rows": rows, "format": format, "data": None if data is None else str(data),
        "model": model, "about": about, "labels": ", ".join(labels) or None,
    }  # fmt: skip
    spending: dict[str, Json] = {
        "budget_tokens": budget_tokens, "budget_usd": budget_usd, "price_in": price_in,
        "price_out": price_out, "price_cached": price_cached,
    }  # fmt: skip
    offered = source.kinds if isinstance(source, OffersKinds) else ()
    for name, value in kinds.items():
        if value is not None and name not in offered:
            raise UsageError(f"--{name} {value}: task {source.name!r} does not take this option")
    of_model = {
        "model_arg": model_arg,
        "about": about,
        "labels": labels,
        "calls": calls,
        **spending,
    }
    by: dict[str, Json] = {}
    if model is not None and isinstance(source, Labels):
        writing = TopicOptions(
            model, model_arg, about, labels, calls, concurrency, spending, on_event
        )
        source, by = generate_topic(source, writing, out, problems, seed, kinds)
    elif given := [name for name, value in of_model.items() if value or value == 0]:
        flag = given[0].replace("_", "-")
        raise UsageError(f"--{flag} is for a model that writes texts: also choose one with --model")
    with _on_workers(source, workers, cluster) as spread:
        if isinstance(spread, WritesProblems):
            rules = None if mined is None else answered_rules(mined, source.family)
            told = spread.write(out, problems, seed, {**kinds, "mined": rules})
            first = identify_file(Path(told["files"][0]))
            return Generated.from_dict(
                {"task": task, **told, **by, "path": str(out), "sha256": first["sha256"]}
            )
        target, count = check_writable(out), problems or DEFAULT_WRITTEN
        if difficulty is None:
            made = [one for one, _ in load_problems(spread, problems=count, seed=seed)]
        else:
            made = generate_with_difficulty(spread, count, seed, difficulty)
    write_lines(target, (canonical_json(_published(problem)) for problem in made))
    return Generated(
        task=task, problems=len(made), path=str(out), sha256=identify_file(target)["sha256"]
    )


@contextmanager
def _on_workers(source: Task, workers: int | None, cluster: str) -> Iterator[Task]:
    """Open the processes that generate the problems of a task, and yield the task that uses them.

    Raises:
        UsageError: the task does not generate problems on several processes.
    """
    if cluster == "local" and workers is None:
        yield source
        return
    if not isinstance(source, GeneratesInParts):
        option = f"--workers {workers}" if cluster == "local" else f"--cluster {cluster}"
        raise UsageError(
            f"{option}: task {source.name!r} generates its problems in one process; leave it out"
        )
    with open_compute(cluster, workers) as compute:
        yield source.with_compute(compute)


def _published(problem: Problem) -> Json:
    """Return a problem in the form of the published benchmarks: an id, train and test pairs."""
    sides = {"train": problem.shown, "test": problem.hidden}
    pairs = {
        side: [{"input": pair.input, "output": pair.output} for pair in some]
        for side, some in sides.items()
    }
    return {"idx": problem.id, **pairs, **({"secret": problem.secret} if problem.secret else {})}


# --- `peirce tasks audit` checks whether a set of instances is as its paper states.


@validate_call
def tasks_audit(file: str | Path, *, workers: int | None = None, cluster: str = "local") -> Audit:
    """Check published instances of the task `abd` against statements of the paper that published
    them.

    Args:
        file: the file of instances.
        workers: number of processes that judge the references, on each node of a cluster; None for
            one per core of a node, or for this process alone without a cluster.
        cluster: where the references are judged: local, ray or ray://HOST.

    Returns:
        The checks with the instances that fail them, and statistics for each regime.

    Raises:
        UsageError: the file does not exist.
        DataError: the file does not contain instances of `abd`.
        Unavailable: the cluster cannot be reached.
    """
    from ...tasks.logic.audit import audit_file

    with open_compute(cluster, workers) as compute:
        return Audit.from_dict(audit_file(file, compute))
